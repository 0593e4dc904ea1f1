"""Messages over SMTP: the rules of the HTTP API, the bytes sent, retries under a key, faults."""

import contextlib
import time
from dataclasses import replace
from datetime import timedelta
from email import policy
from email.message import EmailMessage
from functools import partial
from uuid import UUID

import pytest

from pillarbox.application.delivery.build_message import build_raw
from pillarbox.application.ports import DomainVerdict
from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import window_name
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import RawBody
from tests.fakes import builders
from tests.fakes.world import Fault, Killed, World
from tests.refusals import refusal

FROM = f"From: {builders.SENDER}\r\n"
TO = "ann@example.com"


def submit(world: World, message: str | bytes, *recipients: str, key: str | None = None) -> UUID:
    """Submit a message over SMTP, by default to one recipient."""
    octets = bytearray(message.encode() if isinstance(message, str) else message)
    submission = world.smtp_submission
    prepared = submission.prepare(key or world.live, recipients or (TO,), octets)
    assert octets == b""
    return UUID(submission.submit(key or world.live, prepared))


def error_of(world: World, message: str | bytes, *recipients: str) -> ServiceError:
    """Return the error of a refused message, which leaves nothing behind."""
    refused = refusal(submit, world, message, *recipients)
    assert not world.store.messages
    assert not world.store.queue
    assert not world.store.claims
    assert world.used() == {0}
    return refused


def sent_bytes(world: World) -> bytes:
    """Return the bytes that the worker hands to SES."""
    (job,) = world.store.queue
    assert job.mail
    return build_raw(job.mail, world.message())


def test_message_is_sent_unchanged() -> None:
    """Header fields, their order and folding and every octet of the body are unchanged."""
    written = (
        b'X-Odd:   spaces \r\n\tand tabs \r\nFrom:  "Shop" <hello@shop.example>\r\n'
        b"Message-ID: <mine@shop.example>\r\nDate: Sat, 14 Mar 2026 15:09:26 +0000\r\n"
        b"subject: x\r\nMIME-Version: 1.0\r\nDKIM-Signature: v=1; b=abc\r\n =\r\n\r\n"
        b"..dots\r\n\xff\xfe 8 bit \r\n\r\n\r\n"
    )
    world = World()
    submit(world, written)
    assert sent_bytes(world) == written
    assert world.message().from_name == "Shop"


def test_a_missing_date_is_added() -> None:
    """A message without Date always gets the same one; the rest is unchanged."""
    written = FROM + "Subject: x\r\n\r\nHello\r\n"
    world = World()
    submit(world, written)
    sent = f"Date: Sat, 14 Mar 2026 15:09:26 +0000\r\n{written}".encode()
    assert [sent_bytes(world), sent_bytes(world)] == [sent, sent]


def test_private_fields_are_removed(world: World) -> None:
    """Bcc, Return-Path, Idempotency-Key and fields for SES are removed, folded or not."""
    submit(
        world,
        "Return-Path: <x@y.example>\r\nBCC: secret@example.com,\r\n more@example.com\r\n"
        "X-SES-CONFIGURATION-SET: evil\r\nx-ses-source-arn: a\r\n\tb\r\n"
        f"{FROM}X-Sesame: stays\r\nIdempotency-Key: k1\r\nDate: d\r\nMessage-ID: <m>\r\n"
        "Resent-Bcc: c\r\n\r\nBcc: in the body\r\n",
    )
    assert (
        sent_bytes(world)
        == (
            f"{FROM}X-Sesame: stays\r\nDate: d\r\nMessage-ID: <m>\r\n\r\nBcc: in the body\r\n"
        ).encode()
    )


def test_a_mailbox_that_is_given_twice_gets_one_copy(world: World) -> None:
    recipients = ("dup@x.example", "DUP@X.example", "b@x.example", "dup@x.example")
    submit(world, FROM + "To: dup@x.example, b@x.example\r\n\r\nHello\r\n", *recipients)
    message = world.message()
    assert (message.to, message.cc, message.bcc) == (("dup@x.example", "b@x.example"), (), ())
    assert world.store.counts[builders.ACCOUNT, window_name("recipients", world.now)] == 2
    world.settle()
    ((_, handed_over, _),) = world.mailer.taken
    assert handed_over == ("dup@x.example", "b@x.example")


