"""Many mails of one request: `commit_all`, `get_all`, `put_all`, and the claim's `finish`."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from pillarbox.application.ports import Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.attachment import Attachment
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW, at
from tests.ports.implementations import Ports

ELSEWHERE = "acct00000002"
#: Stored as it is, and stored compressed.
ANSWERS = [
    StoredResponse('{"messageId":"ü"}'),
    StoredResponse(json.dumps([f"ü{n}" for n in range(1000)])),
]


def take(ports: Ports, now: datetime = NOW) -> Claim:
    claim = ports.claims.acquire(ACCOUNT, DIGEST, HASH, now)
    assert isinstance(claim, Claim)
    return claim


@pytest.mark.parametrize("count", [1, 2, 100])
def test_records_are_put_together(ports: Ports, count: int) -> None:
    """Up to 100 records are put, and each reads back as it was written."""
    messages = [builders.message(subject=f"Number {n}") for n in range(count)]
    ports.messages.commit_all(messages)
    ids = [message.message_id for message in messages]
    assert ports.messages.get_all(ACCOUNT, ids) == dict(zip(ids, messages, strict=True))


def test_no_records_are_no_write(ports: Ports) -> None:
    """An empty group is put and read without an error."""
    ports.messages.commit_all([])
    assert ports.messages.get_all(ACCOUNT, []) == {}


def test_what_an_earlier_try_put_stays(ports: Ports) -> None:
    """A record that is there, and has gone on since, is left as it is; the others are put."""
    first, second, third = (builders.message() for _ in range(3))
    ports.messages.commit_all([first, second])
    taken = ports.messages.lease(ACCOUNT, second.message_id, HASH, "worker", at(1))
    assert not isinstance(taken, LeaseRefusal)
    ports.messages.commit_all([first, second, third])
    ports.messages.commit_all([first, second, third])
    ids = [message.message_id for message in (first, second, third)]
    assert ports.messages.get_all(ACCOUNT, ids) == dict(
        zip(ids, (first, taken, third), strict=True)
    )


def test_absent_and_foreign_records_are_left_out(ports: Ports) -> None:
    """Of the ids that are asked for only the account's own are given."""
    own, foreign = builders.message(), builders.message(account_id=ELSEWHERE)
    ports.messages.commit_all([own])
    ports.messages.commit_all([foreign])
    asked = [foreign.message_id, own.message_id, builders.message().message_id]
    assert ports.messages.get_all(ACCOUNT, asked) == {own.message_id: own}


def test_jobs_are_queued_together(ports: Ports) -> None:
    """Jobs beyond one call's ten are queued all, each with its mail, large ones in the spool."""
    large = builders.mail(attachments=(Attachment("a.bin", "text/plain", "QUJD" * 100_000),))
    mails = [builders.mail(subject=f"Number {n}") for n in range(12)] + [large] * 2
    messages = [builders.message() for _ in mails]
    jobs = [builders.job(message, mail=None) for message in messages]

    assert ports.jobs.put_all(list(zip(jobs, mails, strict=True))) == frozenset()

    assert ports.spooled() == 2
    received = []
    while batch := ports.receive():
        received += batch
    brought = {job.message_id: ports.jobs.load(job) for job in received}
    assert brought == dict(zip([m.message_id for m in messages], mails, strict=True))
    assert ports.jobs.put_all([]) == frozenset()


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_finished_claim_replays(ports: Ports, answer: StoredResponse) -> None:
    """The answer that ended a claim is given to the same request byte for byte."""
    ports.claims.finish(take(ports), answer)
    assert ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(40)) == replace(answer, replayed=True)


def test_a_claim_is_finished_once(ports: Ports) -> None:
    """What a claim was answered stays its answer, though its owner finishes it once more."""
    claim = take(ports)
    for answer in ANSWERS:
        ports.claims.finish(claim, answer)
    assert ports.claims.release(claim) == ANSWERS[0]


def test_a_finished_claim_is_not_released(ports: Ports) -> None:
    """Who releases what it had finished hears the answer, and it stays."""
    claim = take(ports)
    ports.claims.finish(claim, ANSWERS[0])
    assert ports.claims.release(claim) == ANSWERS[0]
    assert ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(1)) == replace(ANSWERS[0], replayed=True)


def test_a_stale_owner_finishes_nothing(ports: Ports) -> None:
    """Who was taken over cannot give the answer, before or after its successor (promise 4)."""
    stale, owner = take(ports), take(ports, at(35))
    ports.claims.finish(stale, ANSWERS[1])
    with pytest.raises(ServiceError) as error:
        ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(36))
    assert error.value.code == "idempotency_in_flight"
    ports.claims.finish(owner, ANSWERS[0])
    ports.claims.finish(stale, ANSWERS[1])
    assert ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(37)) == replace(ANSWERS[0], replayed=True)


def test_a_released_claim_stays_released(ports: Ports) -> None:
    """An answer that comes after the release leaves the key free."""
    claim = take(ports)
    ports.claims.release(claim)
    ports.claims.finish(claim, ANSWERS[0])
    assert take(ports, at(1)).generation != claim.generation
