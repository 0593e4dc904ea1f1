// Uses Resend's SDK for Node unchanged: RESEND_BASE_URL and RESEND_API_KEY say where. Prints JSON.
import { Resend } from "resend";

const resend = new Resend(process.env.RESEND_API_KEY);
const email = {
  from: "Acme <hello@shop.example>",
  to: ["ada@customer.example"],
  subject: "hello world",
  html: "<p>it works!</p>",
};
const options = { idempotencyKey: `node-${process.pid}` };
const full = {
  ...email,
  text: "it works!",
  replyTo: "help@shop.example",
  headers: { "X-Entity-Ref-ID": "1" },
  tags: [{ name: "order", value: "10442" }],
  attachments: [{ filename: "a.pdf", content: Buffer.from("%PDF-1.7") }],
};
const sent = await resend.emails.send(full, options);
const again = await resend.emails.send(full, options);
const found = await resend.emails.get(sent.data.id);
const batch = await resend.batch.send([email, { ...email, subject: "second" }]);
const listed = await resend.emails.list({ limit: 2 });
const refused = await resend.emails.send({ ...email, scheduledAt: "2030-01-01T00:00:00Z" });
const templates = await resend.templates.list();
const domains = await resend.domains.list();
const wrong = await new Resend("bx_live_wrong").emails.send(email);
console.log(
  JSON.stringify({
    "the same id again": sent.data.id.length === 36 && sent.data.id === again.data?.id,
    "the email by its id": found.data?.subject === email.subject,
    "a batch of two": batch.data?.data.length === 2,
    "a list": listed.data?.data.length === 2 && listed.data.has_more,
    "a refused field by name": refused.error?.name === "validation_error" && refused.error.message.includes("scheduled_at"),
    "the templates": templates.data?.data.length > 0,
    "a resource that keys do not manage": domains.error?.name === "restricted_api_key",
    "a wrong key": wrong.error?.name === "invalid_api_key",
  }),
);
