"""`pillarbox apply`: customers from one file, again without a change, and after interruptions."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any
from unittest import mock

import pytest

from admin.use_cases.provision_file import ProvisionFile, read_provision_file
from admin.use_cases.provisioning import Choices, Provisioning
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.creations import Creations
from pillarbox.application.management import RefusedCall
from pillarbox.domain.accounts.account import Isolation, Plan
from pillarbox.domain.accounts.key import SCOPES, Preset
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Role
from pillarbox.wiring import services, utc_now
from tests.contract.client import Api
from tests.contract.name_server import RECORDS
from tests.contract.provisioning import ask, has
from tests.contract.service import Service
from tests.contract.test_domains import publish
from tests.contract.webhook_path import ROLE
from tests.examples import DEEP


class Interrupted(Exception):
    """The command was killed."""


@dataclass(slots=True)
class Changes:
    """Kills a run after one of its changes: until the next one, each call leaves the same state."""

    killed_after: int = 0
    count: int = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.killed_after:
            raise Interrupted


@dataclass(slots=True)
class InProcessApi:
    """Calls the functions."""

    service: Service
    key: str
    changed: Callable[[], None]
    #: Whether DNS has its records and SES has verified a domain as soon as it is added.
    is_verified: bool = True

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        account: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        of = {"X-Account": account} if account else {}
        response = ask(self.key, method, path, body, {**(headers or {}), **of})
        if response.status >= 400:
            code = response.json["error"]["code"]
            raise RefusedCall(f"{method} {path} {response.text}", response.status, code)
        if (method, path) == ("POST", "/v1/domains") and self.is_verified:
            name = response.json["domain"]
            services().account_domain_store.remove(account or "", name)
            self.service.domain(account or "", name)
        if method != "GET":
            self.changed()
        return response.json if response.text else None


@dataclass(slots=True)
class MemoryValues:
    """Where the values go."""

    stored: dict[str, str] = field(default_factory=dict)
    changed: Callable[[], None] = field(default_factory=Changes)

    def read(self, destination: str) -> str | None:
        return self.stored.get(destination)

    def write(self, destination: str, value: str) -> None:
        self.stored[destination] = value
        self.changed()


@dataclass(slots=True)
class MemoryFiles:
    """The files that each customer has."""

    suppressed: tuple[str, ...] = ("Ada@customer.example", "bob@customer.example")

    @staticmethod
    def text(path: str) -> str:
        return f"<p>{path} {{{{ name }}}}</p>"

    def addresses(self, _: str) -> list[str]:
        return [*self.suppressed]


def customer(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "plan": "standard",
        "accent": "#0a7d5a",
        "supportEmail": "help@x.example",
        "domains": [{"name": f"{name}.example", "mailFrom": "mail"}],
        "senders": [{"address": f"post@{name}.example"}],
        "templates": [
            {
                "name": "Receipt",
                "subject": "Hi",
                "file": "receipt.html",
                "category": "billing",
                "keepDays": 7,
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
            {
                "name": "web",
                "preset": "custom",
                "scopes": ["webhooks:read"],
                "valueTo": f"file:{name}/web",
            },
            {
                "name": "job",
                "preset": "custom",
                "scopes": ["webhooks:read"],
                "sources": ["192.0.2.0/24"],
                "valueTo": f"ssm:{name}/job",
            },
        ],
        "suppressions": {"file": "suppressions.csv"},
    }


def file_of(*customers: dict[str, Any]) -> ProvisionFile:
    return read_provision_file({"version": 1, "accounts": list(customers)})


@dataclass(slots=True)
class Run:
    """Runs of the command for one operator, with what they store."""

    service: Service
    key: str
    values: MemoryValues = field(default_factory=MemoryValues)
    files: MemoryFiles = field(default_factory=MemoryFiles)

    def provisioning(self, killed_after: int = 0, **others: Any) -> Provisioning:
        """Return the command, of which `others` has parts that are not the usual ones."""
        api = InProcessApi(self.service, self.key, Changes(killed_after))
        usual: dict[str, Any] = {"api": api, "values": self.values, "files": self.files}
        return Provisioning(**usual | others)

    def at_once(self, content: ProvisionFile, runs: int, *, prune: bool = False) -> None:
        """Let several runs take each step after all have found it."""
        provisioning = self.provisioning()
        waiting = [provisioning.run(content, Choices(prune=prune)) for _ in range(runs)]
        while waiting:
            waiting = [one for one in waiting if next(one, None) is not None]

    def __call__(
        self, content: ProvisionFile, *, plan: bool = False, prune: bool = False, **kill: int
    ) -> list[str]:
        """Return the lines of the changes."""
        self.values.changed = changed = Changes(**kill)
        api = InProcessApi(self.service, self.key, changed)
        steps = self.provisioning(api=api).run(content, Choices(plan=plan, prune=prune))
        return [str(step) for step in steps if step.changes or step.mark == "?"]


@pytest.fixture
def run(service: Service, key: str) -> Run:
    return Run(service, key)


def names(count: int) -> list[str]:
    return [f"shop{new_token(6)}" for _ in range(count)]


def dies(run: Run, content: ProvisionFile, killed_after: int) -> bool:
    """Return whether a run is killed, after so many changes."""
    try:
        run(content, killed_after=killed_after)
    except Interrupted:
        return True
    return False


def state_of(run: Run, name: str) -> dict[str, Any]:
    (account,) = services().accounts.ids_of(name)
    return has(run.key, account)


def test_customers_from_one_file(run: Run) -> None:
    """All is made at once; the second run and its plan change nothing, and the keys work.

    Then a third run touches only the customer who loses a domain and gets a new key. There are
    three customers, and a hundred with `PILLARBOX_DEEP=1`.
    """
    shops = names(100 if DEEP else 3)
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
    assert Api(text).raw("GET", "/me").status == 200
    assert not any(value in "".join(made) for value in run.values.stored.values())
    customers = [customer(name) for name in shops]
    old = run.values.stored[f"file:{shops[1]}/web"]
    customers[1] |= {"domains": [], "senders": []}
    customers[1]["keys"][0]["rotated"] = services().accounts.clock().isoformat()
    changed = run(file_of(*customers), prune=True)
    assert [one.partition(" (")[0] for one in changed] == [
        "~ key web: replaced by a new one",
        "- key web",
        f"- sender post@{shops[1]}.example",
        f"- domain {shops[1]}.example",
    ]
    assert [Api(one).raw("GET", "/me").status for one in (text, old)] == [200, 401]
    assert run(file_of(*customers), prune=True) == []


def test_events_go_to_aws_with_a_role(run: Run) -> None:
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


def test_three_runs_at_once_make_each_object_once(run: Run) -> None:
    (whole, shop) = names(2)
    run(file_of(customer(whole)))
    wanted = customer(shop)
    run.values.stored[f"file:{shop}/hook"] = "whsec_of_another_endpoint"
    run.at_once(file_of(wanted), 3)
    state = json.dumps(state_of(run, shop)).replace(shop, whole)
    assert json.loads(state) == json.loads(json.dumps(state_of(run, whole)))
    (account_id,) = (one.account_id for one in services().accounts.all() if one.name == shop)
    (made,) = services().webhook_queries.of_account(account_id)
    assert [one.text for one in made.endpoint.secrets] == [run.values.stored[f"file:{shop}/hook"]]
    old = run.values.stored[f"file:{shop}/web"]
    wanted["keys"][0]["scopes"] = ["webhooks:read", "webhooks:write"]
    wanted["templates"][0]["subject"] = "Hello"
    run.at_once(file_of(wanted), 3)
    assert len(state_of(run, shop)["keys"]) == 2
    assert [
        Api(text).raw("GET", "/webhooks").status
        for text in (old, run.values.stored[f"file:{shop}/web"])
    ] == [401, 200]
    assert run(file_of(wanted), prune=True) == []
    run.at_once(file_of({"name": shop}), 3, prune=True)
    assert not any(state_of(run, shop)[kind] for kind in ("domains", "templates", "keys"))


def test_a_draft_that_another_run_has_saved_is_no_failure(run: Run) -> None:
    (shop,) = names(1)
    run(file_of(customer(shop)))
    wanted = customer(shop)
    wanted["templates"][0]["subject"] = "Hello"
    call, overtaken = InProcessApi.call, list[list[str]]()

    def overtaking(api: InProcessApi, method: str, *parts: Any, **more: Any) -> Any:
        if method == "PUT" and not overtaken:
            overtaken.append([])
            overtaken[0] += run(file_of(wanted))
        return call(api, method, *parts, **more)

    with mock.patch.object(InProcessApi, "call", overtaking):
        steps = [*run.provisioning().run(file_of(wanted), Choices())]
    changed = [step.text for step in steps if step.changes]
    assert [*overtaken, changed] == [["~ template Receipt: subject"], ["template Receipt: subject"]]
    assert run(file_of(wanted)) == []


def test_a_run_that_comes_second_leaves_the_old_key(run: Run) -> None:
    """The first one dies before it stores the new key; the old one works until another run."""
    (shop,) = names(1)
    run(file_of(customer(shop)))
    old = run.values.stored[f"file:{shop}/web"]
    wanted = customer(shop)
    wanted["keys"][0]["scopes"] = ["webhooks:read", "webhooks:write"]
    killed, second = (
        run.provisioning(killed_after).run(file_of(wanted), Choices()) for killed_after in (1, 0)
    )
    for one in (killed, second):
        assert any(step.text.startswith("key web: replaced") for step in one)
    with pytest.raises(Interrupted):
        next(killed)
    assert [step.text.partition(" (")[0] for step in second] == ["key web"]
    assert Api(old).raw("GET", "/webhooks").status == 200
    run(file_of(wanted))
    new = run.values.stored[f"file:{shop}/web"]
    assert [Api(one).raw("GET", "/webhooks").status for one in (old, new)] == [401, 200]
    assert run(file_of(wanted), prune=True) == []


def test_a_killed_creation_keeps_its_name_for_a_minute(service: Service) -> None:
    """The next one waits so long; one that ends late takes nothing from the next."""
    assert service
    start = datetime(2026, 11, 29, tzinfo=UTC)

    def beside(seconds: float) -> AbstractContextManager[None]:
        clock = partial(start.__add__, timedelta(seconds=seconds))
        creations = Creations(leases=services().name_leases, clock=clock)
        return creations.beside([], "key", "web", list)

    killed = beside(0)
    killed.__enter__()
    with pytest.raises(ServiceError, match="Try again"), beside(59.999):
        pass
    with beside(60):
        killed.__exit__(None, None, None)
        with pytest.raises(ServiceError), beside(60.001):
            pass
    with beside(60.002):
        pass


def test_a_creation_sees_what_was_created_just_before(service: Service) -> None:
    """It looks for others of its name when no other request can create one any more."""
    assert service
    creations = services().creations

    def ids() -> list[str]:
        with pytest.raises(ServiceError, match="Try again"):
            creations.beside([], "key", "shop", list).__enter__()
        return ["key_1"]

    with pytest.raises(ServiceError, match="created it already"):
        creations.beside([], "key", "shop", ids).__enter__()


def test_doubled_endpoints_are_named_and_removed(run: Run) -> None:
    """Without --prune they stay; with it the oldest one stays, and gets a new secret."""
    (shop,) = names(1)
    wanted = {name: customer(shop)[name] for name in ("name", "webhooks")}
    run(file_of(wanted))
    (account_id,) = (one.account_id for one in services().accounts.all() if one.name == shop)
    url = f"https://{shop}.example/hook"
    made = services().webhooks.create(account_id, url, ["email.bounced"], by="test")
    name = f"webhook {url} ({made.endpoint.endpoint_id}), doubled"
    assert run(file_of(wanted)) == [f"? {name} is not in the file: it stays without --prune"]
    removed = [f"~ webhook {url}: a new secret, because the endpoint was doubled", f"- {name}"]
    assert run(file_of(wanted), prune=True) == removed
    (kept,) = services().webhook_queries.of_account(account_id)
    assert run.values.stored[f"file:{shop}/hook"] in {one.text for one in kept.endpoint.secrets}
    assert kept.endpoint.endpoint_id != made.endpoint.endpoint_id
    assert run(file_of(wanted), prune=True) == []


def test_an_interrupted_run_is_repeated_to_the_same_end(run: Run) -> None:
    (whole,) = names(1)
    run(file_of(customer(whole)))
    wanted = state_of(run, whole)
    for killed_after in count(1):
        (shop,) = names(1)
        content = file_of(customer(shop))
        killed = dies(run, content, killed_after)
        run(content)
        assert run(content) == []
        state = json.dumps(state_of(run, shop)).replace(shop, whole)
        assert json.loads(state) == json.loads(json.dumps(wanted)), killed_after
        assert Api(run.values.stored[f"file:{shop}/web"]).raw("GET", "/me").status == 200
        if not killed:
            break
    assert killed_after > 14


def test_the_secret_of_an_endpoint_before_is_not_taken_for_that_of_a_new_one(run: Run) -> None:
    """Killed after each step of a new URL, and run again: the place has the new secret."""
    for killed_after in count(1):
        (shop,) = names(1)
        content = {name: customer(shop)[name] for name in ("name", "webhooks")}
        run(file_of(content))
        place, url = f"file:{shop}/hook", f"https://{shop}.example/new"
        old = run.values.stored[place]
        content["webhooks"][0]["url"] = url
        killed = dies(run, file_of(content), killed_after)
        run(file_of(content))
        assert run.values.stored[place].startswith("whsec_")
        assert run.values.stored[place] != old
        if not killed:
            break
    assert killed_after > 3


def test_locales_and_a_mail_from_domain_of_ones_own(run: Run) -> None:
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


def test_no_owner_gets_into_the_file_by_a_name(run: Run) -> None:
    """Owners choose names: an account named like an id, or like a customer, is not taken for it."""
    shop, foreign = names(2)
    run(file_of({"name": shop, "contact": "ada@shop.example"}))
    own, other = (services().accounts.create(name, Plan.FREE).account_id for name in (foreign, "x"))
    services().accounts.update(other, AccountChanges(name=own))
    assert run(file_of({"name": own, "plan": "standard"})) == ["~ plan free -> standard"]
    assert services().accounts.get(own).plan is Plan.STANDARD
    assert services().accounts.get(other).plan is Plan.FREE
    content = file_of({"name": foreign, "plan": "enterprise", "contact": "eve@shop.example"})
    with pytest.raises(ValidationFailed, match="another contact"):
        run(content)
    assert run(file_of({"name": shop, "contact": "Ada@Shop.example"})) == []


def test_a_management_key_provisions_its_own_account_only(service: Service) -> None:
    account = service.account()
    own = services().api_keys.issue_live(account, "apply", Preset.CUSTOM, SCOPES)
    run = Run(service, own.text)
    assert run(file_of({"name": "Test", "brandName": "Test shop"}))
    with pytest.raises(ValidationFailed, match="operator"):
        run(file_of({"name": "Other"}))


def test_another_way_to_write_a_value_is_no_change(run: Run) -> None:
    """What the service stores in one form is found again, however the file writes it.

    Otherwise each run would replace a key that is in use, or with --prune remove a domain.
    """
    (shop,) = names(1)
    content = customer(shop) | {
        "accent": "#0A7D5A",
        "domains": [{"name": f"BÜCHER-{shop}.example"}],
        "senders": [{"address": f"Post@bücher-{shop}.example"}],
    }
    content["webhooks"][0]["types"] *= 2
    web, job = content["keys"]
    web |= {"sources": ["192.0.2.1", "2001:DB8::/32"], "expiresAt": "2090-01-31T00:00:00.123456Z"}
    job |= {"sources": ["192.0.2.7/24"] * 2, "scopes": ["webhooks:read"] * 2}
    run(file_of(content))
    before = state_of(run, shop), dict(run.values.stored)
    assert run(file_of(content), prune=True) == []
    assert (state_of(run, shop), run.values.stored) == before


def test_suppressions_are_found_again_and_wrong_ones_counted(run: Run) -> None:
    (shop,) = names(1)
    run.files.suppressed = ("Ada@bücher.example", "nobody", "bob@customer.example")
    content = file_of({"name": shop, "suppressions": {"file": "list.csv"}})
    wrong = "? list.csv: 1 of 3 entries are not addresses"
    assert run(content)[-2:] == [wrong, "+ 2 suppressions"]
    page = Api(run.key).raw("GET", "/operator/accounts", query={"search": shop}).json["items"]
    records = services().suppression_list.records
    records.remove(page[0]["id"], "bob@customer.example")
    erased = hashed_mailbox(page[0]["id"], "bob@customer.example")
    suppression = Suppression(address=erased, reason="manual", at=services().accounts.clock())
    records.add(page[0]["id"], suppression)
    assert run(content) == [wrong]


def test_a_run_waits_for_dns(service: Service, run: Run) -> None:
    """The records appear after two minutes and SES verifies after four: then the sender is added.

    Until then each record that is missing is named once, and one link is made if one is wanted.
    A run that does not wait, or not long enough, ends with what still waits.
    """
    (shop,) = names(1)
    api = InProcessApi(service, run.key, Changes(), is_verified=False)
    wanted = customer(shop)
    content = file_of({one: wanted[one] for one in ("name", "domains", "senders")})
    start, name = utc_now(), f"{shop}.example"
    waited = 0.0

    def pause(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        service.clock.fixed = start + timedelta(seconds=waited)
        if waited >= 120:
            (account,) = services().accounts.ids_of(shop)
            headers = {"X-Account": account}
            publish(Api(run.key).raw("GET", f"/domains/{name}", headers=headers).json["records"])
        if waited >= 240:
            service.ses.domains.known[name] = True

    with service.at(start):
        provisioning = run.provisioning(
            api=api, clock=lambda: start + timedelta(seconds=waited), pause=pause
        )
        lines = [*map(str, provisioning.run(content, Choices(links=True)))]
        assert (waited, provisioning.waiting) == (0, content.accounts)
        waits = f"? sender post@{name} waits until DNS has the records of {name}"
        (account,) = services().accounts.ids_of(shop)
        record = f"TXT {account}._pillarbox.{name} pillarbox-account={account}"
        assert lines[:4] == [
            f"  account {shop}",
            f"+ account {shop} (free)",
            f"+ domain {name}",
            f"? domain {name} waits for the DNS record {record}",
        ]
        assert sum("/app/" in line for line in lines) == 1
        assert [*map(str, provisioning.run(content, Choices(wait=timedelta(minutes=1))))][
            -1
        ] == waits
        assert (waited, provisioning.waiting) == (60, content.accounts)
        lines = [*map(str, provisioning.run(content, Choices(wait=timedelta(minutes=10))))]
        assert lines[-1] == f"+ sender post@{name}"
        assert len(lines) == len({*lines})
        assert any("DKIM" in line or "_domainkey" in line for line in lines)
        assert 240 <= waited <= 270
        assert provisioning.waiting == []
        assert not any(one.changes for one in provisioning.run(content, Choices()))


def test_a_domain_receives_once_it_is_verified(service: Service, run: Run) -> None:
    """It is named as what comes later; then its record is waited for, and nothing changes."""
    (shop,) = names(1)
    name = f"{shop}.example"
    RECORDS[f"in.{name}", "MX"] = []
    wanted = {"name": name, "receive": "In", "receiveNames": ["support"]}
    content = file_of({"name": shop, "replies": True, "domains": [wanted]})
    api = InProcessApi(service, run.key, Changes(), is_verified=False)
    lines = [*map(str, run.provisioning(api=api).run(content, Choices()))]
    assert lines[-1] == f"? domain {name} can receive mail once it is verified"
    (account,) = services().accounts.ids_of(shop)
    services().account_domain_store.remove(account, name)
    service.domain(account, name)
    record = f"MX in.{name} 10 inbound-smtp.eu-west-1.amazonaws.com"
    waits = f"? domain {name} waits for the DNS record {record}"
    change = f"~ domain {name}: receive none -> in, receiveNames"
    assert run(content, plan=True) == [change]
    assert run(content) == [change, waits]
    assert run(content) == [waits]
    RECORDS[f"in.{name}", "MX"] = ["10 inbound-smtp.eu-west-1.amazonaws.com."]
    assert run(content) == []
    off = file_of({"name": shop, "domains": [{"name": name, "receive": ""}]})
    assert run(off) == [f"~ domain {name}: receive in -> none"]
    assert run(off) == []
    run(content)
    assert run(file_of({"name": shop, "domains": []}), prune=True) == [
        f"- receiving at in.{name}",
        f"- domain {name}",
    ]


def test_a_plan_of_a_new_account_reads_nothing_of_the_operators_own(run: Run) -> None:
    """Without the header X-Account a call is about the account of the key."""
    (shop,) = names(1)
    call, paths = InProcessApi.call, set[str]()

    def noting(api: InProcessApi, method: str, path: str, *parts: Any, **more: Any) -> Any:
        if more.get("account") is None:
            paths.add(path.partition("?")[0])
        return call(api, method, path, *parts, **more)

    with mock.patch.object(InProcessApi, "call", noting):
        assert run(file_of(customer(shop)), plan=True)
    assert paths == {"/v1/me", "/v1/operator/accounts"}


def test_all_that_an_account_may_have(run: Run) -> None:
    """Retention, limits, alerts and the format of a webhook; what differs is named and changed."""
    (shop,) = names(1)
    run.values.stored["ssm:/chat"] = "https://hooks.slack.com/services/T0/B0/aaaa1111"
    whole: dict[str, Any] = {
        "name": shop,
        "isolation": "strict",
        "members": [{"email": f"ann@{shop}.example", "role": "owner"}],
        "ownLimits": {"perDay": 500},
        "keepDays": 30,
        "recordDays": 365,
        "replies": True,
        "receivedDays": 7,
        "alerts": {"mail": False, "off": ["quota"], "chatUrl": "ssm:/chat"},
        "webhooks": [
            {
                "url": f"https://{shop}.example/hook",
                "types": ["*"],
                "format": "resend",
                "secretTo": "file:hook",
            }
        ],
    }
    made = run(file_of(whole))
    assert run(file_of(whole)) == []
    assert not any("hooks.slack.com" in line for line in made)
    (account_id,) = services().accounts.ids_of(shop)
    account = services().accounts.get(account_id)
    assert (account.keep, account.record_days) == (30, 365)
    assert (account.replies, account.received_days) == (True, 7)
    assert (account.overrides.per_day, account.isolation) == (500, Isolation.STRICT)
    (invited,) = services().account_members.members.of_account(account_id)
    assert (invited.role, invited.pending) == (Role.OWNER, True)
    whole["isolation"] = "standard"
    whole["members"].append({"email": f"bob@{shop}.example", "role": "viewer"})
    whole["keys"] = [{**customer(shop)["keys"][0]}]
    assert f"+ member bob@{shop}.example" in run(file_of(whole), plan=True)
    run(file_of({"name": shop, "keys": whole["keys"]}))
    settings, _ = services().alert_choices.of(account_id)
    assert (settings.mail, {*settings.off}) == (False, {"quota"})
    assert settings.chat_url == run.values.stored["ssm:/chat"]
    run.values.stored["ssm:/chat"] = "https://hooks.slack.com/services/T0/B0/bbbb2222"
    whole["ownLimits"] = {"perMonth": 900}
    whole["keepDays"] = 7
    whole["webhooks"] = [whole["webhooks"][0] | {"format": "pillarbox"}]
    assert run(file_of(whole)) == [
        "~ keepDays 30 -> 7",
        "~ ownLimits, isolation strict -> standard",
        "~ chatUrl",
        f"? member bob@{shop}.example: an owner of the account can do that",
        f"~ webhook https://{shop}.example/hook: format",
    ]
    assert [one[0] for one in run(file_of(whole))] == ["?"]


def test_a_run_never_revokes_the_key_that_it_runs_with(service: Service) -> None:
    scopes = sorted(SCOPES)
    root = services().api_keys.issue_live(service.account(), "root", Preset.CUSTOM, scopes).text
    body = {"name": "ci", "preset": "custom", "scopes": scopes}
    own = Api(root).raw("POST", "/keys", body).json["key"]
    run = Run(service, own)
    keys = [
        body | {"valueTo": "file:ci"},
        {"name": "web", "preset": "send", "valueTo": "file:web"},
        {"name": "new root", "was": "root", "preset": "send", "valueTo": "file:root"},
    ]
    lines = run(file_of({"name": "Test", "keys": keys}), prune=True)
    assert [line.split(":")[0] for line in lines[:3]] == ["? key ci", "+ key web", "? key new root"]
    assert list(run.values.stored) == ["file:web"]
    run(file_of({"name": "Test"}), prune=True)
    tried = [
        Api(text).raw("GET", "/me").status for text in (own, root, *run.values.stored.values())
    ]
    assert tried == [200, 200, 401]


def test_a_wrong_file_is_refused_with_each_fault() -> None:
    """Unknown fields, same names and times without a zone are named with their place."""
    web = {"name": "a", "preset": "send", "valueTo": "file:a"}
    keys = [web | {"valueTo": "stdout", "expires": "2030-01-01"}]
    # Each run would replace it, until that time has come.
    later = web | {"rotated": "2090-01-01T00:00:00Z"}
    for wrong in (
        {"version": 2, "accounts": []},
        {"version": 1, "accounts": [{"name": "a"}, {"name": "a"}]},
        {"version": 1, "accounts": [{"name": "a", "color": "red"}]},
        {"version": 1, "accounts": [{"name": "a", "keys": keys}]},
        {"version": 1, "accounts": [{"name": "a", "keys": [later]}]},
        {"version": 1, "accounts": [{"name": "a", "keys": [web | {"sources": ["home"]}]}]},
        {"version": 1, "accounts": [{"name": "a", "domains": [{"name": "a..b"}]}]},
        {"version": 1, "accounts": [{"name": one, "keys": [web]} for one in "ab"]},
        ["x"],
    ):
        with pytest.raises(ValidationFailed):
            read_provision_file(wrong)
    with pytest.raises(ValidationFailed, match=r"^accounts\.0\.color: is not a field$"):
        read_provision_file({"version": 1, "accounts": [{"name": "a", "color": "red"}]})
