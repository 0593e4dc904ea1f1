# ruff: noqa: T201  its output is what the caller reads
"""Send with Django through django-anymail's backends; print what they did as JSON."""

import json
import os
from email.mime.text import MIMEText
from typing import Any

import anymail
import django
from anymail.exceptions import AnymailRequestsAPIError
from anymail.message import AnymailMessage
from django.conf import settings
from django.core.mail import get_connection

_PNG = b"\x89PNG\r\n\x1a\n"
_CALENDAR = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"


def main() -> None:
    """Send what anymail passes on, with each backend, and one email that is refused."""
    settings.configure(
        ANYMAIL={
            "RESEND_API_KEY": os.environ["RESEND_API_KEY"],
            "RESEND_API_URL": os.environ["RESEND_BASE_URL"] + "/",
            "POSTMARK_SERVER_TOKEN": os.environ["POSTMARK_KEY"],
            "POSTMARK_API_URL": f"http://{os.environ['POSTMARK_HOST']}/",
        },
        DEFAULT_FROM_EMAIL='"Acme, Inc." <hello@shop.example>',
    )
    django.setup()
    results: dict[str, object] = {}
    for name in ("resend", "postmark"):
        connection = get_connection(f"anymail.backends.{name}.EmailBackend")
        message, has = _full(f"anymail-{name}@customer.example", connection)
        if name == "postmark":  # Resend's backend takes tags and metadata as header fields
            message.attach(_invitation())
            has.append("Content-Type: text/calendar; charset=utf-8; method=REQUEST")
            message.tags = ["receipt"]
        else:
            message.tags = ["receipt", "two words"]
            has += ['X-Tags: ["receipt", "two words"]', 'X-Metadata: {"order": "10442"}']
        message.metadata = {"order": "10442"}
        message.send()
        sent = f"anymail {anymail.__version__} for {name}"
        results[f"{sent} sends"] = len(str(message.anymail_status.message_id)) == 36
        results[f"{sent}: what arrives"] = {"to": f"anymail-{name}@customer.example", "has": has}
        of_others = ("x", "x", "a@elsewhere.example", ["ada@customer.example"])
        try:
            AnymailMessage(*of_others, connection=connection).send()
            error = ""
        except AnymailRequestsAPIError as failed:
            error = str(failed)
        results[f"a sender that is not verified, {name}"] = "elsewhere.example" in error
    print(json.dumps(results))


def _full(to: str, connection: object) -> tuple[Any, list[str]]:
    """Return an email with everything that both backends take, and what it must have."""
    message = AnymailMessage(
        *("Your receipt", "Grüße", None, [f'"Ann [IT]" <{to}>']),
        cc=['"Doe, Bob" <bob@customer.example>'],
        reply_to=['"Support (EU)" <support@shop.example>', "b@shop.example"],
        headers={
            "List-Unsubscribe": "<mailto:u@shop.example>,<https://shop.example/u>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Precedence": "Bulk",
            "X-Priority": 1,
        },
        connection=connection,
    )
    content_id = message.attach_inline_image(_PNG, "logo.png")
    message.attach_alternative(f'<p>Grüße <img src="cid:{content_id}"></p>', "text/html")
    message.attach("a.csv", "ü;1\n", "text/csv")
    message.attach("a.txt", "plain", "text/plain")
    message.attach("invite.ics", _CALENDAR, "text/calendar")
    message.attach("receipt.pdf", b"%PDF-1.7", "application/pdf")
    return message, [
        'From: "Acme, Inc." <hello@shop.example>',
        f'To: "Ann [IT]" <{to}>',
        'Cc: "Doe, Bob" <bob@customer.example>',
        'Reply-To: "Support (EU)" <support@shop.example>, b@shop.example',
        "List-Unsubscribe: <mailto:u@shop.example>, <https://shop.example/u>",
        "Precedence: bulk",
        "X-Priority: 1",
        "Content-Type: text/csv; charset=utf-8",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
        f"Content-ID: <{content_id}>",
        'filename="receipt.pdf"',
    ]


def _invitation() -> MIMEText:
    part = MIMEText(_CALENDAR, "calendar", "utf-8")
    part.set_param("method", "REQUEST")
    part.add_header("Content-Disposition", "attachment", filename="method.ics")
    return part


if __name__ == "__main__":
    main()
