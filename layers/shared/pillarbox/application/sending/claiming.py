"""Acquire an Idempotency-Key: one operation in 24 hours (contract 4.11).

The record of a message is the commit, and its id derives from the generation of the claim. Each
owner has its own generation. So a request that takes a claim over first *withdraws* the ids of the
generation before it: a tombstone stands under each id that has no message. From then on its owner,
which may only have stalled, can accept nothing, and what it has accepted is known. The order
matters: `verification/model` tries all interleavings, also with each step left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from pillarbox.application.ports import (
    AcceptedMessage,
    Claim,
    Claims,
    Messages,
    StoredClaim,
    StoredResponse,
)
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Message


@dataclass(frozen=True, slots=True)
class Claiming:
    """Acquire the key of a request, or find the response to an earlier one.

    `write_response` writes the response to a request of one message, also from its record. A batch
    has none: its claim stores the response.
    """

    claims: Claims
    messages: Messages
    write_response: Callable[[AcceptedMessage], str] | None

    def acquire(self, claim: Claim, now: datetime) -> Claim | StoredResponse:
        """Return the claim, now owned, or the response of an earlier success.

        Raises:
            ServiceError: `idempotency_key_mismatch` or `idempotency_in_flight`.
        """
        stored = self.claims.put(claim, now)
        if stored is None:
            return claim
        former, leased = stored.claim, now < stored.leased_until
        if now >= stored.expires_at:  # TTL deletes late
            if stored.response is None:
                self._withdraw(former, now)
            return self._take_over(stored, claim, now)
        if stored.response is not None:
            _check_same(former, claim)
            return replace(stored.response, replayed=True)
        accepted = self._read(former)
        if not accepted and not leased:
            accepted = self._withdraw(former, now)
        if leased or accepted or former.earlier:
            _check_same(former, claim)
        if self.write_response and accepted:
            return _replay(accepted[former.message_ids[0]], self.write_response)
        if leased:
            raise _in_flight()
        parts = (former.generation,) if accepted else ()
        return self._take_over(stored, replace(claim, earlier=former.earlier + parts), now)

    def _take_over(self, stored: StoredClaim, claim: Claim, now: datetime) -> Claim:
        if not self.claims.replace(stored, claim, now):
            raise _in_flight()
        return claim

    def _read(self, claim: Claim) -> Mapping[UUID, Message]:
        """Read the message of a claim. A batch that has ended has a response."""
        if self.write_response is None:
            return {}
        message = self.messages.get(claim.account_id, claim.message_ids[0])
        return {message.message_id: message} if message else {}

    def _withdraw(self, claim: Claim, now: datetime) -> Mapping[UUID, Message]:
        return self.messages.withdraw(claim.account_id, claim.message_ids, now)


def _replay(message: Message, write_response: Callable[[AcceptedMessage], str]) -> StoredResponse:
    text = write_response(AcceptedMessage.of(message))
    return StoredResponse(text, replayed=True, message_ids=(message.message_id,))


def _check_same(former: Claim, claim: Claim) -> None:
    if former.body_hash != claim.body_hash:
        raise ServiceError(
            "idempotency_key_mismatch", "This Idempotency-Key was used with a different body."
        )


def _in_flight() -> ServiceError:
    return ServiceError(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is still being processed.",
        headers={"Retry-After": "5"},
    )
