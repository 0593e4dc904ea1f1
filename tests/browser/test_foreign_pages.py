"""A hostile page in the developer's browser can do nothing to the running local stack."""

import base64
import io
import json
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import boto3
import httpx
import psutil
import pytest
import uvicorn
from playwright.sync_api import Browser
from starlette.responses import HTMLResponse

from tests.browser.engines import PATIENCE, Browsers, chromium
from tests.stack import ROOT

pytestmark = pytest.mark.stack

ATTACK: Final = Path(__file__).with_name("foreign_page.js").read_text()
#: Runs the attack, while other pages run it too.
START: Final = f"(targets) => {{ window.attack = ({ATTACK})(targets); }}"
#: Seconds that the page waits for an answer. The name server waits for more than HTTP sends it.
SECONDS: Final = PATIENCE / 1000
SECONDS_OF_SILENCE: Final = 2
#: A name of the attacker's that has come to mean this machine (DNS rebinding).
REBOUND: Final = "rebound.example"
HOSTS: Final = ("127.0.0.1", REBOUND)
#: Other browsers let every page send requests to this machine.
SWITCHES: Final = (
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
    "--disable-features=LocalNetworkAccessChecks",
)
VICTIM: Final = "victim.example"
RECEIVER: Final = "victim"
WEBHOOK_REQUESTS: Final = (
    ("POST", f"/hooks/{RECEIVER}", {"type": "email.bounced"}),
    ("PUT", f"/hooks/{RECEIVER}/answer", {"mode": "gone"}),
    ("DELETE", "/webhooks", None),
    ("GET", "/webhooks", None),
    ("GET", f"/hooks/{RECEIVER}", None),
)
CANARY: Final = """
import os

def handler(event, context):
    with open(os.environ["CALLS"], "a") as calls:
        print("the canary ran", file=calls)
"""


