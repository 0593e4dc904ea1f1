// Prints what the package `pillarbox` got, as JSON: node with_package.js URL KEY
import { Pillarbox, PillarboxError, type SendEmailRequest } from "pillarbox";

declare const process: { argv: string[] };
const [, , url = "", key = ""] = process.argv;
const email: SendEmailRequest = {
  to: "ada@customer.example",
  starterTemplate: "otp",
  variables: { otp_code: "482913" },
  attachments: [{ filename: "a.txt", content: "aGVsbG8=" }],
};
const pillarbox = new Pillarbox({ url, key });
const idempotencyKey = `package-${crypto.randomUUID()}`;
const sent = await pillarbox.sendEmail(email, { idempotencyKey });
const again = await pillarbox.sendEmail(email, { idempotencyKey });
const { items } = await pillarbox.listMessages({ limit: 1 });
// @ts-expect-error  a status that there is not
void (() => pillarbox.listMessages({ status: "lost" }));
const fault = await pillarbox
  .sendEmail({ ...email, html: "<p>", subject: "s" })
  .catch((error: unknown) => (error instanceof PillarboxError ? error.code : String(error)));
console.log(JSON.stringify([sent.messageId, again.messageId, fault, items[0]?.messageId]));
