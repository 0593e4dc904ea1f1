"""The document of what an API key may call: for clients that are generated for an application."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

#: The security scheme of API keys.
_KEY: Final = "ApiKey"
_REFERENCE: Final = r'"#/components/(\w+)/([^"]+)"'
_DESCRIPTION: Final = """\
One-to-one transactional email: receipts, password resets, magic links, one-time codes.

These are the routes that an API key may call. docs/openapi.json also has those of the dashboard.
Every request has the key in `X-API-Key` and a `User-Agent` that names the application. Every error
has the same envelope with a stable `code`.
"""


def of_keys(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a document that a key may use, with the components that it needs."""
    paths: dict[str, dict[str, Any]] = {}
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            if {_KEY: []} in operation.get("security", whole["security"]):
                own = {name: part for name, part in operation.items() if name != "security"}
                paths.setdefault(path, {})[method] = own
    used = {tag for methods in paths.values() for one in methods.values() for tag in one["tags"]}
    document = {
        **whole,
        "info": whole["info"] | {"title": "Pillarbox for API keys", "description": _DESCRIPTION},
        "tags": [tag for tag in whole["tags"] if tag["name"] in used],
        "paths": paths,
    }
    return document | {"components": _needed(document, whole["components"])}


def _needed(document: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the components that paths and webhooks refer to, directly or through others."""
    kept: dict[str, dict[str, Any]] = {
        "securitySchemes": {_KEY: components["securitySchemes"][_KEY]}
    }
    pending = [json.dumps([document["paths"], document["webhooks"]])]
    while pending:
        for kind, name in re.findall(_REFERENCE, pending.pop()):
            if name not in kept.setdefault(kind, {}):
                kept[kind][name] = components[kind][name]
                pending.append(json.dumps(components[kind][name]))
    return {kind: dict(sorted(parts.items())) for kind, parts in sorted(kept.items())}
