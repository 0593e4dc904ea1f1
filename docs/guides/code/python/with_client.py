"""Send a receipt with Pillarbox's client: python with_client.py ada@example.com INV-1002."""

import sys

from pillarbox_client import Pillarbox

to, invoice = sys.argv[1:]
with Pillarbox() as pillarbox:  # PILLARBOX_URL and PILLARBOX_KEY
    sent = pillarbox.send_email(
        {
            "to": to,
            "starterTemplate": "payment_receipt",
            "variables": {"amount": "49.00", "currency": "EUR", "invoice_id": invoice},
        },
        idempotency_key=f"receipt-{invoice}",
    )
print(sent["messageId"])
