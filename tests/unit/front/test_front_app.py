"""The front accepts the edge's requests up to its limits and reports errors in the envelope."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from front import uploads
from front.app import Front
from front.turns import Owners
from front.workers import NoWorkerFree, WorkerDied
from local import template
from local.route import Route
from pillarbox.domain.accounts.key import KeyType, new_key_text
from tests.loops import for_each

ACCOUNT_ID_LENGTH = 12

BODY_LIMIT = 16 * 1024 * 1024

SECRET = "edge-secret"
KEY = new_key_text("0" * ACCOUNT_ID_LENGTH, KeyType.LIVE)
MIB = 1024 * 1024


@dataclass
class Handlers:
    """Handlers that return one fixed response or fail, and record their requests."""

    failure: Exception | None = None
    requests: list[tuple[str, dict[str, Any], bytes]] = field(default_factory=list)

    async def run(
        self, function: str, event: dict[str, Any], body: bytes, owners: Owners
    ) -> Mapping[str, Any]:
        assert owners
        self.requests.append((function, event, body))
        await asyncio.sleep(0)
        if self.failure:
            raise self.failure
        return {
            "statusCode": 200,
            "multiValueHeaders": {"Content-Type": ["application/json"], "X-Two": ["a", "b"]},
            "body": b64encode(b'{"ok":true}').decode(),
            "isBase64Encoded": True,
        }


@dataclass
class ApiResponse:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)["error"]
        return error

    def header(self, name: str) -> str:
        (value,) = (v for n, v in self.headers if n == name)
        return value


async def request(
    front: Front,
    path: str = "/api/v1/emails",
    method: str = "POST",
    parts: Iterable[bytes] = (b"{}",),
    headers: Mapping[str, str] | None = None,
) -> ApiResponse:
    all_headers = {"x-pillarbox-edge": SECRET, "x-api-key": KEY} | dict(headers or {})
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts] + [
        {"type": "http.request", "body": b"", "more_body": False}
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"a=1&a=2",
        "headers": [(n.encode(), v.encode()) for n, v in all_headers.items()],
    }
    await front(scope, receive, send)
    start, body = sent
    return ApiResponse(
        start["status"], [(n.decode(), v.decode()) for n, v in start["headers"]], body["body"]
    )


async def send_upload(
    handlers: Handlers, receive: Callable[[], Awaitable[Mapping[str, Any]]], *keys: str
) -> list[dict[str, Any]]:
    """Return the messages of the response to a send whose body arrives by `receive`."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/emails",
        "query_string": b"",
        "headers": [(b"x-pillarbox-edge", SECRET.encode())]
        + [(b"x-api-key", key.encode("latin-1")) for key in keys],
    }
    await Front(handlers, SECRET, 64 * MIB)(scope, receive, send)
    return sent


def ask(handlers: Handlers, memory: int = 64 * MIB, **options: Any) -> ApiResponse:
    return asyncio.run(request(Front(handlers, SECRET, memory), **options))


@pytest.mark.parametrize(
    ("path", "function"),
    [
        ("/api/v1/emails", "send_email"),
        ("/api/v1/emails/", "send_email"),
        ("/api/v1/emails/batch", "send_batch"),
        ("/api/v1/emails/batch/", "send_batch"),
    ],
)
def test_a_send_reaches_its_function(path: str, function: str) -> None:
    """A send route runs its function with the event that API Gateway would pass."""
    handlers = Handlers()
    headers = {"x-pillarbox-client": "192.0.2.7"}
    answer = ask(handlers, path=path, parts=[b"ab", b"c"], headers=headers)
    ((name, event, body),) = handlers.requests
    assert (name, body) == (function, b"abc")
    assert event["path"] == event["resource"] == path.removeprefix("/api").rstrip("/")
    assert event["httpMethod"] == "POST"
    assert event["multiValueHeaders"]["x-api-key"] == [KEY]
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"]}
    assert event["queryStringParameters"] == {"a": "2"}
    assert event["requestContext"]["identity"]["sourceIp"] == "192.0.2.7"
    assert (answer.status, answer.body) == (200, b'{"ok":true}')
    assert [v for n, v in answer.headers if n == "x-two"] == ["a", "b"]
    assert answer.header("x-request-id") == event["requestContext"]["requestId"]


