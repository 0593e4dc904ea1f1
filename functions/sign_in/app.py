"""POST, GET and DELETE /v1/session…: sign in to the dashboard, and end sessions."""

from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.domain.sign_in.session import SessionPrincipal, parse_cookie
from pillarbox.http.app import build_app, entrypoint
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
    LinkRequest,
    SignInRequest,
    TokenRequest,
    check_same_origin,
    cookie_header,
    no_cookie_header,
    read_all,
    read_cookie,
    read_session,
    refuse_other_sites,
    user_agent,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/session/codes")
def request_code() -> Reply:
    refuse_other_sites(app.current_event)
    address = read_body(app.current_event, CodeRequestBody).email
    client = request_origin(app.current_event).client(services().is_of_edge)
    flow = services().sign_in.request_code(address, client)
    return reply(RequestedCode.of(flow, newcomers=services().sign_in.newcomers()), 202)


@app.post("/v1/session")
def sign_in() -> Reply:
    check_same_origin(app.current_event)
    body, agent = read_body(app.current_event, SignInRequest), user_agent(app.current_event)
    if body.link is not None:
        issued = services().sign_in.with_link(body.link, agent)
    else:
        issued = services().sign_in.with_code(parse_flow(body.flow or ""), body.code or "", agent)
    return reply(AccessItem.of(issued.access), headers=cookie_header(issued.cookie))


@app.post("/v1/session/links")
def look_at_link() -> Reply:
    check_same_origin(app.current_event)
    link = read_body(app.current_event, LinkRequest).link
    return reply(LinkItem.of(services().sign_in.owner_of_link(link)))


@app.post("/v1/session/token")
def exchange_cookie() -> Reply:
    check_same_origin(app.current_event)
    cookie = read_cookie(app.current_event)
    account_id = read_body(app.current_event, TokenRequest).account_id
    access = services().sign_in.exchange(parse_cookie(cookie), account_id)
    return reply(AccessItem.of(access), headers=cookie_header(cookie))


@app.get("/v1/session")
def list_sessions() -> Reply:
    principal = _principal()
    sessions = services().sign_in.sessions_of(principal)
    current = principal.session.session_id
    items = [SessionItem.of(one, current=one.session_id == current) for one in sessions]
    return reply(SessionList.of(items=items))


@app.delete("/v1/session")
def end_sessions() -> Reply:
    principal = _principal()
    if read_all(app.current_event):
        services().sign_in.end_all(principal)
    else:
        services().sign_in.end(principal, principal.session.session_id)
    return reply_nothing(no_cookie_header())


@app.delete("/v1/session/<session_id>")
def end_session(session_id: str) -> Reply:
    services().sign_in.end(_principal(), session_id)
    return reply_nothing()


def _principal() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


load(lambda it: (it.session_authentication, it.sign_in))
lambda_handler = entrypoint(app)
