"""/resend/{proxy+}: the API in the shape of Resend's, for code that was written for its SDKs."""

from pillarbox.domain.accounts.key import EMAILS_READ, TEMPLATES_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.http.app import build_app, entrypoint, log_accepted, request_id
from pillarbox.http.messages.replies import Reply, reply, reply_stored
from pillarbox.http.requests import read_uuid, request_origin
from pillarbox.http.resend.pages import page_of_emails
from pillarbox.http.resend.replies import email, email_id, email_ids, reply_resend_error
from pillarbox.http.resend.requests import (
    read_bearer_key,
    read_resend_batch,
    read_resend_email,
    refused_resource,
)
from pillarbox.http.resend.templates import page_of_templates, template_detail
from pillarbox.wiring import services

app = build_app(reply_resend_error)


@app.post("/resend/emails")
def send_email() -> Reply:
    key, event = read_bearer_key(app.current_event), app.current_event
    origin = request_origin(event)
    services().single_send.authenticate(key, origin=origin)
    send = read_resend_email(event)
    response = services().single_send.submit(
        key,
        send.request,
        send.idempotency_digest,
        email_id,
        origin=origin,
        request_id=request_id(event.raw_event),
    )
    log_accepted(event.raw_event, key, response)
    return reply_stored(response)


@app.post("/resend/emails/batch")
def send_batch() -> Reply:
    key, event = read_bearer_key(app.current_event), app.current_event
    origin = request_origin(event)
    services().batch_send.authenticate(key, origin=origin)
    send = read_resend_batch(event)
    response = services().batch_send.submit(
        key,
        send.request,
        send.idempotency_digest,
        email_ids,
        origin=origin,
        request_id=request_id(event.raw_event),
    )
    log_accepted(event.raw_event, key, response)
    return reply_stored(response)


@app.get("/resend/emails")
def list_emails() -> Reply:
    principal = _principal(EMAILS_READ)
    queries = services().history_queries
    return reply(page_of_emails(app.current_event, queries, principal.account))


@app.get("/resend/emails/<message_id>")
def get_email(message_id: str) -> Reply:
    principal = _principal(EMAILS_READ)
    message = services().message_lookup.get(principal, read_uuid(message_id, "id"))
    return reply(email(message))


@app.get("/resend/templates")
def list_templates() -> Reply:
    principal = _principal(TEMPLATES_READ)
    library, account_id = services().template_library, principal.account.account_id
    return reply(page_of_templates(app.current_event, library, account_id))


@app.get("/resend/templates/<template_id>")
def get_template(template_id: str) -> Reply:
    principal = _principal(TEMPLATES_READ)
    found = read_uuid(template_id, "id")
    return reply(
        template_detail(services().template_library.get(principal.account.account_id, found))
    )


@app.route("/resend/<resource>/?.*", method=["GET", "POST", "PATCH", "DELETE"])
def refuse(resource: str) -> Reply:
    _principal(None)
    raise refused_resource(resource)


def _principal(scope: str | None) -> Principal:
    event = app.current_event
    return services().authentication.authenticate(
        read_bearer_key(event), scope, origin=request_origin(event)
    )


lambda_handler = entrypoint(app)
