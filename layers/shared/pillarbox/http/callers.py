"""Who may call a route, in the words of the OpenAPI document."""

from dataclasses import dataclass
from typing import Final

#: The names of the security schemes.
KEY: Final = "ApiKey"
SESSION: Final = "Session"
COOKIE: Final = "SessionCookie"


@dataclass(frozen=True, slots=True)
class Callers:
    """The credentials of which a request needs one, and the permission.

    An operator's key may name another account in X-Account if `takes_account`.
    """

    security: tuple[str, ...]
    scope: str | None = None
    takes_account: bool = False


#: No credential is needed.
ANYONE: Final = Callers(())
#: The cookie of a session.
COOKIES: Final = Callers((COOKIE,))
#: The access token of a user, who may be a member of no account.
USERS: Final = Callers((SESSION,))


def known(scope: str | None = None) -> Callers:
    """Return those with a key, also one for previews, or a session of an account."""
    return Callers((KEY, SESSION), scope)


def managing(scope: str) -> Callers:
    """Return those who manage an account, by a session or a management key."""
    return Callers((KEY, SESSION), scope, takes_account=True)


def members(scope: str) -> Callers:
    """Return those with a session of an account."""
    return Callers((SESSION,), scope)


def operators() -> Callers:
    """Return those with a session of an operator of the service."""
    from pillarbox.domain.sign_in.session import OPERATE  # noqa: PLC0415  few functions load it

    return Callers((SESSION,), OPERATE)


def operating(scope: str) -> Callers:
    """Return operators, and keys of their own account."""
    return Callers((KEY, SESSION), scope)
