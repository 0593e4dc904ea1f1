"""/resend/suppressions…: an account's suppressions in Resend's shape. The id is the address."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.key import SUPPRESSIONS_READ, SUPPRESSIONS_WRITE
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import MAX_FAULTS, ValidationFailed
from pillarbox.http.accounts.wire import AddSuppressionsRequest, read_address
from pillarbox.http.app import App, build_app
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import Reply, reply, timestamp
from pillarbox.http.query import read_query
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import ForwardQuery, Services, listed
from pillarbox.http.resend.replies import deleted, read_bearer_caller, reply_resend_error
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
    """Return the resolver of these routes."""
    app = build_app(reply_resend_error)

    def account(scope: str) -> str:
        request = read_bearer_caller(app.current_event)
        return services().caller_authentication.manage(request, scope).account.account_id

    @app.get("/resend/suppressions")
    def list_suppressions() -> Reply:
        account_id = account(SUPPRESSIONS_READ)
        query = read_query(app.current_event, ResendSuppressionsQuery)
        # The cursor of the use case is the first address, and Resend's the last one of before.
        cursor = query.older_than.lower() if query.older_than else None
        page = services().suppression_list.page(account_id, None, cursor, query.limit + 1)
        items = [one for one in page.items if one.address != cursor]
        more = page.following is not None or len(items) > query.limit
        return reply(listed(map(_item, items[: query.limit]), more=more))

    @app.post("/resend/suppressions")
    def add_suppression() -> Reply:
        account_id = account(SUPPRESSIONS_WRITE)
        body = validate(AddSuppressionsRequest, ONE.translate(read_json(app.current_event)))
        added = services().suppression_list.add(account_id, body.address or "")
        return reply(_named(added), 201)

    @app.post("/resend/suppressions/batch/add")
    def add_suppressions() -> Reply:
        account_id = account(SUPPRESSIONS_WRITE)
        body = validate(AddSuppressionsRequest, SEVERAL.translate(read_json(app.current_event)))
        addresses = body.addresses or []
        _check(addresses)
        added = services().suppression_list.add_all(account_id, addresses)
        return reply({"data": [*map(_named, added.items)]}, 201)

    @app.get("/resend/suppressions/<address>")
    def get_suppression(address: str) -> Reply:
        account_id = account(SUPPRESSIONS_READ)
        found = services().suppression_list.get(account_id, read_address(address))
        return reply({"object": "suppression"} | _item(found))

    @app.delete("/resend/suppressions/<address>")
    def remove_suppression(address: str) -> Reply:
        account_id = account(SUPPRESSIONS_WRITE)
        removed = services().suppression_list.remove(account_id, read_address(address))
        return reply(deleted("suppression", removed))

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
