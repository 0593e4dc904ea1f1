"""The types of custom resources: what each creates, changes and deletes over the HTTP API.

CloudFormation makes texts of numbers and switches.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import quote

from pillarbox.application.management import ManagementApi, RefusedCall, SecretValues
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.webhooks.endpoint import WebhookFormat

#: What CloudFormation itself reads.
_OF_CLOUDFORMATION: Final = frozenset({"ServiceToken", "ServiceTimeout"})
_FLAGS: Final = {"true": True, "false": False}

type Properties = Mapping[str, Any]


def checked(
    properties: Properties, required: tuple[str, ...], optional: tuple[str, ...]
) -> Properties:
    """Return the properties of a resource without those of CloudFormation.

    Raises:
        ValidationFailed: one is missing or unknown; each is named.
    """
    given = {name: value for name, value in properties.items() if name not in _OF_CLOUDFORMATION}
    errors = [FieldError(name, "is missing", "required") for name in required if name not in given]
    errors += [
        FieldError(name, "is not a property of this type", "unknown_field")
        for name in given
        if name not in (*required, *optional)
    ]
    if errors:
        raise ValidationFailed(*errors)
    return given


def is_set(properties: Properties, name: str) -> bool:
    """Return whether a switch is on; without the property it is off.

    Raises:
        ValidationFailed: it is neither true nor false.
    """
    value = str(properties.get(name, "false")).lower()
    if value not in _FLAGS:
        raise ValidationFailed(FieldError(name, "must be true or false", "invalid"))
    return _FLAGS[value]


def keep_days(properties: Properties) -> dict[str, int]:
    """Return for at most how many days to keep content; without the property they stay.

    Raises:
        ValidationFailed: it is no whole number.
    """
    if "KeepDays" not in properties:
        return {}
    value = str(properties["KeepDays"])
    if not re.fullmatch("[0-9]{1,99}", value):
        raise ValidationFailed(FieldError("KeepDays", "must be a whole number", "invalid"))
    return {"keepDays": int(value)}


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


#: Seconds between two looks at something that takes its time.
_PAUSE: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTarget:
    """What a resource needs."""

    api: ManagementApi
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

    @property
    def account(self) -> str | None:
        """The account, if the key is an operator's."""
        return self.properties.get("Account")

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:  # noqa: ANN401  JSON
        """Make a request about the account."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.call(method, path, body, account=self.account, headers=sent)

    def add(self, path: str, body: object) -> Any:  # noqa: ANN401  JSON
        """Create an object, and none beside another one of its name."""
        return self.call("POST", path, body, If_None_Match="*")

    def given(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return the properties that are given, by the names that the API has for them."""
        return {
            field: self.properties[name] for name, field in names.items() if name in self.properties
        }


class Resource:
    """A type of resource. One whose `identity` changes is replaced: created, then deleted."""

    required: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]] = ()
    #: The properties that cannot change.
    identity: ClassVar[tuple[str, ...]]
    #: Whether its attributes are about a secret.
    secret: ClassVar[bool] = False

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Create an object and return its attributes.

        A new resource refuses an object that exists: the stack would delete what it did not create.
        """
        raise NotImplementedError

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Change an object and return its attributes."""
        raise NotImplementedError

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Delete an object. One that does not exist is an error 404."""
        raise NotImplementedError


class AccountResource(Resource):
    """An account. Deleting it suspends it, unless OnDelete says `delete`."""

    required = ("Name",)
    optional = ("Contact", "OnDelete", "Plan")
    identity = ()
    _ON_DELETE = ("suspend", "delete")

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Create an account."""
        self._on_delete(target)
        name, plan = target.properties["Name"], target.properties.get("Plan", "free")
        query, cursor = f"/v1/operator/accounts?search={quote(name, safe='')}&limit=100", ""
        while cursor is not None:
            page = target.api.call("GET", query + (f"&cursor={cursor}" if cursor else ""))
            _check_new(target, "Name", name in {one["name"] for one in page["items"]})
            cursor = page["nextCursor"]
        body = {"name": name, "plan": plan} | target.given({"Contact": "contact"})
        made = target.add("/v1/operator/accounts", body)
        target.note_id(made["id"], True)
        return {"Name": name, "Plan": plan}

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Change name and plan. The contact stays, since the owner may have confirmed it."""
        self._on_delete(target)
        name, plan = target.properties["Name"], target.properties.get("Plan", "free")
        contact = target.properties.get("Contact")
        if contact not in {None, target.before.get("Contact")}:
            state = target.api.call("GET", f"/v1/operator/accounts/{physical_id}")
            if mailbox_key(state["contact"] or "") != mailbox_key(contact):  # no rollback
                raise ValidationFailed(FieldError("Contact", "cannot change", "not_allowed"))
        target.api.call("PATCH", "/v1/account", {"name": name}, account=physical_id)
        target.api.call("PATCH", f"/v1/operator/accounts/{physical_id}", {"plan": plan})
        return {"Name": name, "Plan": plan}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Suspend an account; delete it if that is wanted, which takes two minutes and more."""
        path = f"/v1/operator/accounts/{physical_id}"
        state = target.api.call("GET", path)
        if state["suspendedAt"] is None:
            reason = {"reason": "Its stack was deleted"}
            target.api.call("POST", f"{path}/suspension", reason)
        if self._on_delete(target) == "suspend":
            return
        for _ in range(_LOOKS):
            target.pause(_PAUSE)
        while not target.api.call("DELETE", path)["done"]:
            target.pause(0)

    def _on_delete(self, target: ResourceTarget) -> str:
        choice: str = target.properties.get("OnDelete", "suspend")
        if choice not in self._ON_DELETE:
            message = f"must be one of {', '.join(self._ON_DELETE)}"
            raise ValidationFailed(FieldError("OnDelete", message, "invalid_choice"))
        return choice


