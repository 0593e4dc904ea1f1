// Receive webhooks: check the signature, drop repetitions, answer, then work.
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const seen = new Set(); // in production a table with the webhook-id as its unique key

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let event;
  try {
    event = webhook.verify(Buffer.concat(chunks).toString(), request.headers);
  } catch {
    return response.writeHead(400).end();
  }
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    handle(event);
  }
  response.writeHead(204).end();
}).listen(Number(process.env.PORT), "127.0.0.1");

function handle({ type, data }) {
  console.log(type, data.messageId, data.recipient);
}
