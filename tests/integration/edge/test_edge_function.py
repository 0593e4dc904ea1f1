"""The CloudFront function, run in Node.js: origins, rewritten paths and errors."""

import json
import re
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from starlette.responses import PlainTextResponse

from local import template
from local.dashboard import Dashboard
from local.route import Origin, Route
from pillarbox.domain.errors import CODES
from pillarbox.domain.errors import error_of as error_of_check
from pillarbox.http.requests import check_agent
from pillarbox.http.routes import ROUTES
from tests.edge_function import FRONT, LAMBDA, page_file, route
from tests.loops import for_each
from tests.refusals import refusal

ROUTE = Route(template.inlined(template.load()))
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


def error_of(answer: Any) -> Any:
    """Return the error of a response that the edge gives itself, after checking its shape."""
    assert answer["headers"]["content-type"] == {"value": "application/json"}
    assert answer["headers"]["x-request-id"] == {"value": "request-1"}
    assert answer["headers"]["cache-control"] == {"value": "no-store"}
    error = json.loads(answer["body"])["error"]
    assert CODES[error["code"]] == (answer["statusCode"], error["type"])
    return error


@for_each(
    ("uri", "canonical"),
    [
        ("/api/v1/emails/", "/api/v1/emails/"),
        ("/api/v1/v1/emails", "/api/v1/emails"),
        ("/api/v1/v1/emails/%2F%C3%BC/", "/api/v1/emails/%2F%C3%BC/"),
        ("/api/v1/v1/emails/%2F%C3%BC", "/api/v1/emails/%2F%C3%BC"),
        ("/api/v1/v1/v1/x", "/api/v1/v1/x"),
        ("/api/v1/v1", "/api/v1/v1"),
        ("/api/v12/v1/x", "/api/v12/v1/x"),
        ("/api/v1/v12/x", "/api/v1/v12/x"),
        ("/api/v1/emails/v1/v1/", "/api/v1/emails/v1/v1/"),
    ],
)
def test_both_readings_of_a_path_are_one(uri: str, canonical: str) -> None:
    """Contract 9: /api/v1/v1/… becomes /api/v1/… at both edges; a third v1 is an unknown path."""
    assert route(None, method="GET", uri=uri)["uri"] == ROUTE.canonical(uri) == canonical


def test_a_wrong_method_is_answered_at_the_edge(subtests: pytest.Subtests) -> None:
    methods = ("GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE")
    for path, stage in product(ROUTES, ("/api", "/api/v1")):
        with subtests.test(path, stage=stage):
            segments = re.sub(r"\{\w+\}", "%22x", path)
            for method in methods:
                answer = route(2, method=method, uri=stage + segments)
                if method in ROUTES[path]:
                    assert answer["origin"] == "api"
                    assert answer["uri"] == ROUTE.canonical(stage + segments) == f"/api{segments}"
                    assert "statusCode" not in answer
                else:
                    assert error_of(answer)["code"] == "method_not_allowed"
                    assert answer["headers"]["allow"] == {"value": ", ".join(ROUTES[path])}


@pytest.mark.parametrize("uri", ["/api/v1/nothing", "/api/v1/emails/x/y", "/api/v1/", "/api/x/"])
def test_an_unknown_path_is_left_to_the_gateway(uri: str) -> None:
    for method in ("GET", "PATCH"):
        assert route(2, method=method, uri=uri)["origin"] == "api"


