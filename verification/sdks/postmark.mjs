// Uses Postmark's client for Node unchanged: POSTMARK_HOST and POSTMARK_KEY say where. Prints JSON.
import postmark from "postmark";

const options = { requestHost: process.env.POSTMARK_HOST, useHttps: false };
const client = new postmark.ServerClient(process.env.POSTMARK_KEY, options);
const email = {
  From: "Acme <hello@shop.example>",
  To: "ada@customer.example",
  Subject: "Hello from Postmark!",
  HtmlBody: "<strong>Hello</strong> dear Postmark user.",
};
const file = new postmark.Models.Attachment("a.pdf", Buffer.from("%PDF-1.7").toString("base64"), "application/pdf");
const full = {
  ...email,
  TextBody: "Hello dear Postmark user.",
  ReplyTo: "help@shop.example",
  Tag: "receipt",
  Metadata: { order: "10442" },
  Headers: [{ Name: "X-Entity-Ref-ID", Value: "1" }],
  Attachments: [file],
  MessageStream: "outbound",
};
const failed = (promise) => promise.then(() => ({}), (error) => error);
const sent = await client.sendEmail(full);
const batch = await client.sendEmailBatch([email, { ...email, To: "nobody" }]);
const otp = { From: email.From, To: email.To, TemplateAlias: "otp", TemplateModel: { otp_code: "1" } };
const templated = await client.sendEmailWithTemplate(otp);
const several = await client.sendEmailBatchWithTemplates([otp, otp]);
const tracked = await failed(client.sendEmail({ ...email, TrackOpens: true }));
const foreign = await failed(client.sendEmail({ ...email, From: "x@elsewhere.example" }));
const calendar = Buffer.from("BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n").toString("base64");
const varied = await client.sendEmail({
  ...email,
  To: '"Node, IT" <postmark-node@customer.example>, ',
  HtmlBody: '<img src="cid:logo">',
  Cc: "",
  ReplyTo: '"Support, EU" <support@shop.example>, b@shop.example',
  Headers: [new postmark.Models.Header("List-Unsubscribe", "<mailto:u@shop.example>,<https://shop.example/u>")],
  Attachments: [
    new postmark.Models.Attachment("a.csv", Buffer.from("ü;1\n").toString("base64"), 'text/csv; charset="utf-8"'),
    new postmark.Models.Attachment("a.ics", calendar, 'text/calendar; method="REQUEST"; charset="utf-8"'),
    new postmark.Models.Attachment("logo.png", "iVBORw0KGgo=", "image/png", "cid:logo"),
    new postmark.Models.Attachment("b.png", "iVBORw0KGgo=", "image/png", "b.png"),
  ],
});
const arrived = [
  'To: "Node, IT" <postmark-node@customer.example>',
  'Reply-To: "Support, EU" <support@shop.example>, b@shop.example',
  "List-Unsubscribe: <mailto:u@shop.example>, <https://shop.example/u>",
  "Content-Type: text/csv; charset=utf-8",
  "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
  "Content-ID: <logo>",
  'attachment; filename="b.png"',
];
const asking = "postmark-answer@customer.example";
const Headers = [{ Name: "X-Replies", Value: "true" }];
const asked = await client.sendEmail({ ...email, To: asking, Headers, Tag: "receipt" });
const inbox = process.env.INBOX_URL;
const mail = await (await fetch(`${inbox}/messages/latest?to=${asking}&wait=60`)).json();
const answer = { method: "POST", body: JSON.stringify({ text: "To my office." }) };
await fetch(`${inbox}/messages/${mail.id}/reply`, answer);
let received;
for (let tries = 0; tries < 120 && !received; tries += 1) {
  await new Promise((ready) => setTimeout(ready, 500));
  const { InboundMessages } = await client.getInboundMessages({ count: 1 });
  received = InboundMessages.find((one) => one.From === asking);
}
const read = await client.getInboundMessageDetails(received.MessageID);
const named = Object.fromEntries(read.Headers.map(({ Name, Value }) => [Name, Value]));
const wrong = await failed(new postmark.ServerClient("bx_live_wrong", options).sendEmail(email));
const other = await failed(client.getServer());
console.log(
  JSON.stringify({
    "an email with every field": sent.ErrorCode === 0 && sent.MessageID.length === 36 && sent.To === email.To,
    "a batch, of which one email is wrong": batch[0].ErrorCode === 0 && batch[1].ErrorCode === 300,
    "a template by its alias": templated.ErrorCode === 0,
    "a batch of templates": several.length === 2 && several[1].ErrorCode === 0,
    "a refused field by name": tracked.name === "InvalidEmailRequestError" && tracked.message.includes("TrackOpens"),
    "a foreign sender": foreign.name === "ApiInputError" && foreign.code === 400,
    "an email with every form of a field": varied.ErrorCode === 0,
    "that email as it arrives": { to: "postmark-node@customer.example", has: arrived },
    "an answer": read.StrippedTextReply === "To my office." && read.Tag === "receipt",
    "and what it answers": named["X-Pillarbox-In-Reply-To"] === asked.MessageID,
    "a wrong key": wrong.name === "InvalidAPIKeyError",
    "another route": other.statusCode === 404,
  }),
);
