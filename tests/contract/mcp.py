"""A client of the MCP server: each call is one request, as API Gateway passes it on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.contract.client import Api, ApiResponse

STATELESS: Final = "2026-07-28"
META: Final = "io.modelcontextprotocol/"
ELICITATION: Final[Mapping[str, Any]] = {"elicitation": {"form": {}}}


def yes(state: str) -> dict[str, Any]:
    """Return what a client adds to its second call after its user agreed."""
    answer = {"confirm": {"action": "accept", "content": {}}}
    return {"inputResponses": answer, "requestState": state}


@dataclass(frozen=True, slots=True)
class McpClient:
    """Speaks the revision without a handshake, with one key and some capabilities."""

    api: Api
    capabilities: Mapping[str, Any] | None = None

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | list[str]] | None = None,
        *,
        version: str = STATELESS,
    ) -> ApiResponse:
        """Send a request with matching headers, unless `headers` has others."""
        meta = {
            f"{META}protocolVersion": version,
            f"{META}clientCapabilities": dict(self.capabilities or {}),
        }
        body = {
            "jsonrpc": "2.0",
            "id": 7,
            "method": method,
            "params": {**(params or {}), "_meta": meta},
        }
        named = {"Mcp-Name": str(params["name"])} if params and "name" in params else {}
        sent = {"MCP-Protocol-Version": version, "Mcp-Method": method, **named, **(headers or {})}
        return self.api.raw("POST", "/mcp", body, sent)

    def tools(self) -> dict[str, Any]:
        """Return the listed tools by name."""
        listed = self.request("tools/list").json["result"]["tools"]
        return {tool["name"]: tool for tool in listed}

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Call a tool and return the result of the protocol."""
        params = {"name": tool, "arguments": dict(arguments or {}), **more}
        response = self.request("tools/call", params)
        assert response.status == 200, response.text
        return response.json["result"]

    def data(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Call a tool and return its data."""
        return self.call(tool, arguments, **more)["structuredContent"]

    def confirmed(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool, answer its question with yes, and return the data."""
        return self.data(tool, arguments, **yes(self.call(tool, arguments)["requestState"]))

    def code(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Call a tool that fails and return the code of its error."""
        result = self.call(tool, arguments, **more)
        assert result["isError"] is True
        return str(result["structuredContent"]["error"]["code"])