@pytest.mark.parametrize(
    ("header", "to", "cc", "bcc"),
    [
        ("To: a@x.example\r\nCc: b@x.example\r\n", ["a"], ["b"], ["c"]),
        ('To: "A, B" <A@X.example>, b@x.example\r\n', ["a", "b"], [], ["c"]),
        ("Cc: b@x.example, c@x.example\r\n", ["b"], ["c"], ["a"]),
        ("Cc: b@x.example\r\n", ["b"], [], ["a", "c"]),
        ("To: undisclosed-recipients:;\r\n", ["a"], [], ["b", "c"]),
        ("To: z@x.example\r\nCc: a@x.example, b@x.example, c@x.example\r\n", ["a"], ["b", "c"], []),
    ],
)
def test_envelope_determines_the_recipients(
    world: World, header: str, to: list[str], cc: list[str], bcc: list[str]
) -> None:
    """The envelope's recipients get the message; those not in To or Cc are blind copies."""
    submit(world, FROM + header + "\r\n", "a@x.example", "b@x.example", "c@x.example")
    message = world.message()
    groups = (message.to, message.cc, message.bcc)
    assert [[address[0] for address in group] for group in groups] == [to, cc, bcc]


def test_free_plans_use_the_default_sender() -> None:
    senders = {builders.SENDER: True, "b@shop.example": True, "z@shop.example": True}
    free = builders.account(plan=Plan.FREE, senders=senders)
    for other in ("b@shop.example", "z@shop.example"):
        assert error_of(World(free), f"From: {other}\r\n\r\n").code == "no_verified_sender"
    submit(World(builders.account(senders=senders)), "From: b@shop.example\r\n\r\n")
    submit(World(free), f"{FROM}\r\n")


def test_the_senders_field_is_checked_but_not_shown() -> None:
    """A message may have a verified Sender too; the history shows the address in From."""
    world = World(builders.account(senders={builders.SENDER: True, "b@shop.example": True}))
    submit(world, FROM + "Sender: b@shop.example\r\n\r\n")
    assert world.message().sender == builders.SENDER


def test_long_names_are_stored_in_part(world: World) -> None:
    """Of a name of over 1,024 characters the history keeps the first 1,024."""
    submit(world, f"From: {'n' * 1_025} <{builders.SENDER}>\r\n\r\n")
    assert world.message().from_name == "n" * 1_024


def test_paid_plans_only() -> None:
    world = World(builders.account(plan=Plan.FREE))
    world.smtp_submission.authenticate(world.live)
    assert (
        refusal(
            SmtpSubmission(world.ports, world.seen, paid_plans_only=True).authenticate, world.live
        ).code
        == "upgrade_required"
    )


def nested(number: int) -> str:
    """Return the start of nested multiparts whose boundaries have a common prefix."""
    boundaries = [f"{'A' * 60}{number:02}{depth}" for depth in range(9)]
    return "".join(
        f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n--{boundary}\r\n'
        for boundary in boundaries
    )


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(
            "Content-Type: multipart/mixed; boundary=B\r\n\r\n"
            + "".join(f"--B\r\n{nested(number)}\r\nx\r\n" for number in range(99))
            + f"--B\r\n\r\n{('A' * 98 + '\r\n') * 5_000}--B--\r\n",
            id="boundaries",
        ),
        pytest.param(f"To: {'a\r\n ' * 10}{'a' * 120_000} <a@x.example>\r\n\r\n", id="name"),
        pytest.param(f"To: {'a@x.example,\r\n ' * 8_000}b@x.example\r\n\r\n", id="addresses"),
        pytest.param(f"Subject: {'=?a?q?' * 20_000}\r\n\r\n", id="words"),
        pytest.param(
            f'Content-Type: application/pdf; name="{("." * 900 + "\r\n ") * 66}x"\r\n\r\n%PDF-',
            id="file name",
        ),
    ],
)
def test_hostile_mail_is_parsed_quickly(world: World, message: str) -> None:
    """Mail whose structure provokes quadratic searches costs little time."""
    started = time.thread_time()
    with contextlib.suppress(ValidationFailed):
        submit(world, FROM + message)
    # It takes tenths of a second; a quadratic search takes half a minute.
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("key", ["", "Idempotency-Key: k\r\n"])
def test_a_fault_at_any_call_keeps_the_promises(when: str, key: str) -> None:
    message = FROM + key + "\r\nHello\r\n"
    undisturbed = World()
    submit(undisturbed, message)
    for position in range(len(undisturbed.gate.calls)):
        for error in (ServiceError("service_unavailable", "planted"), Killed()):
            world = World()
            world.gate.fault = Fault(position, when, error)  # type: ignore[arg-type]
            answered_id = None
            with contextlib.suppress(ServiceError, Killed):
                answered_id = submit(world, message)
            world.gate.fault = None
            committed = set(world.store.messages)
            world.settle()
            delivered = [message.message_id for message, _, _ in world.mailer.taken]
            assert len(delivered) == len(set(delivered)) == len(committed)
            if answered_id:
                assert delivered == [answered_id]
            assert world.used() <= {len(committed), len(committed) + 1}


