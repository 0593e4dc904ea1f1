# ruff: noqa: T201  its output is what the caller reads
"""Send, fail and list with the client of openapi-python-client; print what it got as JSON."""

import json
import sys
from uuid import uuid4

from generated_client import AuthenticatedClient
from generated_client.api.emails import list_messages, send_email
from generated_client.models import (
    Attachment,
    ErrorResponse,
    MessagePage,
    SendEmailRequest,
    SendResult,
    StarterSlug,
    Variables,
)


def main(url: str, key: str) -> None:
    """Print the ids of a send, of its repetition and of the newest message, and a fault's code."""
    client = AuthenticatedClient(
        base_url=url,
        token=key,
        prefix="",
        auth_header_name="X-API-Key",
        headers={"User-Agent": "generated-client/1.0"},
    )
    body = SendEmailRequest(
        to="ada@customer.example",
        starter_template=StarterSlug.OTP,
        variables=Variables.from_dict({"otp_code": "482913"}),
        attachments=[Attachment(filename="a.txt", content_type="text/plain", content="aGVsbG8=")],
    )
    idempotency_key = f"openapi-python-client-{uuid4()}"
    sent = send_email.sync(client=client, body=body, idempotency_key=idempotency_key)
    again = send_email.sync(client=client, body=body, idempotency_key=idempotency_key)
    body.html, body.subject = "<p>", "s"
    fault = send_email.sync(client=client, body=body)
    listed = list_messages.sync(client=client, limit=1)
    assert isinstance(sent, SendResult)
    assert isinstance(again, SendResult)
    assert isinstance(fault, ErrorResponse)
    assert isinstance(listed, MessagePage)
    ids = [str(sent.message_id), str(again.message_id)]
    print(json.dumps([*ids, fault.error.code, str(listed.items[0].message_id)]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
