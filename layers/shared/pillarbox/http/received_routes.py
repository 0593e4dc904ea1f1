"""/resend/emails/receiving… and /postmark/messages/inbound…: received mail for their SDKs."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from pillarbox.application.received import ReceivedReading, received_not_found, with_images
from pillarbox.domain.accounts.key import RECEIVED_READ
from pillarbox.http.app import App, build_app, routes
from pillarbox.http.callers import KnownCaller
from pillarbox.http.dialects import keys_in
from pillarbox.http.postmark import read_server_token, reply_postmark_error
from pillarbox.http.query import number_in_query, one_of
from pillarbox.http.received import (
    postmark_detail,
    postmark_listed,
    resend_detail,
    resend_files,
    resend_listed,
)
from pillarbox.http.resend.pages import ForwardQuery, listed
from pillarbox.http.resend.replies import Shown, read_bearer_key, reply_resend_error
from pillarbox.http.wire import WireModel, optional, with_default


class ReceivedServices(Protocol):
    """What these routes need of `pillarbox.wiring`."""

    @property
    def received_reading(self) -> ReceivedReading: ...


class HtmlFormat(StrEnum):
    CID = "cid"
    DATA_URI = "data_uri"


class DetailQuery(WireModel):
    """The parameters of a received mail."""

    in_query = True
    html_format = optional(one_of(HtmlFormat), name="html_format")


class InboundQuery(WireModel):
    """The parameters of Postmark's list."""

    in_query = True
    count = with_default(number_in_query(least=1, most=500), 100)
    offset = with_default(number_in_query(least=0, most=500), 0)


def resend_routes(services: Callable[[], ReceivedServices]) -> App:
    app = build_app(reply_resend_error)
    route, callers = routes(app, services), keys_in(read_bearer_key, RECEIVED_READ)

    @route("GET /resend/emails/receiving", callers, query=ForwardQuery)
    def list_received(caller: KnownCaller, query: ForwardQuery) -> Shown:
        reading, account_id = services().received_reading, caller.account.account_id
        page = reading.page(account_id, query.limit, query.older_than, None)
        return listed(map(resend_listed, page.items), more=page.next is not None)

    @route("GET /resend/emails/receiving/{received_id}", callers, query=DetailQuery)
    def get_received(caller: KnownCaller, received_id: UUID, query: DetailQuery) -> Shown:
        read = services().received_reading.read(caller, received_id)
        shown = read if query.html_format is HtmlFormat.CID else with_images(read)
        return resend_detail(shown) | {"html_format": query.html_format or HtmlFormat.DATA_URI}

    @route("GET /resend/emails/receiving/{received_id}/attachments", callers)
    def list_files(caller: KnownCaller, received_id: UUID) -> Shown:
        read = services().received_reading.read(caller, received_id)
        return listed(resend_files(read), more=False)

    @route("GET /resend/emails/receiving/{received_id}/attachments/{file_id}", callers)
    def get_file(caller: KnownCaller, received_id: UUID, file_id: str) -> Shown:
        for file in resend_files(services().received_reading.read(caller, received_id)):
            if file["id"] == file_id:
                return {"object": "attachment"} | file
        raise received_not_found()

    return app


def postmark_routes(services: Callable[[], ReceivedServices]) -> App:
    app = build_app(reply_postmark_error)
    route, callers = routes(app, services), keys_in(read_server_token, RECEIVED_READ)

    @route("GET /postmark/messages/inbound", callers, query=InboundQuery)
    def list_received(caller: KnownCaller, query: InboundQuery) -> Shown:
        end = query.offset + query.count
        page = services().received_reading.page(caller.account.account_id, end, None, None)
        items = [postmark_listed(mail) for mail in page.items[query.offset :]]
        # One more than were read, if there are more: clients ask on from there.
        total = len(page.items) + (page.next is not None)
        return {"TotalCount": total, "InboundMessages": items}

    @route("GET /postmark/messages/inbound/{received_id}/details", callers)
    def get_received(caller: KnownCaller, received_id: UUID) -> Shown:
        return postmark_detail(services().received_reading.read(caller, received_id))

    return app
