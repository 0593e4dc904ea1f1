"""What owners do with the members of their account: invite, change roles, remove.

An invited user signs in with the link of the email, or with a one-time code. It is no member until
it agrees.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock, MailDomains, ServiceAddress
from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers, refuse_domain
from pillarbox.application.sign_in.ports import Flows, Members, PreviewAccounts, SignInCounts, Users
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.account import MAX_MEMBERS, Account, limit_exceeded
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.address import domain_of, fold_address, mailbox_key
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.sign_in.codes import INVITATION_TIME, Link, new_link
from pillarbox.domain.sign_in.session import (
    Member,
    MemberPrincipal,
    Role,
    SessionPrincipal,
    digest_of,
    new_user,
    rights_of,
    user_digest,
)
from pillarbox.domain.sign_in.strangers import Audience, Cause
from pillarbox.rendering.notice import invitation_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the email says. `inviter` is an address, `base_url` the app's host.

    Without a `link` the user signs in with a code.
    """

    address: str
    inviter: str
    role: Role
    base_url: str
    link: str = field(repr=False)

    def send(self, strangers: MailToStrangers, cause: Cause) -> None:
        strangers.send(
            self.address,
            # Without the account's name, which its owner chose: the reader has agreed to nothing.
            "You are invited to an account of Pillarbox",
            invitation_source(),
            {
                "inviter": self.inviter,
                "role": self.role.value,
                "days": INVITATION_TIME.days,
                "address": self.address,
                # In the fragment, which no server sees.
                "url": f"{self.base_url}/app/sign-in#{self.link}" if self.link else "",
                "sign_in": f"{self.base_url}/app/",
            },
            cause,
        )


#: Who changes members: an owner, or a key.
type Manager = Principal | MemberPrincipal

