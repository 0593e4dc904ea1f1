"""The edge answers for the gateway, and passes every other request on unchanged."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from local import template
from local.edge import Edge, FrontFailed, FrontOrigin, SendOrigin, StageOrigin
from local.guard import BROWSER_PREFIX, KEY_HEADER
from local.route import Route
from tests.loops import for_each
from tests.unit.local import asgi

_TEMPLATE = template.inlined(template.load())
_STAGE = StageOrigin("http://engine/stage", "AKIASTACK")
_FRONT = FrontOrigin("http://front", "secret").started
_LIMIT = Route(_TEMPLATE).lambda_bytes

type Engine = Callable[[httpx.Request], httpx.Response]


def ask(
    engine: Engine,
    method: str = "GET",
    path: str = "/api/v1/emails",
    send: SendOrigin | None = None,
    **request: Any,
) -> httpx.Response:
    """Send a request to an edge in front of an engine that is a function."""

    def unread(onward: httpx.Request) -> httpx.Response:
        # A response from a socket is not read yet.
        answer = engine(onward)
        stream = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream)

    behind = httpx.AsyncClient(transport=httpx.MockTransport(unread))
    edge = Edge(_TEMPLATE, _STAGE, _FRONT, behind, send)
    return asgi.ask(edge, method, path, "http://edge", **request)


def code_of(answer: httpx.Response) -> str:
    code: str = answer.json()["error"]["code"]
    return code


def echo(request: httpx.Request) -> httpx.Response:
    """Answer as an engine that returns the request that reached it."""
    return httpx.Response(
        200,
        json={
            "method": request.method,
            "target": request.url.raw_path.decode(),
            "headers": [[n.decode().lower(), v.decode("latin-1")] for n, v in request.headers.raw],
            "body": list(request.content),
        },
    )


def unreachable(_: httpx.Request) -> httpx.Response:
    """Fail as an engine that no request may reach."""
    raise AssertionError


def test_a_blocked_client_gets_the_envelope() -> None:
    answer = ask(unreachable, headers={"User-Agent": "Python-urllib/3.13"})
    assert answer.status_code == 403
    assert code_of(answer) == "client_blocked"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]


def test_a_request_is_passed_on_unchanged() -> None:
    answer = ask(
        echo,
        "DELETE",
        "/api/v1/templates/%2F%C3%BC?a=1&a=%20",
        headers=[("X-API-Key", "one"), ("X-API-Key", "two"), ("X-Forwarded-For", "192.0.2.9")],
        content=b"\xff\x00{",
    ).json()
    assert answer["method"] == "DELETE"
    assert answer["target"] == "/stage/v1/templates/%2F%C3%BC?a=1&a=%20"
    assert answer["body"] == [255, 0, 123]
    assert ["x-api-key", "one"] in answer["headers"]
    assert ["x-api-key", "two"] in answer["headers"]
    assert ["x-forwarded-for", "127.0.0.1"] in answer["headers"]
    assert ["host", "engine"] in answer["headers"]


def test_the_literal_reading_is_rewritten() -> None:
    """Contract 9: /api/v1/v1/… reaches the stage, and the front, as /api/v1/…."""
    seen: list[str] = []

    def behind(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200)

    ask(behind, path="/api/v1/v1/emails/x")
    ask(behind, "POST", "/api/v1/v1/emails/batch", content=_parts(_LIMIT + 1))
    assert seen == ["http://engine/stage/v1/emails/x", "http://front/api/v1/emails/batch"]


def test_a_wrong_method_reaches_no_origin() -> None:
    answer = ask(unreachable, "PATCH", "/api/v1/v1/templates/x")
    assert (answer.status_code, code_of(answer)) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, DELETE"
    assert answer.headers["x-request-id"]


def test_a_request_signed_for_aws_does_not_reach_the_engine_as_one() -> None:
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=x", "X-Amz-Target": "DynamoDB.Scan"}
    names = {name for name, _ in ask(echo, headers=headers).json()["headers"]}
    assert not {"authorization", "x-amz-target"} & names


def test_a_compressed_body_stays_compressed() -> None:
    """The edge adds a layer of gzip, which the engine removes, so the client's body remains."""
    body = gzip.compress(b"{}")
    answer = ask(echo, "POST", headers={"Content-Encoding": "gzip"}, content=body).json()
    codings = [value for name, value in answer["headers"] if name == "content-encoding"]
    assert codings == ["gzip", "x-gzip"]
    assert gzip.decompress(bytes(answer["body"])) == body


