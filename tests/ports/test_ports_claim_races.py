"""Claims on DynamoDB where two are at one key, or a write is tried twice, at the very moment."""

from collections.abc import Callable, Iterator
from itertools import count
from math import ceil
from typing import Any

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.claims import DynamoClaims, response_attribute, response_of
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.errors import ServiceError
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, at

#: Owners are drawn at random: so often, one is before and one after the other in order.
ROUNDS = 8
STALE = 36


class Racing(Table):
    """A table where something happens just before a claim is put."""

    def __init__(self, name: str, first: Callable[[], object]) -> None:
        super().__init__(name)
        self._first = first

    def put(self, item: Any, **conditions: Any) -> None:
        self._first()
        super().put(item, **conditions)


class Repeating(Table):
    """A table that takes each put twice, as when the first answer was lost."""

    def put(self, item: Any, **conditions: Any) -> None:
        super().put(item, **conditions)
        super().put(item, **conditions)


def take(claims: DynamoClaims, seconds: float = 0, body_hash: str = HASH) -> Claim:
    claim = claims.acquire(ACCOUNT, DIGEST, body_hash, at(seconds))
    assert isinstance(claim, Claim)
    return claim


def refused(claims: DynamoClaims, seconds: float) -> str:
    with pytest.raises(ServiceError) as error:
        take(claims, seconds)
    return error.value.code


def test_a_write_that_is_tried_twice_is_ours(aws: Aws) -> None:
    """A fresh claim and a take-over both hold when the SDK put them twice."""
    claims = DynamoClaims(Repeating(aws.table))
    first = take(claims)
    second = take(claims, STALE)
    assert second.generation == first.generation
    assert second.owner != first.owner
    claims.finish(second, StoredResponse("{}"))
    assert claims.acquire(ACCOUNT, DIGEST, HASH, at(STALE)) == StoredResponse("{}", replayed=True)


def test_one_of_two_takes_over(aws: Aws) -> None:
    """Who finds that another took over in between is told to wait, and changes nothing."""
    for turn in range(ROUNDS):
        claims, now = DynamoClaims(Table(aws.table)), turn * 2 * STALE
        take(claims, now)
        late, puts, winners = now + STALE, count(1), list[Claim]()

        def win(late: float = late, puts: Iterator[int] = puts, won: list[Claim] = winners) -> None:
            if next(puts) == 2:  # the first put found the dead owner's claim
                won.append(take(DynamoClaims(Table(aws.table)), late))

        assert refused(DynamoClaims(Racing(aws.table, win)), late) == "idempotency_in_flight"
        assert claims.release(winners[0]) is None


def test_a_claim_that_is_released_meanwhile_is_not_taken_over(aws: Aws) -> None:
    """The owner came back and gave up between read and write: wait, and begin anew."""
    claims = DynamoClaims(Table(aws.table))
    owner, puts = take(claims), []

    def release() -> None:
        puts.append(1)
        if len(puts) == 2:  # the first put found the old claim
            claims.release(owner)

    assert refused(DynamoClaims(Racing(aws.table, release)), STALE) == "idempotency_in_flight"
    assert take(claims, STALE).owner != owner.owner


def test_a_claim_that_is_answered_meanwhile_is_not_taken_over(aws: Aws) -> None:
    """The owner came back and answered between read and write: its answer stays."""
    claims = DynamoClaims(Table(aws.table))
    owner, puts = take(claims), count(1)

    def finish() -> None:
        if next(puts) == 2:  # the first put found the old claim
            claims.finish(owner, StoredResponse("{}"))

    assert refused(DynamoClaims(Racing(aws.table, finish)), STALE) == "idempotency_in_flight"
    assert claims.acquire(ACCOUNT, DIGEST, HASH, at(STALE)) == StoredResponse("{}", replayed=True)


@pytest.mark.parametrize(
    ("body_hash", "same"), [(HASH, True), ("0" * 64, False), ("f" * 64, False)]
)
def test_only_the_same_request_is_resumed(aws: Aws, body_hash: str, *, same: bool) -> None:
    """A take-over by the same body goes on with its ids and says so; any other begins anew."""
    claims = DynamoClaims(Table(aws.table))
    first = take(claims)
    second = take(claims, STALE, body_hash)
    assert (second.resumed, second.generation == first.generation) == (same, same)


@pytest.mark.parametrize("body_hash", ["0" * 64, "f" * 64])
@pytest.mark.parametrize("answered", [False, True])
def test_another_request_is_a_mismatch(aws: Aws, body_hash: str, *, answered: bool) -> None:
    """Whatever its hash, another body under a key that is held or answered is told so."""
    claims = DynamoClaims(Table(aws.table))
    first = take(claims)
    if answered:
        claims.finish(first, StoredResponse("{}"))
    with pytest.raises(ServiceError) as error:
        take(claims, 1, body_hash)
    assert error.value.code == "idempotency_key_mismatch"


def test_a_stale_owner_is_not_told_its_successors_answer(aws: Aws) -> None:
    """Releasing tells of our own commit alone."""
    for turn in range(ROUNDS):
        claims, now = DynamoClaims(Table(aws.table)), turn * 200_000
        stale = take(claims, now)
        owner = take(claims, now + STALE)
        claims.finish(owner, StoredResponse("{}"))
        assert claims.release(stale) is None
        assert claims.release(owner) == StoredResponse("{}")


def test_a_claim_expires_no_sooner_than_it_may(aws: Aws) -> None:
    """DynamoDB deletes by whole seconds: a part of one counts as one."""
    table = Table(aws.table)
    take(DynamoClaims(table), 0.5)
    item = table.get(keys.claim(ACCOUNT, DIGEST))
    assert item
    assert item["expires_at"] == ceil(at(86_400.5).timestamp())


@pytest.mark.parametrize(("length", "stored"), [(10, str), (500, str), (501, bytes), (9000, bytes)])
def test_a_long_answer_is_stored_compressed(length: int, stored: type) -> None:
    """Up to 500 characters stay as they are; either way it is read back byte for byte."""
    answer = StoredResponse("x" * length)
    attribute = response_attribute(answer)
    assert type(attribute) is stored
    assert response_of(attribute) == answer
