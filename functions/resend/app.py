"""/resend/… and /postmark/…: the API in the shapes of Resend's and Postmark's, for their SDKs."""

from pillarbox.domain.accounts.key import EMAILS_READ, EMAILS_SEND, TEMPLATES_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.http.accept import accept
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.requests import read_uuid, request_origin
from pillarbox.http.resend.replies import (
    changed_email,
    email,
    email_id,
    email_ids,
    read_bearer_key,
    read_email_id,
    read_new_time,
    read_resend_batch,
    read_resend_email,
    refused_resource,
    reply_resend_error,
)
from pillarbox.wiring import load, services

app = build_app(reply_resend_error)


@app.post("/resend/emails")
def send_email() -> Reply:
    return accept(
        app.current_event,
        read_bearer_key(app.current_event),
        services().single_send,
        read_resend_email,
        lambda _, accepted: email_id(accepted),
    )


@app.post("/resend/emails/batch")
def send_batch() -> Reply:
    return accept(
        app.current_event,
        read_bearer_key(app.current_event),
        services().batch_send,
        read_resend_batch,
        lambda _, outcomes: email_ids(outcomes),
    )


@app.get("/resend/emails")
def list_emails() -> Reply:
    from pillarbox.http.resend.pages import page_of_emails  # noqa: PLC0415  sends do not list

    principal = _principal(EMAILS_READ)
    queries = services().history_queries
    return reply(page_of_emails(app.current_event, queries, principal.account))


@app.get("/resend/emails/<message_id>")
def get_email(message_id: str) -> Reply:
    principal = _principal(EMAILS_READ)
    message = services().message_lookup.get(principal, read_email_id(message_id))
    return reply(email(message, services().region))


@app.patch("/resend/emails/<message_id>")
def update_email(message_id: str) -> Reply:
    sender, identifier = _principal(EMAILS_SEND), read_email_id(message_id)
    account_id, due_at = sender.account.account_id, read_new_time(app.current_event)
    changes = services().changes
    return reply(changed_email(changes.reschedule(account_id, identifier, due_at, sender)))


@app.post("/resend/emails/<message_id>/cancel")
def cancel_email(message_id: str) -> Reply:
    sender, identifier = _principal(EMAILS_SEND), read_email_id(message_id)
    account_id = sender.account.account_id
    return reply(changed_email(services().changes.cancel(account_id, identifier, sender)))


@app.get("/resend/templates")
def list_templates() -> Reply:
    from pillarbox.http.resend.templates import page_of_templates  # noqa: PLC0415  sends do not list

    principal = _principal(TEMPLATES_READ)
    library, account_id = services().template_library, principal.account.account_id
    return reply(page_of_templates(app.current_event, library, account_id))


@app.get("/resend/templates/<template_id>")
def get_template(template_id: str) -> Reply:
    from pillarbox.http.resend.templates import template_detail  # noqa: PLC0415  sends do not show

    principal = _principal(TEMPLATES_READ)
    found = read_uuid(template_id, "id")
    return reply(
        template_detail(services().template_library.get(principal.account.account_id, found))
    )


@app.route("/resend/<_resource>/?.*", method=["GET", "POST", "PATCH", "DELETE"])
def refuse(_resource: str) -> Reply:
    _principal(None)
    raise refused_resource(app.current_event.path.partition("/resend/")[2])


def _principal(scope: str | None) -> Principal:
    event = app.current_event
    return services().authentication.authenticate(
        read_bearer_key(event), scope, origin=request_origin(event)
    )


load(lambda it: it.single_send)
lambda_handler = entrypoint(app, services, postmark="postmark:postmark_routes")
