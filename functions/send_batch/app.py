"""POST /v1/emails/batch: accept up to 100 emails. POST /v1/attachments: start an upload."""

from functools import partial

from pillarbox.domain.accounts.key import EMAILS_SEND
from pillarbox.http.accept import accept
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.batch_body import read_batch
from pillarbox.http.messages.replies import BatchResult, Reply, batch_result, reply
from pillarbox.http.messages.wire import SendBatchRequest
from pillarbox.http.requests import read_api_key, request_origin
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route(
    "POST /v1/emails/batch",
    scope=EMAILS_SEND,
    body=SendBatchRequest,
    response=BatchResult,
    idempotent=True,
)
def send_batch() -> Reply:
    """Send a batch.

    Each message is accepted or refused separately. The status is 200 even if every item has an
    error, so check `error` of each. If a batch exceeds the quota, its first messages are accepted
    until the quota is reached. Not for preview keys.

    Errors: `batch_limit_exceeded`, `upgrade_required`, `recipient_not_allowed`,
    `confirmation_required`, `sending_paused`, `rate_limit_exceeded`, `daily_limit_exceeded`,
    `monthly_limit_exceeded`.
    """
    return accept(
        app.current_event,
        read_api_key(app.current_event),
        services().batch_send,
        partial(read_batch, route="POST /v1/emails/batch"),
        lambda _, outcomes: batch_result(outcomes),
    )


@route(
    "POST /v1/attachments",
    scope=EMAILS_SEND,
    body="pillarbox.http.messages.uploads:UploadRequest",
    response="pillarbox.http.messages.uploads:UploadDetail",
    status=201,
)
def create_attachment() -> Reply:
    """Upload an attachment.

    For files that make a send larger than its limit, and for those that many emails have. The
    response has a request for the file's bytes: PUT them to `url` with `headers`, within 15
    minutes. Then any number of sends may name `attachmentId` for 24 hours. The file is deleted
    within 3 days. Not for keys that send tests.

    Errors: `attachment_type_not_allowed`, `attachment_too_large`, `upgrade_required`,
    `rate_limit_exceeded`, `daily_limit_exceeded`, `monthly_limit_exceeded`.
    """
    from pillarbox.http.messages.uploads import (  # noqa: PLC0415  a send needs none of it
        UploadDetail,
        read_upload,
    )

    key, origin = read_api_key(app.current_event), request_origin(app.current_event)
    services().batch_send.authenticate(key, origin=origin)
    upload = services().upload_start.start(key, read_upload(app.current_event), origin=origin)
    return reply(UploadDetail.of(upload), 201)


load(lambda it: it.batch_send, connections=2)
lambda_handler = entrypoint(app)
