"""/v1/members… and /v1/invitations…: the members of an account, and who joins it."""

from pillarbox.domain.accounts.key import MEMBERS_READ, MEMBERS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal, SessionPrincipal
from pillarbox.http.accounts.replies import MemberList, member_item
from pillarbox.http.accounts.wire import ChangeMemberRequest, InviteMemberRequest
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/members")
def list_members() -> Reply:
    principal = _principal(MEMBERS_READ)
    members = services().account_members.of_account(principal)
    return reply(MemberList.of(items=[member_item(one, principal.user_id) for one in members]))


@app.post("/v1/members")
def invite_member() -> Reply:
    principal, body = _principal(MEMBERS_WRITE), read_body(app.current_event, InviteMemberRequest)
    member = services().account_members.invite(principal, body.email, body.role)
    return reply(member_item(member, principal.user_id), 201)


@app.patch("/v1/members/<member_id>")
def change_member(member_id: str) -> Reply:
    principal, body = _principal(MEMBERS_WRITE), read_body(app.current_event, ChangeMemberRequest)
    member = services().account_members.change_role(principal, member_id, body.role)
    return reply(member_item(member, principal.user_id))


@app.delete("/v1/members/<member_id>")
def remove_member(member_id: str) -> Reply:
    services().account_members.remove(_principal(MEMBERS_WRITE), member_id)
    return reply_nothing()


@app.post("/v1/invitations/<account_id>")
def accept_invitation(account_id: str) -> Reply:
    principal = _user()
    member = services().account_members.accept(principal, account_id)
    return reply(member_item(member, principal.session.user_id))


@app.delete("/v1/invitations/<account_id>")
def decline_invitation(account_id: str) -> Reply:
    services().account_members.decline(_user(), account_id)
    return reply_nothing()


def _user() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


def _principal(scope: str) -> Principal | MemberPrincipal:
    return services().caller_authentication.manage(read_caller(app.current_event), scope)


load(lambda it: (it.caller_authentication, it.account_members))
lambda_handler = entrypoint(app)
