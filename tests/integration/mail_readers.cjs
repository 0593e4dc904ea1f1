// Reads messages with mailparser and postal-mime: a line of base64 each, answered by a line of JSON.
const { createInterface } = require("node:readline");
const { simpleParser } = require("mailparser");
const { default: PostalMime } = require("postal-mime");

const readers = {
  mailparser: (octets) => simpleParser(octets).then((mail) => [mail, mail.from?.value[0]]),
  "postal-mime": (octets) => PostalMime.parse(octets).then((mail) => [mail, mail.from]),
};

async function answer(line) {
  const shown = {};
  for (const [program, read] of Object.entries(readers)) {
    const [mail, author] = await read(Buffer.from(line, "base64"));
    const files = mail.attachments.map((file) => file.filename ?? "");
    shown[program] = { subject: mail.subject ?? "", author: author?.name ?? "", files };
  }
  console.log(JSON.stringify(shown));
}

let last = Promise.resolve();
createInterface({ input: process.stdin }).on("line", (line) => {
  last = last.then(() => answer(line));
});
