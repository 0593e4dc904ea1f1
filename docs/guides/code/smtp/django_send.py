import sys

from django.core.mail import EmailMultiAlternatives

to, invoice = sys.argv[1:]
message = EmailMultiAlternatives(
    subject=f"Your receipt {invoice}",
    body="Thank you!",
    to=[to],
    headers={"Idempotency-Key": f"smtp-receipt-{invoice}"},
)
message.attach_alternative("<p>Thank you!</p>", "text/html")
message.send()