#: So many looks take longer than an account must be suspended before it is deleted.
_LOOKS: Final = 9


class DomainResource(Resource):
    """A domain, with its DNS records. With WaitFor it only waits: it adds and removes nothing."""

    required = ("Name",)
    optional = ("Account", "MailFrom", "After", "WaitFor")
    identity = ("Name", "Account", "WaitFor")
    _WAITS = ("proof", "verification")

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Add a domain, or wait until DNS has what it needs."""
        name, wait = target.properties["Name"].lower(), target.properties.get("WaitFor")
        if wait not in (None, *self._WAITS):
            message = f"must be one of {', '.join(self._WAITS)}"
            raise ValidationFailed(FieldError("WaitFor", message, "invalid_choice"))
        physical_id = "/".join(filter(None, (target.account, name, wait)))
        if wait is None:
            domains = target.call("GET", "/v1/domains")["items"]
            exists = _check_new(target, "Name", name in {one["domain"] for one in domains})
            body = {"domain": name} | target.given({"MailFrom": "mailFrom"})
            attributes = records_of(target.call("POST", "/v1/domains", body))
            target.note_id(physical_id, not exists)
            return attributes
        target.note_id(physical_id, False)
        return self._wait(target, name, wait)

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Look again. The MAIL FROM domain stays, since accounts share it at SES."""
        del physical_id
        name, wait = target.properties["Name"].lower(), target.properties.get("WaitFor", "")
        attributes = self._wait(target, name, wait)
        if target.properties.get("MailFrom", attributes["MailFrom"]) != attributes["MailFrom"]:
            message = f"is {attributes['MailFrom']}, and cannot change"
            raise ValidationFailed(FieldError("MailFrom", message, "not_allowed"))
        return attributes

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Remove a domain."""
        del physical_id
        if "WaitFor" not in target.properties:
            target.call("DELETE", f"/v1/domains/{_part(target.properties['Name'].lower())}")

    @staticmethod
    def _wait(target: ResourceTarget, name: str, wait: str) -> dict[str, Any]:
        while True:
            domain = target.call("GET", f"/v1/domains/{_part(name)}")
            # The other records are known after the proof.
            is_proved = len(domain["records"]) > 1
            if not wait or domain["status"] == "verified" or (wait == "proof" and is_proved):
                return records_of(domain)
            target.pause(_PAUSE)


class SenderResource(Resource):
    """A sender. It waits until its domain is verified."""

    required = ("Address",)
    optional = ("Account", "Default")
    identity = ("Address", "Account")

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Add a sender."""
        address = target.properties["Address"].lower()
        is_set(target.properties, "Default")
        senders = target.call("GET", "/v1/senders")["items"]
        exists = _check_new(target, "Address", address in {one["address"] for one in senders})
        domain = address.rpartition("@")[2]
        while not any(
            one["status"] == "verified" and f".{domain}".endswith(f".{one['domain']}")
            for one in target.call("GET", "/v1/domains")["items"]
        ):
            target.pause(_PAUSE)
        target.call("POST", "/v1/senders", {"address": address})
        physical_id = "/".join(filter(None, (target.account, address)))
        target.note_id(physical_id, not exists)
        return self.update(target, physical_id)

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Make it the default, if that is wanted; another sender takes that from it."""
        address = physical_id.rpartition("/")[2]
        if is_set(target.properties, "Default"):
            target.call("PUT", f"/v1/senders/{_part(address)}/default")
        return {"Address": address}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Remove a sender."""
        target.call("DELETE", f"/v1/senders/{_part(physical_id.rpartition('/')[2])}")


