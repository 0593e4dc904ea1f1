"""The API, the file of `pillarbox apply` and CloudFormation have the same fields, as published."""

import json
import re
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.stack import ROOT

_API: Final = json.loads((ROOT / "docs" / "openapi.json").read_text())["components"]["schemas"]
_SCHEMA: Final = json.loads((ROOT / "docs" / "provisioning.schema.json").read_text())
_FILE: Final = _SCHEMA["$defs"]
_STACKS: Final = dict(
    re.findall(
        r"\| `Custom::Pillarbox(\w+)` \| (.*?) \|",
        (ROOT / "docs" / "guides" / "cloudformation.md").read_text(),
    )
)
#: By the type of a stack: the entry of the file, and the requests of the API.
_KINDS: Final = {
    "Account": (
        "AccountEntry",
        ["CreateAccountRequest", "ChangeAccountRequest", "OperateAccountRequest"],
    ),
    "Domain": ("DomainFields", ["AddDomainRequest", "ChangeDomainRequest"]),
    "Key": ("KeyEntry", ["CreateKeyRequest"]),
    "Sender": ("SenderFields", ["AddSenderRequest"]),
    "Template": ("TemplateEntry", ["SaveDraftRequest"]),
    "Webhook": ("WebhookEntry", ["CreateWebhookRequest"]),
}
#: What others have routes or resources for, by the kind.
_ROUTES: Final = {
    "Account": {"alerts", "members", "suppressions"},
    "Sender": {"default"},
}
_ONLY_IN_FILES: Final = {
    "Account": {"was", "domains", "senders", "templates", "webhooks", "keys"},
    "Key": {"was", "rotated", "valueTo"},
    "Template": {"was", "file", "textFile"},  # in place of source, kind and text
    "Webhook": {"secretTo"},
}
_ONLY_IN_STACKS: Final = {
    "Account": {"onDelete"},
    "Domain": {"account", "waitFor", "after"},
    "Key": {"account", "rotated"},
    "Sender": {"account"},
    "Template": {"account", "source", "kind", "text"},
    "Webhook": {"account"},
}
_NOT_IN_STACKS_AND_FILES: Final = {"Template": {"samples", "source", "kind", "text"}}


def test_the_kinds_are_those_of_stacks() -> None:
    assert _STACKS.keys() == _KINDS.keys()


@pytest.mark.parametrize("kind", _KINDS)
def test_a_kind_has_the_same_fields_at_each_door(kind: str) -> None:
    entry, requests = _KINDS[kind]
    api = {name for request in requests for name in _API[request]["properties"]}
    if kind == "Domain":
        api = {"name" if name == "domain" else name for name in api}
    api = (api | _ROUTES.get(kind, set())) - _NOT_IN_STACKS_AND_FILES.get(kind, set())
    stacks = {name[0].lower() + name[1:] for name in re.findall(r"\w+", _STACKS[kind])}
    assert {*_FILE[entry]["properties"]} - _ONLY_IN_FILES.get(kind, set()) == api
    assert stacks - _ONLY_IN_STACKS[kind] == api


@pytest.mark.parametrize("shape", ["ChangeAlertsRequest", "InviteMemberRequest", "OwnLimits"])
def test_a_part_of_an_account_is_that_of_the_api(shape: str) -> None:
    def names(schemas: dict[str, Any]) -> set[str]:
        return {*schemas[shape]["properties"]}

    assert names(_FILE) == names(_API)


def test_an_editor_takes_the_file_of_the_guide() -> None:
    """`off` is a text there, as in YAML 1.2, and a field that is misspelled is marked."""
    guide = (ROOT / "docs" / "guides" / "provisioning.md").read_text()
    (text,) = re.findall(r"(?s)```yaml\n(.*?)```", guide)
    content = yaml.safe_load(text.replace("{off:", '{"off":'))
    Draft202012Validator.check_schema(_SCHEMA)
    editor = Draft202012Validator(_SCHEMA)
    assert [*editor.iter_errors(content)] == []
    content["accounts"][0]["keepDay"] = 7
    assert [error.validator for error in editor.iter_errors(content)] == ["additionalProperties"]
