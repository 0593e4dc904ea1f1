"""Several emails of one request: `commit_all`, `get_all`, `put_all` and `Claims.finish`."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from pillarbox.application.ports import Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.messages.attachment import Attachment
from tests.claims import acquire_or_replay
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, HASH, NOW, at
from tests.ports.implementations import Ports
from tests.refusals import refusal

#: One response is stored as text, the other compressed.
RESPONSES = [
    StoredResponse('{"messageId":"ü"}'),
    StoredResponse(json.dumps([f"ü{n}" for n in range(1000)])),
]


def acquire(ports: Ports, now: datetime = NOW) -> Claim:
    claim = acquire_or_replay(ports.claims, ports.messages, HASH, now, batch=2)
    assert isinstance(claim, Claim)
    return claim


def response(ports: Ports, now: datetime) -> Claim | StoredResponse:
    return acquire_or_replay(ports.claims, ports.messages, HASH, now, batch=2)


def test_records_of_an_earlier_try_stay(ports: Ports) -> None:
    """An existing record that has changed since stays unchanged; missing records are put."""
    first, second, third = (builders.message() for _ in range(3))
    ports.messages.commit_all([first, second])
    leased = ports.messages.lease(ACCOUNT, second.message_id, HASH, "worker", at(1))
    assert not isinstance(leased, LeaseRefusal)
    ports.messages.commit_all([first, second, third])
    ports.messages.commit_all([first, second, third])
    ids = [message.message_id for message in (first, second, third)]
    assert ports.messages.get_all(ACCOUNT, ids) == dict(
        zip(ids, (first, leased, third), strict=True)
    )


def test_jobs_are_queued_together(ports: Ports) -> None:
    """More jobs than one call takes are queued with their emails, large ones in the spool."""
    large = builders.mail(attachments=(Attachment("a.bin", "text/plain", "QUJD" * 100_000),))
    mails = [builders.mail(subject=f"Number {n}") for n in range(12)] + [large] * 2
    messages = [builders.message() for _ in mails]
    jobs = [builders.job(message, mail=None) for message in messages]

    assert ports.jobs.put_all(list(zip(jobs, mails, strict=True))) == frozenset()

    assert ports.spooled() == 2
    received = []
    while batch := ports.receive():
        received += batch
    loaded = {job.message_id: ports.jobs.load(job) for job in received}
    assert loaded == dict(zip([m.message_id for m in messages], mails, strict=True))
    assert ports.jobs.put_all([]) == frozenset()


@pytest.mark.parametrize("stored", RESPONSES)
def test_a_finished_claim_replays(ports: Ports, stored: StoredResponse) -> None:
    ports.claims.finish(acquire(ports), stored)
    assert response(ports, at(40)) == replace(stored, replayed=True)


def test_a_claim_is_finished_once(ports: Ports) -> None:
    """Neither a second finish of its owner nor a release changes the response of a claim."""
    claim = acquire(ports)
    for stored in RESPONSES:
        ports.claims.finish(claim, stored)
    ports.claims.release(claim)
    assert response(ports, NOW) == replace(RESPONSES[0], replayed=True)


def test_a_stale_owner_finishes_nothing(ports: Ports) -> None:
    stale, owner = acquire(ports), acquire(ports, at(65))
    ports.claims.finish(stale, RESPONSES[1])
    assert refusal(acquire, ports, at(66)).code == "idempotency_in_flight"
    ports.claims.finish(owner, RESPONSES[0])
    ports.claims.finish(stale, RESPONSES[1])
    assert response(ports, at(67)) == replace(RESPONSES[0], replayed=True)
