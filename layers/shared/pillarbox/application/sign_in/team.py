"""The operators' part: users of accounts, one-time links, and what becomes of sign-ups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pillarbox.application.account_lookup import AccountReader, find_account
from pillarbox.application.ports import Clock, SendMail, ServiceAddress
from pillarbox.application.sign_in.ports import Flows, Members, Sessions, SignUps, Users
from pillarbox.application.sign_in.sign_up import changed_meanwhile, create_account
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.account_log import COMMAND, AccountAction, LogEntry
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.sign_in.codes import LINK_TIME, Link, new_link
from pillarbox.domain.sign_in.session import Member, Role, User, digest_of, new_user
from pillarbox.domain.sign_in.sign_up import SignUpMode, SignUpPolicy, SignUpRequest, SignUpState
from pillarbox.rendering.notice import sign_up_source


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


_NOT_ASKED: Final = "has asked for no account, or has it already"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpApproval:
    """The sign-ups that wait for the operator; `plan` is that of new accounts."""

    sign_ups: SignUps
    team: Team
    policy: SignUpPolicy
    send_mail: SendMail
    base_url: ServiceAddress
    clock: Clock

    def pending(self) -> Sequence[SignUpRequest]:
        """Return the sign-ups that wait, the oldest first."""
        return [one for one in self.sign_ups.all() if one.state is SignUpState.PENDING]

    def approve(self, address: str, plan: Plan | None = None, *, by: str = COMMAND) -> Account:
        """Create the account that a user has asked for, and tell the user.

        A request that was refused can still be approved.

        Args:
            plan: of the account; by default free.
            by: who approves: the address of an operator, or `COMMAND`.
        """
        states = {SignUpState.PENDING, SignUpState.REFUSED}
        before = self._find(address, states, _NOT_ASKED)
        if before.name is None:  # an invitation that was taken back
            raise _refusal(_NOT_ASKED)
        base_url = self.base_url()  # before any change, so that no account is left without an email
        request = replace(before, at=self.clock())
        entry = LogEntry(
            entry_id=str(new_id(request.at)), at=request.at, by=by, action=AccountAction.APPROVED
        )
        account = create_account(self.sign_ups, request, before, plan or Plan.FREE, entry)
        values: dict[str, Json] = {
            "title": "Your account is ready",
            "paragraphs": [f"The account “{account.name}” that you asked for has been created."],
            "url": f"{base_url}/app/",
            "reason": f"{before.address} asked for an account of Pillarbox",
        }
        subject = "Your account of Pillarbox is ready"
        self.send_mail(before.address, subject, sign_up_source(), values)
        return account

    def refuse(self, address: str) -> SignUpRequest:
        """Refuse a request or take an invitation back. The user sees it in the dashboard."""
        states = {SignUpState.PENDING, SignUpState.INVITED}
        before = self._find(address, states, "waits for no approval and is not invited")
        return self._store(replace(before, state=SignUpState.REFUSED, at=self.clock()), before)

    def invite(self, address: str) -> str:
        """Let the owner of an address create an account; return the text of a one-time link."""
        if self.policy.mode is SignUpMode.CLOSED:
            raise _refusal("cannot be invited, because the parameter SignUp is closed")
        user = self.team.add_user(address)
        request = SignUpRequest(
            user_id=user.user_id,
            address=user.address,
            state=SignUpState.INVITED,
            at=self.clock(),
        )
        self._store(request, self.sign_ups.get(user.address))
        return self.team.new_link(user.address)

    def _find(self, address: str, states: set[SignUpState], message: str) -> SignUpRequest:
        found = self.sign_ups.get(normalize_address(address))
        if found is None or found.state not in states:
            raise _refusal(message)
        return found

    def _store(self, request: SignUpRequest, before: SignUpRequest | None) -> SignUpRequest:
        if not self.sign_ups.put(request, before):
            raise changed_meanwhile()
        return request


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed(FieldError("address", message, "not_allowed"))
