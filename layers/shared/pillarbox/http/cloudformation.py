"""Accounts' objects as CloudFormation's custom resources: each request gets one response."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from time import sleep
from typing import Any, ClassVar, Final

from pillarbox import observability
from pillarbox.application.management import ManagementApi, RefusedCall, SecretValues
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.domain.webhooks.endpoint import WebhookFormat
from pillarbox.http.accounts.wire import AddDomainRequest, AddSenderRequest, CreateKeyRequest
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.provisioning import (
    ACCOUNT,
    DOMAIN,
    KEY,
    SENDER,
    TEMPLATE,
    WEBHOOK,
    AccountFields,
    DomainFields,
    KeyFields,
    Kind,
    ManagedAccount,
    SenderFields,
    accounts_named,
    as_stored,
    body_of,
)
from pillarbox.http.query import one_of
from pillarbox.http.templates.wire import CreateTemplateRequest, SaveDraftRequest
from pillarbox.http.webhooks.wire import ChangeWebhookRequest, CreateWebhookRequest
from pillarbox.http.wire import (
    WireModel,
    anything,
    dropped,
    list_of,
    optional,
    optional_or,
    text,
    validate,
)

#: What CloudFormation itself reads.
_OF_CLOUDFORMATION: Final = frozenset({"ServiceToken", "ServiceTimeout"})

type Properties = Mapping[str, Any]


class OnDelete(StrEnum):
    """What becomes of an account whose resource is deleted."""

    SUSPEND = "suspend"
    DELETE = "delete"


class WaitFor(StrEnum):
    """What a domain's resource waits for."""

    PROOF = "proof"
    VERIFICATION = "verification"


_ACCOUNT_ID: Final = text(least=1)
_ADDRESS: Final = as_stored(lambda value: mailbox_key(normalize_address(value)))


class AccountProperties(AccountFields):
    """An account, with addresses that it must not send to."""

    on_delete = optional_or(one_of(OnDelete), OnDelete.SUSPEND)
    suppressions = optional_or(list_of(_ADDRESS), [])


class DomainProperties(DomainFields):
    """A domain. `After` is any text."""

    account = optional(_ACCOUNT_ID)
    wait_for = optional(one_of(WaitFor))
    after = optional(anything())

    @property
    def receives(self) -> bool:
        """Whether it says something about receiving.

        Raises:
            ValidationFailed: it does not wait until the domain can receive.
        """
        says = self.receive is not None or self.receive_names is not None
        if says and self.wait_for is not WaitFor.VERIFICATION:
            raise ValidationFailed(
                FieldError("Receive", "needs WaitFor: verification", "not_allowed")
            )
        return says


class SenderProperties(SenderFields):
    """A sender."""

    account = optional(_ACCOUNT_ID)


class TemplateProperties(SaveDraftRequest):
    """A template."""

    samples = dropped()
    account = optional(_ACCOUNT_ID)
    kind = optional_or(one_of(SourceKind), SourceKind.HTML)


class WebhookProperties(CreateWebhookRequest):
    """A webhook endpoint."""

    account = optional(_ACCOUNT_ID)


class KeyProperties(KeyFields):
    """An API key. `Rotated` is any text."""

    account = optional(_ACCOUNT_ID)
    rotated = optional(anything())


def read_properties[P: WireModel](shape: type[P], properties: Properties) -> P:
    """Return the properties of a resource, which CloudFormation has as texts."""
    given = {name: value for name, value in properties.items() if name not in _OF_CLOUDFORMATION}
    try:
        return validate(shape, _in_camel_case(given), strict=False)
    except ValidationFailed as error:
        faults = (
            FieldError(".".join(map(_pascal, one.field.split("."))), one.message, one.code)
            for one in error.errors
        )
        raise ValidationFailed(*faults) from None


def _in_camel_case(value: Any) -> Any:  # noqa: ANN401  JSON
    """Write names as the API does: `KeepDays` as `keepDays`."""
    if isinstance(value, list):
        return [_in_camel_case(one) for one in value]
    if isinstance(value, dict):
        return {name[:1].lower() + name[1:]: _in_camel_case(one) for name, one in value.items()}
    return value


