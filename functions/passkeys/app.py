"""/v1/passkeys… and POST /v1/session/passkeys…: a user's passkeys, and signing in with one."""

from typing import Any

from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import ANYONE, UserCaller, users
from pillarbox.http.messages.replies import Reply, reply
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
    refuse_other_sites,
    user_agent,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("POST /v1/session/passkeys/challenges", ANYONE, response=PasskeyChallengeItem)
def begin_passkey_sign_in() -> dict[str, Any]:
    """Begin to sign in with a passkey.

    Returns a challenge for any passkey of this service. Nothing is said of a user.

    Errors: `cross_site_request`.
    """
    refuse_other_sites(app.current_event)
    return PasskeyChallengeItem.of(services().passkeys.challenge())


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


@route("GET /v1/passkeys", users(), response=PasskeyList)
def list_passkeys(principal: UserCaller) -> dict[str, Any]:
    """List passkeys.

    The passkeys of the user, the oldest first.
    """
    passkeys = services().passkeys.of_user(principal)
    return PasskeyList.of(items=[passkey_item(one, principal.session) for one in passkeys])


@route("POST /v1/passkeys/challenges", users(), response=NewPasskeyChallengeItem)
def begin_passkey(principal: UserCaller) -> dict[str, Any]:
    """Begin to add a passkey.

    Returns a challenge for a new passkey, which this session can answer. The session must have
    begun within 15 minutes.

    Errors: `sign_in_required`, `passkey_limit_exceeded`.
    """
    return NewPasskeyChallengeItem.of(services().passkeys.challenge_new(principal))


@route("POST /v1/passkeys", users(), body=NewPasskey, response=PasskeyItem, status=201)
def add_passkey(principal: UserCaller, body: NewPasskey) -> dict[str, Any]:
    """Add a passkey.

    Stores what an authenticator has made for the challenge. The user gets an email, and the logs of
    the user's accounts an entry.

    Errors: `sign_in_required`, `passkey_limit_exceeded`.
    """
    added = services().passkeys.add(principal, body.flow, body.answer(), body.name)
    return passkey_item(added, principal.session)


@route("DELETE /v1/passkeys/{passkey_id}", users())
def remove_passkey(principal: UserCaller, passkey_id: str) -> None:
    """Remove a passkey.

    The passkey signs the user in no more. Other sessions that began with it end. The user gets an
    email.

    Errors: `sign_in_required`.
    """
    services().passkeys.remove(principal, passkey_id)


load(lambda it: (it.session_authentication, it.passkeys))
lambda_handler = entrypoint(app)
