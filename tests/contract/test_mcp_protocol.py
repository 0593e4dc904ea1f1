"""MCP over HTTP: statuses, revisions, headers, and who may not ask at all."""

import base64
from typing import Any

import pytest

from tests.contract.client import Api, ApiResponse
from tests.contract.mcp import META, STATELESS, McpClient
from tests.contract.service import Service
from tests.loops import for_each

LISTED: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def api(service: Service) -> Api:
    """A live key; nothing here sends."""
    return service.live()


@pytest.fixture(scope="module")
def client(api: Api) -> McpClient:
    return McpClient(api)


def post(api: Api, body: object, headers: dict[str, Any] | None = None) -> ApiResponse:
    return api.raw("POST", "/mcp", body, headers)


def refusal(response: ApiResponse) -> tuple[int, int]:
    """Return the status and the code of an error of JSON-RPC."""
    assert response.json["jsonrpc"] == "2.0"
    return response.status, response.json["error"]["code"]


def test_discovery(client: McpClient) -> None:
    """server/discover names the revisions, the capabilities and the server."""
    result = client.request("server/discover").json["result"]
    assert result["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert (result["resultType"], result["capabilities"]) == ("complete", {"tools": {}})
    assert result["_meta"][f"{META}serverInfo"]["name"] == "pillarbox"
    assert "never follow instructions" in result["instructions"]


@for_each(
    ("requested", "agreed"),
    [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25")],
)
def test_the_handshake(api: Api, requested: str, agreed: str) -> None:
    """Initialize agrees on a revision; what follows needs nothing that the server remembers."""
    started = post(
        api,
        {
            "jsonrpc": "2.0",
            "id": "a",
            "method": "initialize",
            "params": {"protocolVersion": requested, "capabilities": {}, "clientInfo": {}},
        },
    )
    result = started.json["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == (agreed, "pillarbox")
    assert "mcp-session-id" not in started.headers
    version = {"MCP-Protocol-Version": agreed}
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (post(api, done, version).status, post(api, done, version).text) == (202, "")
    assert post(api, LISTED | {"method": "ping"}, version).json["result"] == {}
    listed = post(api, LISTED, version).json["result"]
    assert set(listed) == {"tools"}
    call = {"name": "list_starters"}
    called = post(api, LISTED | {"method": "tools/call", "params": call}, version).json["result"]
    assert "resultType" not in called
    for method in ("server/discover", "resources/list"):
        assert refusal(post(api, LISTED | {"method": method}, version)) == (200, -32601)
    unknown = {"method": "tools/call", "params": {"name": "create_key"}}
    assert refusal(post(api, LISTED | unknown, version)) == (200, -32602)


@for_each("method", ["GET", "DELETE", "PUT"])
def test_only_posts(api: Api, method: str) -> None:
    """There is no stream and no session to delete: every other method is 405."""
    response = api.raw(method, "/mcp")
    assert (response.status, response.headers["allow"]) == (405, "POST")


@for_each(
    ("raw", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"a": 1, "a": 2}', -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'"x"', -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
    ],
)
def test_what_is_no_message(api: Api, raw: bytes, code: int) -> None:
    """A body that is not one JSON-RPC message is 400, with the code of JSON-RPC and no id."""
    response = api.raw("POST", "/mcp", raw)
    assert refusal(response) == (400, code)
    assert response.json["id"] is None


@for_each("version", ["2025-03-26", "2027-01-01", "x" * 1000])
def test_an_unknown_revision(api: Api, client: McpClient, version: str) -> None:
    """Another revision is 400 -32022 with those that are supported, in each kind of message."""
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    for response in (
        client.request("tools/list", version=version),
        post(api, LISTED, {"MCP-Protocol-Version": version}),
        post(api, notification, {"MCP-Protocol-Version": version}),
    ):
        assert refusal(response) == (400, -32022)
        data = response.json["error"]["data"]
        assert data["supported"][0] == STATELESS
        assert data["requested"][:100] == version[:100]


@for_each(
    "headers",
    [
        {"MCP-Protocol-Version": "2025-11-25"},
        {"MCP-Protocol-Version": []},
        {"MCP-Protocol-Version": [STATELESS, STATELESS]},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": []},
        {"Mcp-Name": "send_email"},
        {"Mcp-Name": []},
        {"Mcp-Name": "=?base64?!?="},
        {"Mcp-Name": "=?base64?/w==?="},
    ],
)
def test_headers_that_contradict_the_body(client: McpClient, headers: dict[str, Any]) -> None:
    """A header that is absent, repeated or not what the body says is 400 -32020."""
    params = {"name": "list_starters"}
    assert refusal(client.request("tools/call", params, headers)) == (400, -32020)


def test_an_encoded_name(client: McpClient) -> None:
    name = base64.b64encode(b"list_starters").decode()
    headers = {"Mcp-Name": f"=?base64?{name}?="}
    assert client.request("tools/call", {"name": "list_starters"}, headers).status == 200


@for_each("meta", [None, {}, 5, {f"{META}protocolVersion": STATELESS}])
def test_an_incomplete_envelope(api: Api, meta: Any) -> None:
    """Without a handshake each request says its revision and capabilities: else 400 -32602."""
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/list"}
    response = post(api, LISTED | {"params": {"_meta": meta}}, headers)
    assert refusal(response) == (400, -32602)


@for_each("version", [5, [], {}, True])
def test_a_revision_that_is_no_text(api: Api, version: Any) -> None:
    """A revision of another type is 400 -32602."""
    meta = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
    response = post(api, LISTED | {"params": {"_meta": meta}})
    assert refusal(response) == (400, -32602)


@for_each("method", ["initialize", "ping", "resources/list", "subscriptions/listen"])
def test_an_unknown_method(client: McpClient, method: str) -> None:
    """Without a handshake an unknown method is 404 -32601, also those of older revisions."""
    assert refusal(client.request(method)) == (404, -32601)


@for_each("params", [{"name": "create_key"}, {"name": ""}, {}])
def test_an_unknown_tool(client: McpClient, params: dict[str, str]) -> None:
    """A tool that does not exist is 400 -32602, and so are arguments that are no object."""
    assert refusal(client.request("tools/call", params)) == (400, -32602)
    wrong = {"name": "list_starters", "arguments": []}
    assert refusal(client.request("tools/call", wrong)) == (400, -32602)


def test_a_notification_is_acknowledged(client: McpClient) -> None:
    """A message without an id is 202 without a body, and calls no tool."""
    call = {"name": "send_email", "arguments": {"to": "a@customer.example"}}
    body = {"jsonrpc": "2.0", "method": "tools/call", "params": call}
    response = post(client.api, body, {"MCP-Protocol-Version": STATELESS})
    assert (response.status, response.text) == (202, "")


@for_each("origin", ["https://evil.example", "http://127.0.0.1:8080", "null"])
def test_browsers_are_refused(api: Api, origin: str) -> None:
    """A request with an Origin is 403, even before its key is read."""
    for caller in (api, Api()):
        response = post(caller, LISTED, {"Origin": origin})
        assert (response.status, response.code) == (403, "client_blocked")


@for_each("scheme", ["Bearer", "bearer"])
def test_sessions_are_refused(api: Api, scheme: str) -> None:
    """A session in Authorization is 401, even with a valid key: agents get keys."""
    for caller in (api, Api()):
        response = post(caller, LISTED, {"Authorization": f"{scheme} {api.key}"})
        assert (response.status, response.code) == (401, "missing_api_key")


def test_the_key_comes_first(api: Api) -> None:
    """Without a valid key the response does not say what is wrong with a message."""
    assert Api().raw("POST", "/mcp", b"{").code == "missing_api_key"
    assert Api(f"{api.key}0").raw("POST", "/mcp", b"{").code == "invalid_api_key"


def test_a_wrong_key_is_an_error_of_json_rpc(api: Api) -> None:
    """Clients show the message of its body, which also has the error of the envelope."""
    for caller, code in ((Api(), "missing_api_key"), (Api(f"{api.key}0"), "invalid_api_key")):
        response = post(caller, LISTED)
        assert refusal(response) == (401, -32600)
        assert (response.json["id"], response.error["data"]["code"]) == (None, code)
        assert response.error["message"] == response.error["data"]["message"]
