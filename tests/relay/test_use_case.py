"""The server with the real use case and stores: reply codes from end to end.

What becomes of a message, its key and its faults is tested with the use case
(test_application_smtp.py and its neighbours).
"""

import re
import smtplib
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.domain.accounts.quota import Limits
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World
from tests.loops import for_each
from tests.relay.running_relay import (
    MESSAGE,
    PATIENCE,
    SENDER,
    TO,
    RunningRelay,
    plain,
    serve,
)
from tests.stack import wait_for


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def relay(world: World) -> Iterator[RunningRelay]:
    with serve(service=ThreadedService(lambda: world.smtp_submission)) as relay:
        yield relay


def refusal(client: smtplib.SMTP, message: bytes = MESSAGE, to: str = TO) -> tuple[int, bytes]:
    """Return the code and enhanced status that a message gets after DATA."""
    with pytest.raises(smtplib.SMTPDataError) as error:
        client.sendmail(SENDER, [to], message)
    assert isinstance(error.value.smtp_error, bytes)
    return error.value.smtp_code, error.value.smtp_error.split()[0]


def test_each_rule_has_its_reply(relay: RunningRelay, world: World) -> None:
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    world.domains.verdicts["null.example"] = DomainVerdict.NULL_MX
    world.store.suppressed[builders.ACCOUNT, "gone@example.com"] = "bounced"
    with relay.log_in(world.live) as client:
        assert refusal(client, to="a@nomx.example") == (550, b"5.1.2")
        assert refusal(client, to="a@null.example") == (556, b"5.1.10")
        assert refusal(client, to="gone@example.com") == (550, b"5.7.1")
        assert refusal(client, b"Subject: x\r\n\r\n") == (550, b"5.7.1")
        assert refusal(client, b"From: x@y.example\r\n\r\n") == (550, b"5.7.1")
        start = f"From: {SENDER}\r\n".encode()
        assert refusal(client, start + b"Content-Type: a/b\r\n\r\n") == (554, b"5.7.1")
        assert refusal(client, start + b"Received: x\r\n" * 101 + b"\r\n") == (554, b"5.4.6")
        assert refusal(client, start + b"X: " + b"x\r\n " * 2**19 + b"\r\n") == (554, b"5.6.0")
        client.sendmail(SENDER, [TO], nested(10) + b"\r\nallowed\r\n")
    assert len(world.store.messages) == 1


def lines_of(client: smtplib.SMTP, recipients: list[str], message: bytes = MESSAGE) -> list[str]:
    """Return the lines of the reply that a message gets after DATA, without the code."""
    with pytest.raises(smtplib.SMTPDataError) as error:
        client.sendmail(SENDER, recipients, message)
    assert isinstance(error.value.smtp_error, bytes)
    return error.value.smtp_error.decode("ascii").splitlines()


def test_refused_recipients_are_named(relay: RunningRelay, world: World) -> None:
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    with relay.log_in(world.live) as client:
        assert lines_of(client, [TO, "y@nomx.example"]) == [
            "5.1.2 <y@nomx.example> the domain accepts no mail: it has no MX record",
            "5.1.2 One recipient of this email is refused; nothing was sent.",
        ]
    assert not world.store.messages


@for_each(
    ("reason", "words"),
    [
        ("bounced", "an earlier email to it bounced permanently"),
        ("complained", "it reported an earlier email as unwanted"),
        ("manual", "the operator suppressed it"),
    ],
)
def test_why_a_recipient_is_suppressed(
    relay: RunningRelay, world: World, reason: str, words: str
) -> None:
    world.store.suppressed[builders.ACCOUNT, "gone@example.com"] = reason
    with relay.log_in(world.live) as client:
        assert lines_of(client, ["gone@example.com"]) == [
            f"5.7.1 <gone@example.com> {words}",
            "5.7.1 One recipient of this email is refused; nothing was sent.",
        ]


def test_ten_refused_recipients_are_named(relay: RunningRelay, world: World) -> None:
    """A reply names ten recipients and counts all. With several kinds of reason it has 5.1.2."""
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    world.domains.verdicts["null.example"] = DomainVerdict.NULL_MX
    others = [f"a{number}@nomx.example" for number in range(11)]
    with relay.log_in(world.live) as client:
        lines = lines_of(client, ["a@null.example", *others])
    assert len(lines) == 11
    assert all(line.startswith("5.1.2 ") for line in lines)
    assert [line.split()[1] for line in lines[:2]] == ["<a@null.example>", "<a0@nomx.example>"]
    assert lines[-1] == "5.1.2 12 recipients of this email are refused; nothing was sent."


