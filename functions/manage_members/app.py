"""/v1/members… and /v1/invitations…: the members of an account, and who joins it."""

from typing import Any

from pillarbox.domain.accounts.key import MEMBERS_READ, MEMBERS_WRITE
from pillarbox.http.accounts.replies import MemberItem, MemberList, member_item
from pillarbox.http.accounts.wire import ChangeMemberRequest, InviteMemberRequest
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, UserCaller, managing, users
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/members", managing(MEMBERS_READ), response=MemberList)
def list_members(principal: Manager) -> dict[str, Any]:
    """List members.

    The users with a role in the account, the oldest first.
    """
    members = services().account_members.of_account(principal)
    return MemberList.of(items=[member_item(one, principal.user_id) for one in members])


@route(
    "POST /v1/members",
    managing(MEMBERS_WRITE),
    body=InviteMemberRequest,
    response=MemberItem,
    status=201,
)
def invite_member(principal: Manager, body: InviteMemberRequest) -> dict[str, Any]:
    """Invite a member.

    Emails a link that signs the user in once, within seven days; later it signs in with a code.
    Then it is asked whether it joins the account. Until then the member is `pending`, and has no
    rights. An address that is `pending` is invited again, as far as the limits of invitations
    allow.

    Errors: `member_exists`, `member_limit_exceeded`.
    """
    member = services().account_members.invite(principal, body.email, body.role)
    return member_item(member, principal.user_id)


@route(
    "PATCH /v1/members/{member_id}",
    managing(MEMBERS_WRITE),
    body=ChangeMemberRequest,
    response=MemberItem,
)
def change_member(principal: Manager, member_id: str, body: ChangeMemberRequest) -> dict[str, Any]:
    """Change a member's role.

    The new role counts from the member's next request on.

    Errors: `last_owner`.
    """
    member = services().account_members.change_role(principal, member_id, body.role)
    return member_item(member, principal.user_id)


@route("DELETE /v1/members/{member_id}", managing(MEMBERS_WRITE))
def remove_member(principal: Manager, member_id: str) -> None:
    """Remove a member.

    The member's access tokens for the account do not work from the next request on.

    Errors: `last_owner`.
    """
    services().account_members.remove(principal, member_id)


@route("POST /v1/invitations/{account_id}", users(), response=MemberItem)
def accept_invitation(principal: UserCaller, account_id: str) -> dict[str, Any]:
    """Join an account.

    Makes the user of the session a member of an account that invites it. The next access token can
    be for this account.
    """
    member = services().account_members.accept(principal, account_id)
    return member_item(member, principal.session.user_id)


@route("DELETE /v1/invitations/{account_id}", users())
def decline_invitation(principal: UserCaller, account_id: str) -> None:
    """Decline an invitation.

    Ends the invitation of the user of the session to an account.
    """
    services().account_members.decline(principal, account_id)


load(lambda it: (it.caller_authentication, it.account_members))
lambda_handler = entrypoint(app)
