"""Flows, one-time links, and the counts that limit sign-in. The table's TTL deletes all of them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import TIME, Item, to_item, to_text, to_ttl
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.rows import Row
from pillarbox.domain.sign_in.codes import Flow, FlowToken
from pillarbox.domain.sign_in.session import digest_of

_FLOW: Final = Row(Flow, *("digest", "address", "code_hash"), expires_at=("until", TIME))


class DynamoFlows:
    """Implements `sign_in.ports.Flows`."""

    def __init__(self, credentials: Table, key: Callable[[str], Item] = keys.flow) -> None:
        """Store the table, and which flows they are."""
        self._credentials = credentials
        self._key = key

    def put(self, flow: Flow) -> None:
        """Put a flow, which replaces the one before."""
        item = self._key(flow.user_digest) | to_item(
            _FLOW.write(flow) | {"attempts": 0, "expires_at": to_ttl(flow.expires_at)}
        )
        self._credentials.put(item)

    def attempt(self, token: FlowToken, most: int, now: datetime) -> Flow | None:
        """Count in one conditional update, so that parallel attempts share the limit."""
        item = self._credentials.try_update(
            self._key(token.user_digest),
            "ADD #attempts :one",
            condition="#digest = :digest AND #attempts < :most AND #until > :now"
            " AND attribute_not_exists(#finished)",
            values={
                ":one": 1,
                ":digest": digest_of(token.secret),
                ":most": most,
                ":now": to_text(now),
            },
        )
        return _FLOW.read(item, user_digest=token.user_digest) if item else None

    def finish(self, flow: Flow) -> bool:
        """Mark the flow, unless another call has or a new flow has replaced it."""
        item = self._credentials.try_update(
            self._key(flow.user_digest),
            "SET #finished = :true",
            condition="#digest = :digest AND attribute_not_exists(#finished)",
            values={":true": True, ":digest": flow.digest},
        )
        return item is not None

    def put_link(self, digest: str, address: str, expires_at: datetime) -> None:
        """Put a link."""
        item = keys.link(digest) | to_item(
            {
                "address": address,
                "until": to_text(expires_at),
                "expires_at": to_ttl(expires_at),
            }
        )
        self._credentials.put(item)

    def redeem_link(self, digest: str, now: datetime) -> str | None:
        """Mark the link in one conditional update, so that it works once."""
        item = self._credentials.try_update(
            keys.link(digest),
            "SET #finished = :true",
            condition="#until > :now AND attribute_not_exists(#finished)",
            values={":true": True, ":now": to_text(now)},
        )
        return item["address"] if item else None


class DynamoSignInCounts(Store):
    """Implements `sign_in.ports.SignInCounts`."""

    def count(self, subject: str, window: timedelta, most: int, now: datetime) -> bool:
        """Count in one conditional update."""
        if most < 1:  # the condition allows the first one always
            return False
        seconds = round(window.total_seconds())
        number = int(now.timestamp()) // seconds
        item = self._table.try_update(
            keys.sign_in_count(subject, seconds, number),
            "ADD #count :one SET expires_at = :expires",
            condition="attribute_not_exists(#count) OR #count < :most",
            values={":one": 1, ":most": most, ":expires": (number + 1) * seconds},
        )
        return item is not None