@dataclass(eq=False)
class Engine:
    """The engine as its operator sees it, with a function that leaves a line in a file."""

    environment: dict[str, str]
    canary: str
    #: The engine may lose lines of a function's log, so the function writes here.
    calls: Path

    @cache  # noqa: B019  the engine lives as long as its test
    def client(self, service: str) -> Any:
        make: Any = boto3.client  # mypy would try its 400 overloads
        return make(
            service,
            endpoint_url=self.environment[
                "AWS_ENDPOINT_URL_SESV2" if service == "sesv2" else "AWS_ENDPOINT_URL"
            ],
            region_name=self.environment["AWS_REGION"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )

    @cached_property
    def role(self) -> str:
        """A role that a function can have."""
        arn: str = self.client("iam").list_roles()["Roles"][0]["Arn"]
        return arn

    def resources(self) -> dict[str, list[str]]:
        """Return the names of everything that a page could create or delete."""
        functions = self.client("lambda").get_paginator("list_functions").paginate()
        return {
            "buckets": [item["Name"] for item in self.client("s3").list_buckets()["Buckets"]],
            "functions": sorted(
                item["FunctionName"] for page in functions for item in page["Functions"]
            ),
            "queues": sorted(self.client("sqs").list_queues()["QueueUrls"]),
            "roles": sorted(item["RoleName"] for item in self.client("iam").list_roles()["Roles"]),
            "stacks": [
                f"{item['StackName']} {item['StackStatus']}"
                for item in self.client("cloudformation").describe_stacks()["Stacks"]
            ],
            "tables": self.client("dynamodb").list_tables()["TableNames"],
        }

    def invocations(self) -> int:
        """Return how often the canary has run."""
        return self.calls.read_text().count("\n")


def archive() -> str:
    """Return the code of the canary: an archive as base64."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as code:
        code.writestr("app.py", CANARY)
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def engine(stack: dict[str, Any], tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(stack["environment"], f"canary-{uuid4().hex}", tmp_path / "calls")
    engine.calls.touch()
    functions = engine.client("lambda")
    functions.create_function(
        FunctionName=engine.canary,
        Runtime="python3.13",
        Handler="app.handler",
        Role=engine.role,
        Timeout=60,
        Code={"ZipFile": base64.b64decode(archive())},
        Environment={"Variables": {"CALLS": str(engine.calls)}},
    )
    yield engine
    functions.delete_function(FunctionName=engine.canary)


def servers(stack: dict[str, Any]) -> dict[str, int]:
    """Return the TCP ports of the stack by name; fail if it listens beyond the loopback address."""
    environment = stack["environment"]
    dns = environment["PILLARBOX_DNS_SERVERS"]
    named = {
        "edge": urlsplit(stack["base_url"]).port,
        "inbox": urlsplit(stack["inbox_url"]).port,
        "engine": urlsplit(environment["AWS_ENDPOINT_URL"]).port,
        "ses": urlsplit(environment["AWS_ENDPOINT_URL_SESV2"]).port,
        "smtp": stack["smtp"]["port"],
        "dns": int(dns.rpartition(":")[2]),
    }
    state = ROOT / ".local" / "tests"
    # A send of unknown size starts the front.
    httpx.post(f"{stack['base_url']}/api/v1/emails", content=iter([b"{}"]), timeout=PATIENCE)
    named["front"] = int(
        psutil.Process(json.loads((state / "front.json").read_text())["pid"]).environ()[
            "PILLARBOX_PORT"
        ]
    )
    leader = psutil.Process(json.loads((state / "engine.json").read_text())["pid"]).parent()
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


@pytest.fixture(scope="module")
def attacker() -> Iterator[int]:
    """Return the port of a server with an empty page."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(HTMLResponse("<body>"), log_level="warning", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="module")
def unprotected(browsers: Browsers) -> Browser:
    """Return a browser that has no protection of its own for local servers."""
    return browsers.get(chromium, *SWITCHES)


def adding(listed: list[dict[str, Any]], *meant_for: str) -> Callable[..., None]:
    """Return a function that lists a request which is meant for some of the servers."""

    def add(method: str, path: str, body: object = None, **headers: str) -> None:
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = {"method": method, "path": path, "body": text, "headers": names}
        listed.append(request | {"meant_for": meant_for})

    return add


def requests(stack: dict[str, Any], engine: Engine) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    add_requests_to_engine(adding(listed, "engine"), stack, engine)
    add = adding(listed, "ses")
    add("POST", "/v2/email/identities", {"EmailIdentity": VICTIM})
    add("POST", "/v2/email/identities", {"EmailIdentity": VICTIM}, Content_Type="application/json")
    mail = {
        "FromEmailAddress": "hello@shop.example",
        "Destination": {"ToAddresses": [f"ses@{VICTIM}"]},
        "Content": {"Raw": {"Data": "U3ViamVjdDogeA0KDQp4DQo="}},
    }
    add("POST", "/v2/email/outbound-emails", mail)
    add("GET", "/v2/email/account")
    add = adding(listed, "inbox")
    behaviour = f"/behaviour?recipient=ada@{VICTIM}"
    add("PUT", behaviour, {"mode": "reject"})
    add("POST", behaviour, {"mode": "reject"})
    add("DELETE", "/messages")
    for path in ("/messages", "/static/inbox.js"):
        add("GET", path)
    # A receiver of webhooks.
    for method, path, body in WEBHOOK_REQUESTS:
        add(method, path, body)
    # The API, with a key that the page has learnt, and the reference.
    add = adding(listed, "edge", "front")
    send = {"to": f"api@{VICTIM}", "subject": "x", "html": "x"}
    key = {"X-API-Key": stack["keys"]["live"]}
    add("POST", "/api/v1/emails", send)
    add("POST", "/api/v1/emails", send, Content_Type="application/json", **key)
    add("GET", "/api/v1/emails", **key)
    add("GET", "/docs/key.json")
    # The front, as the edge asks it, and the two that do not speak HTTP.
    add = adding(listed, "front", "smtp", "dns")
    add("POST", "/api/v1/emails", send, X_Pillarbox_Edge="", **key)
    add("POST", "/", f"\r\nEHLO x\r\nMAIL FROM:<a@{VICTIM}>\r\nRCPT TO:<smtp@{VICTIM}>\r\nDATA\r\n")
    return listed


def add_requests_to_engine(add: Callable[..., None], stack: dict[str, Any], engine: Engine) -> None:
    scope = f"test/{time.strftime('%Y%m%d')}/us-east-1/x/aws4_request"
    query = urlencode({"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": scope})
    signed = {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=00"
    }
    code: dict[str, Any] = {
        "FunctionName": "attack",
        "Runtime": "python3.13",
        "Handler": "app.handler",
    }
    code |= {"Role": engine.role, "Code": {"ZipFile": archive()}}
    add("POST", "/2015-03-31/functions", code)
    add("POST", "/2015-03-31/functions", code, Content_Type="application/json", **signed)
    invoke = f"/2015-03-31/functions/{engine.canary}/invocations"
    add("POST", invoke, {})
    add("POST", invoke, {}, **signed)
    add("POST", f"{invoke}?{query}", {})
    table = stack["environment"]["PILLARBOX_TABLE"]
    target = {"X-Amz-Target": "DynamoDB_20120810.Scan"}
    add("POST", "/", {"TableName": table}, **target, **signed)
    for target_name in ("Scan", "DeleteTable"):
        add("POST", "/", {"TableName": table}, X_Amz_Target=f"DynamoDB_20120810.{target_name}")
    add("POST", "/", "Action=DeleteStack&StackName=pillarbox&Version=2010-05-15")
    add("POST", "/", "Action=CreateQueue&QueueName=attack&Version=2012-11-05")
    add("GET", "/?Action=CreateQueue&QueueName=attack&Version=2012-11-05")
    add("GET", f"/?Action=ListRoles&Version=2010-05-08&{query}")
    add("PUT", "/attack", **signed)
    add("GET", "/pillarbox-deployment/template.json")
    add("POST", "/_ministack/reset", "")
    for path in ("/_ministack/sqs/messages", "/"):
        add("GET", path)


def test_a_page_of_another_server_gets_nothing(
    attacker: int, unprotected: Browser, engine: Engine, stack: dict[str, Any]
) -> None:
    """No request to any port does anything, and no response but refusals is read.

    Pages of another port and of another name send each request to the servers that could understand
    it. A page whose own name means this machine sends a server what is meant for it, and the
    requests of its root that are meant for the others: what refuses them does so before any route.
    """
    before = engine.resources()
    listed, ports = requests(stack, engine), servers(stack)
    with closing(unprotected.new_context()) as context:
        other_origins = [context.new_page() for _ in HOSTS]
        targets = [
            target(name, "127.0.0.1", port, [one for one in listed if name in one["meant_for"]])
            for name, port in ports.items()
        ]
        assert all(target["requests"] for target in targets)
        for page, host in zip(other_origins, HOSTS, strict=True):
            page.goto(f"http://{host}:{attacker}/", timeout=PATIENCE)
            page.evaluate(START, targets)
        # The page came from there before the name changed its meaning.
        context.route(
            f"http://{REBOUND}:*/page",
            lambda route: route.fulfill(body="", content_type="text/html"),
        )
        rebound = {name: context.new_page() for name in ports}
        for name, port in ports.items():
            suited = [one for one in listed if name in one["meant_for"] or one["path"] == "/"]
            own = target(name, REBOUND, port, suited)
            rebound[name].goto(f"{own['server']}/page", timeout=PATIENCE)
            rebound[name].evaluate(START, [own])
        assert [line for page in other_origins for line in page.evaluate("attack")] == []
        for name, page in rebound.items():
            read = page.evaluate("attack")
            assert [line for line in read if "client_blocked" not in line] == []
            # Relay and DNS do not speak HTTP: a browser shows nothing of what they say.
            assert bool(read) is (name not in {"smtp", "dns"})
    assert_untouched(engine, before, stack)


def target(name: str, host: str, port: int, listed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a server, what it gets, and how long a page waits for each of its answers."""
    seconds = SECONDS_OF_SILENCE if name == "dns" else SECONDS
    return {"server": f"http://{host}:{port}", "seconds": seconds, "requests": listed}


def assert_untouched(engine: Engine, before: dict[str, list[str]], stack: dict[str, Any]) -> None:
    """Check that nothing changed or ran, and that the checks would have noticed it."""
    assert engine.resources() == before
    assert engine.invocations() == 0
    credentials = engine.client("sesv2").list_email_identities()["EmailIdentities"]
    assert VICTIM not in {item["IdentityName"] for item in credentials}
    inbox = httpx.Client(base_url=stack["inbox_url"], timeout=PATIENCE / 1000)
    with inbox:
        behaviour = inbox.get("/behaviour", params={"recipient": f"ada@{VICTIM}"}).json()
        assert behaviour["mode"] == inbox.get("/behaviour").json()["mode"] == "accept"
        assert inbox.get("/messages", params={"q": VICTIM}).json()["items"] == []
        assert inbox.get("/webhooks", params={"receiver": RECEIVER}).json()["items"] == []
        assert inbox.get(f"/hooks/{RECEIVER}/answer").json()["mode"] == "ok"
    items = httpx.get(
        f"{stack['base_url']}/api/v1/emails",
        headers={"X-API-Key": stack["keys"]["live"], "User-Agent": "tests/1.0"},
        timeout=PATIENCE / 1000,
    ).json()["items"]
    assert [item for item in items if item["recipientEmail"].endswith(VICTIM)] == []
    assert "FunctionError" not in engine.client("lambda").invoke(FunctionName=engine.canary)
    # A slow call is repeated by the SDK, so it may run more than once.
    assert engine.invocations() >= 1
