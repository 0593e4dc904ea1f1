"""Users, and their memberships in accounts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import NEW, TIME, Item, Parts, Store, to_item, to_text
from pillarbox.adapters.rows import Column, Row, one_of
from pillarbox.domain.sign_in.session import Member, Role, User, user_digest

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


class DynamoUsers(Store):
    """Implements `sign_in.ports.Users`."""

    def get(self, address: str) -> User | None:
        """Read one user with strong consistency."""
        item = self._table.get(keys.user(user_digest(address)))
        return _USER.read(item) if item else None

    def add(self, user: User) -> User:
        """Put a user, or return the existing one."""
        key = keys.user(user_digest(user.address))
        stored = self._table.put_new(key | to_item(_USER.write(user)))
        return _USER.read(stored) if stored else user

    def end_proofs(self, address: str, at: datetime) -> None:
        """Set one attribute of a user that exists."""
        self._table.try_update(
            keys.user(user_digest(address)),
            "SET #proofs_ended = :at",
            values={":at": to_text(at)},
        )

    def set_operator(self, address: str, *, operator: bool) -> User | None:
        """Set one attribute of a user that exists."""
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
        """Put both items in one transaction."""
        of_account, of_user = member_items(member)
        table = self._table
        return table.try_transact(table.to_put(of_account, condition=NEW), table.to_put(of_user))

    def join(self, member: Member) -> Member | None:
        """Write both items in one transaction."""
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
        """Read the account's items."""
        return _by_time(self._table.query(keys.member(account_id)))

    def of_user(self, user_id: str) -> Sequence[Member]:
        """Read the user's items."""
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


def member_of(item: Mapping[str, Any]) -> Member:
    """Read a member."""
    return _MEMBER.read(item)


def _by_time(items: Iterable[Mapping[str, Any]]) -> list[Member]:
    members = map(member_of, items)
    return sorted(members, key=lambda one: (one.added_at, one.account_id, one.user_id))
