const { address, variable, waitFor } = require("./pillarbox");

// Stands for your application, which sends a code to a new user.
async function signUp(to) {
  const response = await fetch(`${variable("PILLARBOX_URL")}/api/v1/emails`, {
    method: "POST",
    headers: {
      "X-API-Key": variable("PILLARBOX_KEY"),
      "Content-Type": "application/json",
      "User-Agent": "shop/1.0",
    },
    body: JSON.stringify({ to, starterTemplate: "otp", variables: { otp_code: "481516" } }),
  });
  if (!response.ok) throw new Error(await response.text());
}

test("a new user gets a code", async () => {
  const to = address("ada");
  await signUp(to);
  const email = await waitFor({ to, subject: "code" });
  expect(email.codes).toEqual(["481516"]);
  expect(email.recipients).toEqual([to]);
});
