"""POST /v1/emails: accept one email (contract 4.1)."""

from functools import partial

from pillarbox.domain.accounts.key import EMAILS_SEND
from pillarbox.http.accept import accept, read_send
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.function_url import behind_edge
from pillarbox.http.messages.replies import Reply, SendResult, send_result
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.requests import read_api_key
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route(
    "POST /v1/emails",
    scope=EMAILS_SEND,
    body=SendEmailRequest,
    response=SendResult,
    idempotent=True,
)
def send_email() -> Reply:
    """Send an email.

    A 200 means that the email is recorded and will be delivered. Its body comes from exactly one of
    a starter template, a saved template and HTML, or is text alone. Preview keys send starter
    templates only. Those made for self-service send them as tests with sample values, to one
    recipient.

    Errors: `missing_field`, `multiple_modes`, `invalid_recipient`, `recipient_suppressed`,
    `recipient_limit_exceeded`, `attachment_type_not_allowed`, `attachment_too_large`,
    `too_many_attachments`, `attachment_not_found`, `no_verified_sender`, `upgrade_required`,
    `template_not_found`, `recipient_not_allowed`, `confirmation_required`, `sending_paused`,
    `rate_limit_exceeded`, `daily_limit_exceeded`, `monthly_limit_exceeded`.
    """
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
