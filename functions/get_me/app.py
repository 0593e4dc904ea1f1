"""GET /v1/me: show the API key of the caller, its limits and what is left of them."""

from pillarbox.http.accounts.replies import CallerDetail
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.requests import read_api_key, request_origin
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/me", response=CallerDetail)
def get_me() -> Reply:
    """Get the API key of the request.

    The key's name, type and permissions, the account's plan and limits, and how much of each limit
    is left. Both types of keys may ask, and no permission is needed.
    """
    key, origin = read_api_key(app.current_event), request_origin(app.current_event)
    return reply(CallerDetail.of(services().caller_lookup.get(key, origin=origin)))


load(lambda it: it.caller_lookup)
lambda_handler = entrypoint(app)
