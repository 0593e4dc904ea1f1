"""Idempotency keys: claimed before slow work, kept for 24 hours (contract 4.11)."""

import zlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Final, Unpack
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import NEW, ConditionFailed, Item, Parts, Store, to_item
from pillarbox.application.ports import Claim, StoredClaim, StoredResponse
from pillarbox.domain.timing import CLOCK_MARGIN, milliseconds

#: An owner whose lease is over is dead or about to end, also by a clock that is ahead of its own.
#: A function and a worker of the front end after 30 s at most; 5 s are for calls that are on their
#: way by then. One that lives longer, as in the relay, finds that its ids were withdrawn.
LEASE: Final = timedelta(seconds=35) + CLOCK_MARGIN
WINDOW: Final = timedelta(hours=24)

#: In characters; the response to a batch is longer.
_MAX_UNCOMPRESSED: Final = 500

PENDING: Final = "P"
DONE: Final = "D"
_OURS: Final = "#state = :state AND generation = :generation"


class DynamoClaims(Store):
    """Implements `ports.Claims`."""

    def put(self, claim: Claim, now: datetime) -> StoredClaim | None:
        try:
            self._put(claim, now, now + WINDOW, condition=NEW)
        except ConditionFailed as failure:
            if failure.item is None:  # released between the check and its answer
                return self.put(claim, now)
            return _stored(claim, failure.item)
        return None

    def replace(self, stored: StoredClaim, claim: Claim, now: datetime) -> bool:
        expires_at = now + WINDOW
        if stored.claim.body_hash == claim.body_hash and now < stored.expires_at:
            expires_at = stored.expires_at
        state = PENDING if stored.response is None else DONE
        values = _values(stored.claim, state)
        try:
            self._put(claim, now, expires_at, condition=_OURS, values=values)
        except ConditionFailed:
            return False
        return True

    def _put(
        self, claim: Claim, now: datetime, expires_at: datetime, **parts: Unpack[Parts]
    ) -> None:
        try:
            self._table.put(_item(claim, now, expires_at), **parts)
        except ConditionFailed as failure:
            # The SDK may have repeated the write, and the first one succeeded.
            if not failure.item or failure.item["generation"] != str(claim.generation):
                raise

    def finish(self, claim: Claim, response: StoredResponse) -> None:
        with suppress(ConditionFailed):  # taken over: the successor answers for the same records
            self._table.update(
                keys.claim(claim.account_id, claim.digest),
                "SET #state = :done, answer = :response",
                condition=_OURS,
                values=_values(claim) | {":done": DONE, ":response": response_attribute(response)},
            )

    def release(self, claim: Claim) -> None:
        with suppress(ConditionFailed):
            self._table.delete(
                keys.claim(claim.account_id, claim.digest),
                condition=_OURS,
                values=_values(claim),
            )


def _values(claim: Claim, state: str = PENDING) -> dict[str, object]:
    return {":state": state, ":generation": str(claim.generation)}


def response_attribute(response: StoredResponse) -> str | bytes:
    """Return the stored form: a long response is compressed, since each KB is a write unit."""
    if len(response.body) <= _MAX_UNCOMPRESSED:
        return response.body
    return zlib.compress(response.body.encode())


def response_of(attribute: str | bytes) -> StoredResponse:
    if isinstance(attribute, str):
        return StoredResponse(attribute)
    return StoredResponse(zlib.decompress(attribute).decode())


def _item(claim: Claim, now: datetime, expires_at: datetime) -> Item:
    return keys.claim(claim.account_id, claim.digest) | to_item(
        {
            "state": PENDING,
            "hash": claim.body_hash,
            "generation": str(claim.generation),
            "count": claim.count,
            "earlier": [str(one) for one in claim.earlier] or None,
            "lease": milliseconds(now + LEASE),
            "expires_at": ceil(expires_at.timestamp()),
        }
    )


def _stored(claim: Claim, item: Mapping[str, Any]) -> StoredClaim:
    """Read the claim that the key of another claim has."""
    stored = Claim(
        account_id=claim.account_id,
        digest=claim.digest,
        body_hash=item["hash"],
        generation=UUID(item["generation"]),
        count=item["count"],
        earlier=tuple(map(UUID, item.get("earlier", ()))),
    )
    return StoredClaim(
        claim=stored,
        leased_until=datetime.fromtimestamp(item["lease"] / 1000, UTC),
        expires_at=datetime.fromtimestamp(item["expires_at"], UTC),
        response=response_of(item["answer"]) if item["state"] == DONE else None,
    )
