"""Sessions and access tokens. The table's TTL deletes what has expired."""

from collections.abc import Sequence
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import account_of
from pillarbox.adapters.dynamodb.sign_in.users import member_of
from pillarbox.adapters.dynamodb.table import TIME, Item, Table, to_item, to_text, to_ttl
from pillarbox.adapters.rows import Column, Row, one_of
from pillarbox.application.sign_in.ports import SessionResult
from pillarbox.domain.sign_in.session import Access, Session, SessionToken, SignInMethod

_TOKEN: Final[dict[str, Any]] = {"user_id": "user", "session_id": "session"}
_SESSION: Final = Row(
    Session,
    *("address", "digest", "agent"),
    method=Column("method", one_of(SignInMethod), absent=SignInMethod.CODE),
    passkey_id="passkey?",
    created_at=("created", TIME),
    used_at=("used", TIME),
    **_TOKEN,
)
_ACCESS: Final = Row(
    Access,
    "digest",
    account_id="account",
    operator=Column("operator", absent=False),
    expires_at=("until", TIME),
    **_TOKEN,
)


class DynamoSessions:
    """Implements `sign_in.ports.Sessions`."""

    def __init__(self, credentials: Table, table: Table) -> None:
        """Store the tables; the first table has the accounts."""
        self._credentials = credentials
        self._table = table

    def add(self, session: Session) -> None:
        """Put a session."""
        key = keys.session(session.user_id, session.session_id)
        expires = {"expires_at": to_ttl(session.expires_at)}
        self._credentials.put(key | to_item(_SESSION.write(session) | expires))

    def add_access(self, access: Access) -> None:
        """Put an access token."""
        key = keys.access_token(access.user_id, access.session_id, access.digest)
        expires = {"expires_at": to_ttl(access.expires_at)}
        self._credentials.put(key | to_item(_ACCESS.write(access) | expires))

    def get(self, user_id: str, session_id: str) -> Session | None:
        """Read one session with strong consistency."""
        item = self._credentials.get(keys.session(user_id, session_id))
        return _SESSION.read(item) if item else None

    def touch(self, session: Session) -> bool:
        """Set the time of use, unless the session was deleted."""
        item = self._credentials.try_update(
            keys.session(session.user_id, session.session_id),
            "SET #used = :used, expires_at = :expires",
            values={":used": to_text(session.used_at), ":expires": to_ttl(session.expires_at)},
        )
        return item is not None

    def look_up(self, token: SessionToken) -> SessionResult:
        """Read four items of two tables in one request, with strong consistency."""
        session = keys.session(token.user_id, token.session_id)
        access = keys.access_token(token.user_id, token.session_id, token.digest)
        member = keys.member(token.account_id, token.user_id)
        account = keys.account(token.account_id)
        found = self._table.get_all([account], (self._credentials, [session, access, member]))
        items = {(item["pk"], item["sk"]): item for item in found}

        def item(key: Item) -> dict[str, Any] | None:
            return items.get((key["pk"]["S"], key["sk"]["S"]))

        return SessionResult(
            session=_SESSION.read(stored) if (stored := item(session)) else None,
            access=_ACCESS.read(stored) if (stored := item(access)) else None,
            member=member_of(stored) if (stored := item(member)) else None,
            account=account_of(stored) if (stored := item(account)) else None,
        )

    def of_user(self, user_id: str) -> Sequence[Session]:
        """Read a user's sessions, and none of the access tokens."""
        items = self._credentials.query(*keys.sessions(user_id))
        sessions = [_SESSION.read(item) for item in items]
        return sorted(sessions, key=lambda one: (one.created_at, one.session_id), reverse=True)

    def remove(self, user_id: str, session_id: str) -> bool:
        """Delete a session; its access tokens are useless without it."""
        return self._credentials.remove(keys.session(user_id, session_id))

    def remove_all(self, user_id: str) -> None:
        """Delete each session; the access tokens are useless without them."""
        for session in self.of_user(user_id):
            self.remove(user_id, session.session_id)
