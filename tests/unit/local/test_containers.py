"""Containers of `sam local` reach the engine and the SES stand-in by one guarded port."""

from typing import Any, Final

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from local import containers, template
from local.containers import HOST_NAME, ContainerGateway, environment_of_containers
from local.guard import LoopbackHost, SignedRequests
from openapi.generate import DIALECT_ROUTES
from pillarbox.http.routes import ROUTES
from tests.unit.local import asgi

KEY: Final = "AKIA0123456789"
PORT: Final = 4600
SIGNED: Final = {
    "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/20261122/us-east-1/sqs/aws4_request, x"
}
BASE: Final = f"http://{HOST_NAME}:{PORT}"


async def engine(scope: Any, receive: Any, send: Any) -> None:
    request = Request(scope, receive)
    content = (await request.body()).decode()
    text = f"engine {request.url} {request.headers['host']} {content}"
    await PlainTextResponse(text, 202, {"X-Amzn-RequestId": "1"})(scope, receive, send)


async def ses(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the name that was asked for: the stand-in itself knows only the loopback's."""
    text = f"SES at {Request(scope).headers['host']}"
    await PlainTextResponse(text)(scope, receive, send)


def ask(url: str, headers: dict[str, str]) -> httpx.Response:
    """Send a request to the guarded port."""
    to_engine = httpx.AsyncClient(transport=httpx.ASGITransport(engine))
    gateway: Any = ContainerGateway("http://127.0.0.1:4566", ses, to_engine)
    app = LoopbackHost(SignedRequests(gateway, KEY), PORT, (HOST_NAME,))
    return asgi.ask(app, "POST", url, headers=headers, content=b"body")


def test_aws_calls_reach_the_engine() -> None:
    response = ask(f"{BASE}/000000000000/jobs?a=%2F", SIGNED)
    assert response.status_code == 202
    assert response.text == (
        "engine http://127.0.0.1:4566/000000000000/jobs?a=%2F 127.0.0.1:4566 body"
    )
    assert response.headers["x-amzn-requestid"] == "1"


def test_mail_reaches_the_ses_stand_in() -> None:
    response = ask(f"{BASE}/v2/email/outbound-emails", SIGNED)
    assert response.text == f"SES at 127.0.0.1:{PORT}"


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        (f"{BASE}/", {}),
        (f"{BASE}/v2/email/outbound-emails", {}),
        (f"{BASE}/", SIGNED | {"Origin": "null"}),
        (f"http://{HOST_NAME}.rebound.example:{PORT}/", SIGNED),
        (f"http://rebound.example:{PORT}/", SIGNED),
    ],
)
def test_other_requests_are_refused(url: str, headers: dict[str, str]) -> None:
    assert ask(url, headers).status_code == 403


def test_containers_get_other_addresses() -> None:
    """Every local address but the API's, which links in mail name, becomes the host's."""
    inside = environment_of_containers(
        {
            "AWS_ENDPOINT_URL": "http://127.0.0.1:4566",
            "PILLARBOX_API_URL": "http://127.0.0.1:45661",
            "PILLARBOX_DNS_SERVERS": "127.0.0.1:53",
            "PILLARBOX_TABLE": "table",
            "NO_PROXY": "127.0.0.1,localhost",
        },
        PORT,
    )
    assert inside == {
        "AWS_ENDPOINT_URL": BASE,
        "PILLARBOX_API_URL": "http://127.0.0.1:45661",
        "PILLARBOX_DNS_SERVERS": f"{HOST_NAME}:{PORT}",
        "PILLARBOX_TABLE": "table",
        "NO_PROXY": HOST_NAME,
    }


def test_it_listens_where_docker_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.net_if_addrs", dict)
    assert containers.host_address() == "127.0.0.1"


def test_the_template_is_for_this_machine(tmp_path: Any) -> None:
    made = template.for_sam({"AWS_ENDPOINT_URL": BASE}, "x86_64", tmp_path)
    defaults = made["Globals"]["Function"]
    layer = made["Resources"]["SharedLayer"]
    assert defaults["Architectures"] == layer["Properties"]["CompatibleArchitectures"] == ["x86_64"]
    assert layer["Properties"]["ContentUri"] == str(tmp_path)
    assert defaults["Environment"]["Variables"]["AWS_ENDPOINT_URL"] == BASE


def test_sam_gets_each_route_with_its_own_methods(tmp_path: Any) -> None:
    """SAM would send every method of a path to the function for wrong methods, so it has none."""
    made = template.for_sam({}, "x86_64", tmp_path)
    paths = made["Resources"]["Api"]["Properties"]["DefinitionBody"]["paths"]
    assert {path: {method.upper() for method in methods} for path, methods in paths.items()} == {
        path: set(methods) for path, methods in {**ROUTES, **DIALECT_ROUTES}.items()
    }
    send = paths["/v1/emails"]["post"]["x-amazon-apigateway-integration"]
    assert send["uri"]["Fn::Sub"].endswith("/functions/${SendEmail.Arn}/invocations")
