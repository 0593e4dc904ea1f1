"""What a page of another server in the developer's browser can ask of the running local stack.

`tests/unit/local/test_guard.py` has every form of a request; here each port has its guard.
"""

import json
import socket
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from tests.stack import AGENT, PATIENCE, ROOT

pytestmark = pytest.mark.stack

#: What a browser adds to the requests of a page from elsewhere.
PAGE: Final = {
    "Origin": "http://evil.example",
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "no-cors",
    "Sec-Fetch-Dest": "empty",
}
#: AWS calls, signed as the engine alone would take them.
SIGNED: Final = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20261129/us-east-1/x/aws4_request, "
    "SignedHeaders=host, Signature=00",
    "X-Amz-Target": "DynamoDB_20120810.Scan",
}
#: What each server could be asked to do or to tell.
REQUESTS: Final[dict[str, list[tuple[str, str]]]] = {
    "engine": [
        *(("POST", "/"), ("GET", "/?Action=ListRoles&Version=2010-05-08"), ("PUT", "/attack")),
        *(("POST", "/2015-03-31/functions"), ("POST", "/_ministack/reset")),
    ],
    "ses": [("POST", "/v2/email/identities"), ("GET", "/v2/email/account")],
    "inbox": [
        *(("GET", "/messages"), ("DELETE", "/messages"), ("PUT", "/behaviour")),
        *(("GET", "/events"), ("POST", "/hooks/x"), ("PUT", "/hooks/x/answer")),
        *(("GET", "/webhooks"), ("DELETE", "/webhooks"), ("GET", "/static/inbox.js")),
    ],
    "edge": [("GET", "/docs/key.json")],
    "front": [("POST", "/api/v1/emails")],
}


def servers(stack: dict[str, Any]) -> dict[str, int]:
    """Return the ports of the stack by name; fail if it listens beyond the loopback address."""
    environment = stack["environment"]
    named = {
        "edge": urlsplit(stack["base_url"]).port,
        "inbox": urlsplit(stack["inbox_url"]).port,
        "engine": urlsplit(environment["AWS_ENDPOINT_URL"]).port,
        "ses": urlsplit(environment["AWS_ENDPOINT_URL_SESV2"]).port,
        "smtp": stack["smtp"]["port"],
        "mx": stack["mx"]["port"],
        "dns": int(environment["PILLARBOX_DNS_SERVERS"].rpartition(":")[2]),
    }
    # A send of unknown size starts the front.
    httpx.post(f"{stack['base_url']}/api/v1/emails", content=iter([b"{}"]), timeout=PATIENCE)
    front, engine = (
        psutil.Process(json.loads((ROOT / ".local/tests" / name).read_text())["pid"])
        for name in ("front.json", "engine.json")
    )
    named["front"] = int(front.environ()["PILLARBOX_PORT"])
    leader = engine.parent()
    assert leader is not None
    sockets = [
        connection
        for process in (leader, *leader.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN or connection.type == socket.SOCK_DGRAM
    ]
    assert {connection.laddr.ip for connection in sockets} == {"127.0.0.1"}
    assert {connection.laddr.port for connection in sockets} == set(named.values())
    return {name: port for name, port in named.items() if port}


def test_a_page_of_another_server_gets_nothing(stack: dict[str, Any]) -> None:
    """Neither a page from elsewhere nor one whose name has come to mean this machine does."""
    ports = servers(stack)
    key = {"X-API-Key": stack["keys"]["live"], "X-Pillarbox-Edge": ""}
    for name, requests in REQUESTS.items():
        own = f"rebound.example:{ports[name]}"
        rebound = PAGE | {"Host": own, "Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"}
        for method, path in requests:
            for page in (PAGE, rebound):
                headers = AGENT | SIGNED | key | page
                url = f"http://127.0.0.1:{ports[name]}{path}"
                answer = httpx.request(method, url, headers=headers, timeout=PATIENCE)
                assert answer.status_code == 403, (name, method, path)
                assert answer.json()["error"]["code"] == "client_blocked"


def test_the_api_lets_no_page_of_another_server_read(stack: dict[str, Any]) -> None:
    """It has no CORS, so a browser asks before it sends a key, and keeps every answer."""
    url, page = f"{stack['base_url']}/api/v1/emails", AGENT | PAGE
    asks = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key"}
    before = httpx.options(url, headers=page | asks, timeout=PATIENCE)
    sent = httpx.post(url, headers=page | {"Content-Type": "text/plain"}, timeout=PATIENCE)
    assert (before.is_error, sent.json()["error"]["code"]) == (True, "missing_api_key")
    for answer in (before, sent):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(("name", "refusal"), [("smtp", b"530 "), ("mx", b"502 ")])
def test_a_page_of_another_server_mails_nothing(
    stack: dict[str, Any], name: str, refusal: bytes
) -> None:
    """SMTP commands in the body of a page's POST: no port accepts a sender."""
    fields = {"Host": "127.0.0.1", "Accept": "*/*"} | PAGE
    head = "".join(f"{field}: {value}\r\n" for field, value in fields.items())
    commands = "EHLO evil.example\r\nMAIL FROM:<ada@evil.example>\r\n"
    with socket.create_connection(("127.0.0.1", stack[name]["port"]), PATIENCE) as client:
        client.sendall(f"POST / HTTP/1.1\r\n{head}\r\n{commands}".encode())
        client.shutdown(socket.SHUT_WR)
        *_, last = client.makefile("rb")
    assert last.startswith(refusal)
