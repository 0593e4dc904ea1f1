"""The local edge chooses origins as the deployed edge does."""

import pytest

from local import template
from local.route import Origin, Route

ROUTE = Route(template.inlined(template.load()))
LAMBDA, FRONT = ROUTE.lambda_bytes, ROUTE.front_bytes
#: What leads to the dashboard.
HOMES = ["/", "/app"]
#: A User-Agent, and whether the edge refuses it.
AGENTS: list[tuple[str | None, bool]] = [
    ("Python-urllib/3.13", True),
    ("python-urllib/2.7 and more", True),
    ("", True),
    (None, True),
    ("curl/8.5.0", False),
    ("python-requests/2.32", False),
    ("python-httpx/0.28", False),
    ("shop/1.0 (not Python-urllib/3)", False),
]
SENDS = ["/api/v1/emails", "/api/v1/emails/batch", "/api/v1/emails/"]
OTHERS = [
    ("GET", "/api/v1/emails/analytics"),
    ("GET", "/api/v1/templates"),
    ("POST", "/api/v1/starter-templates/otp/preview"),
    ("POST", "/api/v1/nothing"),
]
#: Method, path, Content-Length, origin.
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
    chosen, limit = ROUTE.origin(method, path, length)
    assert chosen is origin
    assert limit == (FRONT if method == "POST" and path in SENDS else LAMBDA)


@pytest.mark.parametrize("path", HOMES)
def test_the_first_address_leads_to_the_dashboard(path: str) -> None:
    assert ROUTE.is_home(path)


@pytest.mark.parametrize("path", ["/app/", "/apps", "/api", "//", "/api/v1/emails"])
def test_no_other_path_leads_there(path: str) -> None:
    assert not ROUTE.is_home(path)
