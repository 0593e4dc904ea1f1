"""Custom::Pillarbox…: the life of each type of resource, as CloudFormation asks for it.

The events are those that CloudFormation sends. They are carried out by the functions of the API.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import pytest

from pillarbox import wiring
from pillarbox.adapters.management_api import HttpManagementApi, ProvisionedSecrets
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_token
from pillarbox.http.cloudformation import TYPES, ResourceProvider
from pillarbox.wiring import services
from tests.aws import shared_client
from tests.contract.client import Api
from tests.contract.name_server import RECORDS
from tests.contract.provisioning import ask, has
from tests.contract.service import Service
from tests.contract.test_domains import publish
from tests.contract.webhook_path import ROLE

RESERVE = 60.0

_STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop/5d2b"
_TIME: Final = 900.0


@dataclass(slots=True)
class InProcessProbe:
    """Implements the probe of the API: calls the functions, and fails at the call it is told."""

    calls: int = 0
    fails_at: int | None = None
    #: What happens at that call: it is refused before, or its response is lost after.
    after: bool = False
    texts: list[str] = field(default_factory=list)

    def request(
        self,
        method: str,
        path: str,
        *,
        key: str | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        self.calls += 1
        if self.calls == self.fails_at and not self.after:
            return 403, {"error": {"code": "scope_required", "message": "No."}}
        response = ask(key, method, path, body, headers)
        if self.calls == self.fails_at:
            raise Unavailable("API")
        return response.status, response.json if response.text else None


@dataclass(slots=True)
class CloudFormation:
    """Sends requests about one resource, as CloudFormation does during its life."""

    key: str
    kind: str
    physical_id: str = ""
    properties: dict[str, Any] = field(default_factory=dict)
    left: float = _TIME
    slept: list[float] = field(default_factory=list)
    probe: InProcessProbe = field(default_factory=InProcessProbe)
    responses: list[Mapping[str, Any]] = field(default_factory=list)

    def send(self, request: str, properties: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
        """Send one request and return the response, which must have what every one has."""
        event = {
            "RequestType": request,
            "ResponseURL": "https://cloudformation.example.amazonaws.com/x",
            "StackId": _STACK,
            "RequestId": new_token(12),
            "ResourceType": f"Custom::Pillarbox{self.kind}",
            "LogicalResourceId": "It",
            "ResourceProperties": {"ServiceToken": "arn", **properties},
            **more,
        }
        provider = ResourceProvider(
            api=HttpManagementApi(self.probe, self.key, tries=1),  # type: ignore[arg-type]
            secrets=ProvisionedSecrets("stack/provisioned/"),
            seconds_left=lambda: self.left,
            sleep=self._sleep,
        )
        body = provider.respond(event).body
        assert body["Status"] in {"SUCCESS", "FAILED"}
        assert (body["Status"] == "FAILED") is bool(body.get("Reason"))
        assert body["PhysicalResourceId"]
        for name in ("StackId", "RequestId", "LogicalResourceId"):
            assert body[name] == event[name]
        text = json.dumps(body)
        assert len(text.encode()) < 4_096
        assert "bx_live_" not in text
        assert "whsec_" not in text
        self.responses.append(body)
        return body

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.left -= seconds

    def create(self, **properties: Any) -> Mapping[str, Any]:
        """Create the resource; after a failure CloudFormation deletes what it was told of."""
        made = self.send("Create", properties)
        self.physical_id, self.properties = made["PhysicalResourceId"], properties
        if made["Status"] == "FAILED":
            self.delete()
        return made

    def update(self, **properties: Any) -> Mapping[str, Any]:
        """Update it; a new id replaces it, and a failure rolls it back."""
        known = {"PhysicalResourceId": self.physical_id}
        done = self.send("Update", properties, OldResourceProperties=self.properties, **known)
        old, before = self.physical_id, self.properties
        if done["Status"] == "FAILED":
            self.probe = InProcessProbe()
            assert done["PhysicalResourceId"] == old
            back = self.send("Update", before, OldResourceProperties=properties, **known)
            new = back["PhysicalResourceId"]
            assert back["Status"] == "SUCCESS", back
            self.physical_id = new
            if new != old:
                self.send("Delete", before, PhysicalResourceId=old)
            return done
        self.physical_id, self.properties = done["PhysicalResourceId"], properties
        if self.physical_id != old:
            self.probe = InProcessProbe()
            assert self.send("Delete", before, PhysicalResourceId=old)["Status"] == "SUCCESS"
        return done

    def delete(self) -> Mapping[str, Any]:
        """Delete it."""
        return self.send("Delete", self.properties, PhysicalResourceId=self.physical_id)


@pytest.fixture
def account(service: Service) -> str:
    """A new account with a verified domain and without senders."""
    account = service.account(senders={}, default=None)
    service.domain(account, f"{account}.example")
    return account


def secret_of(made: Mapping[str, Any]) -> str:
    """Return the value of the secret that a response names."""
    arn = made["Data"]["SecretArn"]
    assert made["NoEcho"] is True
    return str(shared_client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])


def secrets() -> set[str]:
    return {one["Name"] for one in shared_client("secretsmanager").list_secrets()["SecretList"]}


def first(kind: str, account: str) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "Account": {"Name": f"Shop {new_token(6)}"},
        "Domain": {"Name": f"new-{account}.example"},
        "Sender": {"Address": f"post@{account}.example", "Default": "true"},
        "Template": {
            "Name": "Receipt",
            "Subject": "Hi",
            "Category": "billing",
            "Source": "<p>{{ name }}</p>",
            "KeepDays": "7",
            "Locales": {"de": {"Subject": "Hallo", "Source": "<p>{{ name }}</p>"}},
        },
        "Webhook": {"Url": f"https://{account}.example/hook", "Types": ["email.bounced"]},
        "Key": {"Name": "web", "Preset": "custom", "Scopes": ["templates:read"]},
    }
    own = kinds[kind]
    return own if kind == "Account" else own | {"Account": account}


#: For each type a change in place, and one that replaces it.
_CHANGES: Final[dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]]] = {
    "Account": ({"Plan": "standard"}, None),
    "Domain": (None, {"Name": "other.example"}),
    "Sender": ({"Default": "false"}, {"Address": "other@{account}.example"}),
    "Template": ({"Subject": "Hello"}, None),
    "Webhook": ({"Types": ["email.delivered"]}, {"Url": "https://other.example/hook"}),
    "Key": (None, {"ExpiresAt": "2090-01-01T00:00:00Z"}),
}


@pytest.mark.parametrize("kind", [*_CHANGES])
def test_a_resource_lives(key: str, account: str, kind: str) -> None:
    before, known = has(key, account), secrets()
    stack = CloudFormation(key, kind)
    properties = first(kind, account)
    made = stack.create(**properties)
    assert made["Status"] == "SUCCESS", made
    assert kind == "Account" or has(key, account) != before
    in_place, replacing = _CHANGES[kind]
    if in_place:
        changed = stack.update(**properties | in_place)
        assert changed["PhysicalResourceId"] == made["PhysicalResourceId"]
    if replacing:
        filled = {name: text.format(account=account) for name, text in replacing.items()}
        new = stack.update(**properties | filled)
        assert new["Status"] == "SUCCESS", new
        assert new["PhysicalResourceId"] != made["PhysicalResourceId"]
        requests = [one["PhysicalResourceId"] for one in stack.responses]
        assert requests[-2:] == [new["PhysicalResourceId"], made["PhysicalResourceId"]]
    for _ in range(2):  # a missing object is deleted too
        assert stack.delete()["Status"] == "SUCCESS"
    assert has(key, account) == before
    assert secrets() == known


def test_a_webhook_in_aws_has_a_role_and_no_secret(key: str, account: str) -> None:
    """Its id is the external id of the role, which may change; no secret is made."""
    stack, known = CloudFormation(key, "Webhook"), secrets()
    bucket = {"Account": account, "Url": "s3://shop-events/", "Types": ["*"], "RoleArn": ROLE}
    made = stack.create(**bucket)
    assert (made["Status"], made["Data"]) == ("SUCCESS", {}), made
    changed = stack.update(**bucket | {"RoleArn": f"{ROLE}-2", "Types": ["email.bounced"]})
    assert (changed["Status"], changed["Data"]) == ("SUCCESS", {}), changed
    path = f"/webhooks/{made['PhysicalResourceId']}"
    shown = Api(key).raw("GET", path, headers={"X-Account": account}).json
    assert (shown["roleArn"], shown["types"]) == (f"{ROLE}-2", ["email.bounced"])
    assert stack.delete()["Status"] == "SUCCESS"
    assert secrets() == known


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", [*_CHANGES])
def test_each_failing_call_is_answered_and_rolled_back(
    key: str, service: Service, kind: str, *, after: bool
) -> None:
    """Whichever call fails, there is a response; creation leaves nothing, an update what was.

    A deletion that failed is made again.
    """
    known = secrets()
    for step in ("create", "update", "delete"):
        fails_at, failed = 1, True
        while failed:
            account = service.account(senders={}, default=None)
            service.domain(account, f"{account}.example")
            stack, properties = CloudFormation(key, kind), first(kind, account)
            empty = None if after else has(key, account)
            if step != "create":
                assert stack.create(**properties)["Status"] == "SUCCESS"
            wanted = None if after else has(key, account)
            stack.probe = InProcessProbe(fails_at=fails_at, after=after)
            if step == "create":
                failed = stack.create(**properties)["Status"] == "FAILED"
            elif step == "delete":
                failed = stack.delete()["Status"] == "FAILED"
            else:
                change = {
                    name: text.format(account=account) if isinstance(text, str) else text
                    for name, text in (_CHANGES[kind][1] or _CHANGES[kind][0] or {}).items()
                }
                failed = stack.update(**properties | change)["Status"] == "FAILED"
            if failed and not after:
                assert has(key, account) == wanted, (step, fails_at)
            if step != "create" or not failed:
                stack.probe = InProcessProbe()
                assert stack.delete()["Status"] == "SUCCESS"
            if not after:
                assert has(key, account) == empty
                assert secrets() == known
            fails_at += 1
        assert fails_at > 2


def test_a_key_works_until_its_replacement_is_in_use(key: str, account: str) -> None:
    """The new value has a secret of its own; the old key stops when CloudFormation cleans up."""
    Api(key).raw("GET", "/me")
    stack = CloudFormation(key, "Key")
    old = secret_of(stack.create(**first("Key", account)))
    change = first("Key", account) | {"Rotated": "2026-12"}
    event = {"OldResourceProperties": stack.properties, "PhysicalResourceId": stack.physical_id}
    new = stack.send("Update", change, **event)
    value = secret_of(new)
    assert value != old
    for text in (old, value):
        assert Api(text).raw("GET", "/me").status == 200
    stack.send("Delete", stack.properties, PhysicalResourceId=stack.physical_id)
    assert [Api(text).raw("GET", "/me").status for text in (old, value)] == [401, 200]


@pytest.mark.parametrize("kind", ["Domain", "Key", "Sender", "Webhook"])
def test_a_rollback_goes_back_to_the_same_object(key: str, account: str, kind: str) -> None:
    """If another resource of the stack fails, the old object is taken again and the new one goes.

    What depends on it was perhaps never changed, and still has the old key.
    """
    stack, properties = CloudFormation(key, kind), first(kind, account)
    old = stack.create(**properties)
    change = {
        name: text.format(account=account) for name, text in (_CHANGES[kind][1] or {}).items()
    }
    before = has(key, account)
    known = {"PhysicalResourceId": old["PhysicalResourceId"], "OldResourceProperties": properties}
    new = stack.send("Update", properties | change, **known)
    known = {
        "PhysicalResourceId": new["PhysicalResourceId"],
        "OldResourceProperties": properties | change,
    }
    back = stack.send("Update", properties, **known)
    assert {**back, "RequestId": ""} == {**old, "RequestId": ""}
    stack.send("Delete", properties | change, PhysicalResourceId=new["PhysicalResourceId"])
    assert has(key, account) == before
    if kind in {"Key", "Webhook"}:
        assert secret_of(back)


def test_no_update_succeeds_without_what_it_asks_for(key: str, account: str) -> None:
    """A Format that is left out again is the default one; another Contact is refused."""
    hook = CloudFormation(key, "Webhook")
    properties = first("Webhook", account)
    hook.create(**properties, Format="resend")
    assert hook.update(**properties)["Status"] == "SUCCESS"
    items = Api(key).raw("GET", "/webhooks", headers={"X-Account": account}).json["items"]
    assert [one["format"] for one in items] == ["pillarbox"]
    shop = CloudFormation(key, "Account")
    name = f"Shop {new_token(6)}"
    shop.create(Name=name, Contact="ada@shop.example")
    assert "Contact cannot change" in shop.update(Name=name, Contact="b@b.example")["Reason"]
    assert (
        shop.update(Name=name, Contact="Ada@Shop.example", Plan="standard")["Status"] == "SUCCESS"
    )


def test_an_account_has_all_that_the_api_may_set(key: str) -> None:
    """CloudFormation has numbers and switches as texts; a wrong one creates nothing."""
    stack, name = CloudFormation(key, "Account"), f"Shop {new_token(6)}"
    whole: dict[str, Any] = {
        "Name": name,
        "BrandName": "Shop",
        "KeepDays": "30",
        "RecordDays": "365",
        "OwnLimits": {"PerDay": "500"},
        "Isolation": "strict",
        "Alerts": {"Mail": "false", "Off": ["quota"]},
        "Members": [{"Email": "ann@shop.example", "Role": "owner"}],
        "Suppressions": ["Bob@Customer.example"],
    }
    wrong = stack.create(**whole | {"KeepDays": "many", "OwnLimits": {"PerDay": "-1"}})
    assert "KeepDays must be a whole number; OwnLimits.PerDay must be at least 0" in wrong["Reason"]
    account_id = stack.create(**whole)["PhysicalResourceId"]
    account = services().accounts.get(account_id)
    assert (account.keep, account.record_days, account.overrides.per_day) == (30, 365, 500)
    assert (account.brand.name, account.isolation) == ("Shop", "strict")
    settings, _ = services().alert_choices.of(account_id)
    assert (settings.mail, {*settings.off}) == (False, {"quota"})
    (member,) = services().account_members.members.of_account(account_id)
    assert (member.address, member.role) == ("ann@shop.example", "owner")
    (suppressed,) = services().suppression_list.page(account_id, None, None, 9).items
    assert suppressed.address == "bob@customer.example"
    changed = stack.update(**whole | {"KeepDays": "7", "Isolation": "none"})
    assert changed["Status"] == "SUCCESS", changed
    account = services().accounts.get(account_id)
    assert (account.keep, account.isolation) == (7, "none")


def test_an_account_that_exists_is_found_on_a_later_page(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of many accounts has pages without any; the refusal does not depend on them."""
    name = f"Shop {new_token(6)}"
    assert CloudFormation(key, "Account").create(Name=name)["Status"] == "SUCCESS"
    for most in ("_BATCH", "_MAX_BATCHES"):
        monkeypatch.setattr(f"pillarbox.application.accounts.account_list.{most}", 1)
    assert "exists already" in CloudFormation(key, "Account").create(Name=name).get("Reason", "")


