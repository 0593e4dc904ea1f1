"""Requests and responses: headers, bodies, paths and envelopes."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.templates.template import RenderValues
from pillarbox.http.accept import read_render_values, read_send
from pillarbox.http.messages.views import message_detail
from pillarbox.http.requests import read_api_key, read_uuid
from pillarbox.http.routes import canonical_path
from tests.fakes import builders
from tests.fakes.builders import event
from tests.loops import for_each
from tests.refusals import faults

BODY = json.dumps({"to": "ann@example.com", "html": "x", "subject": "ü"})
ROUTE = "POST /v1/emails"
JSON = {"Content-Type": "application/json"}


def request(body: Any = BODY, *, encoded: bool = False, **headers: Any) -> APIGatewayProxyEvent:
    """Return a request as API Gateway passes it on; a list is a repeated header."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    several = {name: v if isinstance(v, list) else [v] for name, v in named.items()}
    return APIGatewayProxyEvent(
        {
            "body": body,
            "isBase64Encoded": encoded,
            "headers": {name: values[-1] for name, values in several.items()},
            "multiValueHeaders": several,
        }
    )


@pytest.mark.parametrize("name", ["X-API-Key", "x-api-key", "X-Api-KEY"])
def test_the_key_is_in_its_header(name: str) -> None:
    header: dict[str, Any] = {name: "bx_live_1"}
    assert read_api_key(request(**header)) == "bx_live_1"


def test_an_event_without_repeated_headers_is_read_too() -> None:
    """An event that only has `headers` is read too."""
    sent = APIGatewayProxyEvent({"headers": {"X-API-Key": "k"}, "multiValueHeaders": None})
    assert read_api_key(sent) == "k"


@pytest.mark.parametrize("encoded", [False, True])
def test_a_body_may_be_base64(*, encoded: bool) -> None:
    """Both forms of a body that API Gateway passes on are the same request."""
    body = base64.b64encode(BODY.encode()).decode() if encoded else BODY
    send = read_send(request(body, encoded=encoded), ROUTE)
    assert isinstance(send.request, SendRequest)
    assert (send.request.subject, send.idempotency_digest) == ("ü", None)


def fields_of(send: Any) -> list[str]:
    assert isinstance(send.request, ValidationFailed)
    assert send.idempotency_digest is None
    return [error.field for error in send.request.errors]


@pytest.mark.parametrize("body", [None, "", "x", "\ud800"])
def test_a_body_that_is_not_json_is_one_error(body: str | None) -> None:
    assert fields_of(read_send(request(body), ROUTE)) == [""]


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "identity, gzip", ["identity", "gzip"]])
def test_compressed_bodies_are_refused(encoding: Any) -> None:
    """Every Content-Encoding except identity is refused before the body is read."""
    sent = request("H4sIAAAA", encoded=True, Content_Encoding=encoding)
    assert fields_of(read_send(sent, ROUTE)) == ["Content-Encoding"]


@pytest.mark.parametrize("encoding", ["identity", "", " Identity "])
def test_the_identity_encoding_is_accepted(encoding: str) -> None:
    """`identity` means that the body is not encoded."""
    send = read_send(request(Content_Encoding=encoding), ROUTE)
    assert isinstance(send.request, SendRequest)


@pytest.mark.parametrize("key", ["a", "!~", "x" * 256])
def test_an_idempotency_key_becomes_a_digest(key: str) -> None:
    """1 to 256 visible characters are valid; the digest depends on the key and the route."""
    digest = read_send(request(Idempotency_Key=key), ROUTE).idempotency_digest
    assert digest is not None
    assert len(digest) == 64
    assert digest == read_send(request(idempotency_key=key), ROUTE).idempotency_digest
    assert (
        digest
        != read_send(request(Idempotency_Key=key), "POST /v1/emails/batch").idempotency_digest
    )
    assert digest != read_send(request(Idempotency_Key=key[:-1] + "?"), ROUTE).idempotency_digest


@for_each("key", ["", "x" * 257, "a b", " a", "a\t", "ü", "a\x00", "a\x7f", ["a", "a"], ["a", ""]])
def test_other_idempotency_keys_are_refused(key: Any) -> None:
    """Empty, long, invisible, non-ASCII or several keys are 422, with the errors of the body."""
    assert fields_of(read_send(request(Idempotency_Key=key), ROUTE)) == ["Idempotency-Key"]
    both = read_send(request("{}", Idempotency_Key=key), ROUTE)
    assert fields_of(both) == ["Idempotency-Key", "to"]


def test_the_body_of_a_preview_is_optional() -> None:
    for body in (None, "", "{}", '{"variables": null}'):
        assert read_render_values(request(body)) == RenderValues()
    assert read_render_values(request('{"variables": {"a": 1}}')).variables == {"a": 1}
    brand = '{"brandName": "Acme", "logoUrl": "https://a.example/l.png"}'
    given = RenderValues(brand_name="Acme", logo_url="https://a.example/l.png")
    assert read_render_values(request(brand)) == given
    for body in ("[]", "x", '{"x": 1}', '{"brandName": "a\\nb"}', '{"logoUrl": 1}'):
        assert faults(read_render_values, request(body))


@given(st.text(max_size=40))
def test_a_path_parameter_is_a_uuid_or_a_422(text: str) -> None:
    assert [field for field, _ in faults(read_uuid, text, "message_id")] == ["message_id"]


@for_each(
    ("path", "canonical"),
    [
        ("/v1/emails", "/v1/emails"),
        ("/v1/emails/", "/v1/emails"),
        ("/v1/v1/emails", "/v1/v1/emails"),
        ("/v1/emails/x", "/v1/emails/x"),
        ("/v1/emails/x/y", "/v1/emails/x/y"),
        ("/v1/starter-templates/otp/preview/", "/v1/starter-templates/otp/preview"),
        ("/v1", "/v1"),
        ("/v12/emails", "/v12/emails"),
        ("/", ""),
    ],
)
def test_a_slash_at_the_end_says_nothing(path: str, canonical: str) -> None:
    """A path is read without the slash at its end; the rest of it is left alone."""
    assert canonical_path({"path": path}) == canonical


@pytest.mark.parametrize(
    ("value", "segment"),
    [("a/b", "a%2Fb"), ("ü", "%C3%BC"), ("%2F", "%252F"), ("a b?", "a%20b%3F")],
)
def test_a_parameter_is_one_segment(value: str, segment: str) -> None:
    event = {
        "path": f"/v1/emails/{value}",
        "resource": "/v1/emails/{message_id}",
        "pathParameters": {"message_id": value},
    }
    assert canonical_path(event) == f"/v1/emails/{segment}"


def test_a_code_without_a_reason_is_the_error() -> None:
    bounced = replace(event(EventKind.BOUNCED, 1, "ann@example.com"), code="general")
    shown: Any = message_detail(builders.message().with_events([bounced]), "eu-west-1")
    assert shown["errorMessage"] == "general"