@for_each(
    ("method", "uri", "length", "keys", "origin"),
    [
        ("POST", "/api/v1/emails", 2, (), Origin.SEND),
        ("POST", "/api/v1/emails", LAMBDA, ("a",), Origin.SEND),
        ("POST", "/api/v1/v1/emails/", LAMBDA, ("a",), Origin.API),
        ("POST", "/api/v1/emails", 2, ("a", "b"), Origin.API),
        ("POST", "/api/v1/emails", LAMBDA + 1, (), Origin.FRONT),
        ("POST", "/api/v1/emails", None, (), Origin.FRONT),
        ("POST", "/api/v1/emails/batch", 2, (), Origin.API),
        ("GET", "/api/v1/emails", None, (), Origin.API),
    ],
)
def test_one_email_goes_to_the_url_of_its_function(
    method: str, uri: str, length: int | None, keys: tuple[str, ...], origin: Origin
) -> None:
    """With a URL both edges send single emails there, but not large ones or several keys."""
    answer = route(length, method=method, uri=uri, keys=keys, send_url=True)
    assert answer["origin"] == origin.name.lower()
    local = Route(template.inlined(template.load()), send_url=True)
    assert local.origin(method, local.canonical(uri), length, len(keys))[0] is origin
    hidden = answer["headers"].get("content-type") == {"value": "application/octet-stream"}
    assert hidden is ("x-pillarbox-type" in answer["headers"]) is (origin is Origin.SEND)


@pytest.mark.parametrize(("send_url", "behaviour"), [(True, False), (False, True)])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_request_fails_while_gateway_changes(
    method: str, *, send_url: bool, behaviour: bool
) -> None:
    """The function may be minutes ahead of the distribution: the API then answers everything."""
    answer = route(2, method=method, send_url=send_url, behaviour=behaviour)
    assert answer["origin"] == "api"


def test_without_a_container_a_send_of_unknown_size_goes_to_the_api() -> None:
    assert route(None, front=False)["origin"] == "api"


@pytest.mark.parametrize(("front", "limit"), [(True, FRONT), (False, LAMBDA)])
@pytest.mark.parametrize("uri", ["/api/v1/emails", "/api/v1/v1/emails/"])
def test_one_email_over_the_limit_has_too_large_attachments(
    uri: str, limit: int, *, front: bool
) -> None:
    """Contract 7: only attachments make one email so large, so both edges name them."""
    error = error_of(route(limit + 1, uri=uri, front=front))
    details = {"scope": "total", "size_bytes": limit + 1, "limit_bytes": limit}
    assert (error["code"], error["details"]) == ("attachment_too_large", details)
    local = Route(template.inlined(template.load()), front=front)
    path = local.canonical(uri)
    assert local.origin("POST", path, limit + 1) == (Origin.NONE, limit)
    assert local.too_large("POST", path, limit + 1, limit).envelope() == error


@pytest.mark.parametrize(
    ("length", "given", "limit"),
    [
        (FRONT + 1, {"uri": "/api/v1/emails/batch"}, FRONT),
        (LAMBDA + 1, {"uri": "/api/v1/emails/batch", "front": False}, LAMBDA),
        (LAMBDA + 1, {"uri": "/api/v1/emails/x"}, LAMBDA),
    ],
)
def test_a_request_over_the_limit_is_answered_at_the_edge(
    length: int, given: dict[str, Any], limit: int
) -> None:
    """Contract 7: a request over its route's limit gets a 413 with that limit."""
    error = error_of(route(length, **given))
    assert (error["code"], error["details"]) == ("request_too_large", {"limit_bytes": limit})


@pytest.mark.parametrize("uri", ["//", "/v1/emails", "/apis", "/api"])
def test_a_path_outside_the_api_is_not_found(uri: str) -> None:
    assert error_of(route(10, uri=uri))["code"] == "route_not_found"


def test_the_edge_sets_the_client_address() -> None:
    assert route(10)["headers"]["x-pillarbox-client"] == {"value": "2001:db8::1"}


