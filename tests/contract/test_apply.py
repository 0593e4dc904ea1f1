"""`pillarbox apply`: customers from one file, again without a change, and after interruptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from admin.use_cases.provision_file import ProvisionFile, read_provision_file
from admin.use_cases.provisioning import Provisioning
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import (
    EMAILS_READ,
    EMAILS_SEND,
    MANAGEMENT_SCOPES,
    OPERATOR_SCOPES,
    TEMPLATES_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
    Preset,
)
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.webhook_path import ROLE

_SCOPES: Final = (
    MANAGEMENT_SCOPES
    | OPERATOR_SCOPES
    | {*(EMAILS_SEND, EMAILS_READ, TEMPLATES_WRITE, WEBHOOKS_READ, WEBHOOKS_WRITE)}
)


class Interrupted(Exception):
    """The command was killed."""


@dataclass(slots=True)
class InProcessApi:
    """Calls the functions, and fails before or after the call that it is told."""

    service: Service
    key: str
    calls: int = 0
    killed_at: int | None = None
    #: Whether the call that fails took effect.
    after: bool = False

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        account: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        path, _, query = path.removeprefix("/v1").partition("?")
        self.calls += 1
        if self.calls == self.killed_at and not self.after:
            raise Interrupted
        response = Api(self.key).raw(
            method,
            path,
            None if body is None else json.dumps(body),
            {**(headers or {}), **({"X-Account": account} if account else {})},
            query=dict(part.split("=") for part in query.split("&") if part),
        )
        assert response.status < 300, (method, path, response.text)
        if (method, path) == ("POST", "/domains"):  # DNS has its records at once
            name = response.json["domain"]
            services().account_domain_store.remove(account or "", name)
            self.service.domain(account or "", name)
        if self.calls == self.killed_at:
            raise Interrupted
        return response.json if response.text else None


@dataclass(slots=True)
class MemoryValues:
    """Where the values go."""

    stored: dict[str, str] = field(default_factory=dict)

    def read(self, destination: str) -> str | None:
        return self.stored.get(destination)

    def write(self, destination: str, value: str) -> None:
        self.stored[destination] = value


class MemoryFiles:
    """The files that each customer has."""

    @staticmethod
    def text(path: str) -> str:
        return f"<p>{path} {{{{ name }}}}</p>"

    @staticmethod
    def addresses(_: str) -> list[str]:
        return ["Ada@customer.example", "bob@customer.example"]


def customer(name: str) -> dict[str, Any]:
    """Return a customer of the file."""
    return {
        "name": name,
        "plan": "standard",
        "brand": {"accent": "#0a7d5a"},
        "domains": [{"name": f"{name}.example", "mailFrom": "mail"}],
        "senders": [{"address": f"post@{name}.example"}],
        "templates": [
            {
                "name": "Receipt",
                "subject": "Hi",
                "file": "receipt.html",
                "category": "billing",
                "locales": {"de-CH": {"subject": "Hallo", "file": "de.html", "textFile": "de"}},
            }
        ],
        "webhooks": [
            {
                "url": f"https://{name}.example/hook",
                "types": ["email.bounced"],
                "secretTo": f"file:{name}/hook",
            }
        ],
        "keys": [
            {"name": "web", "preset": "send", "valueTo": f"file:{name}/web"},
            {
                "name": "job",
                "preset": "custom",
                "scopes": ["emails:send"],
                "sources": ["192.0.2.0/24"],
                "valueTo": f"ssm:{name}/job",
            },
        ],
        "suppressions": {"file": "suppressions.csv"},
    }


def file_of(*customers: dict[str, Any]) -> ProvisionFile:
    return read_provision_file({"version": 1, "accounts": list(customers)})


@pytest.fixture(scope="module")
def key(service: Service) -> str:
    """The text of an operator's key."""
    assert service
    own = services().accounts.create("Operator", Plan.ENTERPRISE).account_id
    services().accounts.update(own, AccountChanges(operates=True))
    return services().api_keys.issue_live(own, "apply", Preset.CUSTOM, _SCOPES).text


@dataclass(slots=True)
class Run:
    """Runs of the command for one operator, with what they store."""

    service: Service
    key: str
    values: MemoryValues = field(default_factory=MemoryValues)

    def __call__(
        self, content: ProvisionFile, *, plan: bool = False, prune: bool = False, **kill: Any
    ) -> list[str]:
        """Return the lines of the changes."""
        api = InProcessApi(self.service, self.key, **kill)
        provisioning = Provisioning(api=api, values=self.values, files=MemoryFiles())
        steps = provisioning.run(content, plan=plan, prune=prune)
        return [str(step) for step in steps if step.changes or step.mark == "?"]


@pytest.fixture
def run(service: Service, key: str) -> Run:
    return Run(service, key)


def names(count: int) -> list[str]:
    """Return names that no other test has."""
    return [f"shop{new_token(6)}" for _ in range(count)]


def state_of(run: Run, name: str) -> dict[str, Any]:
    """Return what an account has, without what chance and time decide."""
    api = Api(run.key)
    page = api.raw("GET", "/operator/accounts", query={"search": name}).json["items"]
    (account,) = [one["id"] for one in page if one["name"] == name]
    lists = ("domains", "senders", "templates/drafts", "webhooks", "keys", "suppressions")
    headers = {"X-Account": account}
    items = {one: api.raw("GET", f"/{one}", headers=headers).json["items"] for one in lists}
    return {
        "domains": [one["domain"] for one in items["domains"]],
        "senders": [(one["address"], one["default"]) for one in items["senders"]],
        "templates": [(one["name"], one["changed"]) for one in items["templates/drafts"]],
        "webhooks": [(one["url"], one["types"]) for one in items["webhooks"]],
        "keys": sorted(
            (one["name"], one["scopes"], one["sources"])
            for one in items["keys"]
            if not one["revokedAt"]
        ),
        "suppressions": [one["address"] for one in items["suppressions"]],
    }


