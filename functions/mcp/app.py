"""POST /v1/mcp: the tools of an agent (Model Context Protocol)."""

from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.mcp.protocol import answer
from pillarbox.http.mcp.tools import reply_service_error
from pillarbox.http.messages.replies import Reply
from pillarbox.wiring import load, services, utc_now

app = build_app(reply_service_error)
route = routes(app)


@route(
    "POST /v1/mcp",
    body="pillarbox.http.json_types:RpcRequest",
    response="pillarbox.http.json_types:RpcResponse",
    rpc=True,
)
def mcp() -> Reply:
    """Call the MCP server.

    The tools of the Model Context Protocol, for agents: revision 2026-07-28, and 2025-11-25 and
    2025-06-18 with a handshake. Each request is one JSON-RPC message. The list of tools depends on
    the permissions of the key. The error of a tool is in its result, with the codes of the other
    operations.
    """
    return answer(app.current_event, services(), utc_now())


load(lambda it: (it.authentication, it.single_send))
lambda_handler = entrypoint(app)
