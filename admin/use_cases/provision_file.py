"""The file of `pillarbox apply`: what accounts should have. Names identify objects."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from pillarbox.application.validation import normalize_domain, normalize_sender
from pillarbox.domain.accounts.account import MAX_KEEP, Plan
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.accounts.key_terms import canonical_block
from pillarbox.domain.errors import FieldError, ValidationFailed

_DESTINATION: Final = (
    "Where the secret value goes: `file:PATH` (mode 0600), `secretsmanager:NAME` or `ssm:NAME`."
)
_DESTINATIONS: Final = r"^(file|secretsmanager|ssm):.+$"


def _as_stored(normalize: Callable[[str], str]) -> AfterValidator:
    """Return what writes a value in the form in which the service stores it, to compare them."""

    def run(text: str) -> str:
        try:
            return normalize(text)
        except ValidationFailed as error:
            raise ValueError(error.errors[0].message) from None

    return AfterValidator(run)


def _in_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class DomainEntry(_Described):
    """A domain to send from."""

    name: Annotated[str, _as_stored(normalize_domain)]
    mail_from: str | None = Field(
        None, description="The label of its MAIL FROM domain: `bounce` for `bounce.shop.example`."
    )


class SenderEntry(_Described):
    """An address to send from. It is added once DNS has the records of its domain."""

    address: Annotated[str, _as_stored(lambda text: normalize_sender(text).lower())]
    default: bool = False


class LocaleEntry(_Described):
    """What a template has for one locale."""

    subject: str
    file: str = Field(description="The path of the source, relative to this file.")
    text_file: str | None = Field(
        None, description="The path of the text part; without it, it is made of the HTML."
    )


class TemplateEntry(LocaleEntry):
    """A saved template, from a file with HTML or, if its name ends with `.mjml`, MJML."""

    name: str
    was: str | None = Field(None, description="The former name, for a rename.")
    category: str
    keep_days: int | None = Field(
        None,
        description="For at most how many days to keep the content of its emails; without the"
        " field they stay.",
        ge=0,
        le=MAX_KEEP,
    )
    locales: dict[str, LocaleEntry] | None = Field(
        None, description="All locales, such as `de` or `de-CH`; without the field they stay."
    )

    @model_validator(mode="after")
    def _has_one_kind(self) -> "TemplateEntry":
        files = [self.file, *(one.file for one in (self.locales or {}).values())]
        if len({file.endswith(".mjml") for file in files}) > 1:
            raise ValueError(f"the files of {self.name} are all HTML or all MJML")
        return self


class WebhookEntry(_Described):
    """A webhook endpoint, with a secret, or a bus or a bucket in AWS, with a role.

    Its URL identifies it.
    """

    url: str
    types: list[str]
    secret_to: str | None = Field(
        None, description=f"{_DESTINATION} Not with `roleArn`.", pattern=_DESTINATIONS
    )
    role_arn: str | None = Field(
        None, description="The role that puts the events into AWS: see docs/guides/aws.md."
    )

    @model_validator(mode="after")
    def _has_secret_or_role(self) -> "WebhookEntry":
        if (self.secret_to is None) is (self.role_arn is None):
            raise ValueError(f"{self.url} must have either secretTo or roleArn")
        return self


class KeyEntry(_Described):
    """An API key. One that differs from this entry, or whose value is lost, is replaced."""

    name: str
    was: str | None = Field(None, description="The former name: that key is replaced.")
    preset: Preset
    scopes: list[str] = Field(default=[], description="With the preset `custom` alone.")
    expires: Annotated[datetime, AfterValidator(_in_milliseconds)] | None = Field(
        None, description="From when on it does not work."
    )
    sources: list[Annotated[str, _as_stored(canonical_block)]] = Field(
        default=[], description="Blocks of addresses (CIDR); none: all."
    )
    rotated: datetime | None = Field(
        None, description="A key that was made before this time is replaced."
    )
    value_to: str = Field(description=_DESTINATION, pattern=_DESTINATIONS)

    @model_validator(mode="after")
    def _has_time_zones(self) -> "KeyEntry":
        for moment in (self.expires, self.rotated):
            if moment is not None and moment.tzinfo is None:
                raise ValueError("write times with a time zone, such as 2027-01-31T00:00:00Z")
        if self.rotated and self.rotated > datetime.now(UTC):
            raise ValueError("rotated must be a time that has come")
        return self


class BrandEntry(_Described):
    """The brand that starter templates show."""

    name: str | None = None
    logo_url: str | None = None
    accent: Annotated[str, _as_stored(str.lower)] | None = None
    from_name: str | None = None
    support_email: str | None = None
    company_address: str | None = None
    action_url: str | None = None


class SuppressionsEntry(_Described):
    """Addresses that the account must not send to. None is ever removed."""

    file: str = Field(description="A CSV file: its first column, or the one named `address`.")


class AccountEntry(_Described):
    """An account. Another plan or a new account needs an operator's key."""

    name: str
    was: str | None = Field(None, description="The former name, for a rename.")
    plan: Plan | None = None
    contact: str | None = Field(
        None, description="The address of its owner; an account that has another one is refused."
    )
    brand: BrandEntry | None = None
    domains: list[DomainEntry] = []
    senders: list[SenderEntry] = []
    templates: list[TemplateEntry] = []
    webhooks: list[WebhookEntry] = []
    keys: list[KeyEntry] = []
    suppressions: SuppressionsEntry | None = None

    @model_validator(mode="after")
    def _names_differ(self) -> "AccountEntry":
        lists = {
            "domains": [one.name for one in self.domains],
            "senders": [one.address for one in self.senders],
            "templates": [one.name for one in self.templates],
            "webhooks": [one.url for one in self.webhooks],
            "keys": [one.name for one in self.keys],
        }
        for kind, names in lists.items():
            if len(names) > len(set(names)):
                raise ValueError(f"two {kind} of {self.name} are the same")
        return self


class ProvisionFile(_Described):
    """What the accounts of a service should have. What it does not name stays."""

    version: Literal[1]
    accounts: list[AccountEntry]

    @model_validator(mode="after")
    def _names_differ(self) -> "ProvisionFile":
        names = [one.name for one in self.accounts]
        if len(names) > len(set(names)):
            raise ValueError("two accounts have the same name")
        places = [one.value_to for account in self.accounts for one in account.keys]
        hooks = [one.secret_to for account in self.accounts for one in account.webhooks]
        places += [place for place in hooks if place is not None]
        if len(places) > len(set(places)):
            raise ValueError("two values go to the same place")
        return self


def read_provision_file(content: object) -> ProvisionFile:
    """Return a file that was parsed as YAML."""
    try:
        return ProvisionFile.model_validate(content)
    except ValidationError as error:
        raise ValidationFailed(
            *(
                FieldError(
                    ".".join(map(str, one["loc"])) or "FILE",
                    "is not a field" if one["type"] == "extra_forbidden" else one["msg"],
                    one["type"],
                )
                for one in error.errors(include_input=False)
            )
        ) from None


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ProvisionFile.model_json_schema(),
    }