def test_a_key_outlives_a_change_of_what_is_cloudformations(key: str, account: str) -> None:
    """Another ServiceTimeout is an update in which nothing of the key changes: it stays.

    If its secret is gone, the update makes a new key.
    """
    stack = CloudFormation(key, "Key")
    properties = first("Key", account)
    made = stack.create(**properties)
    same = stack.update(**properties, ServiceTimeout="900")
    assert same["Status"] == "SUCCESS", same
    assert (same["PhysicalResourceId"], same["Data"]) == (made["PhysicalResourceId"], made["Data"])
    secret = made["Data"]["SecretArn"]
    shared_client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    new = stack.update(**properties, ServiceTimeout="60")
    assert Api(secret_of(new)).raw("GET", "/me").status == 200


def test_a_repeated_request_finds_its_key(key: str, account: str) -> None:
    """Lambda may make a request twice: the key is the same; one without a value is replaced."""
    stack = CloudFormation(key, "Key")
    properties = first("Key", account)
    one = stack.send("Create", properties)
    two = stack.send("Create", properties)
    assert one["PhysicalResourceId"] == two["PhysicalResourceId"]
    secret = one["Data"]["SecretArn"]
    shared_client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    three = stack.send("Create", properties)
    assert Api(secret_of(three)).raw("GET", "/me").status == 200
    assert len(has(key, account)["keys"]) == 1


