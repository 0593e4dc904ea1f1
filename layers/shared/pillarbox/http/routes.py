"""The routes of the API and their methods: contract section 4."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from pillarbox.domain.errors import MethodNotAllowed

#: Generated from openapi/operations.py by `make openapi`.
ROUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "/v1/account": ("GET", "PATCH"),
    "/v1/account/alerts": ("GET", "PATCH"),
    "/v1/account/alerts/test": ("POST",),
    "/v1/account/log": ("GET",),
    "/v1/account/resume": ("POST",),
    "/v1/attachments": ("POST",),
    "/v1/domain-records": ("POST",),
    "/v1/domains": ("GET", "POST"),
    "/v1/domains/{domain}": ("GET", "POST", "PATCH", "DELETE"),
    "/v1/domains/{domain}/link": ("POST", "DELETE"),
    "/v1/emails": ("GET", "POST"),
    "/v1/emails/analytics": ("GET",),
    "/v1/emails/batch": ("POST",),
    "/v1/emails/{message_id}": ("GET", "PATCH"),
    "/v1/emails/{message_id}/cancel": ("POST",),
    "/v1/emails/{message_id}/content": ("GET",),
    "/v1/emails/{message_id}/kept": ("GET",),
    "/v1/emails/{message_id}/release": ("POST",),
    "/v1/emails/{message_id}/resend": ("POST",),
    "/v1/invitations/{account_id}": ("POST", "DELETE"),
    "/v1/keys": ("GET", "POST"),
    "/v1/keys/{key_id}": ("DELETE",),
    "/v1/mcp": ("POST",),
    "/v1/me": ("GET",),
    "/v1/members": ("GET", "POST"),
    "/v1/members/{member_id}": ("PATCH", "DELETE"),
    "/v1/operator/accounts": ("GET", "POST"),
    "/v1/operator/accounts/{account_id}": ("GET", "PATCH", "DELETE"),
    "/v1/operator/accounts/{account_id}/suspension": ("POST", "DELETE"),
    "/v1/operator/checks": ("GET",),
    "/v1/operator/queues": ("GET",),
    "/v1/operator/queues/{queue}/redrive": ("POST",),
    "/v1/operator/rates": ("GET",),
    "/v1/operator/sign-ups": ("GET",),
    "/v1/operator/sign-ups/{address}": ("POST", "DELETE"),
    "/v1/overview": ("GET",),
    "/v1/passkeys": ("GET", "POST"),
    "/v1/passkeys/challenges": ("POST",),
    "/v1/passkeys/{passkey_id}": ("DELETE",),
    "/v1/preview-keys": ("POST",),
    "/v1/preview-keys/challenges": ("POST",),
    "/v1/preview-keys/codes": ("POST",),
    "/v1/preview-keys/reports": ("POST",),
    "/v1/received": ("GET",),
    "/v1/received/{received_id}": ("GET",),
    "/v1/received/{received_id}/reply": ("POST",),
    "/v1/senders": ("GET", "POST"),
    "/v1/senders/{sender}": ("DELETE",),
    "/v1/senders/{sender}/default": ("PUT",),
    "/v1/session": ("POST", "GET", "DELETE"),
    "/v1/session/codes": ("POST",),
    "/v1/session/links": ("POST",),
    "/v1/session/passkeys": ("POST",),
    "/v1/session/passkeys/challenges": ("POST",),
    "/v1/session/token": ("POST",),
    "/v1/session/{session_id}": ("DELETE",),
    "/v1/sign-up": ("GET", "POST"),
    "/v1/starter-templates": ("GET",),
    "/v1/starter-templates/{slug}/preview": ("POST",),
    "/v1/suppressions": ("GET", "POST"),
    "/v1/suppressions/{address}": ("DELETE",),
    "/v1/templates": ("GET", "POST"),
    "/v1/templates/drafts": ("GET",),
    "/v1/templates/render": ("POST",),
    "/v1/templates/{id}": ("GET", "DELETE"),
    "/v1/templates/{id}/draft": ("GET", "PUT"),
    "/v1/templates/{id}/duplicate": ("POST",),
    "/v1/templates/{id}/publish": ("POST",),
    "/v1/templates/{id}/restore": ("POST",),
    "/v1/templates/{id}/test": ("POST",),
    "/v1/templates/{id}/versions": ("GET",),
    "/v1/templates/{id}/versions/{version}": ("GET",),
    "/v1/webhooks": ("GET", "POST"),
    "/v1/webhooks/{endpoint_id}": ("GET", "PATCH", "DELETE"),
    "/v1/webhooks/{endpoint_id}/deliveries": ("GET",),
    "/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay": ("POST",),
    "/v1/webhooks/{endpoint_id}/replay": ("POST",),
    "/v1/webhooks/{endpoint_id}/rotate": ("POST",),
    "/v1/webhooks/{endpoint_id}/test": ("POST",),
}

#: How the resources of the contract's literal reading begin, `{base_url}/api/v1` and `/v1/…`.
_LITERAL: Final = "/v1/v1/"


def check_method(method: str, path: str) -> None:
    """Accept every method on a path that is not a route. The edge refuses the others earlier."""
    for route, methods in ROUTES.items():
        # `/v1/emails/batch` also looks like a message, so the first route that fits counts.
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path):
            if method not in methods:
                raise MethodNotAllowed(", ".join(methods))
            return


def canonical_path(event: Mapping[str, Any]) -> str:
    """Return the path as the routes are written: no slash at its end, each parameter one segment.

    The contract's literal reading of a path is the same path. A parameter arrives decoded. It is
    percent-encoded again, so that nothing in it is read as a part of the route.
    """
    path: str = event["path"]
    if parameters := event.get("pathParameters"):
        path = event["resource"]
        for name, value in parameters.items():
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
    if event.get("resource", "").startswith(_LITERAL):
        path = path.replace(_LITERAL, "/v1/", 1)
    return quote(path, safe="/%").rstrip("/")
