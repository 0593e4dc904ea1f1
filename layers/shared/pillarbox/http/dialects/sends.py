"""Make the requests of the contract from what was translated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pillarbox.domain.errors import Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.batch import MAX_MESSAGES, BatchRequest
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.http.bodies import parse_send
from pillarbox.http.body_hash import batch_hash, send_hash
from pillarbox.http.dialects.recipients import reply_mailboxes

#: Fields that libraries of mail put into every message: ours and SES's replace them.
_WRITTEN_ANYWAY: Final = frozenset(
    {"content-transfer-encoding", "date", "message-id", "mime-version"}
)


def unwrapped(content: Json) -> Json:
    """Return base64 without its line ends: Symfony and Ruby send it as it is in a message."""
    return content.replace("\r", "").replace("\n", "") if isinstance(content, str) else content


def translated_send(
    ours: Mapping[str, Json],
    body: Json,
    names: Mapping[str, str],
    replies: tuple[str, Sequence[Json]] = ("", ()),
) -> SendRequest:
    """Validate a translated email as the contract's.

    Args:
        ours: the fields of the contract.
        body: what the client sent.
        names: those of recipients, by address.
        replies: the client's field for who gets replies, and its entries.

    Raises:
        ValidationFailed: a field is wrong.
    """
    request = parse_send({**ours, **_headers(ours)})
    reply_to, reply_names = reply_mailboxes(*replies)
    return replace(
        request,
        body_hash=send_hash(body),
        reply_to=reply_to,
        names={**reply_names, **names},
    )


def _headers(ours: Mapping[str, Json]) -> dict[str, Json]:
    headers = ours.get("headers")
    if not isinstance(headers, dict):
        return {}
    kept = {name: value for name, value in headers.items() if name.lower() not in _WRITTEN_ANYWAY}
    return {"headers": kept}


def translated_batch(
    emails: list[Json], translate: Callable[[Json], SendRequest], *, whole: bool
) -> BatchRequest:
    """Translate the emails of a batch; with `whole` it is sent as a whole or not at all."""
    if len(emails) > MAX_MESSAGES:
        return BatchRequest(body_hash="", count=len(emails), items=())

    def item(position: int, email: Json) -> SendRequest | ServiceError:
        try:
            return translate(email)
        except ValidationFailed as failed:
            return failed.below(str(position))

    return BatchRequest(
        body_hash=batch_hash({"messages": emails}),
        count=len(emails),
        items=tuple(item(position, email) for position, email in enumerate(emails)),
        whole=whole,
    )