class TemplateResource(Resource):
    """A template, which is published at each change."""

    required = ("Name", "Subject", "Category", "Source")
    optional = ("Account", "KeepDays", "Kind", "Locales", "Text")
    identity = ("Account",)

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Create a template."""
        name, category = target.properties["Name"], target.properties["Category"]
        drafts = target.call("GET", "/v1/templates/drafts")["items"]
        found = [one["id"] for one in drafts if one["name"] == name]
        if not _check_new(target, "Name", bool(found)):
            body = {"name": name, "category": category}
            found = [target.add("/v1/templates", body)["id"]]
            target.note_id(found[0], True)
        target.note_id(found[0], False)
        return self.update(target, found[0])

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Save the draft and publish it."""
        path, given = f"/v1/templates/{physical_id}", target.properties
        state = target.call("GET", f"{path}/draft")
        locales = {
            name: {
                field: part[field.title()]
                for field in ("subject", "source", "text")
                if field.title() in part
            }
            for name, part in given.get("Locales", {}).items()
        }
        body = {
            "name": given["Name"],
            "subject": given["Subject"],
            "category": given["Category"],
            "kind": given.get("Kind", "html"),
            "source": given["Source"],
            "text": given.get("Text", ""),
            **keep_days(given),
            "locales": locales,
            "samples": state["samples"],
        }
        saved = target.call("PUT", f"{path}/draft", body, If_Match=str(state["revision"]))
        made = target.call("POST", f"{path}/publish", If_Match=str(saved["revision"]))
        return {"Version": made["version"]}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Delete a template."""
        target.call("DELETE", f"/v1/templates/{physical_id}")


class WebhookResource(Resource):
    """A webhook endpoint. Its secret goes to Secrets Manager; one in AWS has a role instead."""

    required = ("Url", "Types")
    optional = ("Account", "Format", "RoleArn")
    identity = ("Url", "Account")
    secret = True

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Create an endpoint."""
        body = {"url": target.properties["Url"]} | self._changes(target)
        endpoints = target.call("GET", "/v1/webhooks")["items"]
        found = [one["id"] for one in endpoints if one["url"] == body["url"]]
        if _check_new(target, "Url", bool(found)):
            target.note_id(found[0], False)
            return self.update(target, found[0])
        made = target.add("/v1/webhooks", body)
        target.note_id(made["id"], True)
        if made["secret"] is None:
            return {}
        return {"SecretArn": target.secrets.store(made["id"], made["secret"])}

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Change what may change, and make a new secret if the old one is lost."""
        path = f"/v1/webhooks/{physical_id}"
        if target.call("PATCH", path, self._changes(target))["roleArn"] is not None:
            return {}
        arn = target.secrets.find(physical_id)
        if arn is None:
            secret = target.call("POST", f"{path}/rotate")["secret"]
            arn = target.secrets.store(physical_id, secret)
        return {"SecretArn": arn}

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Delete an endpoint, then its secret."""
        _delete_with_secret(target, f"/v1/webhooks/{physical_id}", physical_id)

    @staticmethod
    def _changes(target: ResourceTarget) -> dict[str, Any]:
        given = target.given({"Types": "types", "Format": "format", "RoleArn": "roleArn"})
        return {"format": WebhookFormat.PILLARBOX.value} | given


class KeyResource(Resource):
    """An API key. Its value goes to Secrets Manager, and nothing of a key can change."""

    required = ("Name", "Preset")
    optional = ("Account", "ExpiresAt", "Rotated", "Scopes", "Sources")
    identity = (*required, *optional)
    secret = True

    def create(self, target: ResourceTarget) -> dict[str, Any]:
        """Create a key. Its name ends with what it is for.

        By that a request that is repeated finds it, and a rollback the key that it goes back to:
        programs still have its value.
        """
        given = [target.name, *(target.properties.get(one) for one in self.identity)]
        digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
        name = f"{target.properties['Name']} {digest[:8]}"
        for key in target.call("GET", "/v1/keys")["items"]:
            if key["name"] == name and not key["revokedAt"]:
                if arn := target.secrets.find(key["id"]):
                    target.note_id(key["id"], False)
                    return {"SecretArn": arn}
                target.call("DELETE", f"/v1/keys/{key['id']}")  # its value is lost
        fields = {"Preset": "preset", "Scopes": "scopes", "Sources": "sources"}
        body = {"name": name} | target.given(fields | {"ExpiresAt": "expiresAt"})
        made = target.add("/v1/keys", body)
        target.note_id(made["id"], True)
        return {"SecretArn": target.secrets.store(made["id"], made["key"])}

    def update(self, target: ResourceTarget, physical_id: str) -> dict[str, Any]:
        """Return what the key has: only what CloudFormation itself reads has changed."""
        del physical_id
        return self.create(target)

    def delete(self, target: ResourceTarget, physical_id: str) -> None:
        """Revoke a key, then delete its secret."""
        _delete_with_secret(target, f"/v1/keys/{physical_id}", physical_id)


TYPES: Final[Mapping[str, Resource]] = {
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


def _delete_with_secret(target: ResourceTarget, path: str, owner: str) -> None:
    try:
        target.call("DELETE", path)
    except RefusedCall as error:
        if not error.is_absence:
            raise
    target.secrets.delete(owner)


def _check_new(target: ResourceTarget, name: str, exists: bool) -> bool:  # noqa: FBT001  the condition
    """Return whether an object exists; a new resource refuses it.

    Raises:
        ValidationFailed: on the property that names it.
    """
    if exists and not target.may_take:
        message = "exists already, and the stack would delete it: remove it first"
        raise ValidationFailed(FieldError(name, message, "exists"))
    return exists


def _part(text: str) -> str:
    """Return a text as a part of a path."""
    return quote(text, safe="")
