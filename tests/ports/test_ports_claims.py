"""Idempotency keys and message records: `ports.Claims`, `ports.Messages`."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.application.ports import AcceptedMessage, Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import EventKind, Lease, Message
from tests.claims import acquire_or_replay, response_to
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW, OTHER_HASH, at, event
from tests.ports.implementations import Ports
from tests.refusals import refusal

CLOCK_MARGIN = timedelta(seconds=30)

ANN = "ann@example.com"
LOWER_HASH = "0" * 64


def acquire(ports: Ports, seconds: float = 0, body_hash: str = HASH, batch: int = 0) -> Claim:
    claim = acquire_or_replay(ports.claims, ports.messages, body_hash, at(seconds), batch=batch)
    assert isinstance(claim, Claim)
    return claim


def replay(ports: Ports, seconds: float) -> StoredResponse:
    response = acquire_or_replay(ports.claims, ports.messages, HASH, at(seconds))
    assert isinstance(response, StoredResponse)
    return response


def error_of(
    ports: Ports, seconds: float = 0, body_hash: str = HASH, batch: int = 0
) -> ServiceError:
    return refusal(
        acquire_or_replay, ports.claims, ports.messages, body_hash, at(seconds), batch=batch
    )


def commit(ports: Ports, claim: Claim, position: int = 0) -> Message:
    message = builders.message(message_id=claim.message_ids[position])
    ports.messages.commit(message)
    return message


def assert_withdrawn(ports: Ports, claim: Claim, position: int = 0) -> None:
    """Assert that nothing can be accepted under an id of a claim, and that no reader sees it."""
    error = refusal(commit, ports, claim, position)
    assert error.code == "service_unavailable"
    message_id = claim.message_ids[position]
    assert ports.messages.get(ACCOUNT, message_id) is None
    assert ports.messages.peek(ACCOUNT, message_id) is None
    assert ports.messages.get_all(ACCOUNT, [message_id]) == {}
    assert ports.messages.lease(ACCOUNT, message_id, HASH, "one", NOW) == LeaseRefusal(None)


@pytest.mark.parametrize("account", [ACCOUNT, "acct00000002"])
@pytest.mark.parametrize("digest", [DIGEST, "e" * 64])
def test_a_claim_belongs_to_one_account_and_digest(ports: Ports, account: str, digest: str) -> None:
    acquire(ports)
    if (account, digest) != (ACCOUNT, DIGEST):
        other = acquire_or_replay(ports.claims, ports.messages, account_id=account, digest=digest)
        assert isinstance(other, Claim)


@pytest.mark.parametrize(
    ("body_hash", "code", "headers"),
    [
        (HASH, "idempotency_in_flight", {"Retry-After": "5"}),
        (OTHER_HASH, "idempotency_key_mismatch", {}),
        (LOWER_HASH, "idempotency_key_mismatch", {}),
    ],
)
def test_a_live_claim_refuses_others(
    ports: Ports, body_hash: str, code: str, headers: dict[str, str]
) -> None:
    acquire(ports)
    for seconds in (0, 64.999):
        error = error_of(ports, seconds, body_hash)
        assert (error.status, error.code, error.headers) == (409, code, headers)


def test_an_owner_that_may_run_is_not_taken_over(ports: Ports) -> None:
    """An owner runs for 30 s at most, and the clock of the next request may be ahead of its own."""
    acquire(ports)
    for still_running in (0, 15, 30):
        now = still_running + CLOCK_MARGIN.total_seconds()
        assert error_of(ports, now).code == "idempotency_in_flight"


@pytest.mark.parametrize("body_hash", [HASH, OTHER_HASH])
def test_a_stale_owner_can_neither_release_nor_commit(ports: Ports, body_hash: str) -> None:
    """An owner whose claim was taken over can change nothing (promise 4)."""
    stale = acquire(ports)
    owner = acquire(ports, 65, body_hash)
    ports.claims.release(stale)
    assert_withdrawn(ports, stale)
    assert error_of(ports, 66, body_hash).code == "idempotency_in_flight"
    commit(ports, owner)
    ports.claims.release(stale)
    if body_hash == HASH:
        assert replay(ports, 70).message_ids == owner.message_ids


def test_a_withdrawn_claim_cannot_be_committed(ports: Ports) -> None:
    claim = acquire(ports)
    for _ in range(2):
        assert ports.messages.withdraw(ACCOUNT, claim.message_ids, NOW) == {}
        assert ports.messages.is_withdrawn(ACCOUNT, claim.message_ids[0])
    assert_withdrawn(ports, claim)
    assert acquire(ports, 65)


def test_an_accepted_message_is_not_withdrawn(ports: Ports) -> None:
    """Whoever wants to withdraw an accepted message gets it, and it stays, also in a group."""
    claim = acquire(ports, batch=3)
    message = commit(ports, claim, 1)
    assert not ports.messages.is_withdrawn(ACCOUNT, claim.message_ids[1])
    assert ports.messages.withdraw(ACCOUNT, claim.message_ids[1:2], NOW) == {
        message.message_id: message
    }
    assert ports.messages.withdraw(ACCOUNT, claim.message_ids, NOW) == {message.message_id: message}
    assert ports.messages.get(ACCOUNT, message.message_id) == message
    for position in (0, 2):
        assert_withdrawn(ports, claim, position)


def test_a_group_says_which_of_its_ids_were_withdrawn(ports: Ports) -> None:
    claim = acquire(ports, batch=3)
    ports.messages.withdraw(ACCOUNT, claim.message_ids[:1], NOW)
    group = [builders.message(message_id=message_id) for message_id in claim.message_ids]
    assert ports.messages.commit_all(group) == {claim.message_ids[0]}
    assert [*ports.messages.get_all(ACCOUNT, claim.message_ids)] == [*claim.message_ids[1:]]


def test_a_committed_claim_replays_for_a_day(ports: Ports) -> None:
    """The response is the same for 24 hours from the first request, for its body only."""
    message = commit(ports, acquire(ports))
    text = response_to(AcceptedMessage(message.message_id, message.sender))
    for seconds in (0, 66, 24 * 3600 - 1):
        assert replay(ports, seconds) == StoredResponse(text, replayed=True)
        assert error_of(ports, seconds, OTHER_HASH).code == "idempotency_key_mismatch"


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("body_hash", [HASH, OTHER_HASH])
def test_after_a_day_the_claim_has_expired(
    ports: Ports, body_hash: str, *, committed: bool
) -> None:
    """After 24 hours and a second the key is new, although its item still exists."""
    claim = acquire(ports)
    if committed:
        commit(ports, claim)
    assert acquire(ports, 24 * 3600 + 1, body_hash).generation != claim.generation
    assert error_of(ports, 24 * 3600 + 2, body_hash).code == "idempotency_in_flight"
    if not committed:
        assert_withdrawn(ports, claim)


def test_a_takeover_does_not_prolong_the_day(ports: Ports) -> None:
    """The 24 hours start with the first request, also if another owner finishes it."""
    acquire(ports)
    commit(ports, acquire(ports, 3600))
    assert acquire(ports, 24 * 3600 + 1)


@pytest.mark.parametrize("body_hash", [HASH, OTHER_HASH])
def test_a_dead_batch_is_taken_over_with_what_it_accepted(ports: Ports, body_hash: str) -> None:
    """Its own request learns under which generations; for another request it is a mismatch."""
    first = acquire(ports, batch=2)
    commit(ports, first, 1)
    if body_hash == OTHER_HASH:
        assert error_of(ports, 65, body_hash, 2).code == "idempotency_key_mismatch"
        return
    second = acquire(ports, 65, batch=2)
    third = acquire(ports, 130, batch=2)
    assert (second.earlier, third.earlier) == ((first.generation,), (first.generation,))
    assert_withdrawn(ports, first)
    assert_withdrawn(ports, second)
    commit(ports, third, 0)
    both = (first.generation, third.generation)
    assert acquire(ports, 195, batch=2).earlier == both
    assert error_of(ports, 260, OTHER_HASH, 2).code == "idempotency_key_mismatch"


def test_a_commit_may_be_repeated(ports: Ports) -> None:
    """The record of an id can only be our own, so the second write changes nothing."""
    message = builders.message()
    ports.messages.commit(message)
    ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    ports.messages.commit(message)
    stored = ports.messages.get(ACCOUNT, message.message_id)
    assert stored is not None
    assert stored.attempt == 1


def test_a_message_reads_back_as_it_was_written(ports: Ports) -> None:
    """Every field of a record is stored, and only its own account can read it."""
    message = builders.message(
        from_name="Ü <x>",
        subject="日本 😀",
        to=(ANN, "bob@example.com"),
        cc=("c@example.com",),
        bcc=("d@example.com", "e@example.com"),
    )
    ports.messages.commit(message)
    assert ports.messages.get(ACCOUNT, message.message_id) == message
    assert ports.messages.peek(ACCOUNT, message.message_id) == message
    assert ports.messages.peek(ACCOUNT, UUID(int=1)) is None
    assert ports.messages.get("acct00000002", message.message_id) is None
    assert ports.messages.get(ACCOUNT, UUID(int=1)) is None
    bare = builders.message(from_name=None)
    ports.messages.commit(bare)
    assert ports.messages.get(ACCOUNT, bare.message_id) == bare


def test_a_pending_message_is_leased_once(ports: Ports) -> None:
    """The first worker leases it and counts an attempt; a second gets the current record."""
    message = builders.message()
    ports.messages.commit(message)
    leased_message = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", at(1))
    leased = replace(
        message,
        lease=Lease(owner="one", taken_at=at(1), expires_at=at(31)),
        attempt=1,
        revision=1,
    )
    assert leased_message == leased
    for other in ("anyone", "two"):
        refusal = ports.messages.lease(ACCOUNT, message.message_id, HASH, other, at(2))
        assert refusal == LeaseRefusal(leased)


def test_a_lease_says_that_the_content_is_not_kept(ports: Ports) -> None:
    """The record has it from then on, with its days, and no later lease takes it back."""
    message = replace(builders.message(), keep=7)
    ports.messages.commit(message)
    for attempt, unkept in ((1, True), (2, False)):
        leased = ports.messages.lease(
            ACCOUNT, message.message_id, HASH, "one", at(attempt), unkept=unkept
        )
        assert isinstance(leased, Message)
        assert (leased.keep, leased.unkept, leased.attempt) == (7, True, attempt)
        assert ports.messages.save(replace(leased, lease=None))
    other = replace(builders.message(), keep=7)
    ports.messages.commit(other)
    leased = ports.messages.lease(ACCOUNT, other.message_id, HASH, "one", at(1))
    assert isinstance(leased, Message)
    assert not leased.unkept


def test_absent_foreign_and_final_messages_are_not_leased(ports: Ports) -> None:
    """An absent record, another account or hash, or a final status refuses the lease."""
    message = builders.message()
    absent = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    assert absent == LeaseRefusal(None)
    ports.messages.commit(message)
    foreign = ports.messages.lease("acct00000002", message.message_id, HASH, "one", NOW)
    assert foreign == LeaseRefusal(None)
    other = ports.messages.lease(ACCOUNT, message.message_id, OTHER_HASH, "one", NOW)
    assert other == LeaseRefusal(message)
    assert ports.messages.save(message.with_events([event(EventKind.DELIVERED)]))
    final = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    assert isinstance(final, LeaseRefusal)
    assert final.message is not None
    assert final.message.status == "delivered"