def test_the_job_holds_the_message_once(world: World) -> None:
    submit(world, FROM + "\r\n")
    mail = world.store.queue[0].mail
    assert mail
    assert isinstance(mail.body, RawBody)
    assert mail.attachments == ()


def keyed(text: str, number: int) -> bytes:
    """Return a message as a program writes it: Date, Message-ID and boundary always differ."""
    mail = EmailMessage()
    mail["From"] = builders.SENDER
    mail["Message-ID"] = f"<{number}@shop.example>"
    mail["Date"] = builders.at(number)
    mail["Idempotency-Key"] = "order-1"
    mail.set_content(text)
    mail.add_alternative(f"<p>{text}", subtype="html")
    mail.set_boundary(f"=={number}==")
    return mail.as_bytes(policy=policy.SMTP)


def test_idempotency_key(world: World) -> None:
    """A retry under a key gets the first message's id; another message is refused."""
    first = submit(world, keyed("Hello", 1))
    assert submit(world, keyed("Hello", 2)) == first
    assert refusal(submit, world, keyed("Hello again", 3)).code == "idempotency_key_mismatch"
    with pytest.raises(ServiceError):
        submit(world, keyed("Hello", 1), "bob@example.com")
    assert len(world.store.messages) == 1
    world.advance(timedelta(hours=24, seconds=1))
    assert submit(world, keyed("Hello", 4)) != first


def test_a_key_with_sources_sends_from_there_only(world: World) -> None:
    """One message and several need the origin; without one the key does not work."""
    key = world.store.keys[digest_of_key(world.live)]
    world.store.keys[key.digest] = replace(key, sources=("192.0.2.0/24",))
    submission = world.smtp_submission
    message = submission.prepare(world.live, (TO,), bytearray(FROM.encode() + b"\r\nHi"))
    for origin in (None, ClientOrigin("192.0.3.1"), ClientOrigin("192.0.2.1")):
        for call in (
            partial(submission.authenticate, world.live),
            partial(submission.submit, world.live, message),
            partial(submission.submit_all, world.live, [message, message]),
        ):
            if origin and origin.client(bool) == "192.0.2.1":
                assert call(origin=origin)
            else:
                assert refusal(call, origin=origin).code == "invalid_api_key"


def test_every_octet_of_a_keyed_message_counts(world: World) -> None:
    submit(world, FROM + "Idempotency-Key: k\r\n\r\n")
    assert (
        refusal(submit, world, FROM.replace("F", "f") + "Idempotency-Key: k\r\n\r\n").code
        == "idempotency_key_mismatch"
    )


def test_a_replay_checks_no_recipients(world: World) -> None:
    """A replay returns the first id even if DNS or a suppression now refuses the recipient."""
    first = submit(world, keyed("Hello", 1))
    world.domains.verdicts["example.com"] = DomainVerdict.NO_MX
    world.store.suppressed[builders.ACCOUNT, TO] = "bounced"
    assert submit(world, keyed("Hello", 2)) == first
