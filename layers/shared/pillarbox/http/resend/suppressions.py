"""/resend/suppressions…: an account's suppressions in Resend's shape. The id is the address."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.key import SUPPRESSIONS_READ, SUPPRESSIONS_WRITE
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import MAX_FAULTS, ValidationFailed
from pillarbox.http.accounts.wire import AddSuppressionsRequest, read_address
from pillarbox.http.app import App, build_app, routes
from pillarbox.http.callers import Manager
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import ForwardQuery, Services, bearers, listed
from pillarbox.http.resend.replies import Shown, deleted, reply_resend_error
from pillarbox.http.webhooks.payload import ORIGINS
from pillarbox.http.wire import invalid, optional, text, validate

ONE: Final = Fields({"email": "address"})
SEVERAL: Final = Fields({"emails": "addresses"})


def _unfiltered(value: str | None) -> str | None:
    if value is not None:
        raise invalid("not_allowed", "is not a filter here: each suppression has its origin")
    return value


class ResendSuppressionsQuery(ForwardQuery):
    """The parameters of the list."""

    origin = optional(text(), check=lambda value, _: _unfiltered(value))


def suppression_routes(services: Callable[[], Services]) -> App:
    app = build_app(reply_resend_error)
    route = routes(app, services)

    @route("GET /resend/suppressions", bearers(SUPPRESSIONS_READ), query=ResendSuppressionsQuery)
    def list_suppressions(caller: Manager, query: ResendSuppressionsQuery) -> Shown:
        # The cursor of the use case is the first address, and Resend's the last one of before.
        cursor = query.older_than.lower() if query.older_than else None
        suppressions, account_id = services().suppression_list, caller.account.account_id
        page = suppressions.page(account_id, None, cursor, query.limit + 1)
        items = [one for one in page.items if one.address != cursor]
        more = page.next is not None or len(items) > query.limit
        return listed(map(_item, items[: query.limit]), more=more)

    @route("POST /resend/suppressions", bearers(SUPPRESSIONS_WRITE), status=201)
    def add_suppression(caller: Manager) -> Shown:
        body = validate(AddSuppressionsRequest, ONE.translate(read_json(app.current_event)))
        account_id = caller.account.account_id
        return _named(services().suppression_list.add(account_id, body.address or ""))

    @route("POST /resend/suppressions/batch/add", bearers(SUPPRESSIONS_WRITE), status=201)
    def add_suppressions(caller: Manager) -> Shown:
        body = validate(AddSuppressionsRequest, SEVERAL.translate(read_json(app.current_event)))
        addresses = body.addresses or []
        _check(addresses)
        added = services().suppression_list.add_all(caller.account.account_id, addresses)
        return {"data": [*map(_named, added.items)]}

    @route("GET /resend/suppressions/{address}", bearers(SUPPRESSIONS_READ))
    def get_suppression(caller: Manager, address: str) -> Shown:
        account_id = caller.account.account_id
        found = services().suppression_list.get(account_id, read_address(address))
        return {"object": "suppression"} | _item(found)

    @route("DELETE /resend/suppressions/{address}", bearers(SUPPRESSIONS_WRITE))
    def remove_suppression(caller: Manager, address: str) -> Shown:
        account_id = caller.account.account_id
        removed = services().suppression_list.remove(account_id, read_address(address))
        return deleted("suppression", removed)

    return app


def _check(addresses: Sequence[str]) -> None:
    """Accept addresses that are all valid: otherwise none is added."""
    errors = []
    for position, address in enumerate(addresses):
        try:
            normalize_address(address)
        except ValidationFailed as failed:
            errors.append(replace(failed.errors[0], field=f"addresses.{position}"))
    if errors:
        raise ValidationFailed(*errors).listing(MAX_FAULTS)


def _named(suppression: Suppression) -> dict[str, object]:
    return {"object": "suppression", "id": suppression.address}


def _item(suppression: Suppression) -> dict[str, object]:
    return {
        "id": suppression.address,
        "email": suppression.address,
        "origin": ORIGINS.get(suppression.reason, "manual"),
        "source_id": str(suppression.message_id) if suppression.message_id else None,
        "created_at": timestamp(suppression.at),
    }
