"""The guards pass the stack's own requests, and refuse those of web pages and other programs."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

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
from tests.unit.local.asgi import ask

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


def passes(app: App, headers: Mapping[str, str], method: str = "GET", path: str = "/") -> bool:
    response = ask(app, method, path, f"http://{HOST}", headers=headers)
    refused = response.status_code == 403
    assert response.status_code == (403 if refused else 200)
    if refused:
        assert response.json()["error"]["code"] == "client_blocked"
        assert response.headers["x-request-id"]
    return not refused


LOOPBACK: Final = LoopbackHost(echo, 4566)
#: In a container a server has other names, with any port.
NAMED: Final = LoopbackHost(SameOrigin(echo), 4566, ("pillarbox",))
ENGINE: Final = SignedRequests(echo, KEY)
OWN: Final = SameOrigin(echo)
IMAGES: Final = SameOrigin(echo, images="/messages/[^/]+/parts/[0-9]+")
SES: Final = JsonBodies(echo)
FORM: Final = "application/x-www-form-urlencoded"
OTHER: Final = {"Origin": "http://127.0.0.1:3000"}
#: What a browser says of a page's own request, a request of another page, a click on a link
#: elsewhere, and an image in a sandboxed frame.
SELF: Final = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
CLICK: Final = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}
FRAME: Final = CLICK | {"Sec-Fetch-Dest": "iframe"}
IMAGE: Final = CLICK | {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
BY_OTHERS: Final = (
    OTHER | {"Sec-Fetch-Site": "same-site"},
    OTHER,
    {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    FRAME,
)
LINK: Final = f"/spool/kept/7/a/m.eml?X-Amz-Credential={KEY}%2Fx"
PART: Final = "/messages/m1/parts/2"


def signed(old: str = "", new: str = "", **more: str) -> dict[str, str]:
    others = {name.replace("_", "-"): text for name, text in more.items()}
    return {"Authorization": SIGNED.replace(old, new, 1)} | others


@for_each(
    ("app", "request_line", "headers"),
    [
        *((LOOPBACK, "GET /", {"Host": host}) for host in (HOST, "localhost:4566", "[::1]:4566")),
        (LOOPBACK, "GET /", {"Host": "LOCALHOST:4566"}),
        (LoopbackHost(echo, 80), "GET /", {"Host": "localhost"}),  # the usual port is left out
        *((NAMED, "GET /", {"Host": host}) for host in ("pillarbox:8081", "PILLARBOX", HOST)),
        # A page may delete an email if its port has another number outside of the container.
        (NAMED, "DELETE /", {"Host": "pillarbox:9025", "Origin": "http://pillarbox:9025"}),
        (ENGINE, "POST /", signed()),
        (ENGINE, "POST /", signed(KEY, f"{KEY}ASIAROLE")),
        (ENGINE, "POST /", {KEY_HEADER: KEY}),
        (ENGINE, f"POST /?X-Amz-Credential={KEY}%2F20261122%2Fus-east-1%2Fs3%2Faws4_request", {}),
        (ENGINE, f"GET {LINK}", CLICK),  # a signed link can be opened
        (SES, f"POST {_EMAILS}", {"Content-Type": "application/json"}),
        (SES, f"PUT {_EMAILS}", {"Content-Type": "application/json; charset=utf-8"}),
        (SES, f"GET {_EMAILS}", {}),
        (SES, f"DELETE {_EMAILS}", {}),
        # SES has its rules of receipt in the query protocol only: forms, to the root.
        (SES, "POST /", {"Content-Type": f"{FORM}; charset=utf-8"}),
        *((OWN, f"{method} /", {}) for method in ("GET", "DELETE", "PUT")),
        *((OWN, f"{method} /", SELF) for method in ("GET", "DELETE", "PUT")),
        (OWN, "PUT /", {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}),
        (OWN, "GET /", CLICK),
        (IMAGES, f"GET {PART}", IMAGE),
        (IMAGES, f"GET {PART}", IMAGE | {"Origin": "null"}),
    ],
)
def test_what_passes(app: App, request_line: str, headers: dict[str, str]) -> None:
    assert passes(app, headers, *request_line.split(" ", 1))


@for_each(
    ("app", "request_line", "headers"),
    [
        *(
            (LOOPBACK, "GET /", {"Host": host})
            for host in (
                *("127.0.0.1", "127.0.0.1:80", "rebound.example:4566", "localhost.:4566", ""),
                *("localhost.rebound.example:4566", "127.0.0.1.rebound.example:4566"),
                "127.0.0.1:4566@rebound.example",
            )
        ),
        (LoopbackHost(echo, 80), "GET /", {"Host": "rebound.example"}),
        (NAMED, "GET /", {"Host": "pillarbox.rebound.example:8081"}),
        (NAMED, "GET /", {"Host": "rebound.example:8081"}),
        (NAMED, "GET /", {"Host": "pillarbox:8081:80"}),
        (NAMED, "GET /", {"Host": ""}),
        (NAMED, "DELETE /", {"Host": "pillarbox:9025", "Origin": "http://pillarbox:9026"}),
        (NAMED, "DELETE /", {"Host": "pillarbox:9025", "Origin": "http://rebound.example:9025"}),
        (NAMED, "DELETE /", {"Host": "pillarbox:9025", "Origin": "null"}),
        (ENGINE, "POST /", {}),
        (ENGINE, "POST /_ministack/health", {}),
        (ENGINE, "POST /", signed(KEY, "test")),
        (ENGINE, "POST /", signed(KEY, "000000000000")),
        (ENGINE, "POST /", signed(KEY, KEY[:-1])),
        (ENGINE, "POST /", signed(KEY, f"test{KEY}")),
        (ENGINE, "POST /", {"Authorization": f"Bearer {KEY}"}),
        (ENGINE, "POST /", {"Authorization": "AWS4-HMAC-SHA256 Credential=/"}),
        (ENGINE, "POST /", {KEY_HEADER: ""}),
        (ENGINE, "POST /?X-Amz-Credential=test/20261122/us-east-1/s3/aws4_request", {}),
        (ENGINE, "POST /", signed(Origin="http://127.0.0.1:3000")),
        (ENGINE, "POST /", signed(Origin="null")),
        (ENGINE, "POST /", signed(Sec_Fetch_Site="same-origin")),
        (ENGINE, "POST /", signed(Sec_Fetch_Mode="cors")),
        (ENGINE, "POST /", signed(Sec_Fetch_Dest="empty")),
        (ENGINE, f"POST {LINK}", CLICK),
        (ENGINE, "GET /spool/kept/7/a/m.eml?X-Amz-Credential=test%2Fx", CLICK),
        (ENGINE, f"GET /?X-Amz-Credential={KEY}%2Fx", CLICK),
        (ENGINE, f"GET /kept/?X-Amz-Credential={KEY}%2Fx&Action=DeleteQueue", CLICK),
        (ENGINE, f"GET {LINK}", FRAME),
        (ENGINE, f"GET {LINK}", CLICK | {"Sec-Fetch-Mode": "cors"}),
        # The content types that a page can send without a preflight.
        (SES, f"POST {_EMAILS}", {}),
        (SES, f"POST {_EMAILS}", {"Content-Type": "text/plain"}),
        (SES, f"POST {_EMAILS}", {"Content-Type": "text/plain; application/json"}),
        (SES, f"POST {_EMAILS}", {"Content-Type": FORM}),
        (SES, "POST /", {"Content-Type": "application/json"}),
        (SES, "POST /", {}),
        (SES, "POST /", {"Content-Type": "text/plain"}),
        *((OWN, f"{method} /", page) for page in BY_OTHERS for method in ("GET", "DELETE", "PUT")),
        (OWN, "POST /", CLICK),
        (OWN, "POST /", CLICK | OTHER),
        (IMAGES, f"POST {PART}", IMAGE),
        (IMAGES, f"GET {PART}", IMAGE | {"Sec-Fetch-Dest": "script"}),
        (IMAGES, "GET /messages/m1/raw", IMAGE),
        (OWN, f"GET {PART}", IMAGE),
    ],
)
def test_what_is_refused(app: App, request_line: str, headers: dict[str, str]) -> None:
    assert not passes(app, headers, *request_line.split(" ", 1))


def test_several_hosts_are_refused() -> None:
    for hosts in ([], [HOST, HOST]):
        sent: list[Any] = []

        async def record(message: Any, sent: list[Any] = sent) -> None:
            await asyncio.sleep(0)
            sent.append(message)

        scope = {"type": "http", "headers": [(b"host", host.encode()) for host in hosts]}
        asyncio.run(LoopbackHost(echo, 4566)(scope, asyncio.Event().wait, record))
        assert sent[0]["status"] == 403


def test_a_callers_origin_reaches_the_functions() -> None:
    headers = {KEY_HEADER: KEY, f"{BROWSER_PREFIX}origin": "http://a.example"}
    response = ask(ENGINE, "GET", "/", headers=headers)
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
