"""Idempotency keys: claimed before slow work, replayed for 24 hours (contract 4.11)."""

import zlib
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import (
    Item,
    to_item,
)
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import ConditionFailed, Parts
from pillarbox.application.ports import Claim, StoredResponse
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.timing import CLOCK_MARGIN, milliseconds

#: An owner whose lease is over is dead, also by a clock that is ahead of its own. A function and a
#: worker of the front end after 30 s at most; 5 s are for calls that are on their way by then.
#: Only a batch needs this: its records and its quota do not depend on its claim. The relay sets
#: no such limit, but its messages are single: one transaction commits the record and the claim.
LEASE: Final = timedelta(seconds=35) + CLOCK_MARGIN
WINDOW: Final = timedelta(hours=24)

#: In characters; the response to a single send is far shorter.
_MAX_UNCOMPRESSED: Final = 500

PENDING: Final = "P"
DONE: Final = "D"
_OURS: Final = "#state = :pending AND #owner = :owner"


class DynamoClaims(Store):
    """Implements `ports.Claims`."""

    def acquire(
        self, account_id: str, digest: str, body_hash: str, now: datetime, shards: int = 1
    ) -> Claim | StoredResponse:
        """Claim a key, take it over from a dead owner, or return the stored response."""
        claim = Claim(
            account_id=account_id,
            digest=digest,
            owner=new_token(16),
            body_hash=body_hash,
            generation=new_id(now, shards),
        )
        try:
            # TTL deletes late, so an expired claim may still exist.
            self._table.put(
                _item(claim, now, _expiry(now)),
                condition="attribute_not_exists(pk) OR expires_at <= :now",
                values={":now": int(now.timestamp())},
            )
        except ConditionFailed as failure:
            return self._resolve(claim, failure.item, now)
        return claim

    def finish(self, claim: Claim, response: StoredResponse) -> None:
        """Store the response if the claim is pending and ours."""
        expression, parts = finishing(claim, response)
        with suppress(ConditionFailed):  # taken over: the successor returns the same response
            self._table.update(keys.claim(claim.account_id, claim.digest), expression, **parts)

    def release(self, claim: Claim) -> StoredResponse | None:
        """Delete the claim if it is pending and ours; if we finished it, return its response."""
        try:
            self._table.delete(
                keys.claim(claim.account_id, claim.digest),
                condition=_OURS,
                values={":pending": PENDING, ":owner": claim.owner},
            )
        except ConditionFailed as failure:
            stored = failure.item
            if stored and stored["state"] == DONE and stored["owner"] == claim.owner:
                return response_of(stored["answer"])
        return None

    def _resolve(
        self, claim: Claim, stored: dict[str, Any] | None, now: datetime
    ) -> Claim | StoredResponse:
        """Decide what the stored claim means for a new one."""
        if stored is None:  # released between the check of the condition and its response
            raise _in_flight()
        if stored["owner"] == claim.owner:  # the SDK repeated the write; the first one succeeded
            return claim
        if stored["hash"] != claim.body_hash and (stored["state"] == DONE or _leased(stored, now)):
            raise ServiceError(
                "idempotency_key_mismatch",
                "This Idempotency-Key was used with a different body.",
            )
        if stored["state"] == DONE:
            response = response_of(stored["answer"])
            return replace(response, replayed=True, generation=UUID(stored["generation"]))
        if _leased(stored, now):
            raise _in_flight()
        return self._take_over(claim, stored, now)

    def _take_over(self, claim: Claim, stored: dict[str, Any], now: datetime) -> Claim:
        """Replace the claim of a dead owner.

        The same request continues with the stored generation; another request gets a new one.
        """
        expiry = _expiry(now)
        if stored["hash"] == claim.body_hash:
            expiry = stored["expires_at"]
            claim = replace(claim, generation=UUID(stored["generation"]), resumed=True)
        try:
            self._table.put(
                _item(claim, now, expiry),
                condition=_OURS,
                values={":pending": PENDING, ":owner": stored["owner"]},
            )
        except ConditionFailed as failure:
            if failure.item and failure.item["owner"] == claim.owner:
                return claim
            raise _in_flight() from failure
        return claim


def finishing(claim: Claim, response: StoredResponse) -> tuple[str, Parts]:
    """Return the update that stores the response of a claim if it is pending and ours."""
    return "SET #state = :done, answer = :response", {
        "condition": _OURS,
        "values": {
            ":done": DONE,
            ":pending": PENDING,
            ":owner": claim.owner,
            ":response": response_attribute(response),
        },
    }


def response_attribute(response: StoredResponse) -> str | bytes:
    """Return the stored form: a long response is compressed, since each KB is a write unit."""
    if len(response.body) <= _MAX_UNCOMPRESSED:
        return response.body
    return zlib.compress(response.body.encode())


def response_of(attribute: str | bytes) -> StoredResponse:
    """Read what `response_attribute` wrote."""
    if isinstance(attribute, str):
        return StoredResponse(attribute)
    return StoredResponse(zlib.decompress(attribute).decode())


def _item(claim: Claim, now: datetime, expiry: int) -> Item:
    return keys.claim(claim.account_id, claim.digest) | to_item(
        {
            "state": PENDING,
            "owner": claim.owner,
            "hash": claim.body_hash,
            "generation": str(claim.generation),
            "lease": milliseconds(now + LEASE),
            "expires_at": expiry,
        }
    )


def _expiry(now: datetime) -> int:
    return ceil((now + WINDOW).timestamp())


def _leased(stored: dict[str, Any], now: datetime) -> bool:
    return bool(milliseconds(now) < stored["lease"])


def _in_flight() -> ServiceError:
    return ServiceError(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is still being processed.",
        headers={"Retry-After": "5"},
    )
