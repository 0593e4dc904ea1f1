"""Preview keys of the widget: limits, replacement, reports and expiry."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final
from unittest import mock

import pytest
from disposable_email_domains import blocklist

from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import QuotaCounts
from pillarbox.domain.address import fold_address
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.sign_in.codes import CodeRequest, FlowToken
from pillarbox.domain.sign_in.preview_key import check_own_recipients, is_unused, new_report
from pillarbox.domain.sign_in.sign_up import Proof
from tests.fakes.builders import NOW, at
from tests.fakes.container import Container
from tests.fakes.stores import FakeDomains
from tests.refusals import refusal
from tests.unit.application.proofs import few_tries, solve

CODES_PER_ADDRESS = 15
CODES_PER_KEY = 5

__all__ = ["few_tries"]

ADA: Final = "ada@shop.example"


@dataclass
class Queue:
    """Implements `sign_in.ports.CodeRequests`."""

    requests: list[CodeRequest] = field(default_factory=list)

    def put(self, request: CodeRequest) -> None:
        self.requests.append(request)


class World(Container):
    """A service with the widget."""

    def __init__(self, tenant: str | None = None) -> None:
        self.queue, self.domains = Queue(), FakeDomains()
        super().__init__(
            {"widget_origins": "https://shop.example", "strangers": "on"},
            code_requests=self.queue,
            mail_domains=self.domains,
        )
        self.shared_tenant.store(tenant)

    def request(self, address: str = ADA, client: str = "127.0.0.1") -> FlowToken:
        return self.preview_keys.request_code(address, self.proof(address), client)

    def proof(self, address: str = ADA) -> Proof:
        return solve(self.preview_keys.challenge(address))

    def issue(self, address: str = ADA, client: str = "127.0.0.1") -> str:
        token = self.request(address)
        return self.preview_keys.issue(token, self.queue.requests[-1].code, client)[0].text

    @property
    def account(self) -> Account:
        (account,) = self.account_store.all()
        return account


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("address", "folded"),
    [
        ("Ada+news@Shop.example", "ada@shop.example"),
        ("a.d.a+x@googlemail.com", "ada@gmail.com"),
        ("a.d.a@shop.example", "a.d.a@shop.example"),
        ("+x@shop.example", "+x@shop.example"),
    ],
)
def test_forms_of_one_address_are_folded(address: str, folded: str) -> None:
    """A tag is removed everywhere, and dots at Gmail."""
    assert fold_address(address) == folded


def test_an_account_begins_in_the_shared_tenant(world: World) -> None:
    """SES pauses visitors together and nobody else, as soon as there is such a tenant."""
    world.issue()
    assert (world.account.isolation, world.account.tenant) == (Isolation.NONE, None)
    world = World("pillarbox-shared")
    world.issue()
    assert (world.account.isolation, world.account.tenant) == (
        Isolation.STRICT,
        "pillarbox-shared",
    )


def test_five_guesses_are_checked(world: World) -> None:
    token = world.request()
    right = world.queue.requests[-1].code
    wrong = "000000" if right != "000000" else "111111"
    codes = [refusal(world.preview_keys.issue, token, wrong, "").code for _ in range(5)]
    assert {*codes, refusal(world.preview_keys.issue, token, right, "").code} == {"invalid_code"}
    assert [*world.account_store.all()] == []


def test_a_proof_is_for_one_address_and_works_once(world: World) -> None:
    """Another address or a second use is refused, and mails nothing."""
    proof = world.proof()
    other = "bob@shop.example"
    assert refusal(world.preview_keys.request_code, other, proof, "").code == "validation_failed"
    world.preview_keys.request_code(ADA, proof, "")
    assert refusal(world.preview_keys.request_code, ADA, proof, "").code == "validation_failed"
    assert world.domains.asked == ["shop.example"]
    assert len(world.queue.requests) == 1


def test_a_network_gets_three_keys_a_day(world: World) -> None:
    """The fourth key for a /24 is refused; another network gets one."""
    for number in range(3):
        world.issue(f"u{number}@gmail.com", f"192.0.2.{number + 1}")
    late = "late@gmail.com"
    assert refusal(world.issue, late, "192.0.2.9").code == "rate_limit_exceeded"
    assert world.issue(late, "203.0.113.1")


def test_a_domain_gets_twenty_keys_a_day_and_all_get_a_hundred(world: World) -> None:
    """Subdomains count as one. A mailbox provider has no limit of its own, but the total holds."""
    for number in range(20):
        world.issue(f"u{number}@s{number}.shop.example")
    assert refusal(world.issue, "u20@shop.example").code == "rate_limit_exceeded"
    for number in range(80):
        world.issue(f"u{number}@gmail.com")
    assert refusal(world.issue, "u80@gmail.com").code == "rate_limit_exceeded"


def test_an_address_gets_fifteen_codes_a_day(world: World) -> None:
    """The sixteenth is refused hours later, from other networks and in another form too."""
    for number in range(CODES_PER_ADDRESS):
        world.now = at(1_200 * number)
        world.request("victim@gmail.com", f"192.0.{number}.1")
    world.now = at(1_200 * CODES_PER_ADDRESS)
    assert (
        refusal(world.request, "v.ictim+x@gmail.com", "203.0.113.1").code == "rate_limit_exceeded"
    )
    assert len(world.queue.requests) == CODES_PER_ADDRESS


def test_no_code_is_mailed_for_a_flow_that_was_not_stored(world: World) -> None:
    with (
        mock.patch.object(DynamoFlows, "put", side_effect=Unavailable("data store")),
        pytest.raises(Unavailable),
    ):
        world.request()
    assert world.queue.requests == []


def test_the_codes_of_a_day_are_limited_in_all(world: World) -> None:
    """A list of addresses gets five codes for each key that may be given; refused ones are free."""
    world.domains.verdicts["no.example"] = DomainVerdict.NO_MX
    assert refusal(world.request, "x@no.example").code == "validation_failed"
    for number in range(500):
        world.request(f"u{number}@shop.example")
    with mock.patch.object(DynamoFlows, "put") as stored:
        assert refusal(world.request, "late@shop.example").code == "rate_limit_exceeded"
    assert not stored.called
    assert len(world.queue.requests) == 500


@pytest.mark.parametrize("domain", [min(blocklist), f"x.{min(blocklist)}"])
def test_a_disposable_address_gets_no_challenge(domain: str) -> None:
    """Neither a listed domain nor one below it is accepted."""
    assert refusal(World().preview_keys.challenge, f"ada@{domain}").code == "validation_failed"


@pytest.mark.parametrize(
    "verdict", [verdict for verdict in DomainVerdict if verdict is not DomainVerdict.ACCEPTS]
)
def test_a_domain_needs_an_mx_record(world: World, verdict: DomainVerdict) -> None:
    world.domains.verdicts["shop.example"] = verdict
    assert refusal(world.request).code == "validation_failed"
    assert world.queue.requests == []


def test_without_the_widget_no_key_is_given(world: World) -> None:
    token, proof = world.request(), world.proof()
    closed = replace(world.preview_keys, is_open=False)
    for action in (
        lambda: closed.challenge(ADA),
        lambda: closed.request_code(ADA, proof, ""),
        lambda: closed.issue(token, world.queue.requests[-1].code, ""),
    ):
        assert refusal(action).code == "preview_keys_closed"


def test_mail_stops_before_its_sender_is_suspended(world: World) -> None:
    """A person who clicked gets no more mail, even if the rest fails."""
    world.issue()
    account = world.account
    report = new_report(account.account_id, account.widget_secret or "", "bob@shop.example")
    with (
        mock.patch.object(DynamoPreviewAccounts, "suspend", side_effect=Unavailable("data store")),
        pytest.raises(Unavailable),
    ):
        world.preview_keys.report(str(report))
    assert world.preview_keys.accounts.is_stopped("bob@shop.example")


class _Stale(DynamoPreviewAccounts):
    """Another request takes the place of the key once, after this one has read it."""

    raced = False

    def key_digest(self, account_id: str) -> str | None:
        found = super().key_digest(account_id)
        if found and not self.raced:
            self.raced = True
            return "another"
        return found


def test_of_two_requests_the_later_key_stays(world: World) -> None:
    stale = _Stale(world.credentials, world.table)
    world.preview_keys = replace(world.preview_keys, accounts=stale)
    world.issue()
    later = world.issue()
    assert stale.raced
    assert stale.key_digest(world.account.account_id) == digest_of_key(later)


@pytest.mark.parametrize(
    ("owner", "to", "allowed"),
    [
        (ADA, "ADA@shop.example", True),
        (ADA, "bob@shop.example", True),
        (ADA, "bounce@simulator.amazonses.com", True),
        (ADA, "bob@other.example", False),
        ("ada@gmail.com", "ada@gmail.com", True),
        ("ada@gmail.com", "A.da+two@googlemail.com", True),
        ("ada@gmail.com", "bob@gmail.com", False),
    ],
)
def test_own_recipients(owner: str, to: str, allowed: bool) -> None:  # noqa: FBT001  a column
    """The confirmed address, its own domain and the simulator are allowed."""
    if allowed:
        check_own_recipients(owner, [to])
    else:
        assert refusal(check_own_recipients, owner, [to]).code == "recipient_not_allowed"


def test_a_key_expires_after_90_days_without_a_send() -> None:
    used = QuotaCounts({"day:2026-01-02": 1, "day:2026-01-05": 1, "month:2026-01": 2}).last_day()
    assert used is not None
    assert used.isoformat() == "2026-01-06T00:00:00+00:00"
    assert QuotaCounts({"minute:2026-01-05T10:00": 1}).last_day() is None
    assert not is_unused(NOW, None, NOW + timedelta(days=90, seconds=-1))
    assert is_unused(NOW, None, NOW + timedelta(days=90))
    assert not is_unused(NOW, at(1), NOW + timedelta(days=90))
