"""Add and remove the users of accounts, and create one-time links: the operator's part."""

from dataclasses import dataclass

from pillarbox.application.account_lookup import AccountReader, find_account
from pillarbox.application.ports import Clock
from pillarbox.application.sign_in.ports import Flows, Members, Sessions, Users
from pillarbox.application.validation import normalize_address
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.codes import LINK_TIME, Link, new_link
from pillarbox.domain.sign_in.session import Member, Role, User, digest_of, new_user


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The users of the dashboard, their roles, and links with which they sign in."""

    users: Users
    members: Members
    accounts: AccountReader
    sessions: Sessions
    flows: Flows
    clock: Clock

    def add_user(self, address: str) -> User:
        """Return the user of an address; create it if it is new."""
        return self.users.add(new_user(normalize_address(address)))

    def add_member(self, account_id: str, address: str, role: Role) -> Member:
        """Give a user a role in an account, in place of the one that it has there."""
        find_account(self.accounts, account_id)
        user = self.add_user(address)
        member = Member(
            account_id=account_id,
            user_id=user.user_id,
            address=user.address,
            role=role,
            added_at=self.clock(),
        )
        self.members.put(member)
        return member

    def remove_member(self, account_id: str, address: str) -> None:
        """Remove a user from an account. Its sessions lose the account at once.

        The codes and links that the user has not used yet end too.
        """
        find_account(self.accounts, account_id)
        user = self.users.get(normalize_address(address))
        if user is None or not self.members.remove(account_id, user.user_id):
            raise _member_not_found()
        self.users.end_proofs(user.address, self.clock())

    def set_operator(self, address: str, *, operator: bool) -> User:
        """Make a user an operator of the service, or end that, its sessions, codes and links."""
        if operator:
            self.add_user(address)
        user = self.users.set_operator(normalize_address(address), operator=operator)
        if user is None:
            raise _member_not_found()
        if not operator:
            self.users.end_proofs(user.address, self.clock())
            self.sessions.remove_all(user.user_id)
        return user

    def new_link(self, address: str) -> str:
        """Return the text of a one-time link for a user, which is created if it is new."""
        user, text, now = self.add_user(address), new_link(), self.clock()
        link = Link(address=user.address, at=now, expires_at=now + LINK_TIME)
        self.flows.put_link(digest_of(text), link)
        return text


def _member_not_found() -> ServiceError:
    return ServiceError(
        "member_not_found", "No user has this address: `pillarbox member list` shows all members."
    )
