"""The users of the dashboard, and their sessions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import account_of
from pillarbox.adapters.dynamodb.table import (
    NEW,
    TIME,
    Item,
    Parts,
    Store,
    Table,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.adapters.rows import Column, Row, one_of
from pillarbox.application.sign_in.ports import SessionResult
from pillarbox.domain.sign_in.session import (
    Access,
    Member,
    Role,
    Session,
    SessionToken,
    SignInMethod,
    User,
    user_digest,
)

_USER: Final = Row(
    User,
    "address",
    user_id="id",
    operator=Column("operator", absent=False),
    proofs_ended_at=Column("proofs_ended?", TIME),
)
_MEMBER: Final = Row(
    Member,
    *("address", "invited_by?"),
    account_id="account",
    user_id="user",
    role=("role", one_of(Role)),
    added_at=("added", TIME),
    pending=Column("pending", absent=False),
)
member_of: Final = _MEMBER.read


class DynamoUsers(Store):
    """Implements `sign_in.ports.Users`."""

    def get(self, address: str) -> User | None:
        return self._table.find(keys.user(user_digest(address)), _USER.read)

    def add(self, user: User) -> User:
        key = keys.user(user_digest(user.address))
        stored = self._table.put_new(key | to_item(_USER.write(user)))
        return _USER.read(stored) if stored else user

    def end_proofs(self, address: str, at: datetime) -> None:
        self._table.try_update(
            keys.user(user_digest(address)),
            "SET #proofs_ended = :at",
            values={":at": to_text(at)},
        )

    def set_operator(self, address: str, *, operator: bool) -> User | None:
        item = self._table.try_update(
            keys.user(user_digest(address)),
            "SET #operator = :operator",
            values={":operator": operator},
        )
        return _USER.read(item) if item else None


class DynamoMembers(Store):
    """Implements `sign_in.ports.Members`. A member has an item of its account and of its user."""

    def put(self, member: Member) -> None:
        """Put both items; after a failure, putting the member again repairs the other."""
        self._table.write_all(puts=member_items(member))

    def add(self, member: Member) -> bool:
        of_account, of_user = member_items(member)
        table = self._table
        return table.try_transact(table.to_put(of_account, condition=NEW), table.to_put(of_user))

    def join(self, member: Member) -> Member | None:
        joined = replace(member, pending=False)
        of_account, of_user = member_items(joined)
        table = self._table
        writes = table.to_put(of_account, **_if_unchanged(member)), table.to_put(of_user)
        return joined if table.try_transact(*writes) else None

    def change(self, member: Member, role: Role | None, keeper: Member | None) -> Member | None:
        """Write both items and, unchanged, that of another owner, in one transaction."""
        changed = replace(member, role=role or member.role)
        table = self._table
        write, items = (
            (table.to_put, member_items(changed)) if role else (table.to_delete, _places(member))
        )
        of_account, of_user = items
        writes = [write(of_account, **_if_unchanged(member)), write(of_user)]
        if keeper:
            writes.append(table.to_put(member_items(keeper)[0], **_if_unchanged(keeper)))
        return changed if table.try_transact(*writes) else None

    def remove(self, account_id: str, user_id: str) -> bool:
        """Delete both items, the one that gives the right first."""
        existed = self._table.remove(keys.member(account_id, user_id))
        self._table.delete(keys.membership(user_id, account_id))
        return existed

    def of_account(self, account_id: str) -> Sequence[Member]:
        return _by_time(self._table.query(keys.member(account_id)))

    def of_user(self, user_id: str) -> Sequence[Member]:
        return _by_time(self._table.query(keys.membership(user_id)))


def _places(member: Member) -> tuple[Item, Item]:
    """Return the keys of a member's items: that of the account gives the right."""
    return (
        keys.member(member.account_id, member.user_id),
        keys.membership(member.user_id, member.account_id),
    )


def _if_unchanged(member: Member) -> Parts:
    """Return the condition that a stored member has the role, and has or has not joined."""
    exists = "attribute_exists" if member.pending else "attribute_not_exists"
    return {
        "condition": f"#role = :role AND {exists}(#pending)",
        "values": {":role": member.role.value},
    }


def member_items(member: Member) -> list[Item]:
    """Return a member's items, with that of the account first."""
    return [place | to_item(_MEMBER.write(member)) for place in _places(member)]


def _by_time(items: Iterable[Mapping[str, Any]]) -> list[Member]:
    members = map(member_of, items)
    return sorted(members, key=lambda one: (one.added_at, one.account_id, one.user_id))


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
        self._credentials = credentials
        self._table = table

    def add(self, session: Session) -> None:
        key = keys.session(session.user_id, session.session_id)
        expires = {"expires_at": to_ttl(session.expires_at)}
        self._credentials.put(key | to_item(_SESSION.write(session) | expires))

    def add_access(self, access: Access) -> None:
        key = keys.access_token(access.user_id, access.session_id, access.digest)
        expires = {"expires_at": to_ttl(access.expires_at)}
        self._credentials.put(key | to_item(_ACCESS.write(access) | expires))

    def get(self, user_id: str, session_id: str) -> Session | None:
        return self._credentials.find(keys.session(user_id, session_id), _SESSION.read)

    def touch(self, session: Session) -> bool:
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
