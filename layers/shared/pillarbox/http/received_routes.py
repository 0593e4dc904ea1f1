"""/resend/emails/receiving… and /postmark/messages/inbound…: received mail for their SDKs."""

from collections.abc import Callable
from typing import Protocol

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.received import ReceivedReading, received_not_found
from pillarbox.application.receiving_ports import ReadMail
from pillarbox.application.sign_in.authentication import CallerAuthentication
from pillarbox.domain.accounts.key import RECEIVED_READ
from pillarbox.http.app import App, build_app
from pillarbox.http.callers import KnownCaller
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.postmark import read_server_token, reply_postmark_error
from pillarbox.http.query import number_in_query, read_query
from pillarbox.http.received import (
    postmark_detail,
    postmark_listed,
    resend_detail,
    resend_files,
    resend_listed,
)
from pillarbox.http.requests import read_uuid, request_origin
from pillarbox.http.resend.pages import ForwardQuery, listed
from pillarbox.http.resend.replies import read_bearer_key, reply_resend_error
from pillarbox.http.wire import WireModel, invalid, optional, text, with_default


class ReceivedServices(Protocol):
    """What these routes need of `pillarbox.wiring`."""

    @property
    def caller_authentication(self) -> CallerAuthentication: ...
    @property
    def received_reading(self) -> ReceivedReading: ...


def _with_links(value: str | None) -> str | None:
    if value not in {None, "cid"}:
        raise invalid("not_allowed", "must be cid: the HTML keeps its links to inline files")
    return value


class DetailQuery(WireModel):
    """The parameters of a received mail."""

    in_query = True
    html_format = optional(text(), name="html_format", check=lambda value, _: _with_links(value))


class InboundQuery(WireModel):
    """The parameters of Postmark's list."""

    in_query = True
    count = with_default(number_in_query(least=1, most=500), 100)
    offset = with_default(number_in_query(least=0, most=500), 0)


def resend_routes(services: Callable[[], ReceivedServices]) -> App:
    """Return the resolver of Resend's routes."""
    app = build_app(reply_resend_error)

    def caller() -> KnownCaller:
        return _caller(services(), app.current_event, read_bearer_key(app.current_event))

    def read(received_id: str) -> ReadMail:
        return services().received_reading.read(caller(), read_uuid(received_id, "id"))

    @app.get("/resend/emails/receiving")
    def list_received() -> Reply:
        account_id = caller().account.account_id
        query = read_query(app.current_event, ForwardQuery)
        reading = services().received_reading
        page = reading.page(account_id, query.limit, query.older_than, None)
        return reply(listed(map(resend_listed, page.items), more=page.next is not None))

    @app.get("/resend/emails/receiving/<received_id>")
    def get_received(received_id: str) -> Reply:
        principal = caller()
        read_query(app.current_event, DetailQuery)
        found = read_uuid(received_id, "id")
        return reply(resend_detail(services().received_reading.read(principal, found)))

    @app.get("/resend/emails/receiving/<received_id>/attachments")
    def list_files(received_id: str) -> Reply:
        return reply(listed(resend_files(read(received_id)), more=False))

    @app.get("/resend/emails/receiving/<received_id>/attachments/<file_id>")
    def get_file(received_id: str, file_id: str) -> Reply:
        for file in resend_files(read(received_id)):
            if file["id"] == file_id:
                return reply({"object": "attachment"} | file)
        raise received_not_found()

    return app


def postmark_routes(services: Callable[[], ReceivedServices]) -> App:
    """Return the resolver of Postmark's routes."""
    app = build_app(reply_postmark_error)

    def caller() -> KnownCaller:
        return _caller(services(), app.current_event, read_server_token(app.current_event))

    @app.get("/postmark/messages/inbound")
    def list_received() -> Reply:
        account_id = caller().account.account_id
        query = read_query(app.current_event, InboundQuery)
        end = query.offset + query.count
        page = services().received_reading.page(account_id, end, None, None)
        items = [postmark_listed(mail) for mail in page.items[query.offset :]]
        # One more than were read, if there are more: clients ask on from there.
        total = len(page.items) + (page.next is not None)
        return reply({"TotalCount": total, "InboundMessages": items})

    @app.get("/postmark/messages/inbound/<received_id>/details")
    def get_received(received_id: str) -> Reply:
        principal, found = caller(), read_uuid(received_id, "MessageID")
        return reply(postmark_detail(services().received_reading.read(principal, found)))

    return app


def _caller(services: ReceivedServices, event: APIGatewayProxyEvent, key: str) -> KnownCaller:
    return services.caller_authentication.authenticate(
        key, RECEIVED_READ, origin=request_origin(event)
    )