def test_what_exists_is_not_taken(key: str, account: str) -> None:
    """A stack refuses an object that it did not create, and does not delete it in its rollback."""
    services().accounts.update(account, AccountChanges(name=f"Named {account}"))
    services().senders.add(account, f"post@{account}.example", verified=True)
    for kind, properties in (
        ("Domain", {"Name": f"{account}.example"}),
        ("Sender", {"Address": f"post@{account}.example"}),
    ):
        before = has(key, account)
        made = CloudFormation(key, kind).create(**properties, Account=account)
        assert "exists already" in made["Reason"]
        assert has(key, account) == before


def test_a_domain_waits_for_its_proof_and_a_sender_for_the_rest(key: str, service: Service) -> None:
    """A waiting domain returns the other records; both give up in time, and say so."""
    account, name = service.account(senders={}, default=None), f"d{new_token(8)}.example"
    made = CloudFormation(key, "Domain").create(Name=name, Account=account)
    assert made["Data"]["OwnershipValue"] == f"pillarbox-account={account}"
    assert made["Data"]["Status"] == "pending"
    label = CloudFormation(key, "Domain", made["PhysicalResourceId"], {"Account": account})
    label.properties |= {"Name": name}
    assert "is mail, and cannot change" in label.update(**label.properties, MailFrom="b")["Reason"]
    waiting = CloudFormation(key, "Domain")
    gave_up = waiting.create(Name=name, Account=account, WaitFor="proof")
    assert "too long" in gave_up["Reason"]
    assert waiting.left >= RESERVE
    sender = CloudFormation(key, "Sender")
    assert "too long" in sender.create(Address=f"a@{name}", Account=account)["Reason"]
    services().account_domain_store.remove(account, name)
    service.domain(account, name)
    proved = CloudFormation(key, "Domain")
    with service.at(wiring.utc_now() + timedelta(minutes=1)):  # an account has 60 looks a minute
        records = proved.create(Name=name, Account=account, WaitFor="verification")["Data"]
    assert {"Dkim1Name", "Dkim3Value", "SpfName", "DmarcValue"} <= records.keys()
    assert proved.delete()["Status"] == "SUCCESS"
    assert name in has(key, account)["domains"]


