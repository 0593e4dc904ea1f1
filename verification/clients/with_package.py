# ruff: noqa: T201  its output is what the caller reads
"""Send, fail and list with the package `pillarbox-client`; print what it got as JSON."""

import json
import sys
from uuid import uuid4

from pillarbox_client import Pillarbox, PillarboxError, types


def main(url: str, key: str) -> None:
    """Print the ids of a send, of its repetition and of the newest message, and a fault's code."""
    email: types.SendEmailRequest = {
        "to": "ada@customer.example",
        "starterTemplate": "otp",
        "variables": {"otp_code": "482913"},
        "attachments": [{"filename": "a.txt", "content": "aGVsbG8="}],
    }
    with Pillarbox(key, url=url) as pillarbox:
        idempotency_key = f"package-{uuid4()}"
        sent = pillarbox.send_email(email, idempotency_key=idempotency_key)
        again = pillarbox.send_email(email, idempotency_key=idempotency_key)
        newest = pillarbox.list_messages(limit=1)["items"][0]
        try:
            pillarbox.send_email({**email, "html": "<p>", "subject": "s"})
        except PillarboxError as error:
            fault = error.code
    print(json.dumps([sent["messageId"], again["messageId"], fault, newest["messageId"]]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
