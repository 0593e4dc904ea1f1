"""What programs set up for accounts over the HTTP API: the fields, the kinds, and their changes.

`pillarbox apply` and the custom resources of CloudFormation both use it. Their fields are those of
the API's requests, and each adds what only it has, such as the file of a template.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from pillarbox.application.management import ManagementApi, RefusedCall
from pillarbox.application.validation import normalize_address, normalize_domain, normalize_sender
from pillarbox.domain.accounts.alert import AlertSettings
from pillarbox.domain.accounts.key_terms import canonical_block
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import domain_and_parents, domain_of, mailbox_key
from pillarbox.domain.errors import ValidationFailed
from pillarbox.http.accounts.wire import (
    MAX_ADDRESSES,
    AddDomainRequest,
    AddSenderRequest,
    ChangeAccountRequest,
    ChangeAlertsRequest,
    ChangeDomainRequest,
    CreateKeyRequest,
    InviteMemberRequest,
)
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.operator.wire import OperateAccountRequest
from pillarbox.http.query import TIMESTAMP_UTC
from pillarbox.http.wire import (
    Schema,
    WireModel,
    after,
    boolean,
    fields_of,
    invalid,
    list_of,
    model,
    optional,
    required,
    text,
)


def as_stored(normalize: Callable[[str], str]) -> Schema[str]:
    """Return the schema of a text in the form in which the service stores it, to compare them."""

    def run(value: str) -> str:
        try:
            return normalize(value)
        except ValidationFailed as error:
            raise invalid(error.errors[0].code, error.errors[0].message) from None

    return after(text(), run)


def _in_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)


class AccountFields(OperateAccountRequest, ChangeAccountRequest):
    """An account: what its owner and the operator may change."""

    name = required(text(least=1))
    contact = CreateAccountRequest.contact
    """The address of its owner; an account that has another one is refused."""
    accent = optional(as_stored(str.lower))
    alerts = optional(model(ChangeAlertsRequest))
    members = optional(list_of(model(InviteMemberRequest)))
    """Who signs in to the dashboard. None is ever removed. Keys invite owners only while an account
    is new, and an operator's key invites members only then."""


class DomainFields(ChangeDomainRequest, AddDomainRequest):
    """A domain to send from, and what it receives once it is verified."""

    domain = required(as_stored(normalize_domain), name="name")
    receive = optional(as_stored(str.lower))


class SenderFields(AddSenderRequest):
    """An address to send from. It is added once DNS has the records of its domain."""

    address = required(as_stored(lambda value: normalize_sender(value).lower()))
    default = optional(boolean())
    """Whether emails without `from` have it."""


class KeyFields(CreateKeyRequest):
    """An API key. Nothing of one can change: another one replaces it."""

    expires_at = optional(after(TIMESTAMP_UTC, _in_milliseconds))
    sources = optional(list_of(as_stored(canonical_block)))


def body_of(fields: WireModel, request: type[WireModel]) -> dict[str, Any]:
    """Return the body of a request, with what is given of its fields."""
    return {
        field.name: _in_json(getattr(fields, attribute))
        for attribute, field in fields_of(request).items()
        if attribute in fields.__pydantic_fields_set__ and getattr(fields, attribute) is not None
    }


def _in_json(value: Any) -> Any:  # noqa: ANN401  JSON
    match value:
        case WireModel():
            return body_of(value, type(value))
        case list():
            return [_in_json(item) for item in value]
        case dict():
            return {name: _in_json(item) for name, item in value.items()}
        case datetime():
            return value.isoformat()
    return value