def test_a_verified_domain_receives_as_long_as_its_resource(key: str, account: str) -> None:
    """Only what waits for the verification has it, and it takes nothing that exists."""
    name = f"{account}.example"
    RECORDS[f"in.{name}", "MX"] = []
    given = {"Name": name, "Account": account, "WaitFor": "verification", "Receive": "in"}
    early = CloudFormation(key, "Domain").create(**given | {"WaitFor": "proof"})
    assert "needs WaitFor: verification" in early["Reason"]
    stack = CloudFormation(key, "Domain")
    made = stack.create(**given)
    assert (made["Data"]["AnswersName"], made["Status"]) == (f"in.{name}", "SUCCESS"), made
    second = CloudFormation(key, "Domain").create(**given)
    assert "Receive exists already" in second["Reason"]
    assert stack.update(**given, ReceiveNames=["support"])["Status"] == "SUCCESS"
    api, headers = Api(key), {"X-Account": account}
    (shown,) = api.raw("GET", "/domains", headers=headers).json["items"]
    assert (shown["receives"], shown["receiveNames"]) == (f"in.{name}", ["support"])
    for _ in range(2):
        assert stack.delete()["Status"] == "SUCCESS"
    (shown,) = api.raw("GET", "/domains", headers=headers).json["items"]
    assert (shown["receives"], shown["receiveNames"]) == (None, [])


