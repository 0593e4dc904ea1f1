"""What the document says of one operation."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pillarbox.http.wire import WireModel

#: The names of the security schemes.
KEY: Final = "ApiKey"
SESSION: Final = "Session"
COOKIE: Final = "SessionCookie"
KEY_OR_SESSION: Final = (KEY, SESSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path, such as `GET /v1/me`.

    `errors` are the codes that do not follow from the other fields (`error_codes` in responses.py).
    """

    id: str
    route: str
    tag: str
    summary: str
    description: str
    #: The folder of its function, if it is not the id.
    shared_function: str = ""
    scope: str | None = None
    #: The names of the security schemes that it takes. A request needs one.
    security: tuple[str, ...] = (KEY,)
    #: Whether a success sets or deletes the cookie.
    sets_cookie: bool = False
    query: type[WireModel] | None = None
    body: Any = None
    body_required: bool = True
    body_examples: Mapping[str, Any] | None = None
    idempotent: bool = False
    #: Whether it takes the revision of a draft in If-Match.
    takes_revision: bool = False
    #: Whether it creates an object that If-None-Match lets be the only one of its name.
    creates_named: bool = False
    #: Whether an operator's key may name the account in X-Account.
    takes_account: bool = False
    #: The type of a success; None if the response is 204 without a body.
    response: Any = None
    #: The status of a success with a body.
    status: int = 200
    response_is_list: bool = False
    response_example: Any = None
    errors: tuple[str, ...] = ()
    #: Whether its body is a message of JSON-RPC, with errors of its own.
    rpc: bool = False
    #: Operation -> parameter -> where in the response its value is.
    links: Mapping[str, Mapping[str, str]] | None = None

    @property
    def method(self) -> str:
        """The method in small letters."""
        return self.route.partition(" ")[0].lower()

    @property
    def path(self) -> str:
        """The path with its parameters in braces."""
        return self.route.partition(" ")[2]

    @property
    def function(self) -> str:
        """The folder of its function."""
        return self.shared_function or self.id

    @property
    def logical_id(self) -> str:
        """The name of its function in the template."""
        return self.function.title().replace("_", "")

    @property
    def success(self) -> str:
        """The status of a success."""
        return str(self.status) if self.response else "204"


#: An operation that takes the access token of a session, and no API key.
session_operation: Final = partial(Operation, security=(SESSION,))
#: An operation that manages an account, by a session or by a management key. An operator's key may
#: name another account.
managing_operation: Final = partial(Operation, security=KEY_OR_SESSION, takes_account=True)


def example(name: str, summary: str, value: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    """Return the examples of a body, with one; `|` adds another."""
    return {name: {"summary": summary, "value": value}}
