// Reads the emails that your application sends through Pillarbox's local stack. It needs Node 18 or
// later, and the variables of `source CLONE/.local/env`.

const { randomBytes } = require("node:crypto");

// Seconds; package.json gives a test more, because Jest itself ends it after five.
const WAIT = Number(process.env.PILLARBOX_WAIT || 10);

function variable(name) {
  const value = process.env[name];
  if (!value) {
    throw new Error(
      `${name} is not set. Run \`make up\` in your clone of Pillarbox, and \`source .local/env\` there.`,
    );
  }
  return value;
}

// An address that no other test uses, so that tests can run side by side.
function address(name = "test") {
  return `${name}-${randomBytes(4).toString("hex")}@example.com`;
}

// The newest email that matches, with `codes`, `links`, `text` and `html`; waits for it.
async function waitFor({ to, subject = "", wait = WAIT }) {
  const query = new URLSearchParams({ to, subject, wait, refused: true });
  const response = await fetch(`${variable("PILLARBOX_INBOX_URL")}/messages/latest?${query}`);
  if (response.status === 404) throw new Error(`No email to ${to} came within ${wait} seconds.`);
  if (!response.ok) throw new Error(await response.text());
  const email = await response.json();
  const refused = email.deliveries.find(({ outcome }) => outcome === "refused");
  if (refused) throw new Error(`SES refused the email to ${to}: ${refused.reason}`);
  return email;
}

module.exports = { address, variable, waitFor };
