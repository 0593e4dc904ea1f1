"""Idempotency keys and the records they commit: `ports.Claims`, `ports.Messages`."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.application.ports import Claim, LeaseRefusal, StoredResponse
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import EventKind, Lease
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW, OTHER_HASH, at, event
from tests.ports.implementations import Ports

ANSWER = StoredResponse('{"messageId":"ü"}')
ANN = "ann@example.com"


def take(ports: Ports, seconds: float = 0, body_hash: str = HASH) -> Claim:
    claim = ports.claims.acquire(ACCOUNT, DIGEST, body_hash, at(seconds))
    assert isinstance(claim, Claim)
    return claim


def refused(ports: Ports, seconds: float = 0, body_hash: str = HASH) -> ServiceError:
    with pytest.raises(ServiceError) as error:
        ports.claims.acquire(ACCOUNT, DIGEST, body_hash, at(seconds))
    return error.value


def test_a_fresh_key_is_claimed(ports: Ports) -> None:
    """The claim carries what it was taken for, an owner and a generation of the moment."""
    claim = take(ports)
    assert (claim.account_id, claim.digest, claim.body_hash) == (ACCOUNT, DIGEST, HASH)
    assert claim.owner
    assert claim.generation.int >> 80 == round(NOW.timestamp() * 1000)


@pytest.mark.parametrize("account", [ACCOUNT, "acct00000002"])
@pytest.mark.parametrize("digest", [DIGEST, "e" * 64])
def test_claims_are_of_one_account_and_digest(ports: Ports, account: str, digest: str) -> None:
    """The same key of another account or route is another claim."""
    take(ports)
    if (account, digest) != (ACCOUNT, DIGEST):
        assert isinstance(ports.claims.acquire(account, digest, HASH, NOW), Claim)


@pytest.mark.parametrize(
    ("body_hash", "code", "headers"),
    [
        (HASH, "idempotency_in_flight", {"Retry-After": "5"}),
        (OTHER_HASH, "idempotency_key_mismatch", {}),
    ],
)
def test_a_live_claim_refuses_others(
    ports: Ports, body_hash: str, code: str, headers: dict[str, str]
) -> None:
    """Within the lease: the same body is in flight, another one a mismatch."""
    take(ports)
    for seconds in (0, 34.999):
        error = refused(ports, seconds, body_hash)
        assert (error.status, error.code, error.headers) == (409, code, headers)


def test_a_released_key_is_fresh(ports: Ports) -> None:
    """After a failure the next request starts anew, with whatever body."""
    first = take(ports)
    assert ports.claims.release(first) is None
    assert take(ports, 1, OTHER_HASH).generation != first.generation


@pytest.mark.parametrize(("body_hash", "kept"), [(HASH, True), (OTHER_HASH, False)])
def test_a_dead_owner_is_taken_over(ports: Ports, body_hash: str, *, kept: bool) -> None:
    """Past the lease the same request goes on with the generation, another gets a new one."""
    first = take(ports)
    second = take(ports, 35, body_hash)
    assert (second.generation == first.generation) == kept
    assert second.owner != first.owner
    assert refused(ports, 36, body_hash).code == "idempotency_in_flight"


def test_a_stale_owner_can_neither_release_nor_commit(ports: Ports) -> None:
    """Who was taken over changes nothing any more (promise 4)."""
    stale = take(ports)
    owner = take(ports, 35)
    message = builders.message()
    assert ports.claims.release(stale) is None
    with pytest.raises(ServiceError, match=r".") as error:
        ports.messages.commit(message, stale, ANSWER)
    assert error.value.code == "service_unavailable"
    assert ports.messages.get(ACCOUNT, message.message_id) is None
    ports.messages.commit(message, owner, ANSWER)
    assert ports.claims.release(stale) is None
    assert ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(40)) == replace(ANSWER, replayed=True)


def test_a_released_claim_cannot_be_committed(ports: Ports) -> None:
    """A commit that comes after the release does nothing."""
    claim, message = take(ports), builders.message()
    ports.claims.release(claim)
    with pytest.raises(ServiceError):
        ports.messages.commit(message, claim, ANSWER)
    assert ports.messages.get(ACCOUNT, message.message_id) is None


def test_a_committed_claim_replays_for_a_day(ports: Ports) -> None:
    """The answer is given byte for byte for 24 hours from the first request, to its body only."""
    claim = take(ports)
    ports.messages.commit(builders.message(), claim, ANSWER)
    for seconds in (0, 36, 24 * 3600 - 1):
        again = ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(seconds))
        assert again == replace(ANSWER, replayed=True)
        assert refused(ports, seconds, OTHER_HASH).code == "idempotency_key_mismatch"


@pytest.mark.parametrize("body_hash", [HASH, OTHER_HASH])
def test_after_a_day_the_row_counts_no_more(ports: Ports, body_hash: str) -> None:
    """24 h and a second later the key is new, though its row is still there."""
    claim = take(ports)
    ports.messages.commit(builders.message(), claim, ANSWER)
    assert take(ports, 24 * 3600 + 1, body_hash).generation != claim.generation


def test_a_take_over_does_not_prolong_the_day(ports: Ports) -> None:
    """The day counts from the first request, whoever ended it."""
    take(ports)
    claim = take(ports, 3600)
    ports.messages.commit(builders.message(), claim, ANSWER)
    assert take(ports, 24 * 3600 + 1)


def test_release_tells_of_a_commit_that_was_not_heard(ports: Ports) -> None:
    """Releasing a claim that was committed gives its answer and leaves it."""
    claim = take(ports)
    ports.messages.commit(builders.message(), claim, ANSWER)
    assert ports.claims.release(claim) == ANSWER
    assert ports.claims.acquire(ACCOUNT, DIGEST, HASH, at(1)) == replace(ANSWER, replayed=True)


def test_a_claim_is_committed_once(ports: Ports) -> None:
    """What a claim was answered stays its answer, though its owner commits something else."""
    claim, first, second = take(ports), builders.message(), builders.message()
    ports.messages.commit(first, claim, ANSWER)
    with pytest.raises(ServiceError) as error:
        ports.messages.commit(second, claim, StoredResponse("{}"))
    assert error.value.code == "service_unavailable"
    assert ports.messages.get(ACCOUNT, second.message_id) is None
    assert ports.claims.release(claim) == ANSWER


def test_an_unkeyed_commit_may_come_twice(ports: Ports) -> None:
    """The record of a random id can only be our own: the second write changes nothing."""
    message = builders.message()
    ports.messages.commit(message, None, ANSWER)
    ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    ports.messages.commit(message, None, ANSWER)
    kept = ports.messages.get(ACCOUNT, message.message_id)
    assert kept is not None
    assert kept.attempt == 1


def test_a_message_reads_back_as_it_was_written(ports: Ports) -> None:
    """Every field of a record comes back, and only to its own account."""
    message = builders.message(
        from_name="Ü <x>",
        subject="日本 😀",
        to=(ANN, "bob@example.com"),
        cc=("c@example.com",),
        bcc=("d@example.com", "e@example.com"),
    )
    ports.messages.commit(message, None, ANSWER)
    assert ports.messages.get(ACCOUNT, message.message_id) == message
    assert ports.messages.peek(ACCOUNT, message.message_id) == message
    assert ports.messages.peek(ACCOUNT, UUID(int=1)) is None
    assert ports.messages.get("acct00000002", message.message_id) is None
    assert ports.messages.get(ACCOUNT, UUID(int=1)) is None
    bare = builders.message(from_name=None)
    ports.messages.commit(bare, None, ANSWER)
    assert ports.messages.get(ACCOUNT, bare.message_id) == bare


def test_a_pending_message_is_leased_once(ports: Ports) -> None:
    """The first worker gets it, with the attempt counted; the second sees how it stands."""
    message = builders.message()
    ports.messages.commit(message, None, ANSWER)
    taken = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", at(1))
    leased = replace(
        message,
        lease=Lease(owner="one", taken_at=at(1), expires_at=at(91)),
        attempt=1,
        revision=1,
    )
    assert taken == leased
    for other in ("anyone", "two"):
        refused = ports.messages.lease(ACCOUNT, message.message_id, HASH, other, at(2))
        assert refused == LeaseRefusal(leased)


def test_what_is_not_there_or_another_request_is_not_leased(ports: Ports) -> None:
    """No record, another account or hash, a final status: not taken, and told why."""
    message = builders.message()
    nothing = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    assert nothing == LeaseRefusal(None)
    ports.messages.commit(message, None, ANSWER)
    foreign = ports.messages.lease("acct00000002", message.message_id, HASH, "one", NOW)
    assert foreign == LeaseRefusal(None)
    other = ports.messages.lease(ACCOUNT, message.message_id, OTHER_HASH, "one", NOW)
    assert other == LeaseRefusal(message)
    assert ports.messages.save(message.with_events([event(EventKind.DELIVERED)]))
    final = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    assert isinstance(final, LeaseRefusal)
    assert final.message is not None
    assert final.message.status == "delivered"


def test_a_delay_does_not_keep_a_message_from_its_worker(ports: Ports) -> None:
    """A message that only was delayed is pending still."""
    message = builders.message(events=(event(EventKind.DELAYED, 1, ANN),))
    ports.messages.commit(message, None, ANSWER)
    taken = ports.messages.lease(ACCOUNT, message.message_id, HASH, "one", NOW)
    assert not isinstance(taken, LeaseRefusal)


def test_saving_takes_the_revision_it_was_read_with(ports: Ports) -> None:
    """Of two changes made from one state the second is refused; every field is kept."""
    message = builders.message()
    ports.messages.commit(message, None, ANSWER)
    bounce = replace(event(EventKind.BOUNCED, 2.25, ANN), code="general", reason="550 ü")
    changed = message.with_events([bounce, event(EventKind.SENT, 1)], "ses-1")
    assert ports.messages.save(changed)
    assert not ports.messages.save(message.with_events([event(EventKind.COMPLAINED, 3, ANN)]))
    assert ports.messages.get(ACCOUNT, message.message_id) == replace(changed, revision=1)
    assert not ports.messages.save(builders.message())


def test_a_lease_is_given_back(ports: Ports) -> None:
    """A message without its lease can be taken again, and the attempts go on counting."""
    message = builders.message()
    ports.messages.commit(message, None, ANSWER)
    for attempt in (1, 2):
        taken = ports.messages.lease(ACCOUNT, message.message_id, HASH, "w", at(attempt))
        assert not isinstance(taken, LeaseRefusal)
        assert taken.attempt == attempt
        assert ports.messages.save(replace(taken, lease=None))
    stored = ports.messages.get(ACCOUNT, message.message_id)
    assert stored is not None
    assert (stored.lease, stored.attempt, stored.revision) == (None, 2, 4)
    assert stored.updated_at - stored.created_at == timedelta(0)
