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
from tests.ports.sides import Side

ELSEWHERE = "acct00000002"
#: Stored as it is, and stored compressed.
ANSWERS = [
    StoredResponse('{"messageId":"ü"}'),
    StoredResponse(json.dumps([f"ü{n}" for n in range(1000)])),
]


def take(side: Side, now: datetime = NOW) -> Claim:
    claim = side.claims.acquire(ACCOUNT, DIGEST, HASH, now)
    assert isinstance(claim, Claim)
    return claim


@pytest.mark.parametrize("count", [1, 2, 100])
def test_records_are_put_together(side: Side, count: int) -> None:
    """Up to 100 records are put, and each reads back as it was written."""
    messages = [builders.message(subject=f"Number {n}") for n in range(count)]
    side.messages.commit_all(messages)
    ids = [message.message_id for message in messages]
    assert side.messages.get_all(ACCOUNT, ids) == dict(zip(ids, messages, strict=True))


def test_no_records_are_no_write(side: Side) -> None:
    """An empty group is put and read without an error."""
    side.messages.commit_all([])
    assert side.messages.get_all(ACCOUNT, []) == {}


def test_what_an_earlier_try_put_stays(side: Side) -> None:
    """A record that is there, and has gone on since, is left as it is; the others are put."""
    first, second, third = (builders.message() for _ in range(3))
    side.messages.commit_all([first, second])
    taken = side.messages.lease(ACCOUNT, second.message_id, HASH, "worker", at(1))
    assert not isinstance(taken, LeaseRefusal)
    side.messages.commit_all([first, second, third])
    side.messages.commit_all([first, second, third])
    ids = [message.message_id for message in (first, second, third)]
    assert side.messages.get_all(ACCOUNT, ids) == dict(zip(ids, (first, taken, third), strict=True))


def test_absent_and_foreign_records_are_left_out(side: Side) -> None:
    """Of the ids that are asked for only the account's own are given."""
    own, foreign = builders.message(), builders.message(account_id=ELSEWHERE)
    side.messages.commit_all([own])
    side.messages.commit_all([foreign])
    asked = [foreign.message_id, own.message_id, builders.message().message_id]
    assert side.messages.get_all(ACCOUNT, asked) == {own.message_id: own}


def test_jobs_are_queued_together(side: Side) -> None:
    """Jobs beyond one call's ten are queued all, each with its mail, large ones in the spool."""
    large = builders.mail(attachments=(Attachment("a.bin", "text/plain", "QUJD" * 100_000),))
    mails = [builders.mail(subject=f"Number {n}") for n in range(12)] + [large] * 2
    messages = [builders.message() for _ in mails]
    jobs = [builders.job(message, mail=None) for message in messages]

    assert side.jobs.put_all(list(zip(jobs, mails, strict=True))) == frozenset()

    assert side.spooled() == 2
    received = []
    while batch := side.receive():
        received += batch
    brought = {job.message_id: side.jobs.load(job) for job in received}
    assert brought == dict(zip([m.message_id for m in messages], mails, strict=True))
    assert side.jobs.put_all([]) == frozenset()


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_finished_claim_replays(side: Side, answer: StoredResponse) -> None:
    """The answer that ended a claim is given to the same request byte for byte."""
    side.claims.finish(take(side), answer)
    assert side.claims.acquire(ACCOUNT, DIGEST, HASH, at(40)) == replace(answer, replayed=True)


def test_a_claim_is_finished_once(side: Side) -> None:
    """What a claim was answered stays its answer, though its owner finishes it once more."""
    claim = take(side)
    for answer in ANSWERS:
        side.claims.finish(claim, answer)
    assert side.claims.release(claim) == ANSWERS[0]


def test_a_finished_claim_is_not_released(side: Side) -> None:
    """Who releases what it had finished hears the answer, and it stays."""
    claim = take(side)
    side.claims.finish(claim, ANSWERS[0])
    assert side.claims.release(claim) == ANSWERS[0]
    assert side.claims.acquire(ACCOUNT, DIGEST, HASH, at(1)) == replace(ANSWERS[0], replayed=True)


def test_a_stale_owner_finishes_nothing(side: Side) -> None:
    """Who was taken over cannot give the answer, before or after its successor (promise 4)."""
    stale, owner = take(side), take(side, at(35))
    side.claims.finish(stale, ANSWERS[1])
    with pytest.raises(ServiceError) as error:
        side.claims.acquire(ACCOUNT, DIGEST, HASH, at(36))
    assert error.value.code == "idempotency_in_flight"
    side.claims.finish(owner, ANSWERS[0])
    side.claims.finish(stale, ANSWERS[1])
    assert side.claims.acquire(ACCOUNT, DIGEST, HASH, at(37)) == replace(ANSWERS[0], replayed=True)


def test_a_released_claim_stays_released(side: Side) -> None:
    """An answer that comes after the release leaves the key free."""
    claim = take(side)
    side.claims.release(claim)
    side.claims.finish(claim, ANSWERS[0])
    assert take(side, at(1)).generation != claim.generation
