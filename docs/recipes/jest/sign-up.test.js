const { pillarbox } = require("pillarbox-testing");

// Stands for your application, which sends a code to a new user.
async function signUp({ url, key }, to) {
  const response = await fetch(`${url}/api/v1/emails`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json", "User-Agent": "shop/1.0" },
    body: JSON.stringify({ to, starterTemplate: "otp", variables: { otp_code: "481516" } }),
  });
  if (!response.ok) throw new Error(await response.text());
}

test("a new user gets a code", async () => {
  const stack = await pillarbox();
  const to = stack.address("ada");
  await signUp(stack, to);
  const email = await stack.inbox.waitFor({ to, subject: "code" });
  expect(email.codes).toEqual(["481516"]);
  expect(email.recipients).toEqual([to]);
});