def changes_of(state: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a body differs from the state of its object. Lists have no order."""
    return {name: new for name, new in wanted.items() if _shown(name, new) != _seen(state, name)}


def _shown(name: str, value: Any) -> Any:  # noqa: ANN401  JSON
    """Return a value as the service shows it."""
    match name, value:
        case "chatUrl", str():  # a secret
            return AlertSettings(chat_url=value or None).chat or ""
        case "ownLimits", dict():  # without a limit of its own, the plan's counts
            return {limit: number for limit, number in value.items() if number is not None}
        case _, list():
            return {*value}
    return value


def _seen(state: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  JSON
    value = state.get("chat" if name == "chatUrl" else name)
    return "" if value is None else _shown("" if name == "chatUrl" else name, value)


@dataclass(frozen=True, slots=True)
class Kind:
    """Objects of one kind that an account has.

    `title` is the member of an item that names it for people.
    """

    name: str
    path: str
    title: str
    list_path: str = ""


ACCOUNT: Final = Kind("account", "/v1/operator/accounts", "name")
DOMAIN: Final = Kind("domain", "/v1/domains", "domain")
SENDER: Final = Kind("sender", "/v1/senders", "address")
TEMPLATE: Final = Kind("template", "/v1/templates", "name", list_path="/v1/templates/drafts")
WEBHOOK: Final = Kind("webhook", "/v1/webhooks", "url")
KEY: Final = Kind("key", "/v1/keys", "name")
MEMBER: Final = Kind("member", "/v1/members", "email")

_ACCOUNT: Final = "/v1/account"
_OPERATED: Final = "/v1/operator/accounts/{}"
_ALERTS: Final = "/v1/account/alerts"


@dataclass(frozen=True, slots=True)
class Step:
    """One change: `+` adds, `~` changes, `-` removes. `?` names what only a person can change."""

    mark: str
    text: str
    run: Callable[[], object] | None = None

    @property
    def changes(self) -> bool:
        return self.run is not None

    def __str__(self) -> str:
        return f"{self.mark} {self.text}"


def accounts_named(api: ManagementApi, name: str) -> list[dict[str, Any]]:
    """Return the accounts of a service with this name, and the one with this id."""
    found, cursor = list[dict[str, Any]](), ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        query = f"?search={quote(name, safe='')}&limit=100{more}"
        page = api.call("GET", f"{ACCOUNT.path}{query}")
        found += [one for one in page["items"] if name in {one["name"], one["id"]}]
        cursor = page["nextCursor"]
    return found


@dataclass(slots=True)
class ManagedAccount:
    """An account over the HTTP API.

    Args:
        acts_for: the account's id, if the key is an operator's.
        account_id: the same, or that of the key's account. None until it is created.
    """

    api: ManagementApi
    acts_for: str | None
    account_id: str | None

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:  # noqa: ANN401  JSON
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.call(method, path, body, account=self.acts_for, headers=sent)

    def items(self, kind: Kind) -> list[dict[str, Any]]:
        path = kind.list_path or kind.path
        items: list[dict[str, Any]] = []
        return items if self.account_id is None else [*self.call("GET", path)["items"]]

    def add(self, kind: Kind, body: object, beside: Iterable[str] = ()) -> Any:  # noqa: ANN401  JSON
        """Create an object, beside no others of its name but those with these ids."""
        known = ",".join(beside)
        match = {"If_Match": known} if known else {"If_None_Match": "*"}
        return self.call("POST", kind.path, body, **match)

    def change(self, kind: Kind, item_id: str, body: object) -> Any:  # noqa: ANN401  JSON
        return self.call("PATCH", f"{kind.path}/{quote(item_id, safe='')}", body)

    def remove(self, kind: Kind, item_id: str) -> None:
        """Remove an object, if there is such a one."""
        try:
            self.call("DELETE", f"{kind.path}/{quote(item_id, safe='')}")
        except RefusedCall as refused:
            if not refused.is_absence:
                raise

    def look(self, domain: str) -> Any:  # noqa: ANN401  JSON
        """Ask DNS about a domain, and return what it says of each record."""
        return self.call("GET", f"{DOMAIN.path}/{quote(domain, safe='')}")

    def receiving_steps(self, fields: DomainFields, state: Mapping[str, Any]) -> Iterator[Step]:
        """Yield what changes the receiving of a verified domain."""
        label = (state["receives"] or "").removesuffix(f".{fields.domain}")
        known = {**state, "receive": label}
        if changes := changes_of(known, body_of(fields, ChangeDomainRequest)):
            text = ", ".join(_words(known, name, new) for name, new in changes.items())
            run = partial(self.change, DOMAIN, fields.domain, changes)
            yield Step("~", f"domain {fields.domain}: {text}", run)

    def may_send_from(self, address: str) -> bool:
        """Return whether a domain of an address is verified, after a look at those that are not."""
        names = domain_and_parents(domain_of(address))
        return any(
            one["status"] == "verified" or self.look(one["domain"])["status"] == "verified"
            for one in self.items(DOMAIN)
            if one["domain"] in names
        )

    def set_default(self, sender: str) -> None:
        self.call("PUT", f"{SENDER.path}/{quote(sender, safe='')}/default")

    def publish(self, template_id: str, content: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
        """Save what of a draft differs, publish it, and return the version."""
        path = f"{TEMPLATE.path}/{template_id}"
        state = self.call("GET", f"{path}/draft")
        try:
            if any(state[name] != new for name, new in content.items()):
                body = {**content, "samples": state["samples"]}
                state = self.call("PUT", f"{path}/draft", body, If_Match=str(state["revision"]))
            return self.call("POST", f"{path}/publish", If_Match=str(state["revision"]))
        except RefusedCall as refused:
            if refused.refusal != "draft_changed":
                raise
            return self.publish(template_id, content)  # somebody else has saved it meanwhile

    def setting_steps(self, fields: AccountFields, made: Mapping[str, Any]) -> Iterator[Step]:
        """Yield what changes the account itself. `made` is what a new one has."""
        path = _OPERATED if self.acts_for else _ACCOUNT
        state = self.call("GET", path.format(self.account_id)) if self.account_id else made
        wanted = body_of(fields, ChangeAccountRequest)
        if fields.name == self.account_id:
            del wanted["name"]  # it is named by its id
        yield from self._changes(_ACCOUNT, state, wanted)
        yield from self._changes(_OPERATED, state, body_of(fields, OperateAccountRequest))
        if fields.alerts:
            alerts = self.call("GET", _ALERTS) if self.account_id else {}
            yield from self._changes(_ALERTS, alerts, body_of(fields.alerts, ChangeAlertsRequest))

    def _changes(
        self, path: str, state: Mapping[str, Any], wanted: Mapping[str, Any]
    ) -> Iterator[Step]:
        if changes := changes_of(state, wanted):
            text = ", ".join(_words(state, name, new) for name, new in changes.items())
            yield Step("~", text, partial(self._set, path, changes))

    def _set(self, path: str, changes: Mapping[str, Any]) -> None:
        self.call("PATCH", path.format(self.account_id), changes)

    def member_steps(self, members: Sequence[InviteMemberRequest]) -> Iterator[Step]:
        """Yield what invites members and changes their roles. No member is ever removed."""
        items = self.items(MEMBER) if members else []
        found = {mailbox_key(one["email"]): one for one in items}
        for member in members:
            body = body_of(member, InviteMemberRequest)
            item = found.get(mailbox_key(normalize_address(member.email)))
            if item is None:
                yield Step("+", f"member {member.email}", partial(self.add, MEMBER, body))
            elif item["role"] != member.role:
                run = partial(self.change, MEMBER, item["id"], {"role": member.role})
                yield Step("~", f"member {member.email}: role {item['role']} -> {member.role}", run)

    def suppression_steps(self, addresses: Collection[str]) -> Iterator[Step]:
        """Yield what adds addresses to the suppressions. None is ever removed."""
        found, cursor = set[str](), ""
        while self.account_id and addresses and cursor is not None:
            more = f"&cursor={quote(cursor)}" if cursor else ""
            page = self.call("GET", f"/v1/suppressions?limit=1000{more}")
            found |= {one["address"] for one in page["items"]}
            cursor = page["nextCursor"]
        # Of a person whose address was erased the service has a hash.
        account_id = self.account_id or ""
        missing = sorted(
            one for one in {*addresses} - found if hashed_mailbox(account_id, one) not in found
        )
        for start in range(0, len(missing), MAX_ADDRESSES):
            body = {"addresses": missing[start : start + MAX_ADDRESSES]}
            text = f"{len(body['addresses'])} suppressions"
            yield Step("+", text, partial(self.call, "POST", "/v1/suppressions", body))


def _words(state: Mapping[str, Any], name: str, new: Any) -> str:  # noqa: ANN401  JSON
    if name == "chatUrl" or isinstance(new, list | dict):
        return name
    return f"{name} {state.get(name) or 'none'} -> {new or 'none'}"
