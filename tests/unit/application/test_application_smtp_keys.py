"""Messages over SMTP with an Idempotency-Key: retries and replays."""

from dataclasses import replace
from datetime import timedelta
from email import policy
from email.message import EmailMessage
from functools import partial

import pytest

from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.fakes.world import World
from tests.refusals import refusal
from tests.unit.application.test_application_smtp import FROM, TO, submit


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
