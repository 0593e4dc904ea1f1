"""Acquire an Idempotency-Key in the stores as a send does."""

from datetime import datetime

from pillarbox.application.ports import AcceptedMessage, Claim, Claims, Messages, StoredResponse
from pillarbox.application.sending.claiming import Claiming
from pillarbox.domain.ids import new_id
from tests.fakes.builders import ACCOUNT, DIGEST, HASH, NOW


def acquire_or_replay(
    claims: Claims,
    messages: Messages,
    body_hash: str = HASH,
    now: datetime = NOW,
    *,
    account_id: str = ACCOUNT,
    digest: str = DIGEST,
    batch: int = 0,
) -> Claim | StoredResponse:
    claim = Claim(
        account_id=account_id,
        digest=digest,
        body_hash=body_hash,
        generation=new_id(now),
        count=batch or 1,
    )
    write_response = None if batch else response_to
    return Claiming(claims, messages, write_response).acquire(claim, now)


def response_to(accepted: AcceptedMessage) -> str:
    """Write a response that names the message and its sender."""
    return f"{accepted.message_id} {accepted.sender} ü"
