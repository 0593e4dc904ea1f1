"""The file of `pillarbox apply`: what accounts should have. Names identify objects.

Its fields are those of the API's requests, and what only a file has.
"""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, Final

import yaml

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.provisioning import AccountFields, DomainFields, KeyFields, SenderFields
from pillarbox.http.query import TIMESTAMP_UTC
from pillarbox.http.templates.wire import LOCALE_NAME, MAX_LOCALES, LocaleModel, SaveDraftRequest
from pillarbox.http.webhooks.wire import CreateWebhookRequest
from pillarbox.http.wire import (
    WireModel,
    after,
    dropped,
    invalid,
    list_of,
    matching,
    model,
    models_by_name,
    optional,
    optional_or,
    required,
    text,
    validate,
    whole_number,
)

DESTINATIONS: Final = "^(file|secretsmanager|ssm):.+$"


def _check_rotated(value: datetime) -> datetime:
    if value > datetime.now(UTC):
        raise invalid("out_of_range", "must be a time that has come")
    return value


_PATH: Final = text(least=1)
_DESTINATION: Final = matching(
    DESTINATIONS, "invalid_choice", "must begin with file:, secretsmanager: or ssm:"
)


class LocaleEntry(LocaleModel):
    """What a template has for one locale."""

    source = dropped()
    own_text = dropped()
    file = required(_PATH)
    """The path of the source, relative to this file."""
    text_file = optional(_PATH)
    """The path of the text part; without it, it is made of the HTML."""


class TemplateEntry(SaveDraftRequest):
    """A saved template, from a file with HTML or, if its name ends with `.mjml`, MJML."""

    source = dropped()
    own_text = dropped()
    kind = dropped()
    samples = dropped()
    file = required(_PATH)
    """The path of the source, relative to this file."""
    text_file = optional(_PATH)
    """The path of the text part; without it, it is made of the HTML."""
    was = optional(text(least=1))
    """The former name, for a rename."""
    locales: Any = optional(models_by_name(LOCALE_NAME, LocaleEntry, most=MAX_LOCALES))
    """All locales, such as `de-CH`; without the field they stay."""


class WebhookEntry(CreateWebhookRequest):
    """A webhook endpoint, with a secret, or a bus or a bucket in AWS, with a role."""

    secret_to = optional(_DESTINATION, pattern=DESTINATIONS)
    """Where the secret value goes: `file:PATH` (mode 0600), `secretsmanager:NAME` or `ssm:NAME`.
    Not with `roleArn`."""


class KeyEntry(KeyFields):
    """An API key. One that differs from this entry, or whose value is lost, is replaced."""

    was = optional(text(least=1))
    """The former name: that key is replaced."""
    rotated = optional(after(TIMESTAMP_UTC, _check_rotated))
    """A key that was made before this time is replaced."""
    value_to = required(_DESTINATION, pattern=DESTINATIONS)
    """Where the secret value goes: `file:PATH` (mode 0600), `secretsmanager:NAME` or `ssm:NAME`."""


class SuppressionsEntry(WireModel):
    """Addresses that the account must not send to. None is ever removed."""

    file = required(_PATH)
    """A CSV file: its first column, or the one named `address`."""


def _check_template(entry: TemplateEntry) -> TemplateEntry:
    files = [entry.file, *(one.file for one in (entry.locales or {}).values())]
    if len({file.endswith(".mjml") for file in files}) > 1:
        raise invalid("mixed_kinds", "its files must be all HTML or all MJML")
    return entry


def _check_webhook(entry: WebhookEntry) -> WebhookEntry:
    if (entry.secret_to is None) is (entry.role_arn is None):
        raise invalid("incomplete", "must have either secretTo or roleArn")
    return entry


class AccountEntry(AccountFields):
    """An account. Another plan or a new account needs an operator's key."""

    was = optional(text(least=1))
    """The former name, for a rename."""
    domains = optional_or(list_of(model(DomainFields)), [])
    senders = optional_or(list_of(model(SenderFields)), [])
    templates = optional_or(list_of(after(model(TemplateEntry), _check_template)), [])
    webhooks = optional_or(list_of(after(model(WebhookEntry), _check_webhook)), [])
    keys = optional_or(list_of(model(KeyEntry)), [])
    suppressions = optional(model(SuppressionsEntry))


def _check_account(entry: AccountEntry) -> AccountEntry:
    for kind, names in {
        "domains": [one.domain for one in entry.domains],
        "senders": [one.address for one in entry.senders],
        "templates": [one.name for one in entry.templates],
        "webhooks": [one.url for one in entry.webhooks],
        "keys": [one.name for one in entry.keys],
        "members": [one.email for one in entry.members or ()],
    }.items():
        _check_different(names, f"two {kind} are the same")
    return entry


def _check_accounts(accounts: list[AccountEntry]) -> list[AccountEntry]:
    _check_different([one.name for one in accounts], "two accounts have the same name")
    places = [one.value_to for account in accounts for one in account.keys]
    hooks = [one.secret_to for account in accounts for one in account.webhooks if one.secret_to]
    _check_different([*places, *hooks], "two values go to the same place")
    return accounts


def _check_different(names: Iterable[str], message: str) -> None:
    names = [*names]
    if len(names) > len({*names}):
        raise invalid("not_unique", message)


_ACCOUNTS: Final = after(list_of(after(model(AccountEntry), _check_account)), _check_accounts)


class ProvisionFile(WireModel):
    """What the accounts of a service should have. What it does not name stays."""

    version = required(whole_number(least=1, most=1))
    accounts = required(_ACCOUNTS)


class _Loader(yaml.SafeLoader):
    """Takes yes, no, on and off as texts, as YAML 1.2 does: `off` is a field."""

    yaml_implicit_resolvers = {  # noqa: RUF012  as the base has it
        first: [one for one in resolvers if one[0] != "tag:yaml.org,2002:bool" or first in "tTfF"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def parse_yaml(source: str) -> object:
    return yaml.load(source, _Loader)  # noqa: S506  a safe one


def read_provision_file(content: object) -> ProvisionFile:
    """Return a file that was parsed as YAML, which has types for dates."""
    plain = json.loads(json.dumps(content, default=_text_of))
    if not isinstance(plain, dict):
        raise ValidationFailed(FieldError("FILE", "must have version and accounts", "wrong_type"))
    return validate(ProvisionFile, plain)


def _text_of(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
