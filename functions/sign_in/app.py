"""POST, GET and DELETE /v1/session…: sign in to the dashboard, and end sessions."""

from typing import Any

from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.domain.sign_in.session import parse_cookie
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import ANYONE, COOKIES, UserCaller, users
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import request_origin
from pillarbox.http.sign_in.replies import (
    AccessItem,
    LinkItem,
    RequestedCode,
    SessionItem,
    SessionList,
)
from pillarbox.http.sign_in.wire import (
    CodeRequestBody,
    EndSessionsQuery,
    LinkRequest,
    SignInRequest,
    TokenRequest,
    check_same_origin,
    cookie_header,
    no_cookie_header,
    read_cookie,
    refuse_other_sites,
    user_agent,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("POST /v1/session/codes", ANYONE, body=CodeRequestBody, response=RequestedCode, status=202)
def request_code() -> dict[str, Any]:
    """Request a one-time code.

    Emails six or ten digits to the address, if it is a user's. The response is the same if it is
    not, and says whether newcomers get codes now. The code works for ten minutes and five attempts,
    together with `flow`. Codes that were requested before keep working.

    Errors: `cross_site_request`.
    """
    refuse_other_sites(app.current_event)
    address = read_body(app.current_event, CodeRequestBody).email
    client = request_origin(app.current_event).client(services().is_of_edge)
    flow = services().sign_in.request_code(address, client)
    return RequestedCode.of(flow, newcomers=services().sign_in.newcomers())


@route("POST /v1/session", ANYONE, body=SignInRequest, response=AccessItem, sets_cookie=True)
def sign_in() -> Reply:
    """Sign in.

    Begins a session with a code or a one-time link. Only pages of this origin can call it.

    Errors: `invalid_code`, `cross_site_request`.
    """
    check_same_origin(app.current_event)
    body, agent = read_body(app.current_event, SignInRequest), user_agent(app.current_event)
    if body.link is not None:
        issued = services().sign_in.with_link(body.link, agent)
    else:
        issued = services().sign_in.with_code(parse_flow(body.flow or ""), body.code or "", agent)
    return reply(AccessItem.of(issued.access), headers=cookie_header(issued.cookie))


@route("POST /v1/session/links", ANYONE, body=LinkRequest, response=LinkItem)
def look_at_link() -> dict[str, Any]:
    """Look at a one-time link.

    Returns whom the link would sign in, and who invites the user to which account, and leaves it
    unused. Only pages of this origin can call it.

    Errors: `invalid_code`, `cross_site_request`.
    """
    check_same_origin(app.current_event)
    link = read_body(app.current_event, LinkRequest).link
    return LinkItem.of(services().sign_in.owner_of_link(link))


@route("POST /v1/session/token", COOKIES, body=TokenRequest, response=AccessItem, sets_cookie=True)
def create_access_token() -> Reply:
    """Get an access token.

    Exchanges the cookie for an access token for one account. Only pages of this origin can call it.

    Errors: `rate_limit_exceeded`.
    """
    check_same_origin(app.current_event)
    cookie = read_cookie(app.current_event)
    account_id = read_body(app.current_event, TokenRequest).account_id
    access = services().sign_in.exchange(parse_cookie(cookie), account_id)
    return reply(AccessItem.of(access), headers=cookie_header(cookie))


@route("GET /v1/session", users(), response=SessionList)
def list_sessions(principal: UserCaller) -> dict[str, Any]:
    """List sessions.

    The sessions of the user, the newest first.
    """
    sessions = services().sign_in.sessions_of(principal)
    current = principal.session.session_id
    items = [SessionItem.of(one, current=one.session_id == current) for one in sessions]
    return SessionList.of(items=items)


@route("DELETE /v1/session", users(), query=EndSessionsQuery, sets_cookie=True)
def end_sessions(principal: UserCaller, query: EndSessionsQuery) -> Reply:
    """Sign out.

    Ends this session, or with `all` every session of the user. Their access tokens stop working at
    once.

    Errors: `session_not_found`.
    """
    if query.every:
        services().sign_in.end_all(principal)
    else:
        services().sign_in.end(principal, principal.session.session_id)
    return reply_nothing(no_cookie_header())


@route("DELETE /v1/session/{session_id}", users())
def end_session(principal: UserCaller, session_id: str) -> None:
    """End a session.

    Ends one session of the user. Its access tokens stop working at once.
    """
    services().sign_in.end(principal, session_id)


load(lambda it: (it.session_authentication, it.sign_in))
lambda_handler = entrypoint(app)
