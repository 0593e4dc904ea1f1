"""The local edge decides as the deployed one does."""

import pytest

from local import template
from local.route import Origin, Route
from pillarbox.http.routes import ROUTES

ROUTE = Route(template.load())
LAMBDA, FRONT = ROUTE.lambda_bytes, ROUTE.front_bytes
SENDS = ["/api/v1/emails", "/api/v1/emails/batch", "/api/v1/emails/"]
OTHERS = [
    ("GET", "/api/v1/emails/analytics"),
    ("GET", "/api/v1/templates"),
    ("POST", "/api/v1/starter-templates/otp/preview"),
    ("POST", "/api/v1/nothing"),
]
#: Method, path, Content-Length, who answers.
REQUESTS: list[tuple[str, str, int | None, Origin]] = [
    *(
        ("POST", path, length, origin)
        for path in SENDS
        for length, origin in (
            (2, Origin.API),
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.FRONT),
            (FRONT, Origin.FRONT),
            (FRONT + 1, Origin.NONE),
            (None, Origin.FRONT),
        )
    ),
    *(
        (method, path, length, origin)
        for method, path in OTHERS
        for length, origin in (
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.NONE),
            (None, Origin.API),
        )
    ),
    ("GET", SENDS[0], None, Origin.API),
    ("PUT", SENDS[0], LAMBDA + 1, Origin.NONE),
]


@pytest.mark.parametrize(("method", "path", "length", "origin"), REQUESTS)
def test_the_origin_is_chosen_by_size(
    method: str, path: str, length: int | None, origin: Origin
) -> None:
    """What Lambda takes goes to the API, larger sends to the front, nothing beyond the limits."""
    chosen, limit = ROUTE.origin(method, path, length)
    assert chosen is origin
    assert limit == (FRONT if method == "POST" and path in SENDS else LAMBDA)


def test_it_knows_the_routes_and_their_methods() -> None:
    """The edge's routes are those of the API, in the order in which they are tried."""
    assert list(ROUTE.routes.items()) == [
        (path, ", ".join(methods)) for path, methods in ROUTES.items()
    ]
