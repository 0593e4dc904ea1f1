"""A mail that SES stored becomes one record, at the function of the queue."""

import json
from dataclasses import replace
from email.message import EmailMessage
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from functions.receive_email.app import lambda_handler
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.messages.message import MessageOrigin
from pillarbox.domain.replies import ReceivedMail, reply_token
from pillarbox.wiring import services
from tests.aws import Aws, shared_client
from tests.fakes.builders import ACCOUNT, account, message

DOMAIN = "in.shop.example"
OTHER = "acct00000002"
SENT = message(origin=MessageOrigin(tags={"order": "1001"}))
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


@pytest.fixture(autouse=True)
def _receiving(aws: Aws) -> None:  # noqa: ARG001  a fixture
    """Add an account that receives, and an email of it."""
    it = services()
    it.account_store.add(replace(account(), reply_domain=DOMAIN))
    it.receiving_domains.put(ReceivingDomain(DOMAIN, ACCOUNT, frozenset({"support"})))
    it.message_store.commit(SENT)


def token(message_id: UUID = SENT.message_id, account_id: str = ACCOUNT) -> str:
    return reply_token(account_id, message_id, services().reply_keys.all()[0])


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
    """Call the function as SQS does, with what S3 says of each object."""
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


def test_an_answer_leads_to_its_email() -> None:
    address = f"r.{token()}@{DOMAIN}"
    assert notify(store(answer(address))) == {"batchItemFailures": []}
    (mail,) = received()
    assert mail.answered is not None
    assert (mail.answered.message_id, mail.answered.tags) == (SENT.message_id, {"order": "1001"})
    assert (mail.recipient, mail.sender, mail.subject) == (
        address,
        "ada@customer.example",
        "Re: Hi",
    )
    assert mail.authenticated
    content = services().received_objects.content(mail)
    assert content is not None
    assert content.reply == "Yes."
    left = shared_client("s3").list_objects_v2(Bucket="pillarbox-spool", Prefix="received/")
    assert left["KeyCount"] == 0


def test_a_repeated_notification_changes_nothing() -> None:
    key = store(answer(f"r.{token()}@{DOMAIN}"))
    notify(key, key)
    notify(key)
    assert len(received()) == 1


def test_a_reference_leads_to_the_email_too() -> None:
    reference = f"<{token()}@{DOMAIN}>"
    notify(store(answer(f"support@{DOMAIN}", References=f"<x@y.example> {reference}")))
    (mail,) = received()
    assert mail.answered is not None
    assert mail.answered.message_id == SENT.message_id


@pytest.mark.parametrize("kind", ["forged", "truncated", "foreign", "unknown", "other domain"])
def test_a_wrong_token_leads_nowhere(kind: str) -> None:
    good = token()
    wrong = {
        "forged": good[:-1] + ("a" if good[-1] != "a" else "b"),
        "truncated": good[:-2],
        "foreign": token(account_id=OTHER),
        "unknown": token(UUID(int=SENT.message_id.int + 1)),
        "other domain": good,
    }[kind]
    domain = "in.other.example" if kind == "other domain" else DOMAIN
    notify(store(answer(f"r.{wrong}@{domain}")))
    assert received() == []


def test_a_named_address_receives_without_a_token() -> None:
    notify(store(answer(f"support@{DOMAIN}"), f"received/{DOMAIN}/m2"))
    notify(store(answer(f"sales@{DOMAIN}"), f"received/{DOMAIN}/m3"))
    (mail,) = received()
    assert (mail.recipient, mail.answered) == (f"support@{DOMAIN}", None)


def test_what_the_sender_writes_is_no_verdict() -> None:
    forged = (
        b"Authentication-Results: amazonses.com; dmarc=pass; spf=pass\nX-SES-Spam-Verdict: PASS\n"
    )
    trace = TRACE.replace(b"dmarc=pass", b"dmarc=fail").replace(
        b"X-SES-Spam-Verdict: PASS", b"X-SES-Spam-Verdict: FAIL"
    )
    mail = EmailMessage()
    mail["From"], mail["To"] = "ada@customer.example", f"support@{DOMAIN}"
    mail.set_content("Hi")
    notify(store(trace % b"support@in.shop.example" + forged + mail.as_bytes()))
    (found,) = received()
    assert (found.verdicts.dmarc, found.verdicts.spam, found.authenticated) == (
        "fail",
        "fail",
        False,
    )


def test_a_mail_that_may_have_ended_the_process_is_recorded_unread() -> None:
    notify(store(answer(f"support@{DOMAIN}")), receipts=3)
    (mail,) = received()
    assert not mail.parsed
    assert mail.subject == "Re: Hi"
