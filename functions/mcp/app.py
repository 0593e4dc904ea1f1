"""POST /v1/mcp: the tools of an agent (Model Context Protocol)."""

from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.mcp.messages import reply_service_error
from pillarbox.http.mcp.protocol import answer
from pillarbox.http.messages.replies import Reply
from pillarbox.wiring import load, services, utc_now

app = build_app(reply_service_error)


@app.post("/v1/mcp")
def mcp() -> Reply:
    return answer(app.current_event, services(), utc_now())


load(lambda it: (it.authentication, it.single_send))
lambda_handler = entrypoint(app)
