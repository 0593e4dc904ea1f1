"""The server over the use-case itself, with fakes for what lies behind: codes from end to end."""

import smtplib
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from pillarbox.application.ports import DomainVerdict
from pillarbox.application.relaying import Relaying
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import Limits
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import Fault, World
from tests.relay.served import MESSAGE, PATIENCE, SENDER, TO, Served, serve, trusting


@pytest.fixture
def world() -> World:
    """The service of one account."""
    return World()


@pytest.fixture
def relay(world: World) -> Iterator[Served]:
    """A server over it."""
    with serve(service=ThreadedService(lambda: Relaying(world.submission))) as served:
        yield served


def login(relay: Served, key: str) -> smtplib.SMTP:
    client = smtplib.SMTP("127.0.0.1", relay.port, timeout=PATIENCE)
    client.starttls(context=trusting())
    client.login("apikey", key)
    return client


def refusal(client: smtplib.SMTP, message: bytes = MESSAGE, to: str = TO) -> tuple[int, bytes]:
    """The code and enhanced status that a message gets after DATA."""
    with pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail(SENDER, [to], message)
    assert isinstance(refused.value.smtp_error, bytes)
    return refused.value.smtp_code, refused.value.smtp_error.split()[0]


def test_id_of_the_reply_is_in_the_history(relay: Served, world: World) -> None:
    """The queue id of the 250 is the id of the message's record."""
    with login(relay, world.live) as client:
        client.mail(SENDER)
        client.rcpt(TO)
        code, text = client.data(MESSAGE)
    assert code == 250
    assert world.message().message_id == UUID(text.decode().rpartition(" ")[2])


def test_each_rule_has_its_reply(relay: Served, world: World) -> None:
    """Senders, MX, suppressions, attachments, loops and structure: the codes of the rules."""
    world.domains.verdicts["nomx.example"] = DomainVerdict.NO_MX
    world.domains.verdicts["null.example"] = DomainVerdict.NULL_MX
    world.store.suppressed[builders.ACCOUNT, "gone@example.com"] = "bounced"
    with login(relay, world.live) as client:
        assert refusal(client, to="a@nomx.example") == (550, b"5.1.2")
        assert refusal(client, to="a@null.example") == (556, b"5.1.10")
        assert refusal(client, to="gone@example.com") == (550, b"5.7.1")
        assert refusal(client, b"Subject: x\r\n\r\n") == (550, b"5.7.1")
        assert refusal(client, b"From: x@y.example\r\n\r\n") == (550, b"5.7.1")
        start = f"From: {SENDER}\r\n".encode()
        assert refusal(client, start + b"Content-Type: a/b\r\n\r\n") == (554, b"5.7.1")
        assert refusal(client, start + b"Received: x\r\n" * 101 + b"\r\n") == (554, b"5.4.6")
        assert refusal(client, start + b"X: " + b"x\r\n " * 2**19 + b"\r\n") == (554, b"5.6.0")
        client.sendmail(SENDER, [TO], MESSAGE)
    assert len(world.store.messages) == 1


def test_quotas(relay: Served, world: World) -> None:
    """A full minute is 451 4.7.1, a full day 452 4.7.1."""
    with login(relay, world.live) as client:
        world.set_account(
            builders.account(overrides=Limits(per_minute=0, per_day=None, per_month=None))
        )
        assert refusal(client) == (451, b"4.7.1")
        world.set_account(
            builders.account(overrides=Limits(per_minute=None, per_day=0, per_month=None))
        )
        assert refusal(client) == (452, b"4.7.1")


def test_key_revoked_between_two_messages(relay: Served, world: World) -> None:
    """A key that is revoked in a session ends it at the next message: 421 4.7.0."""
    with login(relay, world.live) as client:
        client.sendmail(SENDER, [TO], MESSAGE)
        for digest, key in world.store.keys.items():
            world.store.keys[digest] = replace(key, revoked_at=builders.NOW)
        with pytest.raises(smtplib.SMTPResponseException) as refused:
            client.sendmail(SENDER, [TO], MESSAGE)
        assert refused.value.smtp_code == 421
    assert len(world.store.messages) == 1


@pytest.mark.parametrize("position", range(1, 6))
def test_backend_away(relay: Served, world: World, position: int) -> None:
    """Whichever call of an acceptance fails, the client gets 451 4.3.0 and nothing is there."""
    # The first call is the login's, the sixth the commit.
    world.gate.fault = Fault(position, "before", ServiceError("service_unavailable", "planted"))
    with login(relay, world.live) as client:
        assert refusal(client) == (451, b"4.3.0")
    assert not world.store.messages


def test_commit_whose_answer_is_lost(relay: Served, world: World) -> None:
    """A commit that succeeded unheard is a 250: it is looked for before anything is said."""
    world.gate.fault = Fault(5, "after", ServiceError("service_unavailable", "planted"))
    with login(relay, world.live) as client:
        client.sendmail(SENDER, [TO], MESSAGE)
    assert len(world.store.messages) == 1


def test_same_key_over_both_doors(relay: Served, world: World) -> None:
    """An Idempotency-Key of SMTP is another operation than the same key over HTTP."""
    keyed = b"Idempotency-Key: order-1\r\n" + MESSAGE
    with login(relay, world.live) as client:
        client.sendmail(SENDER, [TO], keyed)
        client.sendmail(SENDER, [TO], keyed)
        assert refusal(client, keyed + b"more\r\n") == (554, b"5.5.0")
    assert len(world.store.messages) == 1
