// Send a receipt with Pillarbox's client: node with_client.mjs ada@example.com INV-2002
import { Pillarbox } from "pillarbox";

const [to, invoice] = process.argv.slice(2);
const pillarbox = new Pillarbox(); // PILLARBOX_URL and PILLARBOX_KEY
const sent = await pillarbox.sendEmail(
  {
    to,
    starterTemplate: "payment_receipt",
    variables: { amount: "49.00", currency: "EUR", invoice_id: invoice },
  },
  { idempotencyKey: `receipt-${invoice}` },
);
console.log(sent.messageId);