@pytest.mark.parametrize("secret", ["", "edge-secre", "edge-secret2"])
def test_requests_without_the_secret_are_blocked(secret: str) -> None:
    """A request without the edge's secret gets 403, and its function does not run."""
    handlers = Handlers()
    answer = ask(handlers, headers={"x-pillarbox-edge": secret})
    assert (answer.status, answer.error["code"]) == (403, "client_blocked")
    assert handlers.requests == []
    without = Front(handlers, "", 64 * MIB)
    assert asyncio.run(request(without, headers={"x-pillarbox-edge": secret})).status == 403


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/emails", 405, "method_not_allowed"),
        ("POST", "/api/v1/templates", 404, "route_not_found"),
        ("POST", "/v1/emails", 404, "route_not_found"),
        ("POST", "/", 404, "route_not_found"),
    ],
)
def test_other_routes_get_404_or_405(method: str, path: str, status: int, code: str) -> None:
    """Every request except POST on a send route gets 404 or 405, with X-Request-Id."""
    answer = ask(Handlers(), method=method, path=path)
    assert (answer.status, answer.error["code"]) == (status, code)
    assert UUID(answer.header("x-request-id"))
    if status == 405:
        assert answer.header("allow") == "GET, POST"


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_over_the_limit_is_413(announced: bool) -> None:  # noqa: FBT001  a row of the table
    """A body one byte over the limit, announced or not, gets 413 with the limit."""
    handlers = Handlers()
    parts = [b"x" * MIB] * (BODY_LIMIT // MIB) + [b"x"]
    headers = {"content-length": str(BODY_LIMIT + 1)} if announced else {}
    answer = ask(handlers, parts=parts, headers=headers)
    assert (answer.status, answer.error["code"]) == (413, "request_too_large")
    assert answer.error["details"] == {"limit_bytes": BODY_LIMIT}
    assert handlers.requests == []


def test_a_body_at_the_limit_is_accepted() -> None:
    handlers = Handlers()
    assert ask(handlers, parts=[b"x" * MIB] * (BODY_LIMIT // MIB)).status == 200
    assert len(handlers.requests[0][2]) == BODY_LIMIT


def test_the_edge_knows_the_same_limit() -> None:
    assert Route(template.inlined(template.load())).front_bytes == BODY_LIMIT


@for_each(
    ("keys", "code"),
    [
        ([], "missing_api_key"),
        ([""], "missing_api_key"),
        (["k"], "invalid_api_key"),
        ([KEY[:-1]], "invalid_api_key"),
        ([KEY[:-1] + "x"], "invalid_api_key"),
        ([KEY, KEY], "invalid_api_key"),
        (["ü" * 8000], "invalid_api_key"),
    ],
)
def test_a_malformed_key_is_401_before_the_body(keys: list[str], code: str) -> None:
    """A missing, malformed, mistyped or second key gets 401, and no octet of the body is read."""
    handlers = Handlers()

    async def receive() -> Mapping[str, Any]:
        pytest.fail("the body was read")

    sent = asyncio.run(send_upload(handlers, receive, *keys))
    assert sent[0]["status"] == 401
    assert json.loads(sent[1]["body"])["error"]["code"] == code
    # The client may still be sending: it gets the answer if the connection stays.
    assert b"connection" not in dict(sent[0]["headers"])
    assert handlers.requests == []


def test_an_announced_size_takes_no_memory() -> None:
    """Many requests may announce the largest body; only octets that arrive count."""
    handlers = Handlers()
    headers = {"content-length": str(BODY_LIMIT)}

    async def send_many() -> list[ApiResponse]:
        front = Front(handlers, SECRET, memory=16 * MIB)
        return await asyncio.gather(*(request(front, headers=headers) for _ in range(20)))

    assert [response.status for response in asyncio.run(send_many())] == [200] * 20


def test_a_failed_request_releases_its_memory() -> None:
    async def send_two() -> list[int]:
        front = Front(Handlers(failure=WorkerDied()), SECRET, memory=4 * MIB)
        parts = [b"x" * MIB]
        return [(await request(front, parts=parts)).status for _ in range(2)]

    answers = asyncio.run(send_two())
    assert answers == [503, 503]


def test_a_dead_worker_is_503() -> None:
    """A worker that died leaves the outcome open, which the answer says, with Retry-After."""
    answer = ask(Handlers(failure=WorkerDied()))
    assert (answer.status, answer.error["code"]) == (503, "service_unavailable")
    assert "may or may not" in answer.error["message"]
    assert answer.header("retry-after") == "5"


async def send_to_full_front() -> ApiResponse:
    """Fill the memory with four bodies that wait for workers, and send a fifth."""

    @dataclass
    class BusyHandlers(Handlers):
        async def run(self, *_: Any) -> Mapping[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

    front = Front(BusyHandlers(), SECRET, memory=16 * MIB)
    send = partial(request, front, parts=[b"x" * (4 * MIB)])
    async with asyncio.TaskGroup() as group:
        waiting = [
            group.create_task(send(headers={"x-pillarbox-client": f"192.0.2.{n}"} | new_key()))
            for n in range(4)
        ]
        await asyncio.sleep(0.01)
        answer = await send(headers={"x-pillarbox-client": "192.0.2.9"} | new_key())
        for task in waiting:
            task.cancel()
    return answer


def new_key() -> dict[str, str]:
    return {"x-api-key": new_key_text("0" * ACCOUNT_ID_LENGTH, KeyType.LIVE)}


def test_the_log_names_the_exhausted_resource(caplog: pytest.LogCaptureFixture) -> None:
    """A 503 for lack of capacity leaves a log line with the cause; a 403 leaves none."""
    full = asyncio.run(send_to_full_front())
    busy = ask(Handlers(failure=NoWorkerFree()))
    assert (busy.status, busy.error["code"]) == (503, "service_unavailable")
    assert busy.header("retry-after") == "5"
    assert ask(Handlers(), headers={"x-pillarbox-edge": "wrong"}).status == 403
    lines = [vars(record) for record in caplog.records if record.msg == "refused"]
    assert [(line["request_id"], line["status"], line["unavailable"]) for line in lines] == [
        (full.header("x-request-id"), 503, "memory"),
        (busy.header("x-request-id"), 503, "worker"),
    ]


def test_a_slow_upload_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that does not arrive in time gets 503, and the connection is closed."""
    monkeypatch.setattr(uploads, "_BODY_TIMEOUT", 0.01)
    handlers = Handlers()

    async def receive() -> Mapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    sent = asyncio.run(send_upload(handlers, receive, KEY))
    assert sent[0]["status"] == 503
    assert (b"connection", b"close") in sent[0]["headers"]
    assert handlers.requests == []


def test_health_needs_no_secret() -> None:
    answer = ask(Handlers(), method="GET", path="/health", headers={"x-pillarbox-edge": ""})
    assert (answer.status, answer.body) == (200, b"ok\n")
