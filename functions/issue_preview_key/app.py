"""POST /v1/preview-keys…: give a preview key to whoever confirms an address, and stop its mail."""

from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import request_origin
from pillarbox.http.sign_in.preview_keys import (
    ChallengeRequest,
    PreviewKeyRequest,
    PreviewReport,
    read_code_request,
)
from pillarbox.http.sign_in.replies import ChallengeOffer, FlowItem, PreviewKeyItem
from pillarbox.http.sign_in.wire import refuse_other_sites
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/preview-keys/challenges")
def request_challenge() -> Reply:
    address = read_body(app.current_event, ChallengeRequest).email
    return reply(ChallengeOffer.of(challenge=services().preview_keys.challenge(address)))


@app.post("/v1/preview-keys/codes")
def request_code() -> Reply:
    refuse_other_sites(app.current_event)
    address, proof = read_code_request(app.current_event)
    client = request_origin(app.current_event).client(services().is_of_edge)
    return reply(FlowItem.of(services().preview_keys.request_code(address, proof, client)), 202)


@app.post("/v1/preview-keys")
def issue() -> Reply:
    body = read_body(app.current_event, PreviewKeyRequest)
    client = request_origin(app.current_event).client(services().is_of_edge)
    issued, address = services().preview_keys.issue(parse_flow(body.flow), body.code, client)
    return reply(PreviewKeyItem.of(issued, email=address), 201)


@app.post("/v1/preview-keys/reports")
def report() -> Reply:
    services().preview_keys.report(read_body(app.current_event, PreviewReport).token)
    return reply_nothing()


load(lambda it: it.preview_keys)
lambda_handler = entrypoint(app)
