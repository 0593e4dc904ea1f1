# ruff: noqa: T201  its output is what the caller reads
"""Send with Django through django-anymail's backends; print what they did as JSON."""

import json
import os

import anymail
import django
from anymail.exceptions import AnymailRequestsAPIError
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection


def main() -> None:
    """Send one email with everything that anymail passes on, and one that is refused."""
    settings.configure(
        ANYMAIL={
            "RESEND_API_KEY": os.environ["RESEND_API_KEY"],
            "RESEND_API_URL": os.environ["RESEND_BASE_URL"] + "/",
            "POSTMARK_SERVER_TOKEN": os.environ["POSTMARK_KEY"],
            "POSTMARK_API_URL": f"http://{os.environ['POSTMARK_HOST']}/",
        },
        DEFAULT_FROM_EMAIL="Shop <hello@shop.example>",
    )
    django.setup()
    results = {}
    for name in ("resend", "postmark"):
        connection = get_connection(f"anymail.backends.{name}.EmailBackend")
        message = EmailMultiAlternatives(
            *("Your receipt", "Thank you", None, ["ada@customer.example"]),
            reply_to=["help@shop.example"],
            connection=connection,
        )
        message.attach_alternative("<p>Thank you</p>", "text/html")
        message.attach("receipt.pdf", b"%PDF-1.7", "application/pdf")
        message.extra_headers["X-Entity-Ref-ID"] = "1"
        message.tags = ["receipt"]
        message.send()
        of_others = ("x", "x", "a@elsewhere.example", ["ada@customer.example"])
        try:
            EmailMultiAlternatives(*of_others, connection=connection).send()
            error = ""
        except AnymailRequestsAPIError as failed:
            error = str(failed)
        sent = f"anymail {anymail.__version__} for {name} sends"
        results[sent] = len(str(message.anymail_status.message_id)) == 36
        results[f"a sender that is not verified, {name}"] = "elsewhere.example" in error
    print(json.dumps(results))


if __name__ == "__main__":
    main()
