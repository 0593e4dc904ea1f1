"""Who may call a route in the words of the OpenAPI document, and what a request has for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools.event_handler.api_gateway import Response

from pillarbox.http.messages.replies import reply, reply_nothing
from pillarbox.http.requests import read_caller, read_credential, read_uuid, request_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools.event_handler.api_gateway import APIGatewayRestResolver
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

    from pillarbox.application.sending.changes import Caller
    from pillarbox.domain.accounts.key_policy import Principal
    from pillarbox.domain.sign_in.session import MemberPrincipal, SessionPrincipal
    from pillarbox.http.messages.replies import Reply

# Whom a route gets. Functions do not load these types.
type KnownCaller = Caller
type Manager = Principal | MemberPrincipal
type UserCaller = SessionPrincipal
type MemberCaller = MemberPrincipal

#: The names of the security schemes.
KEY: Final = "ApiKey"
SESSION: Final = "Session"
COOKIE: Final = "SessionCookie"
#: Parameters of paths that are UUIDs -> what errors call them.
_UUIDS: Final = {"template_id": "id"} | {
    name: name for name in ("message_id", "endpoint_id", "received_id")
}


@dataclass(frozen=True, slots=True)
class Callers[Whom]:
    """The credentials of which a request needs one, and the permission.

    `authenticate` gets the use cases and the request. An operator's key may name another account in
    X-Account if `takes_account`.
    """

    security: tuple[str, ...]
    authenticate: Callable[[Any, APIGatewayProxyEvent], Whom] | None = None
    scope: str | None = None
    takes_account: bool = False

    def answering(
        self,
        run: Callable[..., Any],
        app: APIGatewayRestResolver,
        services: Callable[[], Any],
        declared: Mapping[str, Any],
    ) -> Callable[..., Any]:
        """Return what answers a request by a function.

        The function gets whom `authenticate` returns, the parameters of the path, and `body` or
        `query` if it names one. It returns JSON, None for 204, or a reply of its own.
        """
        read = _reader_of(run, declared)

        def answer(**path: str) -> Reply:
            event = app.current_event
            whom = [self.authenticate(services(), event)] if self.authenticate else []
            given = {
                name: read_uuid(text, _UUIDS[name]) if name in _UUIDS else text
                for name, text in path.items()
            }
            made = run(*whom, **given, **read(event))
            if isinstance(made, Response):
                return made
            return reply_nothing() if made is None else reply(made, declared.get("status", 200))

        return answer


def _reader_of(
    run: Callable[..., Any], declared: Mapping[str, Any]
) -> Callable[[APIGatewayProxyEvent], dict[str, Any]]:
    """Return what reads the body or the query that a function names."""
    names = run.__code__.co_varnames[: run.__code__.co_argcount]
    if "body" in names:
        from pillarbox.http.wire import read_body  # noqa: PLC0415  not all have one

        return lambda event: {"body": read_body(event, declared["body"])}
    if "query" in names:
        from pillarbox.http.query import read_query  # noqa: PLC0415  not all have one

        return lambda event: {"query": read_query(event, declared["query"])}
    return lambda _: {}


#: No credential is needed, or the route reads it.
ANYONE: Final = Callers[None](())
COOKIES: Final = Callers[None]((COOKIE,))


def known(scope: str | None = None) -> Callers[Caller]:
    """Return those with a key, also one for previews, or a session of an account."""
    needed = (scope,) if scope else ()
    return Callers(
        (KEY, SESSION),
        lambda services, event: services.caller_authentication.authenticate(
            read_credential(event), *needed, origin=request_origin(event)
        ),
        scope,
    )


def managing(scope: str) -> Callers[Manager]:
    """Return those who manage an account, by a session or a management key."""
    return Callers(
        (KEY, SESSION),
        lambda services, event: services.caller_authentication.manage(read_caller(event), scope),
        scope,
        takes_account=True,
    )


def users() -> Callers[SessionPrincipal]:
    """Return those with a session, who may be members of no account."""
    from pillarbox.http.sign_in.wire import read_session  # noqa: PLC0415  not all have sessions

    return Callers(
        (SESSION,),
        lambda services, event: services.session_authentication.authenticate(read_session(event)),
    )


def members(scope: str) -> Callers[MemberPrincipal]:
    """Return those with a session of an account."""
    from pillarbox.http.sign_in.wire import read_session  # noqa: PLC0415  not all have sessions

    return Callers(
        (SESSION,),
        lambda services, event: services.session_authentication.authenticate_member(
            read_session(event), scope
        ),
        scope,
    )


def operators() -> Callers[str]:
    """Return the operators of the service with a session; the route gets the address."""
    from pillarbox.domain.sign_in.session import OPERATE  # noqa: PLC0415  few functions load it
    from pillarbox.http.sign_in.wire import read_session  # noqa: PLC0415  not all have sessions

    return Callers(
        (SESSION,),
        lambda services, event: (
            services.operator_authentication.authenticate(read_session(event)).session.address
        ),
        OPERATE,
    )


def operating(scope: str) -> Callers[str]:
    """Return operators and keys of their own account; the route gets the address or the id."""
    return Callers(
        (KEY, SESSION),
        lambda services, event: services.operator_authentication.manage(read_caller(event), scope),
        scope,
    )
