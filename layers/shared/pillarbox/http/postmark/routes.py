"""/postmark/…: send in Postmark's shape."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from pillarbox.application.sending.batch import BatchSend
from pillarbox.application.sending.single import SingleSend
from pillarbox.domain.errors import ServiceError
from pillarbox.http.accept import accept
from pillarbox.http.app import App, build_app
from pillarbox.http.dialects.fields import Fields
from pillarbox.http.messages.replies import Reply
from pillarbox.http.postmark.replies import batch_sent, email_sent, reply_postmark_error
from pillarbox.http.postmark.requests import (
    EMAIL,
    TEMPLATED,
    read_postmark_batch,
    read_postmark_email,
    read_server_token,
)
from pillarbox.http.requests import request_origin


class SendServices(Protocol):
    """The use cases of these routes."""

    @property
    def single_send(self) -> SingleSend:
        """Send one email."""

    @property
    def batch_send(self) -> BatchSend:
        """Send several."""


def postmark_routes(services: Callable[[], SendServices]) -> App:
    """Return the resolver of these routes."""
    app = build_app(reply_postmark_error)

    @app.post("/postmark/email")
    def send_email() -> Reply:
        return send(EMAIL)

    @app.post("/postmark/email/withTemplate")
    def send_templated() -> Reply:
        return send(TEMPLATED)

    @app.post("/postmark/email/batch")
    def send_batch() -> Reply:
        return send_all(EMAIL)

    @app.post("/postmark/email/batchWithTemplates")
    def send_templated_batch() -> Reply:
        return send_all(TEMPLATED)

    @app.route("/postmark/.+", method=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def refuse() -> Reply:
        event = app.current_event
        services().single_send.authenticate(read_server_token(event), origin=request_origin(event))
        raise ServiceError("route_not_found", "Pillarbox has no such route of Postmark's.")

    def send(fields: Fields) -> Reply:
        event = app.current_event
        read = partial(read_postmark_email, fields=fields)
        return accept(event, read_server_token(event), services().single_send, read, email_sent)

    def send_all(fields: Fields) -> Reply:
        event = app.current_event
        read = partial(read_postmark_batch, fields=fields)
        return accept(event, read_server_token(event), services().batch_send, read, batch_sent)

    return app
