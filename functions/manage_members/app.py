"""/v1/members… and /v1/invitations…: the members of an account, and who joins it."""

from pillarbox.domain.accounts.key import MEMBERS_READ, MEMBERS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal, SessionPrincipal
from pillarbox.http.accounts.replies import MemberItem, MemberList, member_item
from pillarbox.http.accounts.wire import ChangeMemberRequest, InviteMemberRequest
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import USERS, managing
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/members", managing(MEMBERS_READ), response=MemberList)
def list_members() -> Reply:
    """List members.

    The users with a role in the account, the oldest first.
    """
    principal = _principal(MEMBERS_READ)
    members = services().account_members.of_account(principal)
    return reply(MemberList.of(items=[member_item(one, principal.user_id) for one in members]))


@route(
    "POST /v1/members",
    managing(MEMBERS_WRITE),
    body=InviteMemberRequest,
    response=MemberItem,
    status=201,
)
def invite_member() -> Reply:
    """Invite a member.

    Emails a link that signs the user in once, within seven days; later it signs in with a code.
    Then it is asked whether it joins the account. Until then the member is `pending`, and has no
    rights. An address that is `pending` is invited again, as far as the limits of invitations
    allow.

    Errors: `member_exists`, `member_limit_exceeded`.
    """
    principal, body = _principal(MEMBERS_WRITE), read_body(app.current_event, InviteMemberRequest)
    member = services().account_members.invite(principal, body.email, body.role)
    return reply(member_item(member, principal.user_id), 201)


@route(
    "PATCH /v1/members/{member_id}",
    managing(MEMBERS_WRITE),
    body=ChangeMemberRequest,
    response=MemberItem,
)
def change_member(member_id: str) -> Reply:
    """Change a member's role.

    The new role counts from the member's next request on.

    Errors: `last_owner`.
    """
    principal, body = _principal(MEMBERS_WRITE), read_body(app.current_event, ChangeMemberRequest)
    member = services().account_members.change_role(principal, member_id, body.role)
    return reply(member_item(member, principal.user_id))


@route("DELETE /v1/members/{member_id}", managing(MEMBERS_WRITE))
def remove_member(member_id: str) -> Reply:
    """Remove a member.

    The member's access tokens for the account do not work from the next request on.

    Errors: `last_owner`.
    """
    services().account_members.remove(_principal(MEMBERS_WRITE), member_id)
    return reply_nothing()


@route("POST /v1/invitations/{account_id}", USERS, response=MemberItem)
def accept_invitation(account_id: str) -> Reply:
    """Join an account.

    Makes the user of the session a member of an account that invites it. The next access token can
    be for this account.
    """
    principal = _user()
    member = services().account_members.accept(principal, account_id)
    return reply(member_item(member, principal.session.user_id))


@route("DELETE /v1/invitations/{account_id}", USERS)
def decline_invitation(account_id: str) -> Reply:
    """Decline an invitation.

    Ends the invitation of the user of the session to an account.
    """
    services().account_members.decline(_user(), account_id)
    return reply_nothing()


def _user() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


def _principal(scope: str) -> Principal | MemberPrincipal:
    return services().caller_authentication.manage(read_caller(app.current_event), scope)


load(lambda it: (it.caller_authentication, it.account_members))
lambda_handler = entrypoint(app)
