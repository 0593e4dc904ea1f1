"""The schemas of requests and responses, made from the types that the service itself uses."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from openapi.requests import NAMED, enriched
from pillarbox.http.wire import WireModel

_REFERENCE: Final = "#/components/schemas/"
_MODE: Final = "validation"

#: What generated clients call the shapes that have other names in the service's code.
_PUBLISHED_NAMES: Final = {
    "AttachmentModel": "Attachment",
    "CodeRequestBody": "CodeRequest",
    "ErrorEnvelope": "ErrorResponse",
}
#: For users of the API: the docstrings of these classes are for readers of the code.
_ENUMS: Final = {
    "DeliveryState": "Whether the event arrived, another attempt follows, or none does.",
    "WebhookType": "The type of an event.",
    "Plan": "The plan of an account.",
    "KeyType": "The type of an API key.",
    "Preset": "A named set of permissions.",
    "AccountAction": "What was done to an account, or to what it has.",
    "Isolation": "When SES pauses an account by itself; `none`: only with all others.",
    "RankBy": "What accounts are ranked by.",
    "Verdict": "The outcome of a check.",
    "MailVerdict": "What Amazon SES found when it received a mail.",
    "Automatic": "What kind of program wrote a mail.",
    "Role": "What a user is in an account.",
    "DomainState": "Whether the account can send from a domain.",
    "Bucket": "The length of time that one row of analytics covers.",
    "ErrorType": "A kind of error.",
    "EventKind": "What can happen to a message or to one of its recipients.",
    "Severity": "How bad a problem of a template is. Only an error stops its publication.",
    "SourceKind": "The language of a template's source.",
    "SortBy": "The field that a list of messages is sorted by, in descending order.",
    "Status": "The latest known state of a message.",
}


class Schemas:
    """The schemas of some types and of all types that these refer to."""

    def __init__(self, types: Iterable[Any]) -> None:
        references, generated = TypeAdapter.json_schemas(
            ((kind, _MODE, TypeAdapter(kind)) for kind in types),
            ref_template=_REFERENCE + "{model}",
        )
        definitions = generated["$defs"]
        # A type alias has no title; its schema is put in place of references, except for enums.
        aliases = {
            name: value
            for name, value in definitions.items()
            if "title" not in value and name not in _ENUMS
        }
        named = {
            _PUBLISHED_NAMES.get(name, name): without_titles(value, aliases)
            for name, value in definitions.items()
            if name not in aliases
        }
        for name, text in _ENUMS.items():
            named[name]["description"] = text
        for model in WireModel.__subclasses__():
            name = _PUBLISHED_NAMES.get(model.__name__, model.__name__)
            if name in named:
                named[name] = enriched(model, named[name])
        self.named: Final = dict(sorted({**named, **NAMED}.items()))
        self._references = {
            kind: without_titles(value, {}) for (kind, _), value in references.items()
        }

    def reference(self, kind: Any) -> dict[str, Any]:  # noqa: ANN401  a class or a generic alias
        return dict(self._references[kind])

    def of(self, kind: Any) -> Mapping[str, Any]:  # noqa: ANN401  a class or a generic alias
        schema: Mapping[str, Any] = self.named[self.name_of(kind)]
        return schema

    def completed(self, example: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
        """Return an example with what it leaves out: the member's own first example, or null."""
        schema = self.named.get(str(schema.get("$ref", "")).removeprefix(_REFERENCE), schema)
        if isinstance(example, list):
            return [self.completed(item, schema.get("items", {})) for item in example]
        if not isinstance(example, dict):
            return example
        members = schema.get("properties", {})
        own = {
            name: members[name].get("examples", [None])[0] for name in schema.get("required", ())
        }
        given = {
            name: self.completed(value, members.get(name, {})) for name, value in example.items()
        }
        return own | given if own.keys() - given.keys() else given

    def name_of(self, kind: Any) -> str:  # noqa: ANN401  a class or a generic alias
        """Return the name under which the document has the schema of a type."""
        return str(self._references[kind]["$ref"]).removeprefix(_REFERENCE)


def without_titles(schema: Any, aliases: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """Return a schema with published names, without titles, empty defaults and type aliases."""
    if isinstance(schema, list):
        return [without_titles(item, aliases) for item in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_REFERENCE)
    if name in aliases:
        other = {key: value for key, value in schema.items() if key != "$ref"}
        return without_titles(aliases[name] | other, aliases)
    plain = {
        key: {field: without_titles(inner, aliases) for field, inner in value.items()}
        if key == "properties"
        else without_titles(value, aliases)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        # With a default, openapi-typescript would require the field in requests.
        and not (key == "default" and (value in (None, "", {}) or value is False))
    }
    if name in _PUBLISHED_NAMES:
        plain["$ref"] = _REFERENCE + _PUBLISHED_NAMES[name]
    return plain
