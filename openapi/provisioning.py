"""The JSON schema of the file of `pillarbox apply`, for editors.

A field of a request has the texts that the document has for it.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from admin.use_cases.provision_file import (
    AccountEntry,
    KeyEntry,
    LocaleEntry,
    ProvisionFile,
    SuppressionsEntry,
    TemplateEntry,
    WebhookEntry,
)
from openapi.requests import described_field, merged
from openapi.schemas import without_titles
from pillarbox.http.accounts.wire import ChangeAlertsRequest, InviteMemberRequest
from pillarbox.http.operator.wire import OwnLimits
from pillarbox.http.provisioning import DomainFields, SenderFields
from pillarbox.http.wire import fields_of

#: What a file has in place of a text of the API.
_OWN: Final[Mapping[tuple[type, str], Mapping[str, Any]]] = {
    (ChangeAlertsRequest, "chat_url"): {
        "description": "The incoming webhook of a room in Slack or Teams, or where it is stored:"
        " `file:PATH`, `secretsmanager:NAME` or `ssm:NAME`."
    }
}
_SHAPES: Final = (
    *(ProvisionFile, AccountEntry, OwnLimits, ChangeAlertsRequest, InviteMemberRequest),
    *(DomainFields, SenderFields, TemplateEntry, LocaleEntry, WebhookEntry, KeyEntry),
    SuppressionsEntry,
)


def file_schema() -> dict[str, Any]:
    generated = TypeAdapter(ProvisionFile).json_schema()
    definitions = generated.pop("$defs") | {ProvisionFile.__name__: generated}
    for shape in _SHAPES:
        schema = definitions[shape.__name__]
        schema["description"] = shape.__doc__
        for attribute, field in fields_of(shape).items():
            text = _OWN.get((shape, attribute)) or described_field(shape, attribute)
            schema["properties"][field.name] = merged(schema["properties"][field.name], text)
    whole = definitions.pop(ProvisionFile.__name__)
    whole["$defs"] = dict(sorted(definitions.items()))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **without_titles(whole, {})}
