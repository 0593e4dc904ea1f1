id = Pillarbox.new.send_email(
  { to: to, starterTemplate: "payment_receipt",
    variables: { amount: "49.00", currency: "EUR", invoice_id: invoice } },
  idempotency_key: "receipt-#{invoice}"
)
