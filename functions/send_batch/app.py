"""POST /v1/emails/batch: accept up to 100 emails. POST /v1/attachments: start an upload."""

from functools import partial

from pillarbox.http.accept import accept
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.batch_body import read_batch
from pillarbox.http.messages.replies import Reply, batch_result, reply
from pillarbox.http.requests import read_api_key, request_origin
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/emails/batch")
def send_batch() -> Reply:
    return accept(
        app.current_event,
        read_api_key(app.current_event),
        services().batch_send,
        partial(read_batch, route="POST /v1/emails/batch"),
        lambda _, outcomes: batch_result(outcomes),
    )


@app.post("/v1/attachments")
def start_upload() -> Reply:
    from pillarbox.http.messages.uploads import (  # noqa: PLC0415  a send needs none of it
        UploadDetail,
        read_upload,
    )

    key, origin = read_api_key(app.current_event), request_origin(app.current_event)
    services().batch_send.authenticate(key, origin=origin)
    upload = services().upload_start.start(key, read_upload(app.current_event), origin=origin)
    return reply(UploadDetail.of(upload), 201)


load(lambda it: it.batch_send)
lambda_handler = entrypoint(app)
