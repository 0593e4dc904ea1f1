"""What owners do with the members of their account: invite, change roles, remove.

An invitation adds the member at once. It is of no use without the mailbox: the invited user signs
in with the link of the email, or with a one-time code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.ports import Clock, SendMail, ServiceAddress
from pillarbox.application.sign_in.invitation_mail import Invitation
from pillarbox.application.sign_in.ports import Flows, Members, SignInCounts, Users
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.limits import MAX_MEMBERS, limit_exceeded
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.sign_in.codes import INVITATION_TIME, new_link
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.sign_in.session import Member, MemberPrincipal, digest_of, new_user

_DAY: Final = timedelta(days=1)
#: The most invitations of one account in a day: the emails come from the service's own address.
PER_DAY: Final = 50
#: How often a change is tried that other changes of the members prevent.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountMembers:
    """The members of the caller's account."""

    users: Users
    members: Members
    flows: Flows
    counts: SignInCounts
    send_mail: SendMail
    base_url: ServiceAddress
    clock: Clock

    def of_account(self, principal: MemberPrincipal) -> Sequence[Member]:
        """Return the members, the oldest first."""
        return self.members.of_account(principal.account.account_id)

    def invite(self, principal: MemberPrincipal, address: str, role: Role) -> Member:
        """Add a member, and send it an email with a one-time link.

        Raises:
            ValidationFailed: on `email`.
            ServiceError: `member_exists`, `member_limit_exceeded`, `rate_limit_exceeded`;
                `service_unavailable`, with nothing changed.
        """
        address, now, account = normalize_address(address, "email"), self.clock(), principal.account
        if len(self.members.of_account(account.account_id)) >= MAX_MEMBERS:
            raise limit_exceeded("member_limit_exceeded", MAX_MEMBERS, "members")
        base_url = self.base_url()  # before any change, so that no member is left without an email
        subject = f"invitations#{account.account_id}"
        if not self.counts.count(subject, _DAY, PER_DAY, now):
            raise ServiceError(
                "rate_limit_exceeded", f"An account can invite {PER_DAY} members a day."
            )
        user = self.users.add(new_user(address))
        member = Member(
            account_id=account.account_id,
            user_id=user.user_id,
            address=user.address,
            role=role,
            added_at=now,
            invited_by=principal.session.user_id,
        )
        if not self.members.add(member):
            raise ServiceError("member_exists", "The address is that of a member already.")
        link = new_link()
        self.flows.put_link(digest_of(link), user.address, now + INVITATION_TIME)
        Invitation(
            address=user.address,
            inviter=principal.session.address,
            account=account.name,
            role=role,
            base_url=base_url,
            link=link,
        ).send(self.send_mail)
        return member

    def change_role(self, principal: MemberPrincipal, user_id: str, role: Role) -> Member:
        """Give a member another role, from the next request on.

        Raises:
            ServiceError: `member_not_found`; `last_owner`, if the account would have none.
        """
        return self._change(principal, user_id, role)

    def remove(self, principal: MemberPrincipal, user_id: str) -> None:
        """Remove a member, whose access tokens do not work from the next request on.

        Raises:
            ServiceError: `member_not_found`; `last_owner`, if the account would have none.
        """
        self._change(principal, user_id, None)

    def _change(self, principal: MemberPrincipal, user_id: str, role: Role | None) -> Member:
        account_id = principal.account.account_id
        for _ in range(_TRIES):
            members = self.members.of_account(account_id)
            member = next((one for one in members if one.user_id == user_id), None)
            if member is None:
                raise ServiceError("member_not_found", "The account has no such member.")
            if member.role is role:
                return member
            others = (one for one in members if one.role is Role.OWNER and one != member)
            keeper = next(others, None)
            if keeper is None and role is not Role.OWNER:
                raise ServiceError(
                    "last_owner", "An account needs an owner. Make another member an owner first."
                )
            # Two owners may remove each other at the same time; one of them must stay.
            changed = self.members.change(member, role, keeper)
            if changed:
                return changed
        raise Unavailable("data store", "Others change the members at the same time. Try again.")