@for_each("path", ["//", "/v1/emails", "/apis/v1/emails", "/api/../v1", "/api/v1/..", "/api/./v1"])
def test_a_path_outside_the_stage_is_not_found(path: str) -> None:
    async def exchange() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"user-agent", b"test")],
        }
        async with httpx.AsyncClient(transport=httpx.MockTransport(unreachable)) as behind:
            await Edge(_TEMPLATE, _STAGE, _FRONT, behind)(scope, receive, send)
        return sent

    start, body = asyncio.run(exchange())
    assert start["status"] == 404
    assert json.loads(body["body"])["error"]["code"] == "route_not_found"


def test_an_error_of_the_engine_gets_the_envelope() -> None:
    answer = ask(lambda _: httpx.Response(502, json={"message": "Internal server error"}))
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.headers["cache-control"] == "no-store"
    assert code_of(answer) == "service_unavailable"


async def _parts(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 1 << 20):
        yield b"x" * min(1 << 20, size - start)


def test_a_send_over_the_lambda_limit_goes_to_the_front() -> None:
    for content in (_parts(_LIMIT + 1), b"x" * (_LIMIT + 1)):
        seen: list[httpx.Request] = []

        def behind(request: httpx.Request, seen: list[httpx.Request] = seen) -> httpx.Response:
            seen.append(request)
            return httpx.Response(200)

        headers = {"X-API-Key": "k", "X-Pillarbox-Edge": "forged", "X-Pillarbox-Client": "::1"}
        assert ask(behind, "POST", content=content, headers=headers).status_code == 200
        (request,) = seen
        assert str(request.url) == "http://front/api/v1/emails"
        assert request.headers["x-api-key"] == "k"
        assert request.headers.get_list("x-pillarbox-edge") == ["secret"]
        assert request.headers.get_list("x-pillarbox-client") == ["127.0.0.1"]
        assert len(request.content) == _LIMIT + 1


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/api/v1/emails/batch", Route(_TEMPLATE).front_bytes), ("/api/v1/templates", _LIMIT)],
)
def test_a_payload_ends_at_the_limit(path: str, limit: int) -> None:
    for content in (_parts(limit + 1), b"x" * (limit + 1)):
        answer = ask(lambda _: httpx.Response(200), "POST", path, content=content)
        assert (answer.status_code, code_of(answer)) == (413, "request_too_large")
    assert answer.json()["error"]["details"] == {"limit_bytes": limit}


@pytest.mark.parametrize("failure", [httpx.ConnectError, httpx.ReadError, httpx.ReadTimeout])
def test_an_unreachable_engine_is_service_unavailable(failure: type[Exception]) -> None:
    def engine(_: httpx.Request) -> httpx.Response:
        raise failure("gone")

    answer = ask(engine)
    assert answer.status_code == 503
    assert code_of(answer) == "service_unavailable"
    assert answer.headers["x-request-id"]


def test_the_stage_gets_the_access_key_id_and_nothing_of_a_browser() -> None:
    browser = {"Origin": "http://edge", "Sec-Fetch-Site": "same-origin", "Origin-Trial": "x"}
    own = f"{BROWSER_PREFIX}origin"
    answer = ask(echo, headers=browser | {KEY_HEADER: "guess", own: "http://guess"})
    headers = answer.json()["headers"]
    assert [value for name, value in headers if name == KEY_HEADER] == [_STAGE.access_key_id]
    assert {"origin", "sec-fetch-site"}.isdisjoint(name for name, _ in headers)
    assert ["origin-trial", "x"] in headers
    assert [value for name, value in headers if name == own] == ["http://edge"]


def test_with_a_url_one_email_goes_to_its_function() -> None:
    send = SendOrigin("http://engine/url/1", "secret")

    def engine(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "http://engine/url/1/api/v1/emails"
        assert request.headers["x-pillarbox-edge"] == "secret"
        assert request.headers["x-pillarbox-type"] == "application/json"
        assert request.headers["content-type"] == "application/octet-stream"
        assert request.headers[KEY_HEADER] == "AKIASTACK"
        return httpx.Response(200, content=request.content)

    headers = {"Content-Type": "application/json", "X-Pillarbox-Edge": "forged"}
    answer = ask(engine, "POST", send=send, headers=headers, content=b'{"to":"\xff"}')
    assert answer.content == b'{"to":"\xff"}'


def test_a_front_that_does_not_start_is_an_outage() -> None:
    async def fails() -> FrontOrigin:
        raise FrontFailed

    edge = Edge(_TEMPLATE, _STAGE, fails, httpx.AsyncClient())
    answer = asgi.ask(edge, "POST", "/api/v1/emails", "http://edge", content=_chunks())
    assert code_of(answer) == "service_unavailable"


async def _chunks() -> AsyncIterator[bytes]:
    """A body of unknown size."""
    yield b"{}"
