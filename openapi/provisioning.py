"""The JSON schema of the file of `pillarbox apply`, for editors.

A field of a request has the texts that the document has for it.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from admin.use_cases.provision_file import (
    DESTINATIONS,
    AccountEntry,
    KeyEntry,
    LocaleEntry,
    ProvisionFile,
    SuppressionsEntry,
    TemplateEntry,
    WebhookEntry,
)
from openapi.requests import FIELDS, merged
from openapi.schemas import without_titles
from pillarbox.http.accounts.wire import ChangeAlertsRequest, InviteMemberRequest
from pillarbox.http.operator.wire import OwnLimits
from pillarbox.http.provisioning import DomainFields, SenderFields
from pillarbox.http.wire import WireModel, fields_of

_DESTINATION: Final = {
    "description": "Where the secret value goes: `file:PATH` (mode 0600), `secretsmanager:NAME` or"
    " `ssm:NAME`.",
    "pattern": DESTINATIONS,
}
_FILE: Final = {"description": "The path of the source, relative to this file."}
_TEXT_FILE: Final = {
    "description": "The path of the text part; without it, it is made of the HTML."
}
#: The texts of what only a file has.
_OWN: Final[Mapping[type[WireModel], Mapping[str, Mapping[str, Any]]]] = {
    AccountEntry: {
        "was": {"description": "The former name, for a rename."},
        "contact": {
            "description": "The address of its owner; an account that has another one is refused."
        },
        "members": {
            "description": "Who signs in to the dashboard. None is ever removed, and owners are"
            " made in the dashboard."
        },
    },
    ChangeAlertsRequest: {
        "chatUrl": {
            "description": "The incoming webhook of a room in Slack or Teams, or where it is"
            " stored: `file:PATH`, `secretsmanager:NAME` or `ssm:NAME`."
        }
    },
    SenderFields: {"default": {"description": "Whether emails without `from` have it."}},
    LocaleEntry: {"file": _FILE, "textFile": _TEXT_FILE},
    TemplateEntry: {
        "file": _FILE,
        "textFile": _TEXT_FILE,
        "was": {"description": "The former name, for a rename."},
        "locales": {"description": "All locales, such as `de-CH`; without the field they stay."},
    },
    WebhookEntry: {
        "secretTo": _DESTINATION
        | {"description": f"{_DESTINATION['description']} Not with `roleArn`."}
    },
    KeyEntry: {
        "was": {"description": "The former name: that key is replaced."},
        "rotated": {"description": "A key that was made before this time is replaced."},
        "valueTo": _DESTINATION,
    },
    SuppressionsEntry: {
        "file": {"description": "A CSV file: its first column, or the one named `address`."}
    },
}
_SHAPES: Final = (
    *(ProvisionFile, AccountEntry, OwnLimits, ChangeAlertsRequest, InviteMemberRequest),
    *(DomainFields, SenderFields, TemplateEntry, LocaleEntry, WebhookEntry, KeyEntry),
    SuppressionsEntry,
)


def file_schema() -> dict[str, Any]:
    """Return the schema."""
    generated = TypeAdapter(ProvisionFile).json_schema()
    definitions = generated.pop("$defs") | {ProvisionFile.__name__: generated}
    for shape in _SHAPES:
        schema = definitions[shape.__name__]
        schema["description"] = shape.__doc__
        for attribute, field in fields_of(shape).items():
            text = _text_of(shape, attribute, field.name)
            schema["properties"][field.name] = merged(schema["properties"][field.name], text)
    whole = definitions.pop(ProvisionFile.__name__)
    whole["$defs"] = dict(sorted(definitions.items()))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **without_titles(whole, {})}


def _text_of(shape: type[WireModel], attribute: str, name: str) -> Mapping[str, Any]:
    """Return the text of a field: that of the file, or that of the request that it comes from."""
    if name in _OWN.get(shape, {}):
        return _OWN[shape][name]
    for base in shape.__mro__:
        fields = fields_of(base) if base in FIELDS else {}
        if attribute in fields:
            return FIELDS[base][fields[attribute].name]
    return {}
