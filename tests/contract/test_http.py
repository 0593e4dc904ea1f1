"""What all responses have in common: contract sections 7 and 9, and notes on paths."""

import pytest

from pillarbox.domain.errors import CODES
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.service import Service


def check_envelope(answer: ApiResponse) -> None:
    """Check an error against contract section 7."""
    assert set(answer.json) == {"error"}
    error = answer.error
    assert {"code", "message", "type"} <= set(error)
    assert set(error) <= {"code", "message", "type", "details", "upgrade_url"}
    assert (answer.status, error["type"]) == CODES[error["code"]]
    assert error["message"]
    assert ("upgrade_url" in error) is (error["code"] == "upgrade_required")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/emails", otp()),
        ("GET", "/emails/0", None),
        ("GET", "/starter-templates", None),
        ("POST", "/starter-templates/otp/preview", None),
    ],
)
@pytest.mark.parametrize("agent", ["", "Python-urllib/3.13", ["shop/1.0", ""]])
def test_a_default_agent_is_refused_without_an_edge(
    live: Api, method: str, path: str, body: object, agent: str | list[str]
) -> None:
    """9.4: at the gateway's own address a function refuses what the edge refuses elsewhere."""
    answer = live.raw(method, path, body, {"User-Agent": agent})
    assert (answer.status, answer.code) == (403, "client_blocked")
    check_envelope(answer)


def direct(
    function: str, method: str, resource: str, key: str | None = None, **parameters: str
) -> ApiResponse:
    """Invoke a function as the gateway does for a request that came without an edge."""
    path = resource
    for name, value in parameters.items():
        path = path.replace(f"{{{name}}}", value)
    headers = {"User-Agent": "shop/1.0"} | ({} if key is None else {"X-API-Key": key})
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


def test_a_function_answers_for_its_own_route_alone(service: Service) -> None:
    key = service.key(service.account())
    answer = direct("get_message", "GET", "/v1/nowhere", key=key)
    assert (answer.status, answer.code) == (404, "route_not_found")
    assert answer.headers["x-request-id"] == "request-x"


@pytest.mark.parametrize(
    ("function", "resource", "parameters", "allow"),
    [
        ("list_messages", "/v1/emails", {}, "GET, POST"),
        ("send_batch", "/v1/emails/batch", {}, "POST"),
        ("get_message", "/v1/emails/{message_id}", {"message_id": "x"}, "GET, PATCH"),
        ("get_template", "/v1/templates/{id}", {"id": "a/b"}, "GET, DELETE"),
    ],
)
def test_a_wrong_method_is_405_without_an_edge(
    service: Service, function: str, resource: str, parameters: dict[str, str], allow: str
) -> None:
    """9, notes: a function answers a wrong method as the edge does, in both readings."""
    assert service
    for reading in ("", "/v1"):
        answer = direct(function, "PUT", f"{reading}{resource}", **parameters)
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