@for_each(
    ("path", "headers"),
    [
        ("/api/v1/emails", {"x-api-key": "k"}),
        ("/api/v1/emails", {"authorization": "Bearer k"}),
        ("/api/v1/mcp", {"authorization": "bearer  k"}),
        ("/api/resend/emails", {"authorization": "Bearer k", "x-api-key": "other"}),
        ("/api/postmark/email", {"x-postmark-server-token": "k", "x-api-key": "other"}),
        ("/api/v1/emails", {"x-api-key": "k", "x-pillarbox-key": "forged"}),
    ],
)
def test_the_edge_writes_the_key_of_each_carrier(path: str, headers: dict[str, str]) -> None:
    """The firewall counts one header, which has the key that the function will read."""
    assert route(10, uri=path, headers=headers)["headers"]["x-pillarbox-key"] == {"value": "k"}


def test_requests_without_a_key_share_no_count() -> None:
    for headers in ({}, {"x-pillarbox-key": "forged"}, {"x-api-key": ""}):
        assert "x-pillarbox-key" not in route(10, headers=headers)["headers"]


def test_each_carrier_of_the_document_is_counted() -> None:
    """Each security scheme of an API key, by the header that it names."""
    page = json.loads(Path("docs/openapi.json").read_text())
    schemes = page["components"]["securitySchemes"].values()
    carriers = {one["name"].lower() for one in schemes if one.get("in") == "header"}
    assert carriers - {"x-api-key", "x-postmark-server-token"} == set()


@for_each(("agent", "expected"), AGENTS)
def test_both_edges_refuse_the_same_agents(agent: str | None, expected: bool) -> None:  # noqa: FBT001  a row of the table
    """Contract 5: a default agent, an empty one and a missing one get 403, with the same text."""
    answer = route(2, agent=agent)
    if not expected:
        ROUTE.check_agent(agent)
        assert answer["origin"] == "api"
        assert answer["headers"]["user-agent"] == {"value": agent}
        return
    error = error_of(answer)
    assert answer["statusCode"] == 403
    refused = refusal(ROUTE.check_agent, agent)
    assert error == refused.envelope()
    # The functions refuse the same, for callers who go to the gateway's own address.
    by_function = refusal(
        check_agent, APIGatewayProxyEvent({"headers": {"User-Agent": agent} if agent else {}})
    )
    assert error == by_function.envelope()


def test_a_caller_cannot_ask_for_traces() -> None:
    """The edge removes the header that makes AWS sample a request, because traces cost money."""
    assert "x-amzn-trace-id" not in route(2)["headers"]


@for_each(("method", "path", "length", "origin"), REQUESTS)
def test_both_edges_choose_the_same_origin(
    method: str, path: str, length: int | None, origin: Origin
) -> None:
    answer = route(length, method=method, uri=path)
    limit = FRONT if method == "POST" and path in SENDS else LAMBDA
    assert ROUTE.origin(method, path, length) == (origin, limit)
    if origin is Origin.NONE:
        refused = ROUTE.too_large(method, path, length, limit)
        assert answer["statusCode"] == refused.status
        assert json.loads(answer["body"]) == {"error": refused.envelope()}
    else:
        assert answer["origin"] == origin.name.lower()