def test_a_sender_is_added_once_dns_has_the_records(
    key: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They appear after two minutes, and only the resource looks at the domain."""
    account, name = service.account(senders={}, default=None), f"d{new_token(8)}.example"
    CloudFormation(key, "Domain").create(Name=name, Account=account)
    start, stack = wiring.utc_now(), CloudFormation(key, "Sender")

    def sleep(_: CloudFormation, seconds: float) -> None:
        stack.slept.append(seconds)
        stack.left -= seconds
        service.clock.fixed = start + timedelta(seconds=sum(stack.slept))
        if sum(stack.slept) >= 120:
            headers = {"X-Account": account}
            (domain,) = Api(key).raw("GET", "/domains", headers=headers).json["items"]
            publish(domain["records"])
            service.ses.domains.known[name] = True

    monkeypatch.setattr(CloudFormation, "_sleep", sleep)
    with service.at(start):
        made = stack.create(Address=f"post@{name}", Account=account)
    assert made["Status"] == "SUCCESS", made
    assert 120 <= sum(stack.slept) <= 180


def test_an_account_is_suspended_or_deleted(key: str, service: Service) -> None:
    """Its stack suspends it; with OnDelete it is deleted two minutes later, all within the time."""
    kept = CloudFormation(key, "Account")
    name = f"Shop {new_token(6)}"
    account = kept.create(Name=name)["PhysicalResourceId"]
    assert "exists already" in CloudFormation(key, "Account").create(Name=name)["Reason"]
    assert kept.delete()["Status"] == "SUCCESS"
    assert services().accounts.get(account).suspension is not None
    gone = CloudFormation(key, "Account")
    account = gone.create(Name=f"Shop {new_token(6)}", OnDelete="delete")["PhysicalResourceId"]
    services().accounts.suspend(account, "gone")
    with service.at(wiring.utc_now() + timedelta(minutes=3)):
        assert gone.delete()["Status"] == "SUCCESS"
        assert sum(gone.slept) >= 120
        assert Api(key).raw("GET", f"/operator/accounts/{account}").code == "account_not_found"
        assert gone.delete()["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("kind", "properties", "reason"),
    [
        ("Key", {"Name": "web"}, "Preset is required"),
        ("Key", {"Name": "web", "Preset": "send", "Color": "red"}, "Color is not a field"),
        ("Key", {"Name": "web", "Preset": "gold"}, "Preset must be one of"),
        ("Sender", {"Address": "a@b.example", "Default": "perhaps"}, "Default must be true or"),
        ("Domain", {"Name": "b.example", "WaitFor": "luck"}, "WaitFor must be one of"),
        ("Account", {"Name": "a", "OnDelete": "burn"}, "OnDelete must be one of"),
        ("Rocket", {}, "There is no such type"),
    ],
)
def test_wrong_properties_fail_with_a_reason(
    key: str, account: str, kind: str, properties: dict[str, Any], reason: str
) -> None:
    stack = CloudFormation(key, kind)
    of_account = {} if kind in {"Account", "Rocket"} else {"Account": account}
    made = stack.create(**properties, **of_account)
    assert reason in made["Reason"]
    assert stack.responses[-1]["Status"] == ("FAILED" if kind == "Rocket" else "SUCCESS")


def test_every_fault_of_the_program_is_answered(
    key: str, account: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An error that nobody expected is a response too. The log says where, and not its text."""

    class Broken:
        def request(self, *_: object, **__: object) -> Any:
            raise RuntimeError("bx_live_secret")

    for kind in (one.removeprefix("Custom::Pillarbox") for one in TYPES):
        stack = CloudFormation(key, kind)
        stack.probe = Broken()  # type: ignore[assignment]
        made = stack.create(**first(kind, account))
        assert made["Reason"].startswith("RuntimeError: see the log"), kind
        logged = vars(caplog.records[-1])
        assert logged["error"] == "RuntimeError"
        assert "bx_live_secret" not in str(logged)


def test_a_busy_service_is_asked_again(key: str, account: str) -> None:
    """A refusal for now is repeated for two minutes, and then is the reason."""

    class Busy:
        calls = 0

        def request(self, *_: object, **__: object) -> Any:
            self.calls += 1
            return 503, None

    stack = CloudFormation(key, "Key")
    stack.probe = busy = Busy()  # type: ignore[assignment]
    assert "503" in stack.create(**first("Key", account))["Reason"]
    assert (busy.calls, sum(stack.slept)) == (12, 110)
    stack.left = RESERVE - 1
    assert "too long" in stack.create(**first("Key", account))["Reason"]
