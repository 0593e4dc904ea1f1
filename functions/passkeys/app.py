"""/v1/passkeys… and POST /v1/session/passkeys…: a user's passkeys, and signing in with one."""

from pillarbox.domain.sign_in.session import SessionPrincipal
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import ANYONE, USERS
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import request_origin
from pillarbox.http.sign_in.passkeys import (
    NewPasskey,
    NewPasskeyChallengeItem,
    PasskeyChallengeItem,
    PasskeyItem,
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
route = routes(app)


@route("POST /v1/session/passkeys/challenges", ANYONE, response=PasskeyChallengeItem)
def begin_passkey_sign_in() -> Reply:
    """Begin to sign in with a passkey.

    Returns a challenge for any passkey of this service. Nothing is said of a user.

    Errors: `cross_site_request`.
    """
    refuse_other_sites(app.current_event)
    return reply(PasskeyChallengeItem.of(services().passkeys.challenge()))


@route(
    "POST /v1/session/passkeys", ANYONE, body=PasskeySignIn, response=AccessItem, sets_cookie=True
)
def sign_in_with_passkey() -> Reply:
    """Sign in with a passkey.

    Begins a session with the answer of an authenticator that has verified its user. Only pages of
    this origin can call it.

    Errors: `invalid_passkey`, `cross_site_request`.
    """
    check_same_origin(app.current_event)
    body = read_body(app.current_event, PasskeySignIn)
    client = request_origin(app.current_event).client(services().is_of_edge)
    agent = user_agent(app.current_event)
    issued = services().passkeys.sign_in(body.flow, body.answer(), client, agent)
    return reply(AccessItem.of(issued.access), headers=cookie_header(issued.cookie))


@route("GET /v1/passkeys", USERS, response=PasskeyList)
def list_passkeys() -> Reply:
    """List passkeys.

    The passkeys of the user, the oldest first.
    """
    principal = _principal()
    passkeys = services().passkeys.of_user(principal)
    return reply(PasskeyList.of(items=[passkey_item(one, principal.session) for one in passkeys]))


@route("POST /v1/passkeys/challenges", USERS, response=NewPasskeyChallengeItem)
def begin_passkey() -> Reply:
    """Begin to add a passkey.

    Returns a challenge for a new passkey, which this session can answer. The session must have
    begun within 15 minutes.

    Errors: `sign_in_required`, `passkey_limit_exceeded`.
    """
    return reply(NewPasskeyChallengeItem.of(services().passkeys.challenge_new(_principal())))


@route("POST /v1/passkeys", USERS, body=NewPasskey, response=PasskeyItem, status=201)
def add_passkey() -> Reply:
    """Add a passkey.

    Stores what an authenticator has made for the challenge. The user gets an email, and the logs of
    the user's accounts an entry.

    Errors: `sign_in_required`, `passkey_limit_exceeded`.
    """
    principal, body = _principal(), read_body(app.current_event, NewPasskey)
    added = services().passkeys.add(principal, body.flow, body.answer(), body.name)
    return reply(passkey_item(added, principal.session), 201)


@route("DELETE /v1/passkeys/{passkey_id}", USERS)
def remove_passkey(passkey_id: str) -> Reply:
    """Remove a passkey.

    The passkey signs the user in no more. Other sessions that began with it end. The user gets an
    email.

    Errors: `sign_in_required`.
    """
    services().passkeys.remove(_principal(), passkey_id)
    return reply_nothing()


def _principal() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


load(lambda it: (it.session_authentication, it.passkeys))
lambda_handler = entrypoint(app)
