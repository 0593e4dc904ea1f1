"""POST /v1/emails: accept one email (contract 4.1)."""

from functools import partial

from pillarbox.http.accept import accept
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.bodies import read_send
from pillarbox.http.function_url import behind_edge
from pillarbox.http.messages.replies import Reply, send_result
from pillarbox.http.requests import read_api_key
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/emails")
def send_email() -> Reply:
    return accept(
        app.current_event,
        read_api_key(app.current_event),
        services().single_send,
        partial(read_send, route="POST /v1/emails"),
        lambda _, accepted: send_result(accepted),
    )


def is_of_edge(sent: str) -> bool:
    return services().is_of_edge(sent)


load(lambda it: it.single_send)
lambda_handler = behind_edge(entrypoint(app), is_of_edge)
