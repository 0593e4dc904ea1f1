"""The guards pass the stack's own requests, and refuse those of web pages and other programs."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import httpx
import pytest

from local.guard import (
    BROWSER_PREFIX,
    KEY_HEADER,
    App,
    JsonBodies,
    LoopbackHost,
    SameOrigin,
    SignedRequests,
)
from tests.loops import for_each

KEY: Final = "AKIA0123456789"
SIGNED: Final = (
    f"AWS4-HMAC-SHA256 Credential={KEY}/20261122/us-east-1/sqs/aws4_request, "
    "SignedHeaders=host, Signature=00"
)
HOST: Final = "127.0.0.1:4566"
_EMAILS: Final = "/v2/email/outbound-emails"


async def echo(scope: Any, _receive: Any, send: Any) -> None:
    """Answer with the names of the headers that arrived."""
    names = b" ".join(name for name, _ in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": names})


def ask(
    app: App, headers: Mapping[str, str], method: str = "GET", path: str = "/"
) -> httpx.Response:
    async def exchange() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(exchange())


def passes(app: App, headers: Mapping[str, str], method: str = "GET", path: str = "/") -> bool:
    response = ask(app, headers, method, path)
    refused = response.status_code == 403
    assert response.status_code == (403 if refused else 200)
    if refused:
        assert response.json()["error"]["code"] == "client_blocked"
        assert response.headers["x-request-id"]
    return not refused


@for_each(
    ("host", "passed"),
    [
        (HOST, True),
        ("localhost:4566", True),
        ("LOCALHOST:4566", True),
        ("[::1]:4566", True),
        ("127.0.0.1", False),
        ("127.0.0.1:80", False),
        ("rebound.example:4566", False),
        ("localhost.rebound.example:4566", False),
        ("127.0.0.1.rebound.example:4566", False),
        ("127.0.0.1:4566@rebound.example", False),
        ("localhost.:4566", False),
        ("", False),
    ],
)
def test_only_a_loopback_name_with_the_port_passes(host: str, *, passed: bool) -> None:
    assert passes(LoopbackHost(echo, 4566), {"Host": host}) is passed


def test_the_usual_port_may_be_left_out() -> None:
    """On port 80, browsers send the name alone."""
    assert passes(LoopbackHost(echo, 80), {"Host": "localhost"})
    assert not passes(LoopbackHost(echo, 80), {"Host": "rebound.example"})


@for_each(
    ("host", "passed"),
    [
        ("pillarbox:8081", True),
        ("PILLARBOX", True),
        (HOST, True),
        ("pillarbox.rebound.example:8081", False),
        ("rebound.example:8081", False),
        ("pillarbox:8081:80", False),
        ("", False),
    ],
)
def test_more_names_may_be_given(host: str, passed: bool) -> None:  # noqa: FBT001  a case
    """In a container a server has other names, with any port; others are still refused."""
    assert passes(LoopbackHost(echo, 4566, ("pillarbox",)), {"Host": host}) is passed


@pytest.mark.parametrize(
    ("origin", "passed"),
    [
        ("http://pillarbox:9025", True),
        ("http://pillarbox:9026", False),
        ("http://rebound.example:9025", False),
        ("null", False),
    ],
)
def test_own_pages_work_under_another_name(origin: str, passed: bool) -> None:  # noqa: FBT001  a case
    """A page may delete an email if its port has another number outside of the container."""
    app = LoopbackHost(SameOrigin(echo), 4566, ("pillarbox",))
    headers = {"Host": "pillarbox:9025", "Origin": origin}
    assert passes(app, headers, "DELETE") is passed


def test_several_hosts_are_refused() -> None:
    for hosts in ([], [HOST, HOST]):
        sent: list[Any] = []

        async def record(message: Any, sent: list[Any] = sent) -> None:
            await asyncio.sleep(0)
            sent.append(message)

        scope = {"type": "http", "headers": [(b"host", host.encode()) for host in hosts]}
        asyncio.run(LoopbackHost(echo, 4566)(scope, asyncio.Event().wait, record))
        assert sent[0]["status"] == 403


@for_each(
    ("headers", "path", "passed"),
    [
        ({"Authorization": SIGNED}, "/", True),
        ({"Authorization": SIGNED.replace(KEY, f"{KEY}ASIAROLE")}, "/", True),
        ({KEY_HEADER: KEY}, "/", True),
        ({}, f"/?X-Amz-Credential={KEY}%2F20261122%2Fus-east-1%2Fs3%2Faws4_request", True),
        ({}, "/", False),
        ({}, "/_ministack/health", False),
        ({"Authorization": SIGNED.replace(KEY, "test")}, "/", False),
        ({"Authorization": SIGNED.replace(KEY, "000000000000")}, "/", False),
        ({"Authorization": SIGNED.replace(KEY, KEY[:-1])}, "/", False),
        ({"Authorization": SIGNED.replace(KEY, f"test{KEY}")}, "/", False),
        ({"Authorization": f"Bearer {KEY}"}, "/", False),
        ({"Authorization": "AWS4-HMAC-SHA256 Credential=/"}, "/", False),
        ({KEY_HEADER: ""}, "/", False),
        ({}, "/?X-Amz-Credential=test/20261122/us-east-1/s3/aws4_request", False),
        ({"Authorization": SIGNED, "Origin": "http://127.0.0.1:3000"}, "/", False),
        ({"Authorization": SIGNED, "Origin": "null"}, "/", False),
        ({"Authorization": SIGNED, "Sec-Fetch-Site": "same-origin"}, "/", False),
        ({"Authorization": SIGNED, "Sec-Fetch-Mode": "cors"}, "/", False),
        ({"Authorization": SIGNED, "Sec-Fetch-Dest": "empty"}, "/", False),
    ],
)
def test_the_engine_takes_only_signed_requests(
    headers: dict[str, str], path: str, *, passed: bool
) -> None:
    assert passes(SignedRequests(echo, KEY), headers, "POST", path) is passed


def test_a_signed_link_can_be_opened() -> None:
    guard, signed = SignedRequests(echo, KEY), f"?X-Amz-Credential={KEY}%2Fx"
    link = f"/spool/kept/7/a/m.eml{signed}"
    opening = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    opening |= {"Sec-Fetch-Dest": "document"}
    assert passes(guard, opening, path=link)
    assert not passes(guard, opening, "POST", link)
    assert not passes(guard, opening, path="/spool/kept/7/a/m.eml?X-Amz-Credential=test%2Fx")
    for other in (f"/{signed}", f"/kept/{signed}&Action=DeleteQueue"):
        assert not passes(guard, opening, path=other)
    for changed in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "cors"}):
        assert not passes(guard, opening | changed, path=link)


def test_a_callers_origin_reaches_the_functions() -> None:
    response = ask(
        SignedRequests(echo, KEY), {KEY_HEADER: KEY, f"{BROWSER_PREFIX}origin": "http://a.example"}
    )
    assert BROWSER_PREFIX not in response.text
    assert "origin" in response.text.split()


def test_no_websocket_passes() -> None:
    for guard in (SignedRequests(echo, KEY), SameOrigin(echo), LoopbackHost(echo, 1)):
        sent: list[Any] = []

        async def record(message: Any, sent: list[Any] = sent) -> None:
            await asyncio.sleep(0)
            sent.append(message)

        headers = [(b"host", HOST.encode()), (KEY_HEADER.encode(), KEY.encode())]
        scope = {"type": "websocket", "headers": headers, "query_string": b""}
        asyncio.run(guard(scope, asyncio.Event().wait, record))
        assert sent == [{"type": "websocket.close", "code": 1008}]


@for_each(
    ("method", "path", "content_type", "passed"),
    [
        ("POST", _EMAILS, "application/json", True),
        ("PUT", _EMAILS, "application/json; charset=utf-8", True),
        ("GET", _EMAILS, None, True),
        ("DELETE", _EMAILS, None, True),
        ("POST", _EMAILS, None, False),
        ("POST", _EMAILS, "text/plain", False),
        ("POST", _EMAILS, "text/plain; application/json", False),
        ("POST", _EMAILS, "application/x-www-form-urlencoded", False),
        ("POST", "/", "application/x-www-form-urlencoded; charset=utf-8", True),
        ("POST", "/", "application/json", False),
        ("POST", "/", None, False),
        ("POST", "/", "text/plain", False),
    ],
)
def test_bodies_are_json(method: str, path: str, content_type: str | None, *, passed: bool) -> None:
    """The content types that a page can send without a preflight are refused.

    SES has its rules of receipt in the query protocol only: forms, to the root.
    """
    headers = {"Content-Type": content_type} if content_type else {}
    assert passes(JsonBodies(echo), headers, method, path) is passed


@pytest.mark.parametrize(
    ("headers", "passed"),
    [
        ({}, True),
        ({"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, True),
        ({"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://127.0.0.1:3000"}, False),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, False),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe",
            },
            False,
        ),
    ],
)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_a_page_reaches_only_its_own_server(
    headers: dict[str, str], method: str, *, passed: bool
) -> None:
    assert passes(SameOrigin(echo), headers, method) is passed


def test_a_link_from_elsewhere_opens_a_page() -> None:
    click = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert passes(SameOrigin(echo), click)
    assert not passes(SameOrigin(echo), click, "POST")
    assert not passes(SameOrigin(echo), click | {"Origin": "http://127.0.0.1:3000"}, "POST")


def test_a_sandboxed_frame_shows_images() -> None:
    image = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    app = SameOrigin(echo, images="/messages/[^/]+/parts/[0-9]+")
    assert passes(app, image, path="/messages/m1/parts/2")
    assert not passes(app, image, "POST", "/messages/m1/parts/2")
    assert passes(app, image | {"Origin": "null"}, path="/messages/m1/parts/2")
    assert not passes(app, image | {"Sec-Fetch-Dest": "script"}, path="/messages/m1/parts/2")
    assert not passes(app, image, path="/messages/m1/raw")
    assert not passes(SameOrigin(echo), image, path="/messages/m1/parts/2")
