"""Messages over SMTP: the rules of HTTP, the bytes sent, retries under a key, faults, groups."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from email import policy
from email.message import EmailMessage
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.delivery.build_message import build_raw
from pillarbox.application.ports import DomainVerdict
from pillarbox.application.sending.smtp import SmtpMessage, SmtpSubmission
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import Limits, window_name
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.message import Message
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


SMALL = 50_000

KEY = "Idempotency-Key: k\r\n"


def prepare(world: World, number: int, sender: str = builders.SENDER, to: str = TO) -> SmtpMessage:
    octets = f"From: {sender}\r\nSubject: Number {number}\r\n\r\nHello\r\n".encode()
    return world.smtp_submission.prepare(world.live, (to,), bytearray(octets))


def submit_all(world: World, messages: Sequence[SmtpMessage]) -> Sequence[str | ServiceError]:
    return world.smtp_submission.submit_all(world.live, messages)


def codes(outcomes: Sequence[str | ServiceError]) -> list[str | None]:
    return [item.code if isinstance(item, ServiceError) else None for item in outcomes]


def test_a_group_is_accepted_in_one_call_for_each_step(world: World) -> None:
    """Five messages take one read, one reservation, one call of the queue and one commit."""
    ready = [prepare(world, number) for number in range(5)]
    world.gate.calls.clear()
    outcomes = submit_all(world, ready)
    assert [name.partition(".")[2] for name in world.gate.calls] == [
        "look_up",
        "reserve",
        "put_all",
        "commit_all",
    ]
    ids = [UUID(outcome) for outcome in outcomes if isinstance(outcome, str)]
    subjects = [world.store.messages[builders.ACCOUNT, message_id].subject for message_id in ids]
    assert subjects == [f"Number {number}" for number in range(5)]
    assert [job.message_id for job in world.store.queue] == ids
    assert world.used() == {5}


def test_each_message_of_a_group_is_checked_by_itself(world: World) -> None:
    """An unverified sender or a suppressed recipient refuses only its own message."""
    world.store.suppressed[builders.ACCOUNT, "bob@example.com"] = "bounced"
    outcomes = submit_all(
        world,
        [
            prepare(world, 0),
            prepare(world, 1, sender="stranger@shop.example"),
            prepare(world, 2, to="bob@example.com"),
            prepare(world, 3),
        ],
    )
    assert codes(outcomes) == [None, "no_verified_sender", "recipient_suppressed", None]
    assert {str(message_id) for _, message_id in world.store.messages} == {
        outcomes[0],
        outcomes[3],
    }
    assert world.used() == {2}


def test_a_refund_goes_to_the_minute_of_the_reservation(world: World) -> None:
    ready, world.now = [prepare(world, number) for number in range(2)], builders.at(60)
    moments = iter([builders.NOW, world.now])
    world.gate.refuse("jobs.put_all")
    ports = replace(world.ports, clock=lambda: next(moments))
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert (codes(outcomes), world.used()) == (["service_unavailable"] * 2, {0})


def test_a_refusal_names_the_quota_window_that_is_full() -> None:
    """Once a group uses up the day's quota, the refusals name the day, not the minute."""
    limits = Limits(per_minute=5, per_day=4, per_month=None)
    world = World(builders.account(overrides=limits))
    submit_all(world, [prepare(world, 0)])
    outcomes = submit_all(world, [prepare(world, number) for number in range(1, 7)])
    details = [item.details if isinstance(item, ServiceError) else None for item in outcomes]
    assert details == [None] * 3 + [{"limit_per_day": 4}] * 3


@pytest.mark.parametrize("failing", ["jobs.put_all", "messages.commit_all"])
def test_a_message_over_quota_keeps_its_error_when_a_later_step_fails(
    world: World, failing: str
) -> None:
    world.limit(2)
    ready = [prepare(world, number) for number in range(4)]
    world.gate.refuse(failing)
    outcomes = submit_all(world, ready)
    assert codes(outcomes) == ["service_unavailable"] * 2 + ["rate_limit_exceeded"] * 2


@pytest.mark.parametrize("withdrawing", [True, False])
def test_each_message_of_a_group_that_failed_in_part_has_its_outcome(
    world: World, *, withdrawing: bool
) -> None:
    """What was put before the error is accepted; the rest is refused and refunded.

    Nothing is accepted later under the ids of the rest, unless no tombstone can be put either.
    """
    ready, ports = [prepare(world, number) for number in range(3)], world.ports
    put, left = ports.messages.commit_all, list[Message]()

    def put_two(messages: Sequence[Message]) -> None:
        put(messages[:2])
        left.extend(messages[2:])
        raise ServiceError("service_unavailable", "planted")

    vars(ports.messages)["commit_all"] = put_two
    if not withdrawing:
        world.gate.refuse("messages.withdraw")
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert codes(outcomes) == [None, None, "service_unavailable"]
    assert world.used() == {2}
    assert put(left) == {message.message_id for message in left if withdrawing}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fault_at_any_call_of_a_group_keeps_the_promises(when: str) -> None:
    undisturbed = World()
    ready = [prepare(undisturbed, number) for number in range(3)]
    undisturbed.gate.calls.clear()
    submit_all(undisturbed, ready)
    for position in range(len(undisturbed.gate.calls)):
        for error in (ServiceError("service_unavailable", "planted"), Killed()):
            world = World()
            ready = [prepare(world, number) for number in range(3)]
            world.gate.calls.clear()
            world.gate.fault = Fault(position, when, error)  # type: ignore[arg-type]
            outcomes: Sequence[Any] = ()
            with contextlib.suppress(ServiceError, Killed):
                outcomes = submit_all(world, ready)
            world.gate.fault = None
            committed = {str(message_id) for _, message_id in world.store.messages}
            world.settle()
            delivered = [str(message.message_id) for message, _, _ in world.mailer.taken]
            assert sorted(delivered) == sorted(committed)
            assert {item for item in outcomes if isinstance(item, str)} <= set(delivered)
            if outcomes:
                assert {item for item in outcomes if isinstance(item, str)} == committed
            assert max(world.used()) in {len(committed), 3}


@pytest.mark.parametrize(
    ("head", "size", "groupable"),
    [("", 100, True), ("", SMALL, True), ("", SMALL + 1, False), (KEY, 100, False)],
)
def test_only_small_messages_without_a_key_are_groupable(
    head: str, size: int, *, groupable: bool
) -> None:
    """Large messages and those with an idempotency key are accepted by themselves."""
    start = f"From: {builders.SENDER}\r\n{head}\r\n"
    octets = bytearray(f"{start}{'x' * (size - len(start))}".encode())
    world = World()
    assert world.smtp_submission.prepare(world.live, (TO,), octets).groupable is groupable


@pytest.mark.parametrize(
    ("head", "preparing", "submitting"),
    [("", ["domains.look_up"], []), (KEY, [], ["domains.look_up"])],
    ids=["groupable", "by itself"],
)
def test_the_domains_of_a_message_are_looked_up_once(
    world: World, head: str, preparing: list[str], submitting: list[str]
) -> None:
    """A message of a group is checked before it joins the group, another one under its claim."""
    octets = f"From: {builders.SENDER}\r\n{head}\r\nHello\r\n".encode()
    submission = world.smtp_submission
    ready = submission.prepare(world.live, (TO,), bytearray(octets))
    assert world.gate.calls == preparing
    world.gate.calls.clear()
    submission.submit(world.live, ready)
    assert [call for call in world.gate.calls if call == "domains.look_up"] == submitting
    if submitting:
        assert world.gate.calls.index("claims.put") < world.gate.calls.index("domains.look_up")
