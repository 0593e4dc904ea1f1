"""/v1/passkeys… and POST /v1/session/passkeys…: a user's passkeys, and signing in with one."""

from pillarbox.domain.sign_in.session import SessionPrincipal
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import request_origin
from pillarbox.http.sign_in.passkeys import (
    NewPasskey,
    NewPasskeyChallengeItem,
    PasskeyChallengeItem,
    PasskeyList,
    PasskeySignIn,
    passkey_item,
)
from pillarbox.http.sign_in.replies import AccessItem
from pillarbox.http.sign_in.wire import (
    check_same_origin,
    cookie_header,
    read_session,
    refuse_other_sites,
    user_agent,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/session/passkeys/challenges")
def challenge() -> Reply:
    refuse_other_sites(app.current_event)
    return reply(PasskeyChallengeItem.of(services().passkeys.challenge()))


@app.post("/v1/session/passkeys")
def sign_in() -> Reply:
    check_same_origin(app.current_event)
    body = read_body(app.current_event, PasskeySignIn)
    client = request_origin(app.current_event).client(services().is_of_edge)
    agent = user_agent(app.current_event)
    issued = services().passkeys.sign_in(body.flow, body.answer(), client, agent)
    return reply(AccessItem.of(issued.access), headers=cookie_header(issued.cookie))


@app.get("/v1/passkeys")
def list_passkeys() -> Reply:
    principal = _principal()
    passkeys = services().passkeys.of_user(principal)
    return reply(PasskeyList.of(items=[passkey_item(one, principal.session) for one in passkeys]))


@app.post("/v1/passkeys/challenges")
def challenge_new() -> Reply:
    return reply(NewPasskeyChallengeItem.of(services().passkeys.challenge_new(_principal())))


@app.post("/v1/passkeys")
def add_passkey() -> Reply:
    principal, body = _principal(), read_body(app.current_event, NewPasskey)
    added = services().passkeys.add(principal, body.flow, body.answer(), body.name)
    return reply(passkey_item(added, principal.session), 201)


@app.delete("/v1/passkeys/<passkey_id>")
def remove_passkey(passkey_id: str) -> Reply:
    services().passkeys.remove(_principal(), passkey_id)
    return reply_nothing()


def _principal() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


load(lambda it: (it.session_authentication, it.passkeys))
lambda_handler = entrypoint(app)
