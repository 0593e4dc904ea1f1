"""Idempotency keys: claimed before anything slow, answered for 24 hours (contract 4.11)."""

import zlib
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_item, to_milliseconds
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id, new_token

#: Longer than the accepting function may run (30 s): past it, its owner is dead.
LEASE: Final = timedelta(seconds=35)
WINDOW: Final = timedelta(hours=24)

#: In characters; the answer of one send is far below.
_PLAIN: Final = 500

PENDING: Final = "P"
DONE: Final = "D"


class DynamoClaims:
    """Fulfils `ports.Claims`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def acquire(
        self, account_id: str, digest: str, body_hash: str, now: datetime
    ) -> Claim | StoredResponse:
        """Claim a key, take it over from a dead owner, or give the stored answer."""
        claim = Claim(
            account_id=account_id,
            digest=digest,
            owner=new_token(16),
            body_hash=body_hash,
            generation=new_id(now),
        )
        try:
            # TTL deletes late, so an expired claim may still be there.
            self._table.put(
                _item(claim, now, _expiry(now)),
                condition="attribute_not_exists(pk) OR expires_at <= :now",
                values={":now": int(now.timestamp())},
            )
        except ConditionFailed as failure:
            return self._resolve(claim, failure.item, now)
        return claim

    def finish(self, claim: Claim, answer: StoredResponse) -> None:
        """Keep the answer while the claim is pending and ours."""
        with suppress(ConditionFailed):  # taken over: the successor answers the same
            self._table.update(
                keys.claim(claim.account_id, claim.digest),
                "SET #state = :done, answer = :answer",
                condition="#state = :pending AND #owner = :owner",
                names={"#state": "state", "#owner": "owner"},
                values={
                    ":done": DONE,
                    ":answer": answer_attribute(answer),
                    ":pending": PENDING,
                    ":owner": claim.owner,
                },
            )

    def release(self, claim: Claim) -> StoredResponse | None:
        """Delete the claim while it is pending and ours; else give what it was answered."""
        try:
            self._table.delete(
                keys.claim(claim.account_id, claim.digest),
                condition="#state = :pending AND #owner = :owner",
                names={"#state": "state", "#owner": "owner"},
                values={":pending": PENDING, ":owner": claim.owner},
            )
        except ConditionFailed as failure:
            held = failure.item
            if held and held["state"] == DONE and held["owner"] == claim.owner:
                return answer_of(held["answer"])
        return None

    def _resolve(
        self, claim: Claim, held: dict[str, Any] | None, now: datetime
    ) -> Claim | StoredResponse:
        if held is None:  # released between the write and its answer
            raise _in_flight()
        if held["owner"] == claim.owner:  # the write was tried twice; the first one counts
            return claim
        if held["hash"] != claim.body_hash and (held["state"] == DONE or _alive(held, now)):
            raise ServiceError(
                "idempotency_key_mismatch",
                "This Idempotency-Key was used with a different body.",
            )
        if held["state"] == DONE:
            stored = answer_of(held["answer"])
            return replace(stored, replayed=True, generation=UUID(held["generation"]))
        if _alive(held, now):
            raise _in_flight()
        return self._take_over(claim, held, now)

    def _take_over(self, claim: Claim, held: dict[str, Any], now: datetime) -> Claim:
        """The owner died. The same request goes on with its ids, another one begins anew."""
        expiry = _expiry(now)
        if held["hash"] == claim.body_hash:
            expiry = held["expires_at"]
            claim = Claim(
                account_id=claim.account_id,
                digest=claim.digest,
                owner=claim.owner,
                body_hash=claim.body_hash,
                generation=UUID(held["generation"]),
                resumed=True,
            )
        try:
            self._table.put(
                _item(claim, now, expiry),
                condition="#state = :pending AND #owner = :owner",
                names={"#state": "state", "#owner": "owner"},
                values={":pending": PENDING, ":owner": held["owner"]},
            )
        except ConditionFailed as failure:
            if failure.item and failure.item["owner"] == claim.owner:
                return claim
            raise _in_flight() from failure
        return claim


def answer_attribute(answer: StoredResponse) -> str | bytes:
    """An answer as it is stored: a long one compressed, since each KB is a write unit."""
    if len(answer.body) <= _PLAIN:
        return answer.body
    return zlib.compress(answer.body.encode())


def answer_of(stored: str | bytes) -> StoredResponse:
    """Read what `answer_attribute` wrote."""
    body = stored if isinstance(stored, str) else zlib.decompress(stored).decode()
    return StoredResponse(body)


def _item(claim: Claim, now: datetime, expiry: int) -> Item:
    return keys.claim(claim.account_id, claim.digest) | to_item(
        {
            "state": PENDING,
            "owner": claim.owner,
            "hash": claim.body_hash,
            "generation": str(claim.generation),
            "lease": to_milliseconds(now + LEASE),
            "expires_at": expiry,
        }
    )


def _expiry(now: datetime) -> int:
    return ceil((now + WINDOW).timestamp())


def _alive(held: dict[str, Any], now: datetime) -> bool:
    return bool(to_milliseconds(now) < held["lease"])


def _in_flight() -> ServiceError:
    return ServiceError(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is still being processed.",
        headers={"Retry-After": "5"},
    )
