"""POST /v1/mcp: the tools of an agent (Model Context Protocol)."""

from pillarbox import wiring
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.mcp.messages import reply_service_error
from pillarbox.http.mcp.protocol import answer
from pillarbox.http.messages.replies import Reply

app = build_app(reply_service_error)


@app.post("/v1/mcp")
def mcp() -> Reply:
    return answer(app.current_event, wiring.services(), wiring.utc_now())


lambda_handler = entrypoint(app)
