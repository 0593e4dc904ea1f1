"""How `pillarbox apply` and resources of CloudFormation call functions, and what is there then."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from tests.contract.client import Api, ApiResponse


def ask(
    key: str | None, method: str, path: str, body: object, headers: Mapping[str, str] | None
) -> ApiResponse:
    """Call a function by the path of a client."""
    path, _, query = path.removeprefix("/v1").partition("?")
    return Api(key).raw(method, path, body, headers, query=dict(parse_qsl(query)))


def has(key: str, account: str) -> dict[str, Any]:
    """Return what an account has, without what chance and time decide."""
    lists = ("domains", "senders", "templates/drafts", "webhooks", "keys", "suppressions")
    headers = {"X-Account": account}
    items = {one: Api(key).raw("GET", f"/{one}", headers=headers).json["items"] for one in lists}
    drafts = items["templates/drafts"]
    keys = [one for one in items["keys"] if not one["revokedAt"]]
    return {
        "domains": [one["domain"] for one in items["domains"]],
        "senders": [(one["address"], one["default"]) for one in items["senders"]],
        "templates": [(one["name"], one["subject"], one["changed"]) for one in drafts],
        "webhooks": [(one["url"], one["types"]) for one in items["webhooks"]],
        "keys": sorted((one["name"], one["scopes"], one["sources"]) for one in keys),
        "suppressions": [one["address"] for one in items["suppressions"]],
    }
