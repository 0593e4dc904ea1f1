"""Flows, one-time links, and the counts that limit sign-in. The table's TTL deletes all of them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import TIME, Item, Store, Table, to_item, to_text, to_ttl
from pillarbox.adapters.rows import Row
from pillarbox.domain.sign_in.codes import Flow, FlowToken, Link
from pillarbox.domain.sign_in.session import digest_of

_LINK: Final = Row(
    Link, "address", at=("at", TIME), expires_at=("until", TIME), account_id="account?"
)
_FLOW: Final = Row(Flow, *("digest", "address", "code_hash"), expires_at=("until", TIME))


class DynamoFlows:
    """Implements `sign_in.ports.Flows`."""

    def __init__(self, credentials: Table, key: Callable[[str, str], Item] = keys.flow) -> None:
        self._credentials = credentials
        self._key = key

    def put(self, flow: Flow) -> None:
        item = self._key(flow.user_digest, flow.digest) | to_item(
            _FLOW.write(flow) | {"attempts": 0, "expires_at": to_ttl(flow.expires_at)}
        )
        self._credentials.put(item)

    def attempt(self, token: FlowToken, most: int, now: datetime) -> Flow | None:
        """Count in one conditional update, so that parallel attempts share the limit."""
        item = self._credentials.try_update(
            self._key(token.user_digest, digest_of(token.secret)),
            "ADD #attempts :one",
            condition="#attempts < :most AND #until > :now AND attribute_not_exists(#finished)",
            values={
                ":one": 1,
                ":most": most,
                ":now": to_text(now),
            },
        )
        return _FLOW.read(item, user_digest=token.user_digest) if item else None

    def finish(self, flow: Flow) -> bool:
        item = self._credentials.try_update(
            self._key(flow.user_digest, flow.digest),
            "SET #finished = :true",
            condition="attribute_exists(#digest) AND attribute_not_exists(#finished)",
            values={":true": True},
        )
        return item is not None

    def put_link(self, digest: str, link: Link) -> None:
        expires = {"expires_at": to_ttl(link.expires_at)}
        self._credentials.put(keys.link(digest) | to_item(_LINK.write(link) | expires))

    def get_link(self, digest: str, now: datetime) -> Link | None:
        item = self._credentials.get(keys.link(digest))
        if item is None or "finished" in item:
            return None
        link = _LINK.read(item)
        return link if now < link.expires_at else None

    def redeem_link(self, digest: str, now: datetime) -> Link | None:
        """Mark the link in one conditional update, so that it works once."""
        item = self._credentials.try_update(
            keys.link(digest),
            "SET #finished = :true",
            condition="#until > :now AND attribute_not_exists(#finished)",
            values={":true": True, ":now": to_text(now)},
        )
        return _LINK.read(item) if item else None


class DynamoSignInCounts(Store):
    """Implements `sign_in.ports.SignInCounts`."""

    def is_full(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        item = self._table.get(_window(subject, window, now)[0])
        return (item["count"] if item else 0) >= most

    def count(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        if most < 1:  # the condition allows the first one always
            return False
        key, end = _window(subject, window, now)
        item = self._table.try_update(
            key,
            "ADD #count :one SET expires_at = :expires",
            condition="attribute_not_exists(#count) OR #count < :most",
            values={":one": 1, ":most": most, ":expires": end},
        )
        return item is not None


def _window(subject: str, window: timedelta, now: datetime) -> tuple[Item, int]:
    """Return the key of the count in the current window, and the window's end."""
    seconds = round(window.total_seconds())
    number = int(now.timestamp()) // seconds
    return keys.sign_in_count(subject, seconds, number), (number + 1) * seconds
