"""A mail that SES stored becomes one record, at the function of the queue."""

from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from uuid import UUID

import pytest

from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.wiring import services
from tests.aws import shared_client
from tests.fakes.builders import ACCOUNT, NOW
from tests.integration.replies.mail import (
    DOMAIN,
    OTHER,
    SENT,
    TRACE,
    answer,
    notify,
    received,
    store,
    token,
)


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


#: Below what is quoted first, where no line was broken.
END = """Red, please
> And when
--~
Ada

----- Original Message -----~
From: Shop <a@shop.example>
Sent: Monday
Subject: Hi

And what size?"""
FLOWED = f"""Content-Type: text/plain; Format="Flowed"; DelSp=Yes

The Grö~
ße is right.~

On Mon, Nov 30, 2026 at 9:15 AM Shop <a@shop.example> wrote:~
> Which colour is wanted, and is the address that ~
> we have from the first order still the right one
{END}""".encode("latin-1")
TEXT = f"""The Größe is right.

On Mon, Nov 30, 2026 at 9:15 AM Shop <a@shop.example> wrote:
> Which colour is wanted, and is the address that we have from the first order still the right one
{END}"""


def test_the_text_is_as_its_writer_wrote_it() -> None:
    """Its program broke lines (RFC 3676) and named no charset. Here `~` is a blank at an end."""
    notify(store(TRACE % f"support@{DOMAIN}".encode() + FLOWED.replace(b"~", b" ")))
    (mail,) = received()
    content = services().received_objects.content(mail)
    assert content is not None
    assert content.text == TEXT.replace("~", " ")
    assert content.reply == "The Größe is right.\n\nRed, please"


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


def test_mail_on_its_way_arrives_after_the_end() -> None:
    """Another account may have the name at once; its limit then switches no rule on again."""
    key = store(answer(f"support@{DOMAIN}"))
    domains, until = services().receiving_domains, NOW + timedelta(days=14)
    domains.end(DOMAIN, OTHER, until)
    ended = domains.get(DOMAIN)
    assert ended is not None
    assert not ended.ended
    domains.end(DOMAIN, ACCOUNT, until)
    notify(key)
    assert len(received()) == 1
    ended = domains.get(DOMAIN)
    assert ended is not None
    services().receiving_limit.stop(ended, 1)
    assert domains.get(DOMAIN) == ended
    assert domains.put(ReceivingDomain(DOMAIN, OTHER))
    assert not domains.put(ReceivingDomain(DOMAIN, ACCOUNT))


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
    for receipts in (9, 10):
        notify(
            store(answer(f"support@{DOMAIN}"), f"received/{DOMAIN}/{receipts}"), receipts=receipts
        )
    assert sorted((mail.parsed, mail.subject) for mail in received()) == [
        (False, "Re: Hi"),
        (True, "Re: Hi"),
    ]


def test_two_receivers_of_one_mail_agree() -> None:
    """The record of the first one stays, since its owner may have read it."""
    notify(store(answer(f"support@{DOMAIN}")))
    (mail,) = received()
    assert not services().received_mails.add(replace(mail, subject="Another"))
    assert received() == [mail]


@pytest.mark.parametrize(
    ("address", "is_received"),
    [
        ("R.{upper}@IN.shop.example", True),
        ("r.{token}+x@in.shop.example", True),
        ("support+4711@in.shop.example", True),
        ("Support@in.shop.example", True),
        ("supports@in.shop.example", False),
        ("+support@in.shop.example", False),
        ("r.{token}@sub.in.shop.example", False),
        ("r.{token}@in.shop.example.evil.example", False),
    ],
)
def test_an_address_as_programs_change_it(*, address: str, is_received: bool) -> None:
    """Servers change the case of addresses, and people add a part after a plus sign."""
    notify(store(answer(address.format(token=token(), upper=token().upper()))))
    assert bool(received()) is is_received
