"""The responses and parameters that several operations have: once in `components`."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

_KINDS: Final = ("responses", "parameters")


def share(paths: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Put references in the place of what several operations have; return it by kind and name."""
    groups = [
        (kind, operation[kind], [*_places(operation[kind])])
        for methods in paths.values()
        for operation in methods.values()
        for kind in _KINDS
        if kind in operation
    ]
    counts = Counter(json.dumps(parts[at]) for _, parts, places in groups for at in places)
    shared: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
    for kind, parts, places in groups:
        for at in places:
            part = parts[at]
            # Parameters of queries are fields of models, which may have one name.
            if counts[json.dumps(part)] > 1 and part.get("in") != "query":
                name = _name_of(part)
                if shared[kind].setdefault(name, part) != part:
                    raise ValueError(f"{kind} has two different {name}")
                parts[at] = {"$ref": f"#/components/{kind}/{name}"}
    return {kind: dict(sorted(parts.items())) for kind, parts in shared.items()}


def inlined(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose operations have their responses and parameters themselves."""
    whole: dict[str, Any] = json.loads(json.dumps(document))
    for methods in whole["paths"].values():
        for operation in methods.values():
            for kind in _KINDS:
                parts = operation.get(kind, {})
                for at in _places(parts):
                    name = parts[at].get("$ref", "").rpartition("/")[2]
                    parts[at] = whole["components"][kind].get(name, parts[at])
    return whole


def _places(parts: Any) -> list[Any]:  # noqa: ANN401  JSON
    """Return the keys of a mapping, or the indices of a list."""
    return [*parts] if isinstance(parts, Mapping) else [*range(len(parts))]


def _name_of(part: Mapping[str, Any]) -> str:
    """Return `InvalidSessionOrMissingApiKey` for errors, `Account` for a success, or `PathId`."""
    if "name" in part:
        return _camel(f"{part['in']}_{part['name']}".replace("-", "_"))
    content = part.get("content", {}).get("application/json", {})
    if "examples" in content:
        return "Or".join(map(_camel, content["examples"]))
    schema = content.get("schema", {})
    schema = schema.get("items", schema)
    return str(schema.get("$ref", "NoContent")).rpartition("/")[2]


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
