"""What the document says of one operation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pillarbox.http.wire import WireModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path, such as `GET /v1/me`.

    `route` of http/app.py declares it at its function, except for its tag, budgets, examples and
    links.
    `errors` are the codes that do not follow from the other fields (`error_codes` in responses.py).
    """

    id: str
    route: str
    #: The folder of its function.
    function: str
    tag: str
    summary: str
    description: str
    scope: str | None
    #: The names of the security schemes that it takes. A request needs one.
    security: tuple[str, ...]
    #: Whether an operator's key may name the account in X-Account.
    takes_account: bool
    #: Whether a success sets or deletes the cookie.
    sets_cookie: bool = False
    #: What counts its calls, by the names of `BUDGETS`. A read may have only what all routes have.
    budgets: tuple[str, ...] = ()
    query: type[WireModel] | None = None
    body: Any = None
    body_required: bool = True
    body_examples: Mapping[str, Any] | None = None
    idempotent: bool = False
    #: Whether it takes the revision of a draft in If-Match.
    takes_revision: bool = False
    #: Whether it creates an object that If-None-Match lets be the only one of its name.
    creates_named: bool = False
    #: The type of a success, perhaps in a list; None if the response is 204 without a body.
    response: Any = None
    #: The status of a success with a body.
    status: int = 200
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
    def logical_id(self) -> str:
        """The name of its function in the template."""
        return self.function.title().replace("_", "")

    @property
    def success(self) -> str:
        """The status of a success."""
        return str(self.status) if self.response else "204"


def example(name: str, summary: str, value: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    """Return the examples of a body, with one; `|` adds another."""
    return {name: {"summary": summary, "value": value}}
