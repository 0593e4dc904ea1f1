"""Users, and their memberships in accounts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import (
    Item,
    from_text,
    to_attribute,
    to_item,
    to_text,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table, TransactionConditionsFailed
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.sign_in.session import Member, User, user_digest


class DynamoUsers:
    """Implements `sign_in.ports.Users`."""

    def __init__(self, credentials: Table) -> None:
        self._credentials = credentials

    def get(self, address: str) -> User | None:
        """Read one user with strong consistency."""
        item = self._credentials.get(keys.user(user_digest(address)))
        return _user_of(item) if item else None

    def add(self, user: User) -> User:
        """Put a user, or return the existing one."""
        item = keys.user(user_digest(user.address)) | to_item(
            {"id": user.user_id, "address": user.address, "operator": user.operator or None}
        )
        try:
            self._credentials.put(item, condition="attribute_not_exists(pk)")
        except ConditionFailed as failure:
            if failure.item:
                return _user_of(failure.item)
        return user

    def set_operator(self, address: str, *, operator: bool) -> User | None:
        """Set one attribute of a user that exists."""
        try:
            item = self._credentials.update(
                keys.user(user_digest(address)),
                "SET #operator = :operator",
                condition="attribute_exists(pk)",
                names={"#operator": "operator"},
                values={":operator": operator},
            )
        except ConditionFailed:
            return None
        return _user_of(item)


class DynamoMembers:
    """Implements `sign_in.ports.Members`. A member has an item of its account and of its user."""

    def __init__(self, credentials: Table) -> None:
        self._credentials = credentials

    def put(self, member: Member) -> None:
        """Put both items; after a failure, putting the member again repairs the other."""
        self._credentials.write_all(puts=[put["Item"] for put in self._puts(member)])

    def add(self, member: Member) -> bool:
        """Put both items in one transaction."""
        of_account, of_user = self._puts(member)
        return self._transact(
            of_account | {"ConditionExpression": "attribute_not_exists(pk)"}, of_user
        )

    def change(self, member: Member, role: Role | None, keeper: Member | None) -> Member | None:
        """Write both items and, unchanged, that of another owner, in one transaction."""
        changed = replace(member, role=role or member.role)
        of_account, of_user = self._puts(changed) if role else self._deletes(member)
        writes = [of_account | _if_role(member.role), of_user]
        if keeper:
            writes.append(self._puts(keeper)[0] | _if_role(Role.OWNER))
        return changed if self._transact(*writes) else None

    def remove(self, account_id: str, user_id: str) -> bool:
        """Delete both items, the one that gives the right first."""
        existed = self._credentials.remove(keys.member(account_id, user_id))
        self._credentials.delete(keys.membership(user_id, account_id))
        return existed

    def _puts(self, member: Member) -> list[dict[str, Any]]:
        return [
            {"TableName": self._credentials.name, "Item": item} for item in member_items(member)
        ]

    def _deletes(self, member: Member) -> list[dict[str, Any]]:
        return [{"TableName": self._credentials.name, "Key": place} for place in _places(member)]

    def _transact(self, *writes: dict[str, Any]) -> bool:
        """Make all writes; return False, and make none, if a condition fails."""
        try:
            self._credentials.transact(
                [{"Put" if "Item" in write else "Delete": write} for write in writes]  # type: ignore[misc]
            )
        except TransactionConditionsFailed:
            return False
        return True

    def of_account(self, account_id: str) -> Sequence[Member]:
        """Read the account's items."""
        return _by_time(self._credentials.query(keys.member(account_id)))

    def of_user(self, user_id: str) -> Sequence[Member]:
        """Read the user's items."""
        return _by_time(self._credentials.query(keys.membership(user_id)))


def _places(member: Member) -> tuple[Item, Item]:
    """Return the keys of a member's items: that of the account gives the right."""
    return (
        keys.member(member.account_id, member.user_id),
        keys.membership(member.user_id, member.account_id),
    )


def _if_role(role: Role) -> dict[str, Any]:
    """Return the condition that a stored member has a role."""
    return {
        "ConditionExpression": "#role = :role",
        "ExpressionAttributeNames": {"#role": "role"},
        "ExpressionAttributeValues": {":role": to_attribute(role.value)},
    }


def member_items(member: Member) -> list[Item]:
    """Return a member's items, with that of the account first."""
    return [place | member_item(member) for place in _places(member)]


def member_item(member: Member) -> Item:
    """Write a member without its key."""
    return to_item(
        {
            "account": member.account_id,
            "user": member.user_id,
            "address": member.address,
            "role": member.role.value,
            "added": to_text(member.added_at),
            "invited_by": member.invited_by,
        }
    )


def member_of(item: Mapping[str, Any]) -> Member:
    """Read a member."""
    return Member(
        account_id=item["account"],
        user_id=item["user"],
        address=item["address"],
        role=Role(item["role"]),
        added_at=from_text(item["added"]),
        invited_by=item.get("invited_by"),
    )


def _by_time(items: Any) -> list[Member]:  # noqa: ANN401  decoded items
    members = map(member_of, items)
    return sorted(members, key=lambda one: (one.added_at, one.account_id, one.user_id))


def _user_of(item: Mapping[str, Any]) -> User:
    return User(user_id=item["id"], address=item["address"], operator=item.get("operator", False))
