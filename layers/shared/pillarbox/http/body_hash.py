"""The hash of a request: two bodies with the same hash are one request under an Idempotency-Key.

Order of names, white space and members that are null make no difference. Every digit does.
"""

import hashlib
from collections.abc import Iterator

from pillarbox.domain.errors import Json
from pillarbox.http.json_body import RoundedNumber, canonical


def send_hash(body: Json) -> str:
    """Return the hash of a send, or of one message of a batch, in hex."""
    return _hash(_without_nulls(body))


def batch_hash(body: Json) -> str:
    """Return the hash of a batch, in hex."""
    if isinstance(body, dict) and isinstance(messages := body.get("messages"), list):
        body = body | {"messages": [_without_nulls(message) for message in messages]}
    return _hash(body)


def _without_nulls(message: Json) -> Json:
    """Leave out the fields that are null, as the models do; null stays a value in `variables`."""
    if not isinstance(message, dict):
        return message
    fields = _members(message)
    if isinstance(attachments := fields.get("attachments"), list):
        fields["attachments"] = [
            _members(item) if isinstance(item, dict) else item for item in attachments
        ]
    return fields


def _members(value: dict[str, Json]) -> dict[str, Json]:
    return {name: member for name, member in value.items() if member is not None}


def _hash(body: Json) -> str:
    text = canonical(body)
    # Only what a double cannot tell apart is added, so that all other hashes stay as they were.
    if rounded := list(_rounded(body, [])):
        text += b"\n" + canonical(rounded)
    return hashlib.sha256(text).hexdigest()


def _rounded(value: Json, path: list[Json]) -> Iterator[Json]:
    """Yield the path and the exact text of each number that a double only approximates."""
    if isinstance(value, RoundedNumber):
        yield [*path, value.exact]
    elif isinstance(value, dict):
        for name in sorted(value):
            yield from _rounded(value[name], [*path, name])
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _rounded(item, [*path, position])
