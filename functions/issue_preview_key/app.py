"""POST /v1/preview-keys…: give a preview key to whoever confirms an address, and stop its mail."""

from typing import Any

from pillarbox.domain.sign_in.codes import parse_flow
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import ANYONE
from pillarbox.http.requests import request_origin
from pillarbox.http.sign_in.replies import ChallengeOffer, FlowItem, PreviewKeyItem
from pillarbox.http.sign_in.sign_up import (
    ChallengeRequest,
    PreviewCodeRequest,
    PreviewKeyRequest,
    PreviewReport,
    read_code_request,
)
from pillarbox.http.sign_in.wire import refuse_other_sites
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("POST /v1/preview-keys/challenges", ANYONE, body=ChallengeRequest, response=ChallengeOffer)
def request_preview_challenge(body: ChallengeRequest) -> dict[str, Any]:
    """Ask for the work that a code needs.

    Returns a challenge for the address, in the form of `GET /api/v1/sign-up`. It is valid for five
    minutes and works once.

    Errors: `preview_keys_closed`.
    """
    return ChallengeOffer.of(challenge=services().preview_keys.challenge(body.email))


@route(
    "POST /v1/preview-keys/codes", ANYONE, body=PreviewCodeRequest, response=FlowItem, status=202
)
def request_preview_code() -> dict[str, Any]:
    """Request the code for a preview key.

    Emails six digits to the address. The code works for ten minutes and five attempts, together
    with `flow`. A new request ends the one before.

    Errors: `cross_site_request`, `preview_keys_closed`, `rate_limit_exceeded`.
    """
    refuse_other_sites(app.current_event)
    address, proof = read_code_request(app.current_event)
    client = request_origin(app.current_event).client(services().is_of_edge)
    return FlowItem.of(services().preview_keys.request_code(address, proof, client))


@route("POST /v1/preview-keys", ANYONE, body=PreviewKeyRequest, response=PreviewKeyItem, status=201)
def issue_preview_key(body: PreviewKeyRequest) -> dict[str, Any]:
    """Get a preview key.

    Returns a key that sends starter templates as tests. It takes the place of the key that the
    address had before, which stops working.

    Errors: `preview_keys_closed`, `invalid_code`, `rate_limit_exceeded`, `account_suspended`.
    """
    client = request_origin(app.current_event).client(services().is_of_edge)
    issued, address = services().preview_keys.issue(parse_flow(body.flow), body.code, client)
    return PreviewKeyItem.of(issued, email=address)


@route("POST /v1/preview-keys/reports", ANYONE, body=PreviewReport)
def report_preview_mail(body: PreviewReport) -> None:
    """Stop and report test mail.

    Stops the mail of all preview keys to the recipient of a test mail, and suspends the key that
    sent it. The token is in the link of the mail. A wrong token changes nothing and gets the same
    response.
    """
    services().preview_keys.report(body.token)


load(lambda it: it.preview_keys)
lambda_handler = entrypoint(app)
