"""Mail as SES stores it, and the function that gets it from the queue."""

import json
from email.message import EmailMessage
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from functions.receive_email.app import lambda_handler
from pillarbox.domain.messages.message import Labels, MessageOrigin
from pillarbox.domain.replies import ReceivedMail, reply_token
from pillarbox.wiring import services
from tests.aws import shared_client
from tests.fakes.builders import ACCOUNT, message

DOMAIN = "in.shop.example"
OTHER = "acct00000002"
SENT = message(origin=MessageOrigin(labels=Labels(tags={"order": "1001"})))
#: As SES writes it above a mail.
TRACE = b"""Return-Path: <ada@customer.example>
Received: from mx.customer.example (mx.customer.example [192.0.2.1])
 by inbound-smtp.eu-west-1.amazonaws.com with SMTP id m1
 for %s;
 Mon, 30 Nov 2026 09:20:00 +0000 (UTC)
X-SES-Spam-Verdict: PASS
X-SES-Virus-Verdict: PASS
Received-SPF: pass (spfCheck: domain of customer.example designates 192.0.2.1)
Authentication-Results: amazonses.com;
 spf=pass (spfCheck: domain of customer.example) client-ip=192.0.2.1;
 dkim=pass header.i=@customer.example;
 dmarc=pass header.from=customer.example;
X-SES-RECEIPT: AEFBQUFB
X-SES-DKIM-SIGNATURE: a=rsa-sha256; d=amazonses.com
"""


def token(message_id: UUID = SENT.message_id, account_id: str = ACCOUNT) -> str:
    return reply_token(account_id, message_id, services().reply_keys.for_new_tokens())


def answer(
    recipient: str,
    text: str = "Yes.\n\nOn Mon, Nov 30, 2026 at 9:15 AM Shop <a@shop.example> wrote:\n> Hi\n",
    **fields: str,
) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ada <ada@customer.example>", recipient, "Re: Hi"
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return TRACE % recipient.encode() + mail.as_bytes()


def store(octets: bytes, key: str = f"received/{DOMAIN}/m1") -> str:
    shared_client("s3").put_object(Bucket="pillarbox-spool", Key=key, Body=octets)
    return key


def notify(*stored: str, receipts: int = 1) -> Any:
    records = [
        {
            "messageId": str(number),
            "receiptHandle": "h",
            "body": json.dumps(
                {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": {"key": key}}}]}
            ),
            "attributes": {"ApproximateReceiveCount": str(receipts), "SentTimestamp": "0"},
            "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:received",
        }
        for number, key in enumerate(stored)
    ]
    context: Any = SimpleNamespace(get_remaining_time_in_millis=lambda: 30_000, aws_request_id="r")
    return lambda_handler({"Records": records}, context)


def received(account_id: str = ACCOUNT) -> list[ReceivedMail]:
    return [*services().received_mails.of_account(account_id, None, 100)]
