"""Claims on DynamoDB when two requests race for a key, or the SDK repeats a write."""

from collections.abc import Callable, Iterator
from itertools import count
from math import ceil
from typing import Any

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.claims import (
    DynamoClaims,
    response_attribute,
    response_of,
)
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import Claim, StoredResponse
from tests.aws import Aws
from tests.claims import acquire_or_replay
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, at
from tests.refusals import refusal

#: Owners are random, so after several rounds each order of two owners has occurred.
ROUNDS = 8
#: Seconds after which a lease is over.
STALE = 66


class Racing(Table):
    """A table that runs a function just before each put."""

    def __init__(self, name: str, first: Callable[[], object]) -> None:
        super().__init__(name)
        self._first = first

    def put(self, item: Any, **conditions: Any) -> None:
        self._first()
        super().put(item, **conditions)


class Repeating(Table):
    """A table that makes each put twice, as if the first response was lost."""

    def put(self, item: Any, **conditions: Any) -> None:
        super().put(item, **conditions)
        super().put(item, **conditions)


def acquire(claims: DynamoClaims, seconds: float = 0, body_hash: str = HASH) -> Claim:
    claim = response(claims, seconds, body_hash)
    assert isinstance(claim, Claim)
    return claim


def response(claims: DynamoClaims, seconds: float, body_hash: str = HASH) -> Claim | StoredResponse:
    # The messages are in a table of their own, whose puts are not counted.
    messages = DynamoMessages(Table(claims._table.name))
    return acquire_or_replay(claims, messages, body_hash, at(seconds), batch=1)


def error_code(claims: DynamoClaims, seconds: float) -> str:
    error = refusal(acquire, claims, seconds)
    return error.code


def test_a_repeated_write_succeeds(aws: Aws) -> None:
    """A new claim and a takeover both succeed if the SDK repeats the put."""
    claims = DynamoClaims(Repeating(aws.table))
    first = acquire(claims)
    second = acquire(claims, STALE)
    assert second.generation != first.generation
    claims.finish(second, StoredResponse("{}"))
    assert response(claims, STALE) == StoredResponse("{}", replayed=True)


def test_one_of_two_takes_over(aws: Aws) -> None:
    """If another request took over first, a request gets `in_flight` and changes nothing."""
    for round_number in range(ROUNDS):
        claims, now = DynamoClaims(Table(aws.table)), round_number * 2 * STALE
        acquire(claims, now)
        late, puts, winners = now + STALE, count(1), list[Claim]()

        def win(
            late: float = late, puts: Iterator[int] = puts, winners: list[Claim] = winners
        ) -> None:
            if next(puts) == 2:  # the first put failed because of the dead owner's claim
                winners.append(acquire(DynamoClaims(Table(aws.table)), late))

        assert error_code(DynamoClaims(Racing(aws.table, win)), late) == "idempotency_in_flight"
        claims.release(winners[0])


def test_a_claim_that_is_released_meanwhile_is_not_taken_over(aws: Aws) -> None:
    """If the owner releases between read and write, the request waits and starts anew."""
    claims = DynamoClaims(Table(aws.table))
    owner, puts = acquire(claims), []

    def release() -> None:
        puts.append(1)
        if len(puts) == 2:  # the first put failed because of the old claim
            claims.release(owner)

    assert error_code(DynamoClaims(Racing(aws.table, release)), STALE) == "idempotency_in_flight"
    assert acquire(claims, STALE).generation != owner.generation


def test_a_claim_that_is_finished_meanwhile_is_not_taken_over(aws: Aws) -> None:
    """If the owner finishes between read and write, its response stays."""
    claims = DynamoClaims(Table(aws.table))
    owner, puts = acquire(claims), count(1)

    def finish() -> None:
        if next(puts) == 2:  # the first put failed because of the old claim
            claims.finish(owner, StoredResponse("{}"))

    assert error_code(DynamoClaims(Racing(aws.table, finish)), STALE) == "idempotency_in_flight"
    assert response(claims, STALE) == StoredResponse("{}", replayed=True)


def test_a_claim_does_not_expire_too_early(aws: Aws) -> None:
    table = Table(aws.table)
    acquire(DynamoClaims(table), 0.5)
    item = table.get(keys.claim(ACCOUNT, DIGEST))
    assert item
    assert item["expires_at"] == ceil(at(86_400.5).timestamp())


@pytest.mark.parametrize(("length", "stored"), [(10, str), (500, str), (501, bytes), (9000, bytes)])
def test_a_long_response_is_stored_compressed(length: int, stored: type) -> None:
    """Up to 500 characters are stored as text; both forms read back unchanged."""
    response = StoredResponse("x" * length)
    attribute = response_attribute(response)
    assert type(attribute) is stored
    assert response_of(attribute) == response