@for_each(
    ("path", "meant"),
    [
        *(("/api/v1/v1/webhook/", "webhooks"), ("/api/v1/key/x/y", "keys")),
        *(("/v1/templates", "templates"), ("/webhooks", "webhooks"), ("/api/key/x", "keys")),
        # Resend; Postmark, MailerSend; SendGrid; Mailgun; SES; Mandrill; Brevo; SparkPost; others
        *((path, "emails") for path in ("/emails", "/emails/batch", "/v1/emails", "/api/emails")),
        *(
            (path, "emails")
            for path in ("/email", "/email/withTemplate", "/v1/email", "/api/v1/email")
        ),
        *(("/v3/mail/send", "emails"), ("/api/v1/mail/send/", "emails")),
        *(
            (path, "emails")
            for path in ("/v3/mg.example/messages", "/messages", "/api/v1/messages")
        ),
        *(("/v2/email/outbound-emails", "emails"), ("/api/1.0/messages/send", "emails")),
        *(("/v3/smtp/email", "emails"), ("/api/v1/transmissions", "emails")),
        *((path, "emails") for path in ("/send", "/v3.1/send", "/api/v1/send", "/API/V1/send")),
        *(
            (path, None)
            for path in ("/", "/v1", "/x", "/api/v1/", "/api/v1/x", "/api/v2/constructor")
        ),
        *((path, None) for path in ("/api/resend/emails", "/api/postmark/email/batch")),
        *((path, None) for path in ("/api/v1/emails", "/api/v1/templates/x/messages")),
    ],
)
def test_a_path_of_another_service_is_answered_with_ours(path: str, meant: str | None) -> None:
    """Both edges say which collection is meant, and for a POST which request sends an email."""
    for method in ("POST", "GET"):
        answer = route(2, method=method, uri=path)
        verb = "POST " if (method, meant) == ("POST", "emails") else ""
        if meant:
            refused = refusal(ROUTE.check_path, method, ROUTE.canonical(path))
            assert (refused.status, refused.code) == (404, "route_not_found")
            text = f"There is no such route; did you mean {verb}/api/v1/{meant}?"
            assert error_of(answer) == refused.envelope() | {"message": text}
        else:
            assert "did you mean" not in answer.get("body", "")
            error = error_of_check(partial(ROUTE.check_path, method, path))
            assert "did you mean" not in str(error)


def test_no_route_looks_like_a_path_of_another_service() -> None:
    """Each route of the API passes both edges, and those in the shape of other services too."""
    for path, methods in {**ROUTES, "/resend/emails": ("POST",)}.items():
        method = methods[0]
        sample = f"/api{re.sub(r'\{\w+\}', 'messages', path)}"
        ROUTE.check_path(method, sample)
        assert "statusCode" not in route(2, method=method, uri=sample), sample


def test_both_edges_find_the_same_routes() -> None:
    """Every path of up to four of these segments has the same methods at both edges."""
    segments = ["", "emails", "batch", "templates", "drafts", "draft", "versions", "x"]
    segments += ["{}", "constructor", "__proto__"]
    paths = ["/api/", "/api/v1", "/api/v2/emails", "/api/x"]
    for count in range(1, 5):
        paths += [f"/api/v1/{'/'.join(parts)}" for parts in product(segments, repeat=count)]
    for path in paths:
        answer = route(2, method="TRACE", uri=path)
        canonical = ROUTE.canonical(path)
        refused = error_of_check(partial(ROUTE.check_path, "TRACE", canonical))
        refused = refused or error_of_check(partial(ROUTE.check_method, "TRACE", canonical))
        assert json.loads(answer.get("body", "{}")) == (
            {"error": refused.envelope()} if refused else {}
        ), path
        allow = refused.headers.get("Allow") if refused else None
        assert answer["headers"].get("allow") == (allow and {"value": allow}), path


@pytest.mark.parametrize("path", HOMES)
def test_the_first_address_leads_to_the_dashboard(path: str) -> None:
    answer = route(None, method="GET", uri=path)
    assert (answer["statusCode"], answer["headers"]) == (302, {"location": {"value": "/app/"}})
    assert ROUTE.is_home(path)


@pytest.mark.parametrize("path", ["/app/", "/apps", "/api", "//", "/api/v1/emails"])
def test_no_other_path_leads_there(path: str) -> None:
    assert not ROUTE.is_home(path)


@for_each(
    "path",
    [
        *("/app/", "/app/activity/01a2", "/app/index.html", "/app/preview.js", "/app/a.b/c"),
        "/app/domains/acme.example",
        *("/widget", "/widget/", "/widget/report", "/widget.js", "/widgets", "/widget/../app/x"),
    ],
)
def test_a_page_has_the_same_file_here(path: str) -> None:
    dashboard = Dashboard(PlainTextResponse("the API"), template.inlined(template.load()))
    assert dashboard.page(path) == page_file(path)