@for_each(
    ("header", "text"),
    [
        ("From: x@y.example", "From: x@y.example is not a verified sender of this account; its"),
        (f"From: {SENDER}\r\nSender: root@h", "Sender: root@h: the domain is not a public name."),
        ("From: a@b.example, c@d.example", "From: must be one address, with or without a name."),
        ("Subject: x", "A message has one From field, and at most one Sender field; this one has"),
        (f"From: {SENDER}\r\nTo: Ann <ann@x.example>, root", '"root" is none'),
        (f"From: {SENDER}\r\nCc: a@x.example\r\ncc: b@x.example", "Cc: occurs 2 times"),
        (f'From: {SENDER}\r\nCc: "a, b" <a@x.example>, "' + "x" * 99, "x" * 62),
    ],
)
def test_a_refused_field_is_named(
    relay: RunningRelay, world: World, header: str, text: str
) -> None:
    with relay.log_in(world.live) as client:
        (line,) = lines_of(client, [TO], f"{header}\r\n\r\n".encode())
    assert text in line


START = f"From: {SENDER}\r\n".encode()


def nested(depth: int) -> bytes:
    """Return the start of a message with nested multiparts."""
    return START + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level)
        for level in range(depth)
    )


@for_each(
    ("message", "reply"),
    [
        (START + START + b"\r\n", (550, b"5.7.1")),
        (f"From: {SENDER}, b@shop.example\r\n\r\n".encode(), (550, b"5.7.1")),
        (START + b"Sender: x@y.example\r\n\r\n", (550, b"5.7.1")),
        (f"From: {SENDER} <x@shop.example>\r\n\r\n".encode(), (550, b"5.7.1")),
        (f"From: x@shop.example ({SENDER})\r\n\r\n".encode(), (550, b"5.7.1")),
        (START + f"Sender: {SENDER}\r\n".encode() * 2 + b"\r\n", (550, b"5.7.1")),
        (START + b"From : x@y.example\r\n\r\n", (554, b"5.6.0")),
        (START + b"Cc: x@y.example\r\nCC: z@y.example\r\n\r\n", (554, b"5.6.0")),
        (START + b"To: root\r\n\r\n", (554, b"5.6.0")),
        (nested(1) + b"Content-Type: image/png; name=a.exe\r\n\r\nx\r\n", (554, b"5.7.1")),
        (nested(1) + b"Content-Type: image/png; name=CON\r\n\r\nx\r\n", (554, b"5.6.0")),
        (START + b"no field\r\n\r\n", (554, b"5.6.0")),
        (START + b"X: x\r\n" * 1_001 + b"\r\n", (554, b"5.6.0")),
        (START + b"Content-Type: text/plain\r\n" * 2 + b"\r\n", (554, b"5.6.0")),
        (nested(11) + b"\r\nx\r\n", (554, b"5.6.0")),
        (nested(1_000) + b"\r\nx\r\n", (554, b"5.6.0")),
        (nested(1) + b"\r\n--b0\r\n" * 250, (554, b"5.6.0")),
        (nested(1) + b"Content-Type: application/pdf\r\n\r\n\r\n--b0\r\n" * 11, (554, b"5.7.1")),
        (nested(1) + b"Content-Type: message/rfc822\r\n\r\nX: y\r\n", (554, b"5.7.1")),
        (nested(1) + b"Content-Type: image/png\r\n\r\nMZ\r\n", (554, b"5.7.1")),
        (
            nested(1) + b"Content-Type: image/png\r\n\r\n" + b"x\r\n" * (5 * 2**20 // 3 + 1),
            (552, b"5.3.4"),
        ),
        (START + b"Idempotency-Key: " + b"k" * 257 + b"\r\n\r\n", (554, b"5.6.0")),
        (START + b"Idempotency-Key: a b\r\n\r\n", (554, b"5.6.0")),
        (START + b"Idempotency-Key: a\r\n" * 2 + b"\r\n", (554, b"5.6.0")),
        (START + b"Content-Type: multipart/mixed\r\n\r\n", (554, b"5.6.0")),
        (nested(1) + b"Content-Type: text/html; name=a.html\r\n\r\n<p>\r\n", (554, b"5.7.1")),
        (nested(1) + b"Content-Type: application/pdf\r\n\r\n\x7fELF\r\n", (554, b"5.7.1")),
    ],
)
def test_refused_messages(
    relay: RunningRelay, world: World, message: bytes, reply: tuple[int, bytes]
) -> None:
    """Other authors, ambiguous structures, and too many or wrong files are refused as a whole."""
    with relay.log_in(world.live) as client:
        assert refusal(client, message) == reply
    assert not world.store.messages


def test_name_of_a_file_in_a_reply(relay: RunningRelay, world: World) -> None:
    named = 'Content-Type: a/b; name="\x1b[31m\x7f\u202ex' + "\xe9" * 450 + '"\r\n\r\n'
    with relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain(world.live)}").startswith(b"235 ")
        reply = client.deliver(START + named.encode())
    assert re.fullmatch(rb"554 5\.7\.1 \?\[31m\?\?x\?[ -~]*\r\n", reply)
    assert len(reply) <= 512


