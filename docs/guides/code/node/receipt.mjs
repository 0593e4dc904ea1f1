import { send } from "./pillarbox.mjs";

const [to, invoice] = process.argv.slice(2);
const receipt = {
  to,
  starterTemplate: "payment_receipt",
  variables: { amount: "49.00", currency: "EUR", invoice_id: invoice },
};
console.log(await send(receipt, `receipt-${invoice}`));
