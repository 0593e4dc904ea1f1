const nodemailer = require("nodemailer");

const transport = nodemailer.createTransport({
  host: process.env.SMTP_HOST,
  port: Number(process.env.SMTP_PORT),
  requireTLS: true,
  auth: { user: process.env.SMTP_USERNAME, pass: process.env.SMTP_PASSWORD },
});

const [to, invoice] = process.argv.slice(2);
transport.sendMail({
  from: "hello@shop.example", // a verified sender
  to,
  subject: `Your receipt ${invoice}`,
  text: "Thank you!",
  html: "<p>Thank you!</p>",
  headers: { "Idempotency-Key": `smtp-receipt-${invoice}` },
});
