const { createServer } = require("node:http");
const base = require("@playwright/test");
const { fixtures } = require("pillarbox-testing");

const test = base.test.extend({
  ...fixtures,
  // Stands for your application: a page with the newest answer.
  support: async ({ pillarbox }, use) => {
    const headers = { "X-API-Key": pillarbox.key, "User-Agent": "shop/1.0" };
    const read = async (path) => (await fetch(`${pillarbox.url}/api/v1/received${path}`, { headers })).json();
    const server = createServer(async (_, response) => {
      const { items } = await read("?limit=1");
      const { reply } = await read(`/${items[0].receivedId}`);
      response.setHeader("Content-Type", "text/plain"); // a stranger wrote it
      response.end(reply);
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    await use(`http://127.0.0.1:${server.address().port}/`);
    server.close();
  },
});

// Without CHROMIUM the browser is the one of `npx playwright install chromium`.
test.use({ launchOptions: { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] } });

test("the answer of a customer is shown", async ({ page, pillarbox, support }) => {
  const to = pillarbox.address("ada");
  await fetch(`${pillarbox.url}/api/v1/emails`, {
    method: "POST",
    headers: { "X-API-Key": pillarbox.key, "Content-Type": "application/json", "User-Agent": "shop/1.0" },
    body: JSON.stringify({ to, subject: "Your order", html: "<p>Where to?</p>", replies: true }),
  });
  const email = await pillarbox.inbox.waitFor({ to });
  await pillarbox.webhooks.waitForReply(email, "To my office, please.");
  await page.goto(support);
  await base.expect(page.locator("body")).toHaveText("To my office, please.");
});
