"""The operations of suppression lists and of the options that say when they apply."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import page, read_object, text_of
from local.ses.errors import SesError, bad_request, not_found
from local.ses.store import MailStore
from local.ses.suppression import (
    REASONS,
    Reason,
    Scope,
    SuppressedDestination,
    SuppressedDestinations,
    SuppressionOptions,
)
from pillarbox.domain.errors import Json

#: Entries of a page.
_MOST: Final = 1000
_ADDRESSES: Final = "/v2/email/suppression/addresses"


def suppression_routes(mailbox: MailStore) -> list[Route]:
    """Return the routes of the lists."""
    api = _Suppression(mailbox)
    return [
        Route(_ADDRESSES, api.put, methods=["PUT"]),
        Route(_ADDRESSES, api.list_all),
        Route(f"{_ADDRESSES}/{{address:path}}", api.get),
        Route(f"{_ADDRESSES}/{{address:path}}", api.delete, methods=["DELETE"]),
    ]


def read_suppression(body: dict[str, Json]) -> SuppressionOptions:
    """Read `SuppressedReasons` and `SuppressionScope`, each of which may be missing."""
    reasons, scope = body.get("SuppressedReasons"), body.get("SuppressionScope")
    if scope not in {None, "ACCOUNT", "TENANT"}:
        raise bad_request("SuppressionScope must be ACCOUNT or TENANT.")
    if reasons is not None and not (isinstance(reasons, list) and {*reasons} <= {*REASONS}):
        raise bad_request("SuppressedReasons has BOUNCE, COMPLAINT, both or none.")
    return SuppressionOptions(
        reasons=None if reasons is None else tuple(cast("list[Reason]", reasons)),
        scope=cast("Scope | None", scope),
    )


def suppression_members(name: str, options: SuppressionOptions) -> dict[str, Json]:
    """Return options as a member of an answer; nothing if they say nothing."""
    members: dict[str, Json] = {}
    if options.reasons is not None:
        members["SuppressedReasons"] = [*options.reasons]
    if options.scope is not None:
        members["SuppressionScope"] = options.scope
    return {name: members} if members else {}


class _Suppression:
    """One method per operation."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox

    async def put(self, request: Request) -> Response:
        body = await read_object(request, "EmailAddress", "Reason", "TenantName")
        address, reason = text_of(body, "EmailAddress"), text_of(body, "Reason")
        if reason not in REASONS:
            raise bad_request("Reason must be BOUNCE or COMPLAINT.")
        entry = SuppressedDestination(address, reason, datetime.now(UTC))
        self._entries(body.get("TenantName")).put(entry)
        return JSONResponse({})

    async def get(self, request: Request) -> Response:
        """Return an entry; operations want an address in the case that it is stored in."""
        address: str = request.path_params["address"]
        tenant = request.query_params.get("TenantName")
        entry = self._entries(tenant).get(address)
        if entry is None:
            raise _absent(address)
        found = _summary(entry)
        if entry.message_id:
            found["Attributes"] = {"MessageId": entry.message_id, "FeedbackId": entry.feedback_id}
        if tenant:
            found["TenantName"] = tenant
        return JSONResponse({"SuppressedDestination": found})

    async def delete(self, request: Request) -> Response:
        address: str = request.path_params["address"]
        if self._entries(request.query_params.get("TenantName")).pop(address, None) is None:
            raise _absent(address)
        return JSONResponse({})

    async def list_all(self, request: Request) -> Response:
        query = request.query_params
        reasons = query.getlist("Reason") or REASONS
        start, end = (_time(query, name) for name in ("StartDate", "EndDate"))
        found = [
            _summary(entry)
            for entry in self._entries(query.get("TenantName")).values()
            if entry.reason in reasons
            and (start is None or entry.updated_at >= start)
            and (end is None or entry.updated_at <= end)
        ]
        size = query.get("PageSize", "")
        if size and not (size.isdecimal() and 0 < int(size) <= _MOST):
            raise bad_request(f"PageSize must be a number between 1 and {_MOST}.")
        token = query.get("NextToken")
        return page("SuppressedDestinationSummaries", found, token, int(size or 0))

    def _entries(self, tenant: Json) -> SuppressedDestinations:
        """Return the list of the account, or of a tenant."""
        if tenant is None:
            return self._mailbox.suppressions
        return self._mailbox.tenants.get(str(tenant)).suppressed


def _absent(address: str) -> SesError:
    return not_found(f"Email address {address} does not exist on your suppression list.")


def _time(query: Mapping[str, str], name: str) -> datetime | None:
    """Return a time of a query; without a zone it is in UTC."""
    try:
        at = datetime.fromisoformat(query[name]) if name in query else None
    except ValueError:
        raise bad_request(f"{name} must be a time of ISO 8601.") from None
    return at.replace(tzinfo=at.tzinfo or UTC) if at else None


def _summary(entry: SuppressedDestination) -> dict[str, Json]:
    return {
        "EmailAddress": entry.address,
        "Reason": entry.reason,
        "LastUpdateTime": entry.updated_at.timestamp(),
    }
