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
const refused = await resend.emails.send({ ...email, topicId: "b6d24b8e-af0b-4c3c-be0c-359bbd97381e" });
const templates = await resend.templates.list();
const name = `d${process.pid}.shop.example`;
const domain = await resend.domains.create({ name });
const shown = await resend.domains.get(domain.data.id);
const verified = await resend.domains.verify(name);
const domains = await resend.domains.list();
const gone = await resend.domains.remove(name);
const tracked = await resend.domains.create({ name, openTracking: true });
const key = await resend.apiKeys.create({ name: "sends", permission: "sending_access" });
const sender = new Resend(key.data.token);
const byNewKey = await sender.emails.send(email);
const unread = await sender.domains.list();
const keys = await resend.apiKeys.list();
const revoked = await resend.apiKeys.remove(key.data.id);
const endpoint = `http://127.0.0.1:9/hooks/${process.pid}`; // the local stack takes this one
const hook = await resend.webhooks.create({ endpoint, events: ["email.delivered", "email.delivery_delayed"] });
const disabled = await resend.webhooks.update(hook.data.id, { status: "disabled" });
const hooked = await resend.webhooks.get(hook.data.id);
const unhooked = await resend.webhooks.remove(hook.data.id);
const suppressed = await resend.suppressions.add({ email: "Zoe@customer.example" });
const suppression = await resend.suppressions.get("zoe@customer.example");
const freed = await resend.suppressions.remove("zoe@customer.example");
// The other forms that the SDK's types allow.
const to = ["Node [IT] <resend-node@customer.example>"];
const calendar = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n";
const varied = await resend.emails.send({
  ...email,
  to,
  html: '<img src="cid:logo">',
  cc: "Doe, Bob <bob@customer.example>",
  replyTo: ["Support (EU) <support@shop.example>", "b@shop.example"],
  headers: { "List-Unsubscribe": "<mailto:u@shop.example>,<https://shop.example/u>" },
  attachments: [
    { filename: "a.csv", content: Buffer.from("ü;1\n"), contentType: 'text/csv; charset="utf-8"' },
    { filename: "a.txt", content: Buffer.from("plain").toString("base64") },
    { filename: "a.ics", content: Buffer.from(calendar), contentType: "text/calendar; method=REQUEST" },
    { filename: "logo.png", content: Buffer.from("iVBORw0KGgo=", "base64"), contentId: "logo" },
  ],
});
const later = await resend.emails.send({ ...email, to, replyTo: "Help <help@shop.example>", scheduledAt: "in 1 hour" });
const waits = await resend.emails.get(later.data?.id);
const arrived = [
  'To: "Node [IT]" <resend-node@customer.example>',
  'Cc: "Doe, Bob" <bob@customer.example>',
  'Reply-To: "Support (EU)" <support@shop.example>, b@shop.example',
  "List-Unsubscribe: <mailto:u@shop.example>, <https://shop.example/u>",
  "Content-Type: text/csv; charset=utf-8",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
  "Content-ID: <logo>",
];
const asking = "resend-answer@customer.example";
const asked = await resend.emails.send({ ...email, to: asking, headers: { "X-Replies": "true" } });
const inbox = process.env.INBOX_URL;
const mail = await (await fetch(`${inbox}/messages/latest?to=${asking}&wait=60`)).json();
const answer = { method: "POST", body: JSON.stringify({ text: "To my office." }) };
await fetch(`${inbox}/messages/${mail.id}/reply`, answer);
let received;
for (let tries = 0; tries < 120 && !received; tries += 1) {
  await new Promise((ready) => setTimeout(ready, 500));
  const { data } = await resend.emails.receiving.list({ limit: 1 });
  received = data?.data.find((one) => one.from === asking);
}
const read = await resend.emails.receiving.get(received.id, { html_format: "cid" });
const files = await resend.emails.receiving.attachments.list({ emailId: received.id });
const wrong = await new Resend("bx_live_wrong").emails.send(email);
console.log(
  JSON.stringify({
    "the same id again": sent.data.id.length === 36 && sent.data.id === again.data?.id,
    "the email by its id": found.data?.subject === email.subject,
    "a batch of two": batch.data?.data.length === 2,
    "a list": listed.data?.data.length === 2 && listed.data.has_more,
    "a refused field by name": refused.error?.name === "validation_error" && refused.error.message.includes("topic_id"),
    "the templates": templates.data?.data.length > 0,
    "a domain with its record": shown.data?.records[0].record === "Ownership" && shown.data.name === name,
    "a domain is checked, listed and removed": verified.data?.id === name && domains.data?.data.some((one) => one.id === name) && gone.data?.deleted,
    "a refused field of a domain by name": tracked.error?.message.includes("`open_tracking`"),
    "a key that only sends": byNewKey.data?.id.length === 36 && unread.error?.name === "restricted_api_key",
    "a key is listed and revoked": keys.data?.data.some((one) => one.id === key.data.id) && !revoked.error,
    "a webhook with its secret": hook.data?.signing_secret.startsWith("whsec_") && !disabled.error,
    "a webhook is shown and removed": hooked.data?.status === "disabled" && hooked.data.events.length === 2 && unhooked.data?.deleted,
    "a suppression": suppressed.data?.id === "zoe@customer.example" && suppression.data?.origin === "manual" && freed.data?.deleted,
    "an email with every form of a field": varied.data?.id.length === 36,
    "that email as it arrives": { to: "resend-node@customer.example", has: arrived },
    "an email in an hour": waits.data?.last_event === "scheduled" && Date.parse(waits.data.scheduled_at) > Date.now() + 3_500_000,
    "an answer": read.data?.headers["X-Pillarbox-In-Reply-To"] === asked.data?.id && read.data.text.startsWith("To my office."),
    "its files": files.data?.data.length === 0,
    "a wrong key": wrong.error?.name === "invalid_api_key",
  }),
);