def _pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def records_of(domain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the DNS records as attributes: OwnershipName, Dkim1Value, MailFromSpfName, …."""
    attributes: dict[str, Any] = {
        "Name": domain["domain"],
        "Status": domain["status"],
        "MailFrom": domain["mailFrom"],
    }
    keys = 0
    for record in domain["records"]:
        name = record["purpose"].title().replace(" ", "")
        if record["purpose"] == "DKIM":
            keys += 1
            name += str(keys)
        attributes |= {f"{name}Name": record["host"], f"{name}Value": record["value"]}
    return attributes


#: Seconds between two looks at something that takes its time. An account has 60 a minute, and
#: each of its senders may wait.
_PAUSE: Final = 30.0


@dataclass(slots=True, kw_only=True)
class ResourceTarget(ManagedAccount):
    """What a resource needs. Its account is that of the property, if the key is an operator's."""

    secrets: SecretValues
    #: Waits for some seconds; raises `TimeIsUp` if the function would have no time left.
    pause: Callable[[float], None]
    properties: Properties
    #: The properties before an update.
    before: Properties
    #: Names this resource among all of all stacks.
    name: str
    #: Whether an object that exists may be taken, as in the rollback of a replacement.
    may_take: bool
    #: Is called with the id of an object as soon as it exists, and whether this request created it.
    note_id: Callable[[str, bool], None]

    def find(self, kind: Kind, title: str) -> dict[str, Any] | None:
        """Return the object of a title; a new resource refuses it."""
        found = next((one for one in self.items(kind) if one[kind.title] == title), None)
        if found is not None and not self.may_take:
            raise _exists("Name" if kind is DOMAIN else _pascal(kind.title))
        return found


def _exists(name: str) -> ValidationFailed:
    message = "exists already, and the stack would delete it: remove it first"
    return ValidationFailed(FieldError(name, message, "exists"))


class Resource[P: WireModel]:
    """A type of resource. One whose `identity` changes is replaced: created, then deleted."""

    properties: type[P]
    #: The properties that cannot change.
    identity: ClassVar[tuple[str, ...]]
    #: Whether its attributes are about a secret.
    secret: ClassVar[bool] = False

    def create(self, target: ResourceTarget, given: P) -> dict[str, Any]:
        """Create an object and return its attributes.

        A new resource refuses an object that exists: the stack would delete what it did not create.
        """
        raise NotImplementedError

    def update(self, target: ResourceTarget, given: P, physical_id: str) -> dict[str, Any]:
        """Change an object and return its attributes."""
        raise NotImplementedError

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Delete an object. One that does not exist is an error 404."""
        raise NotImplementedError


class AccountResource(Resource[AccountProperties]):
    """An account. Deleting it suspends it, unless OnDelete says `delete`."""

    properties = AccountProperties
    identity = ()

    def create(self, target: ResourceTarget, given: AccountProperties) -> dict[str, Any]:
        if not target.may_take and accounts_named(target.api, given.name):
            raise _exists("Name")
        body = {"plan": Plan.FREE} | body_of(given, CreateAccountRequest)
        physical_id: str = target.add(ACCOUNT, body)["id"]
        target.note_id(physical_id, True)
        return self._set(target, given, physical_id)

    def update(
        self, target: ResourceTarget, given: AccountProperties, physical_id: str
    ) -> dict[str, Any]:
        """Change it. The contact stays, since the owner may have confirmed it."""
        if given.contact is not None and given.contact != target.before.get("Contact"):
            state = target.call("GET", f"{ACCOUNT.path}/{physical_id}")
            if mailbox_key(state["contact"] or "") != mailbox_key(given.contact):  # no rollback
                raise ValidationFailed(FieldError("Contact", "cannot change", "not_allowed"))
        return self._set(target, given, physical_id)

    @staticmethod
    def _set(target: ResourceTarget, given: AccountProperties, physical_id: str) -> dict[str, Any]:
        target.account_id = target.acts_for = physical_id
        given.plan = given.plan or Plan.FREE
        for steps in (
            target.setting_steps(given, {}),
            target.member_steps(given.members or ()),
            target.suppression_steps(given.suppressions),
        ):
            for step in steps:
                if step.run:
                    step.run()
        return {"Name": given.name, "Plan": given.plan}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Suspend an account; delete it if that is wanted, which takes two minutes and more."""
        path = f"{ACCOUNT.path}/{physical_id}"
        state = target.call("GET", path)
        if state["suspendedAt"] is None:
            reason = {"reason": "Its stack was deleted"}
            target.call("POST", f"{path}/suspension", reason)
        if target.properties.get("OnDelete") != OnDelete.DELETE:
            return
        for _ in range(_LOOKS):
            target.pause(_PAUSE)
        while not target.call("DELETE", path)["done"]:
            target.pause(0)


#: So many looks take longer than an account must be suspended before it is deleted.
_LOOKS: Final = 5


class DomainResource(Resource[DomainProperties]):
    """A domain, with its DNS records. With WaitFor it waits, and then may receive."""

    properties = DomainProperties
    identity = ("Name", "Account", "WaitFor")

    def create(self, target: ResourceTarget, given: DomainProperties) -> dict[str, Any]:
        """Add a domain, or wait until DNS has what it needs."""
        physical_id = "/".join(filter(None, (given.account, given.domain, given.wait_for)))
        if given.wait_for is None and not given.receives:
            exists = target.find(DOMAIN, given.domain) is not None
            attributes = records_of(target.add(DOMAIN, body_of(given, AddDomainRequest)))
            target.note_id(physical_id, not exists)
            return attributes
        if given.receives and not target.may_take:
            found = [one for one in target.items(DOMAIN) if one["domain"] == given.domain]
            if any(one["receives"] for one in found):
                raise _exists("Receive")
        target.note_id(physical_id, False)
        return self._wait(target, given)

    def update(
        self, target: ResourceTarget, given: DomainProperties, physical_id: str
    ) -> dict[str, Any]:
        """Look again. The MAIL FROM domain stays, since accounts share it at SES."""
        del physical_id
        attributes = self._wait(target, given)
        current = attributes["MailFrom"]
        if body_of(given, AddDomainRequest).get("mailFrom", current) != current:
            message = f"is {current}, and cannot change"
            raise ValidationFailed(FieldError("MailFrom", message, "not_allowed"))
        return attributes

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        if "WaitFor" not in target.properties:
            target.remove(DOMAIN, physical_id.rpartition("/")[2])
        elif target.properties.get("Receive"):
            target.change(DOMAIN, physical_id.split("/")[-2], {"receive": ""})

    @staticmethod
    def _wait(target: ResourceTarget, given: DomainProperties) -> dict[str, Any]:
        while True:
            domain = target.look(given.domain)
            # The other records are known after the proof.
            is_proved = len(domain["records"]) > 1 and given.wait_for is WaitFor.PROOF
            if given.wait_for is None or domain["status"] == "verified" or is_proved:
                break
            target.pause(_PAUSE)
        for step in target.receiving_steps(given, domain) if given.receives else ():
            domain = step.run() if step.run else domain
        return records_of(domain)


class SenderResource(Resource[SenderProperties]):
    """A sender. It waits until its domain is verified."""

    properties = SenderProperties
    identity = ("Address", "Account")

    def create(self, target: ResourceTarget, given: SenderProperties) -> dict[str, Any]:
        exists = target.find(SENDER, given.address) is not None
        while not target.may_send_from(given.address):
            target.pause(_PAUSE)
        target.add(SENDER, body_of(given, AddSenderRequest))
        physical_id = "/".join(filter(None, (given.account, given.address)))
        target.note_id(physical_id, not exists)
        return self.update(target, given, physical_id)

    def update(
        self, target: ResourceTarget, given: SenderProperties, physical_id: str
    ) -> dict[str, Any]:
        """Make it the default, if that is wanted; another sender takes that from it."""
        del physical_id
        if given.default:
            target.set_default(given.address)
        return {"Address": given.address}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        target.remove(SENDER, physical_id.rpartition("/")[2])


class TemplateResource(Resource[TemplateProperties]):
    """A template, which is published at each change."""

    properties = TemplateProperties
    identity = ("Account",)

    def create(self, target: ResourceTarget, given: TemplateProperties) -> dict[str, Any]:
        found = target.find(TEMPLATE, given.name)
        template = found or target.add(TEMPLATE, body_of(given, CreateTemplateRequest))
        target.note_id(template["id"], found is None)
        return self.update(target, given, template["id"])

    def update(
        self, target: ResourceTarget, given: TemplateProperties, physical_id: str
    ) -> dict[str, Any]:
        """Save the draft and publish it."""
        content = {"text": "", "kind": given.kind} | body_of(given, SaveDraftRequest)
        content["locales"] = {
            name: {"text": None} | part for name, part in content.get("locales", {}).items()
        }
        return {"Version": target.publish(physical_id, content)["version"]}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        target.remove(TEMPLATE, physical_id)


class WebhookResource(Resource[WebhookProperties]):
    """A webhook endpoint. Its secret goes to Secrets Manager; one in AWS has a role instead."""

    properties = WebhookProperties
    identity = ("Url", "Account")
    secret = True

    def create(self, target: ResourceTarget, given: WebhookProperties) -> dict[str, Any]:
        if found := target.find(WEBHOOK, given.url):
            target.note_id(found["id"], False)
            return self.update(target, given, found["id"])
        made = target.add(WEBHOOK, body_of(given, CreateWebhookRequest))
        target.note_id(made["id"], True)
        if made["secret"] is None:
            return {}
        return {"SecretArn": target.secrets.store(made["id"], made["secret"])}

    def update(
        self, target: ResourceTarget, given: WebhookProperties, physical_id: str
    ) -> dict[str, Any]:
        """Change what may change, and make a new secret if the old one is lost."""
        body = {"format": WebhookFormat.PILLARBOX} | body_of(given, ChangeWebhookRequest)
        if target.change(WEBHOOK, physical_id, body)["roleArn"] is not None:
            return {}
        arn = target.secrets.find(physical_id)
        if arn is None:
            secret = target.call("POST", f"{WEBHOOK.path}/{physical_id}/rotate")["secret"]
            arn = target.secrets.store(physical_id, secret)
        return {"SecretArn": arn}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        target.remove(WEBHOOK, physical_id)
        target.secrets.delete(physical_id)


class KeyResource(Resource[KeyProperties]):
    """An API key. Its value goes to Secrets Manager, and nothing of a key can change."""

    properties = KeyProperties
    identity = ("Name", "Preset", "Account", "ExpiresAt", "Rotated", "Scopes", "Sources")
    secret = True

    def create(self, target: ResourceTarget, given: KeyProperties) -> dict[str, Any]:
        """Create a key. Its name ends with what it is for.

        By that a request that is repeated finds it, and a rollback the key that it goes back to:
        programs still have its value.
        """
        known = [target.name, *(target.properties.get(one) for one in self.identity)]
        digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
        name = f"{given.name} {digest[:8]}"
        for key in target.items(KEY):
            if key["name"] == name and not key["revokedAt"]:
                if arn := target.secrets.find(key["id"]):
                    target.note_id(key["id"], False)
                    return {"SecretArn": arn}
                target.remove(KEY, key["id"])  # its value is lost
        made = target.add(KEY, body_of(given, CreateKeyRequest) | {"name": name})
        target.note_id(made["id"], True)
        return {"SecretArn": target.secrets.store(made["id"], made["key"])}

    def update(
        self, target: ResourceTarget, given: KeyProperties, physical_id: str
    ) -> dict[str, Any]:
        """Return what the key has: only what CloudFormation itself reads has changed."""
        del physical_id
        return self.create(target, given)

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        target.remove(KEY, physical_id)
        target.secrets.delete(physical_id)


TYPES: Final[Mapping[str, Resource[Any]]] = {
    f"Custom::Pillarbox{one.__name__.removesuffix('Resource')}": one()
    for one in (
        AccountResource,
        DomainResource,
        KeyResource,
        SenderResource,
        TemplateResource,
        WebhookResource,
    )
}


#: Seconds. No call begins later than this before the end of the function's time. The slowest one
#: takes half of it, and the response has the rest.
RESERVE: Final = 60.0
#: A call that the service refuses for now is made so often, after so many seconds.
_TRIES: Final = 12
_WAIT: Final = 10.0
#: In characters. CloudFormation refuses a response of more than 4 KB.
_MAX_REASON: Final = 1_000
#: Begins the id of an object that was never created.
_NONE: Final = "not-created/"


class TimeIsUp(Exception):
    """The function has only the time left that the response needs."""


@dataclass(frozen=True, slots=True)
class ResourceResponse:
    """What CloudFormation gets. `outcome` is for the log: it names no property."""

    body: Mapping[str, Any]
    outcome: str


@dataclass(frozen=True, slots=True)
class TimedApi:
    """Makes calls while there is time."""

    api: ManagementApi
    seconds_left: Callable[[], float]
    pause: Callable[[float], None]

    def call(self, method: str, path: str, body: object = None, **more: Any) -> Any:  # noqa: ANN401  as the protocol
        """Make a call, again for two minutes if the service is busy."""
        for left in reversed(range(_TRIES)):
            if self.seconds_left() < RESERVE:
                raise TimeIsUp
            try:
                return self.api.call(method, path, body, **more)
            except RefusedCall as error:
                if not (error.is_busy and left):
                    raise
            self.pause(_WAIT)
        raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceProvider:
    """Creates, changes and deletes what stacks describe."""

    api: ManagementApi
    secrets: SecretValues
    seconds_left: Callable[[], float]
    sleep: Callable[[float], None] = field(default=sleep)

    def respond(self, event: Mapping[str, Any]) -> ResourceResponse:
        """Carry a request out and return the response. Every failure is one too."""
        work = _Work(self, event)
        try:
            attributes = work.run()
        except TimeIsUp:
            reason, outcome = "It took too long. What is done stays; try again.", "time"
        except ValidationFailed as error:
            faults = "; ".join(f"{one.field} {one.message}" for one in error.errors)
            reason, outcome = faults, "invalid"
        except RefusedCall as error:
            reason, outcome = error.message, error.refusal
        except ServiceError as error:
            reason, outcome = error.message, error.code
        except Exception as error:  # noqa: BLE001  without a response the stack would hang for an hour
            observability.log_failure(observability.make_logger(), error)
            # Its text may have a value.
            reason, outcome = f"{type(error).__name__}: see the log of the function.", "error"
        else:
            return work.response("SUCCESS", "done", Data=attributes)
        return work.response("FAILED", outcome, Reason=reason[:_MAX_REASON])

    def pause(self, seconds: float) -> None:
        if self.seconds_left() < RESERVE + seconds:
            raise TimeIsUp
        self.sleep(seconds)


class _Work:
    """One request."""

    def __init__(self, provider: ResourceProvider, event: Mapping[str, Any]) -> None:
        self._provider = provider
        self._event = event
        self._request: str = event["RequestType"]
        #: The object that CloudFormation knows, and the one that this request has made.
        self._known: str = event.get("PhysicalResourceId", "")
        self._made = self._created = ""
        self._type = TYPES.get(event["ResourceType"])

    def run(self) -> Mapping[str, Any]:
        if self._type is None:
            types = ", ".join(TYPES)
            raise ServiceError("route_not_found", f"There is no such type. There are {types}.")
        properties = self._event.get("ResourceProperties", {})
        if self._request == "Delete":
            return self._delete(self._type, self._known, properties)
        given = read_properties(self._type.properties, properties)
        if self._request == "Create":
            return self._type.create(self._target(properties), given)
        before = self._event.get("OldResourceProperties", {})
        if all(before.get(name) == properties.get(name) for name in self._type.identity):
            return self._type.update(self._target(properties), given, self._known)
        return self._replace(self._type, properties, given)

    def response(self, status: str, outcome: str, **more: object) -> ResourceResponse:
        """Return the response. A failed update leaves CloudFormation with the object that it knows.

        So the next request is about that one, and what a failed creation made is deleted by the
        request that CloudFormation makes then.
        """
        failed = status == "FAILED"
        made = self._made if self._request == "Create" or not failed else ""
        physical_id = made or self._known or f"{_NONE}{self._event['RequestId']}"
        body = {
            "Status": status,
            "PhysicalResourceId": physical_id,
            **{name: self._event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
            "NoEcho": self._type is not None and self._type.secret,
            **more,
        }
        return ResourceResponse(body, outcome)

    def _replace(
        self, kind: Resource[Any], properties: Mapping[str, Any], given: WireModel
    ) -> Mapping[str, Any]:
        """Create the new object. CloudFormation asks for the deletion of the old one later."""
        try:
            return kind.create(self._target(properties), given)
        except Exception:
            if self._created:
                self._delete(kind, self._created, properties)
            raise

    def _delete(
        self, kind: Resource[Any], physical_id: str, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if physical_id.startswith(_NONE):
            return {}
        try:
            kind.delete(self._target(properties), physical_id)
        except RefusedCall as error:
            if not error.is_absence:
                raise
        return {}

    def _target(self, properties: Mapping[str, Any]) -> ResourceTarget:
        provider, account_id = self._provider, properties.get("Account")
        return ResourceTarget(
            acts_for=account_id,
            account_id=account_id or "",  # that of the key's own account is of no use
            api=TimedApi(provider.api, provider.seconds_left, provider.pause),
            secrets=provider.secrets,
            pause=provider.pause,
            properties=properties,
            before=self._event.get("OldResourceProperties", {}),
            name=f"{self._event['StackId']}/{self._event['LogicalResourceId']}",
            may_take=self._request == "Update",
            note_id=self._note,
        )

    def _note(self, physical_id: str, created: bool) -> None:  # noqa: FBT001  as the protocol
        self._made = physical_id
        if created:
            self._created = physical_id


def in_json(response: ResourceResponse) -> bytes:
    return json.dumps(response.body).encode()