_DAY: Final = timedelta(days=1)
#: The most invitations of one account in a day: the emails come from the service's own address.
#: Until it has a verified sender they are fewer.
PER_DAY: Final = 15
PER_DAY_AT_FIRST: Final = 5
#: The most invitations that one address gets in a day, from all accounts. From one account it gets
#: two in a week, since the first may be lost: its reader may not have asked for any.
PER_ADDRESS_AND_DAY: Final = 3
_WEEK: Final = timedelta(days=7)
_PER_WEEK: Final = 2
#: How often a change is tried that other changes of the members prevent.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountMembers:
    """The members of the caller's account."""

    users: Users
    members: Members
    #: Returns the ids of all keys of an account, also of revoked ones.
    key_ids: Callable[[str], Iterable[str]]
    flows: Flows
    counts: SignInCounts
    #: Knows who wants no mail that they have not asked for.
    previews: PreviewAccounts
    #: Called for invitations alone, because it takes long to load.
    domains: Callable[[], MailDomains]
    strangers: MailToStrangers
    base_url: ServiceAddress
    log: ChangeLog
    clock: Clock

    def of_account(self, principal: Manager) -> Sequence[Member]:
        return self.members.of_account(principal.account.account_id)

    def invite(self, principal: Manager, address: str, role: Role) -> Member:
        """Invite a user to be a member, by email, or again if it has not agreed yet.

        The email has a one-time link, unless the user is an operator or in another account. An
        operator's key invites anybody to an account that never had a key: it has no mail yet.
        """
        if not self._is_first(principal):
            _check_gift(principal, role)
        address, now, account = normalize_address(address, "email"), self.clock(), principal.account
        present = self.members.of_account(account.account_id)
        mailbox = mailbox_key(address)
        before = next((one for one in present if mailbox_key(one.address) == mailbox), None)
        if before and not before.pending:
            raise _member_exists()
        if before is None and len(present) >= MAX_MEMBERS:
            raise limit_exceeded("member_limit_exceeded", MAX_MEMBERS, "members")
        base_url = self.base_url()  # before any change, so that no member is left without an email
        cause = Cause(Audience.INVITED, account.account_id)
        self._count(account, cause, address, now)
        user = self.users.add(new_user(address))
        others = (one for one in self.members.of_user(user.user_id) if one != before)
        is_new = not user.operator and not any(others)
        member = Member(
            account_id=account.account_id,
            user_id=user.user_id,
            address=user.address,
            role=role,
            added_at=now,
            invited_by=principal.actor,
            pending=True,
        )
        if not self._put(member, before):
            raise _member_exists()
        link = new_link() if is_new else ""
        if link:
            self._keep_link(link, member)
        Invitation(
            address=user.address,
            inviter=principal.title,
            role=role,
            base_url=base_url,
            link=link,
        ).send(self.strangers, cause)
        former = before.role if before else None
        self._note(principal.actor, AccountAction.MEMBER_INVITED, member, former, role)
        return member

    def _is_first(self, principal: Manager) -> bool:
        """Return whether an operator's key sets up an account that never had a key."""
        if not isinstance(principal, Principal) or not principal.acts_for_another:
            return False
        return not any(self.key_ids(principal.account.account_id))

    def _put(self, member: Member, before: Member | None) -> bool:
        """Store an invitation, in place of the one before; return False if that is none now."""
        if before is None:
            return self.members.add(member)
        # A member who agrees at the same time keeps the role of the invitation before.
        return bool(self.members.change(replace(member, role=before.role), member.role, None))

    def _count(self, account: Account, cause: Cause, address: str, now: datetime) -> None:
        """Count an invitation, and look up whether mail can reach its address."""
        if until := self.strangers.paused_until(cause):
            message = (
                "Invitations pause, because too many bounced."
                f" Try again after {until:%Y-%m-%d %H:%M} UTC."
            )
            raise ServiceError("rate_limit_exceeded", message)
        subject, mailbox = f"invitations#{cause.party}", user_digest(fold_address(address))
        most = PER_DAY if account.has_sender else PER_DAY_AT_FIRST
        if not self.counts.count(subject, _DAY, most, now):
            message = (
                f"An account can invite {PER_DAY} members a day,"
                f" and {PER_DAY_AT_FIRST} until it has a verified sender."
            )
            raise ServiceError("rate_limit_exceeded", message)
        domain = domain_of(address)
        refuse_domain(self.domains().look_up([domain])[domain], "email")
        limits = [
            (f"{subject}#{mailbox}", _WEEK, _PER_WEEK),
            (f"invitations#to#{mailbox}", _DAY, PER_ADDRESS_AND_DAY),
        ]
        counted = all(self.counts.count(name, window, most, now) for name, window, most in limits)
        if not counted or self.previews.is_stopped(mailbox_key(address)):
            message = (
                "This address gets no more invitations for now. The operator of the service can add"
                " the member."
            )
            raise ServiceError("rate_limit_exceeded", message)

    def _keep_link(self, text: str, member: Member) -> None:
        link = Link(
            address=member.address,
            at=member.added_at,
            expires_at=member.added_at + INVITATION_TIME,
            account_id=member.account_id,
        )
        self.flows.put_link(digest_of(text), link)

    def accept(self, principal: SessionPrincipal, account_id: str) -> Member:
        """Let the caller join an account that invites it."""
        for _ in range(_TRIES):
            member = self._invitation(principal, account_id)
            if joined := self.members.join(member):
                self._note(
                    principal.session.address,
                    AccountAction.MEMBER_JOINED,
                    member,
                    None,
                    member.role,
                )
                return joined
        raise _busy()

    def decline(self, principal: SessionPrincipal, account_id: str) -> None:
        """End the invitation of the caller to an account."""
        for _ in range(_TRIES):
            member = self._invitation(principal, account_id)
            if self.members.change(member, None, None):
                self._note(
                    principal.session.address,
                    AccountAction.MEMBER_REMOVED,
                    member,
                    member.role,
                    None,
                )
                return
        raise _busy()

    def _invitation(self, principal: SessionPrincipal, account_id: str) -> Member:
        members = self.members.of_user(principal.session.user_id)
        for member in members:
            if member.account_id == account_id and member.pending:
                return member
        raise ServiceError("account_not_found", "You are not invited to such an account.")

    def change_role(self, principal: Manager, user_id: str, role: Role) -> Member:
        """Give a member another role, from the next request on."""
        return self._change(principal, user_id, role)

    def remove(self, principal: Manager, user_id: str) -> None:
        """Remove a member, whose access tokens do not work from the next request on."""
        self._change(principal, user_id, None)

    def _change(self, principal: Manager, user_id: str, role: Role | None) -> Member:
        account_id = principal.account.account_id
        if role is not None:
            _check_gift(principal, role)
        for _ in range(_TRIES):
            members = self.members.of_account(account_id)
            member = next((one for one in members if one.user_id == user_id), None)
            if member is None:
                raise ServiceError("member_not_found", "The account has no such member.")
            _check_rights(principal, member.role)
            if member.role is role:
                return member
            owners = (one for one in members if one.role is Role.OWNER and not one.pending)
            others = (one for one in owners if one != member)
            keeper = next(others, None)
            if keeper is None and role is not Role.OWNER:
                raise ServiceError(
                    "last_owner", "An account needs an owner. Make another member an owner first."
                )
            # Two owners may remove each other at the same time; one of them must stay.
            changed = self.members.change(member, role, keeper)
            if changed:
                action = AccountAction.MEMBER_CHANGED if role else AccountAction.MEMBER_REMOVED
                self._note(principal.actor, action, member, member.role, role)
                return changed
        raise _busy()

    def _note(
        self,
        by: str,
        action: AccountAction,
        member: Member,
        before: Role | None,
        after: Role | None,
    ) -> None:
        self.log.note(
            member.account_id,
            action,
            member.address,
            by=by,
            changes={"role": (before and before.value, after and after.value)},
        )


def _check_gift(principal: Manager, role: Role) -> None:
    """Refuse a key that gives a role which would outlive its own end, or work from elsewhere."""
    if isinstance(principal, Principal) and principal.key.is_limited:
        message = "A key with an end or sources gives no role: a member has neither."
        raise ServiceError("scope_required", message)
    _check_rights(principal, role)


def _check_rights(principal: Manager, role: Role) -> None:
    """Refuse a key that gives or takes rights of a member which it lacks itself.

    An owner releases what an agent's key sends, which no key does.
    """
    if isinstance(principal, Principal):
        if role is Role.OWNER:
            message = "No key makes or changes an owner: an owner does, in the dashboard."
            raise ServiceError("scope_required", message)
        for scope in sorted(rights_of(role) - principal.rights):
            principal.require_right(scope)


def _busy() -> Unavailable:
    return Unavailable("data store", "Others change the members at the same time. Try again.")


def _member_exists() -> ServiceError:
    return ServiceError("member_exists", "The address is that of a member already.")
