# ruff: noqa: T201  its output is what the caller reads
"""Send with Django through django-anymail's backend for Resend; print what it did as JSON."""

import json
import os

import anymail
import django
from anymail.exceptions import AnymailRequestsAPIError
from django.conf import settings
from django.core.mail import EmailMultiAlternatives


def main() -> None:
    """Send one email with everything that anymail passes on, and one that is refused."""
    settings.configure(
        EMAIL_BACKEND="anymail.backends.resend.EmailBackend",
        ANYMAIL={
            "RESEND_API_KEY": os.environ["RESEND_API_KEY"],
            "RESEND_API_URL": os.environ["RESEND_BASE_URL"] + "/",
        },
        DEFAULT_FROM_EMAIL="Shop <hello@shop.example>",
    )
    django.setup()
    message = EmailMultiAlternatives(
        "Your receipt", "Thank you", None, ["ada@customer.example"], reply_to=["help@shop.example"]
    )
    message.attach_alternative("<p>Thank you</p>", "text/html")
    message.attach("receipt.pdf", b"%PDF-1.7", "application/pdf")
    message.extra_headers["X-Entity-Ref-ID"] = "1"
    message.tags = ["receipt"]
    message.send()
    refused = EmailMultiAlternatives("x", "x", "a@elsewhere.example", ["ada@customer.example"])
    try:
        refused.send()
        error = ""
    except AnymailRequestsAPIError as failed:
        error = str(failed)
    status = message.anymail_status
    print(
        json.dumps(
            {
                f"anymail {anymail.__version__} sends": len(str(status.message_id)) == 36,
                "a sender that is not verified": "elsewhere.example" in error,
            }
        )
    )


if __name__ == "__main__":
    main()