def test_customers_from_one_file(run: Run) -> None:
    """All is made at once; the second run and its plan change nothing, and the keys work."""
    shops = names(3)
    content = file_of(*map(customer, shops))
    planned = run(content, plan=True)
    assert not run.values.stored
    made = run(content)
    assert [one for one in made if one.startswith("+ domain")] == [
        f"+ domain {name}.example" for name in shops
    ]
    assert len(made) >= len(planned) > 3 * 8
    assert run(content) == run(content, plan=True) == []
    text = run.values.stored[f"file:{shops[0]}/web"]
    assert Api(text).send(otp(to="eve@customer.example")).status == 200
    assert not any(value in "".join(made) for value in run.values.stored.values())


def test_a_domain_is_removed_and_a_key_is_rotated(run: Run) -> None:
    """Removal needs the flag and is named without it; the old value of a rotated key stops."""
    (shop,) = names(1)
    run(file_of(customer(shop)))
    old = run.values.stored[f"file:{shop}/web"]
    changed = customer(shop) | {"domains": [], "senders": []}
    stays = run(file_of(changed))
    assert {one[0] for one in stays} == {"?"}
    changed["keys"][0]["rotated"] = services().accounts.clock().isoformat()
    removed = run(file_of(changed), prune=True)
    assert f"- domain {shop}.example" in removed
    new = run.values.stored[f"file:{shop}/web"]
    assert Api(old).raw("GET", "/me").status == 401
    assert Api(new).raw("GET", "/me").status == 200
    assert run(file_of(changed), prune=True) == []
    assert state_of(run, shop)["domains"] == []


def test_events_go_to_aws_with_a_role(run: Run) -> None:
    """A bucket is made without a secret; another role is a change, and a repetition none."""
    (shop,) = names(1)
    bucket: dict[str, Any] = {"url": "s3://shop-events/", "types": ["*"], "roleArn": ROLE}
    wanted = {"name": shop, "contact": f"ann@{shop}.example", "webhooks": [bucket]}
    assert "+ webhook s3://shop-events/" in run(file_of(wanted))
    assert run(file_of(wanted)) == []
    bucket["roleArn"] = f"{ROLE}-2"
    assert run(file_of(wanted)) == ["~ webhook s3://shop-events/: roleArn"]
    assert run(file_of(wanted)) == []
    for wrong in ({"secretTo": "file:x"}, {"roleArn": None}):
        with pytest.raises(ValidationFailed):
            file_of(wanted | {"webhooks": [bucket | wrong]})


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupted_run_is_repeated_to_the_same_end(run: Run, *, after: bool) -> None:
    """Killed before or after each call, and run again: the same objects, and working keys."""
    (whole,) = names(1)
    run(file_of(customer(whole)))
    wanted = state_of(run, whole)
    killed_at, killed = 2, True
    while killed:
        (shop,) = names(1)
        content = file_of(customer(shop))
        try:
            run(content, killed_at=killed_at, after=after)
            killed = False
        except Interrupted:
            pass
        run(content)
        assert run(content) == []
        state = json.dumps(state_of(run, shop)).replace(shop, whole)
        assert json.loads(state) == json.loads(json.dumps(wanted)), killed_at
        assert Api(run.values.stored[f"file:{shop}/web"]).raw("GET", "/me").status == 200
        killed_at += 1
    assert killed_at > 20


def test_locales_and_a_mail_from_domain_of_ones_own(run: Run) -> None:
    """A changed locale is published, one that goes is removed; a MAIL FROM domain stays."""
    (shop,) = names(1)
    run(file_of(customer(shop)))
    changed = customer(shop)
    (template,) = changed["templates"]
    template["locales"] = {"fr": {"subject": "Salut", "file": "fr.html"}}
    assert run(file_of(changed)) == ["~ template Receipt: locales"]
    assert run(file_of(changed)) == []
    del template["locales"]  # what the file does not say stays
    assert run(file_of(changed)) == []
    changed["domains"][0]["mailFrom"] = "bounce"
    (line,) = run(file_of(changed))
    assert line.startswith(f"? domain {shop}.example has the MAIL FROM domain mail.{shop}.example")
    template["locales"] = {"fr": {"subject": "Salut", "file": "fr.mjml"}}
    with pytest.raises(ValidationFailed, match="all HTML or all MJML"):
        file_of(changed)


def test_a_management_key_provisions_its_own_account_only(service: Service) -> None:
    """Another account in the file is refused before anything changes."""
    account = service.account()
    own = services().api_keys.issue_live(account, "apply", Preset.CUSTOM, _SCOPES - OPERATOR_SCOPES)
    run = Run(service, own.text)
    assert run(file_of({"name": "Test", "brand": {"name": "Test shop"}}))
    with pytest.raises(ValidationFailed, match="operator"):
        run(file_of({"name": "Other"}))


def test_a_wrong_file_is_refused_with_each_fault() -> None:
    """Unknown fields, same names and times without a zone are named with their place."""
    keys = [{"name": "a", "preset": "send", "valueTo": "stdout", "expires": "2030-01-01"}]
    for wrong in (
        {"version": 2, "accounts": []},
        {"version": 1, "accounts": [{"name": "a"}, {"name": "a"}]},
        {"version": 1, "accounts": [{"name": "a", "color": "red"}]},
        {"version": 1, "accounts": [{"name": "a", "keys": keys}]},
        ["x"],
    ):
        with pytest.raises(ValidationFailed):
            read_provision_file(wrong)
