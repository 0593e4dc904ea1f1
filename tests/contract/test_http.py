"""What all responses have in common: contract sections 7 and 9, and notes on paths."""

import json
from typing import Any

import pytest

from pillarbox.domain.errors import CODES
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.service import Service

#: One request for each kind of response: method, path, body.
REQUESTS: list[tuple[str, str, str | None]] = [
    ("POST", "/emails", json.dumps(otp())),
    ("POST", "/emails", "{"),
    ("POST", "/emails", json.dumps(otp(starterTemplate=...))),
    ("POST", "/emails", json.dumps(otp(starterTemplate="nope"))),
    ("PUT", "/emails", None),
    ("GET", "/emails/0", None),
    ("GET", "/starter-templates", None),
    ("POST", "/starter-templates/otp/preview", None),
    ("GET", "/nowhere", None),
]
TYPES = {
    "invalid_request_error",
    "authentication_error",
    "authorization_error",
    "not_found",
    "idempotency_error",
    "rate_limit_error",
    "api_error",
    "service_unavailable",
}


def check_envelope(answer: ApiResponse) -> None:
    """Check an error against contract section 7."""
    assert set(answer.json) == {"error"}
    error = answer.error
    assert {"code", "message", "type"} <= set(error)
    assert set(error) <= {"code", "message", "type", "details", "upgrade_url"}
    assert (answer.status, error["type"]) == CODES[error["code"]]
    assert error["message"]
    assert ("upgrade_url" in error) is (error["code"] == "upgrade_required")


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
@pytest.mark.parametrize("known", [True, False])
def test_every_response_is_json_with_a_request_id(
    live: Api, method: str, path: str, body: str | None, *, known: bool
) -> None:
    """7, notes: each response is uncached JSON with X-Request-Id; errors have the envelope."""
    answer = (live if known else Api()).raw(method, path, body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"].startswith("request-")
    assert answer.headers["cache-control"] == "no-store"
    if answer.status != 200:
        check_envelope(answer)


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_both_readings_of_a_path_answer_the_same(
    service: Service, method: str, path: str, body: str | None
) -> None:
    """9, notes: {base_url}/api/v1/… and {base_url}/api/v1/v1/… are one."""
    key = service.key(service.account())
    short, literal = (Api(key, base).raw(method, path, body) for base in ("/v1", "/v1/v1"))
    assert short.status == literal.status
    if short.status != 200 or method == "GET":
        assert short.text == literal.text


@pytest.mark.parametrize(
    "path", ["/nowhere", "/starter-templates/otp", "/starter-templates/otp/preview/x"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_path_is_route_not_found(live: Api, method: str, path: str) -> None:
    """Notes: 404, type not_found, code route_not_found."""
    answer = live.raw(method, path)
    assert (answer.status, answer.code) == (404, "route_not_found")


def test_a_function_answers_for_its_own_route_alone(service: Service) -> None:
    """Notes: a path that is not a function's own is route_not_found from the function too."""
    key = service.key(service.account())
    event = {
        "resource": "/v1/nowhere",
        "path": "/v1/nowhere",
        "httpMethod": "GET",
        "headers": {"User-Agent": "shop/1.0", "X-API-Key": key},
        "multiValueHeaders": {"User-Agent": ["shop/1.0"], "X-API-Key": [key]},
        "requestContext": {"requestId": "request-x", "stage": "api"},
    }
    answer = handler("get_message")(event, Invocation())
    assert answer["statusCode"] == 404
    assert answer["multiValueHeaders"]["X-Request-Id"] == ["request-x"]
    assert json.loads(answer["body"])["error"]["code"] == "route_not_found"


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS[:1] + REQUESTS[5:8])
@pytest.mark.parametrize("agent", ["", "Python-urllib/3.13", ["shop/1.0", ""]])
def test_a_default_agent_is_refused_without_an_edge(
    live: Api, method: str, path: str, body: str | None, agent: str | list[str]
) -> None:
    """9.4: at the gateway's own address a function refuses what the edge refuses elsewhere."""
    answer = live.raw(method, path, body, {"User-Agent": agent})
    assert (answer.status, answer.code) == (403, "client_blocked")
    check_envelope(answer)


def direct(function: str, method: str, resource: str, **parameters: str) -> ApiResponse:
    """Invoke a function as the gateway does for a request that came without an edge."""
    path = resource
    for name, value in parameters.items():
        path = path.replace(f"{{{name}}}", value)
    headers = {"User-Agent": "shop/1.0"}
    event = {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "pathParameters": parameters or None,
        "requestContext": {"requestId": "request-x", "stage": "api"},
    }
    answer = handler(function)(event, Invocation())
    several = {name.lower(): ", ".join(v) for name, v in answer["multiValueHeaders"].items()}
    return ApiResponse(answer["statusCode"], several, answer["body"])


@pytest.mark.parametrize(
    ("function", "resource", "parameters", "allow"),
    [
        ("list_messages", "/v1/emails", {}, "GET, POST"),
        ("send_batch", "/v1/emails/batch", {}, "POST"),
        ("get_message", "/v1/emails/{message_id}", {"message_id": "x"}, "GET"),
        ("get_template", "/v1/templates/{id}", {"id": "a/b"}, "GET, DELETE"),
    ],
)
def test_a_wrong_method_is_405_without_an_edge(
    service: Service, function: str, resource: str, parameters: dict[str, str], allow: str
) -> None:
    """9, notes: a function answers a wrong method as the edge does, in both readings."""
    assert service
    for reading in ("", "/v1"):
        answer = direct(function, "PATCH", f"{reading}{resource}", **parameters)
        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert answer.headers["allow"] == allow
        check_envelope(answer)


def test_the_literal_reading_reaches_its_handler_without_an_edge(service: Service) -> None:
    """9, notes: a function reads /v1/v1/… as /v1/…; both ask for the key here."""
    assert service
    for reading in ("", "/v1"):
        emails = direct("send_email", "POST", f"{reading}/v1/emails")
        message = direct(
            "get_message", "GET", f"{reading}/v1/emails/{{message_id}}", message_id="v1"
        )
        assert (emails.code, message.code) == ("missing_api_key", "missing_api_key")


def test_a_third_v1_is_an_unknown_path(service: Service) -> None:
    """9: two readings, not any number of them."""
    api = Api(service.key(service.account()), "/v1/v1/v1")
    assert api.starters().code == "route_not_found"


@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/emails", "GET, POST"),
        ("/emails/analytics", "GET"),
        ("/emails/01a1fb5f-9aed-7ea5-b946-924aff79c7cd", "GET"),
        ("/emails/%22%3F", "GET"),
        ("/starter-templates", "GET"),
        ("/starter-templates/otp/preview", "POST"),
        ("/starter-templates/%5C/preview", "POST"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_a_wrong_method_is_refused_with_the_allowed_ones(
    live: Api, method: str, path: str, allow: str
) -> None:
    """Notes: a wrong method is 405 method_not_allowed with Allow; a right one never is."""
    answer = live.raw(method, path)
    if method in allow.split(", "):
        assert answer.status != 405
    else:
        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert answer.headers["allow"] == allow


def test_a_slash_at_the_end_does_not_change_the_path(live: Api) -> None:
    """9: to API Gateway and to the functions it is the same resource."""
    assert live.raw("GET", "/starter-templates/").status == 200
    assert live.raw("DELETE", "/starter-templates/").code == "method_not_allowed"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("replyto", "replyTo"),
        ("reply_to", "replyTo"),
        ("tempalteId", "templateId"),
        ("Subject", "subject"),
        ("attachment", "attachments"),
        ("body", None),
        ("filename", None),
        ("x" * 10_000, None),
    ],
)
def test_an_unknown_field_is_refused_with_the_closest_one(
    live: Api, name: str, meant: str | None
) -> None:
    """Notes: unknown fields are 422 unknown_field, which names the closest known field."""
    answer = live.send(otp(**{name: "x"}))
    assert answer.errors == {name[:64]: "unknown_field"}
    if meant is not None:
        assert f"did you mean {meant}?" in answer.error["message"]
    else:
        assert "did you mean filename" not in answer.error["message"]


def test_a_suggested_field_belongs_to_the_same_object(live: Api) -> None:
    """Notes: within an attachment, the closest field of attachments is named."""
    wrong: dict[str, Any] = {
        "fileName": "x",
        "filename": "a.pdf",
        "contentType": "application/pdf",
        "content": "",
    }
    answer = live.send(otp(attachments=[wrong]))
    assert answer.errors == {"attachments.0.fileName": "unknown_field"}
    assert "did you mean filename?" in answer.error["message"]