def test_keys_that_may_not_send_get_the_same_reply(relay: RunningRelay, world: World) -> None:
    """Preview, read-only, revoked, unknown and malformed keys all get the same 535 5.7.8."""
    keys = {name: builders.key_text() for name in ("read-only", "revoked", "unknown")}
    read_only = replace(builders.api_key(keys["read-only"]), scopes=frozenset({EMAILS_READ}))
    revoked = replace(builders.api_key(keys["revoked"]), revoked_at=builders.NOW)
    world.store.keys.update({key.digest: key for key in (read_only, revoked)})
    replies = set()
    for key in (world.preview, *keys.values(), "", "bx_live_", world.live[:-1], world.live + "x"):
        with relay.connect_tls() as client:
            replies.add(client.command(f"AUTH PLAIN {plain(key)}"))
    (reply,) = replies
    assert reply.startswith(b"535 5.7.8 ")


@pytest.mark.parametrize(("key", "records"), [(b"", 2), (b"Idempotency-Key: order-1\r\n", 1)])
def test_client_disconnects_before_its_250(
    relay: RunningRelay, world: World, key: bytes, records: int
) -> None:
    """A message whose 250 is lost is sent once; a retry is a second message unless it has a key."""
    committing, continue_commit = threading.Event(), threading.Event()

    def hold(call: str) -> None:
        if call.startswith("messages."):
            committing.set()
            assert continue_commit.wait(PATIENCE)

    with relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain(world.live)}").startswith(b"235 ")
        world.gate.watch = hold
        client.envelope()
        client.send(key + MESSAGE + b".\r\n")
        assert committing.wait(PATIENCE)
    continue_commit.set()
    wait_for(lambda: relay.budget.used == 0, PATIENCE)
    first = world.message().message_id
    with relay.log_in(world.live) as again:
        again.mail(SENDER)
        again.rcpt(TO)
        code, text = again.data(key + MESSAGE)
    assert code == 250
    assert (str(first) == text.decode().rpartition(" ")[2]) == (records == 1)
    world.settle()
    assert len(world.store.messages) == len(world.mailer.taken) == records


def test_each_recipient_is_refused_for_itself(relay: RunningRelay, world: World) -> None:
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    world.store.suppressed[builders.ACCOUNT, "gone@example.com"] = "bounced"
    with relay.log_in(world.live, "apikey+each") as client:
        failed = client.sendmail(SENDER, ["gone@example.com", "a@nomx.example", TO], MESSAGE)
    assert {address: reply[1].split()[0] for address, reply in failed.items()} == {
        "gone@example.com": b"5.7.1",
        "a@nomx.example": b"5.1.2",
    }
    assert world.message().recipients == (TO,)


def test_a_delivery_report_needs_a_verified_from(relay: RunningRelay, world: World) -> None:
    """`MAIL FROM:<>` (RFC 5321, 4.5.5) is accepted with a From that the account may use."""
    with relay.log_in(world.live) as client:
        assert client.sendmail("", [TO], MESSAGE) == {}
        stranger = MESSAGE.replace(SENDER.encode(), b"stranger@shop.example")
        client.mail("")
        client.rcpt(TO)
        assert client.data(stranger)[0] == 550


def test_quotas(relay: RunningRelay, world: World) -> None:
    """An exhausted minute quota gets 451 4.7.1, an exhausted day quota 452 4.7.1."""
    with relay.log_in(world.live) as client:
        world.set_account(
            builders.account(overrides=Limits(per_minute=0, per_day=None, per_month=None))
        )
        assert refusal(client) == (451, b"4.7.1")
        world.set_account(
            builders.account(overrides=Limits(per_minute=None, per_day=0, per_month=None))
        )
        assert refusal(client) == (452, b"4.7.1")


def test_key_revoked_between_two_messages(relay: RunningRelay, world: World) -> None:
    with relay.log_in(world.live) as client:
        client.sendmail(SENDER, [TO], MESSAGE)
        for digest, key in world.store.keys.items():
            world.store.keys[digest] = replace(key, revoked_at=builders.NOW)
        with pytest.raises(smtplib.SMTPResponseException) as error:
            client.sendmail(SENDER, [TO], MESSAGE)
        assert error.value.smtp_code == 421
    assert len(world.store.messages) == 1
