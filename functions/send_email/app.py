"""POST /v1/emails: accept one email (contract 4.1)."""

from pillarbox.http.app import build_app, entrypoint, log_accepted, request_id
from pillarbox.http.bodies import read_send
from pillarbox.http.function_url import behind_edge
from pillarbox.http.messages.replies import Reply, reply_stored, send_result
from pillarbox.http.requests import read_api_key, request_origin
from pillarbox.wiring import services

app = build_app()


@app.post("/v1/emails")
def send_email() -> Reply:
    key, origin = read_api_key(app.current_event), request_origin(app.current_event)
    services().single_send.authenticate(key, origin=origin)
    send = read_send(app.current_event, "POST /v1/emails")
    response = services().single_send.submit(
        key,
        send.request,
        send.idempotency_digest,
        send_result,
        origin=origin,
        request_id=request_id(app.current_event.raw_event),
    )
    log_accepted(app.current_event.raw_event, key, response)
    return reply_stored(response)


def is_of_edge(sent: str) -> bool:
    return services().is_of_edge(sent)


lambda_handler = behind_edge(entrypoint(app), is_of_edge)
