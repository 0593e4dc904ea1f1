const { createServer } = require("node:http");
const base = require("@playwright/test");
const { fixtures } = require("pillarbox-testing");

const FORM = '<form method="post"><label>Email <input name="email"></label><button>Reset</button></form>';

const test = base.test.extend({
  ...fixtures,
  // Stands for your application: a page that emails a link to another page.
  shop: async ({ pillarbox }, use) => {
    const server = createServer(async (request, response) => {
      response.setHeader("Content-Type", "text/html");
      if (request.method === "GET") {
        return response.end(request.url.includes("token=") ? "<h1>Choose a password</h1>" : FORM);
      }
      let form = "";
      for await (const part of request) form += part;
      const reset_url = `http://${request.headers.host}/?token=secret`;
      const sent = await fetch(`${pillarbox.url}/api/v1/emails`, {
        method: "POST",
        headers: { "X-API-Key": pillarbox.key, "Content-Type": "application/json", "User-Agent": "shop/1.0" },
        body: JSON.stringify({
          to: new URLSearchParams(form).get("email"),
          starterTemplate: "password_reset",
          variables: { reset_url },
        }),
      });
      response.end(sent.ok ? "<h1>Look into your inbox</h1>" : await sent.text());
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    await use(`http://127.0.0.1:${server.address().port}/`);
    server.close();
  },
});

// Without CHROMIUM the browser is the one of `npx playwright install chromium`.
test.use({ launchOptions: { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] } });

test("the link resets the password", async ({ page, pillarbox, shop }) => {
  const address = pillarbox.address("ada");
  await page.goto(shop);
  await page.getByLabel("Email").fill(address);
  await page.getByRole("button", { name: "Reset" }).click();
  await base.expect(page.getByRole("heading")).toHaveText("Look into your inbox");
  const email = await pillarbox.inbox.waitFor({ to: address, subject: "password" });
  await page.goto(email.links[0]);
  await base.expect(page.getByRole("heading")).toHaveText("Choose a password");
});
