"""Building a mail with a 5 MB attachment, compared with EmailMessage.as_bytes.

    .venv/bin/python benchmarks/mime.py

The attachment is the base64 of the request. Two peers use the standard library: one calls
`as_bytes` of an existing message, the other decodes the base64, builds the message and calls
`as_bytes`. Time is CPU time: the best of several rounds, in turn in one process. Memory is the
peak that tracemalloc sees during one call, divided by the 5 MB; the input is not included.
"""

import sys
import time
import tracemalloc
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from pillarbox.domain.messages.attachment import MAX_BYTES_EACH, Attachment
from pillarbox.mime.build import OutgoingMail, build

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 15
CONTENT = b64encode(Random(1).randbytes(MAX_BYTES_EACH)).decode()  # noqa: S311  not a secret
MAIL = OutgoingMail(
    message_id=UUID("0199c0de-0000-7000-8000-000000000001"),
    date=datetime(2026, 11, 20, tzinfo=UTC),
    sender="no-reply@shop.example",
    from_name="Shop",
    to=("ann@mail.example",),
    cc=(),
    reply_to=(),
    subject="Your receipt",
    html="<p>Thank you.</p>\n",
    text="Thank you.\n",
    attachments=(Attachment("receipt.pdf", "application/pdf", CONTENT),),
)


def build_with_stdlib() -> EmailMessage:
    """Return the same mail as an EmailMessage."""
    message = EmailMessage(policy=SMTP)
    message["Date"] = MAIL.date
    message["From"] = "Shop <no-reply@shop.example>"
    message["To"] = "ann@mail.example"
    message["Subject"] = MAIL.subject
    message.set_content(MAIL.text)
    message.add_alternative(MAIL.html, subtype="html")
    message.add_attachment(
        b64decode(CONTENT), maintype="application", subtype="pdf", filename="receipt.pdf"
    )
    return message


def main() -> None:
    """Measure and print one row for each subject."""
    message = build_with_stdlib()
    subjects: dict[str, Callable[[], bytes]] = {
        "pillarbox.mime.build": lambda: build(MAIL),
        "EmailMessage.as_bytes": message.as_bytes,
        "decode, EmailMessage, as_bytes": lambda: build_with_stdlib().as_bytes(),
    }
    seconds = dict.fromkeys(subjects, float("inf"))
    for _ in range(ROUNDS):
        for name, subject in subjects.items():
            started = time.process_time()
            subject()
            seconds[name] = min(seconds[name], time.process_time() - started)

    ours = seconds["pillarbox.mime.build"]
    for name, subject in subjects.items():
        tracemalloc.start()
        subject()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        sys.stdout.write(
            f"{name:32} {MAX_BYTES_EACH / 1e6 / seconds[name]:7.0f} MB/s"
            f"  ours is {seconds[name] / ours:5.1f} x"
            f"  peak {peak / MAX_BYTES_EACH:4.2f} x payload\n"
        )


if __name__ == "__main__":
    main()
