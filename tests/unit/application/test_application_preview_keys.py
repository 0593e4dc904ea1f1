"""Preview keys of the widget and signing up: who gets a key or an account, and how often."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from typing import Final
from unittest import mock

import pytest
from disposable_email_domains import blocklist

from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.accounts.account import Account, Isolation, Plan
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.quota import QuotaCounts
from pillarbox.domain.address import fold_address
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.sign_in import sign_up
from pillarbox.domain.sign_in.codes import CodeRequest, FlowToken
from pillarbox.domain.sign_in.preview_key import check_own_recipients, is_unused, new_report
from pillarbox.domain.sign_in.session import SessionPrincipal, new_session, new_user
from pillarbox.domain.sign_in.sign_up import (
    ALGORITHM,
    Challenge,
    CheckedProof,
    Proof,
    SignUpMode,
    SignUpPolicy,
    SignUpState,
    SignUpStatus,
)
from tests.fakes.builders import NOW, at
from tests.fakes.container import Container
from tests.fakes.stores import FakeDomains
from tests.refusals import refusal

CODES_PER_ADDRESS = 15

ADA: Final = "ada@shop.example"


TRIES = 20


@pytest.fixture(autouse=True)
def few_tries() -> Iterator[None]:
    """Keep the search for proofs of work short."""
    with mock.patch.object(sign_up, "MAX_NUMBER", TRIES):
        yield


def solve(challenge: Challenge) -> Proof:
    salt, wanted = challenge.salt, challenge.challenge
    (number,) = (n for n in range(TRIES + 1) if sha256(f"{salt}{n}".encode()).hexdigest() == wanted)
    return Proof(wanted, salt, challenge.signature, ALGORITHM, number)


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


APPLICANT: Final = "Ada@shop.example"


class SignUps(Container):
    """Users, their sign-ups and the operator, under some policy."""

    def __init__(self, mode: SignUpMode = SignUpMode.OPEN, tenant: str | None = None) -> None:
        super().__init__({"sign_up": mode.value, "strangers": "on"})
        self.shared_tenant.store(tenant)

    def user(self, address: str = APPLICANT) -> SessionPrincipal:
        session, _ = new_session(self.user_store.add(new_user(address)), "Firefox", NOW)
        return SessionPrincipal(session=session, operator=False)

    def status(self, address: str = APPLICANT) -> SignUpStatus:
        return self.sign_up.offer(self.user(address)).status

    def create(
        self, address: str = APPLICANT, name: str = "Acme", client: str = ""
    ) -> SignUpStatus:
        user = self.user(address)
        challenge = self.sign_up.offer(user).challenge
        proof = solve(challenge) if challenge else Proof("", "", "", "", 0)
        return self.sign_up.create(user, name, proof, client).status


@pytest.mark.parametrize(
    ("mode", "domains", "stored", "expected"),
    [
        ("closed", "", None, "closed"),
        ("closed", "", "invited", "closed"),
        ("closed", "", "pending", "closed"),
        ("closed", "", "created", "created"),
        ("invited", "", None, "closed"),
        ("invited", "", "invited", "available"),
        ("invited", "", "pending", "closed"),
        ("invited", "", "created", "created"),
        ("approved", "", None, "on_approval"),
        ("approved", "", "pending", "pending"),
        ("approved", "", "refused", "refused"),
        ("approved", "", "invited", "available"),
        ("approved", "other.example", None, "closed"),
        ("open", "", None, "available"),
        ("open", "", "pending", "available"),
        ("open", "", "refused", "refused"),
        ("open", "", "created", "created"),
        ("open", "shop.example", None, "available"),
        ("open", "other.example", None, "closed"),
        ("open", "other.example", "invited", "available"),
        ("open", "hop.example", None, "closed"),
    ],
)
def test_policy_and_history_say_what_a_user_can_do(
    mode: str, domains: str, stored: str | None, expected: str
) -> None:
    """An invitation opens all modes but closed, a domain is compared whole, and one is enough."""
    world = SignUps(SignUpMode.APPROVED)
    world.create()
    (request,) = world.sign_up_store.all()
    before = replace(request, state=SignUpState(stored)) if stored else None
    policy = SignUpPolicy(mode=SignUpMode(mode), domains=frozenset(domains.split()))
    assert policy.status(APPLICANT, before) == expected


@pytest.mark.parametrize("name", [" ", "x" * 129, "a\nb"])
def test_a_bad_name_costs_no_proof(name: str) -> None:
    world = SignUps()
    user = world.user()
    challenge = world.sign_up.offer(user).challenge
    assert challenge
    proof = solve(challenge)
    assert refusal(world.sign_up.create, user, name, proof, "").code == "validation_failed"
    assert world.sign_up.create(user, "Acme", proof, "").status is SignUpStatus.CREATED


def test_a_proof_works_once_and_for_one_user() -> None:
    world = SignUps(SignUpMode.OPEN)
    user, other = world.user(), world.user("bob@shop.example")
    challenge = world.sign_up.offer(user).challenge
    assert challenge
    proof = solve(challenge)
    assert refusal(world.sign_up.create, other, "B", proof, "").code == "validation_failed"
    assert world.proof_store.use(CheckedProof(proof.challenge, at(1)))
    assert refusal(world.sign_up.create, user, "A", proof, "").code == "validation_failed"
    assert [*world.account_store.all()] == []


def test_a_network_creates_five_accounts_a_day() -> None:
    """The sixth sign-up from a /24 is refused; one from another network is not."""
    world = SignUps()
    for number in range(5):
        client = f"198.51.100.{number}"
        assert world.create(f"u{number}@shop.example", client=client) is SignUpStatus.CREATED
    late = "late@shop.example"
    assert refusal(world.create, late, client="198.51.100.9").code == "rate_limit_exceeded"
    assert world.create(late, client="203.0.113.1") is SignUpStatus.CREATED


def test_the_operator_refuses_a_request_and_can_change_that() -> None:
    """The user sees the refusal and cannot ask again; an approval later still works."""
    world = SignUps(SignUpMode.APPROVED)
    world.create()
    assert world.sign_up_approval.refuse(APPLICANT).state is SignUpState.REFUSED
    assert world.status() is SignUpStatus.REFUSED
    assert refusal(world.create).code == "sign_up_closed"
    assert world.sign_up_approval.pending() == []
    assert world.sign_up_approval.approve(APPLICANT).plan is Plan.FREE


def test_an_invitation_makes_a_user_who_creates_one_account() -> None:
    """Others cannot; the operator may take it back, or invite the same user again."""
    world = SignUps(SignUpMode.INVITED)
    assert refusal(world.create).code == "sign_up_closed"
    assert len(world.sign_up_approval.invite(APPLICANT)) == 32
    assert world.sign_up_approval.refuse(APPLICANT).state is SignUpState.REFUSED
    assert world.status() is SignUpStatus.CLOSED
    assert (
        refusal(world.sign_up_approval.approve, APPLICANT).code == "validation_failed"
    )  # it has no name
    world.sign_up_approval.invite(APPLICANT)
    assert world.create() is SignUpStatus.CREATED
    world.sign_up_approval.invite(APPLICANT)
    assert world.create(name="Second") is SignUpStatus.CREATED
    assert {one.name for one in world.account_store.all()} == {"Acme", "Second"}


def test_nobody_is_invited_while_sign_up_is_closed() -> None:
    world = SignUps(SignUpMode.CLOSED)
    assert refusal(world.sign_up_approval.invite, APPLICANT).code == "validation_failed"
    assert world.user_store.get(APPLICANT) is None


def test_one_mailbox_signs_up_once() -> None:
    """Forms of one address with tags, and with dots at Gmail, share one free account."""
    world = SignUps()
    assert world.create("mallory@gmail.com") is SignUpStatus.CREATED
    for form in ("mallory+1@gmail.com", "m.allory@googlemail.com", "Mallory+x@gmail.com"):
        assert world.status(form) is SignUpStatus.CREATED
    assert world.create("m.allory@shop.example") is SignUpStatus.CREATED
    assert world.status("mallory@shop.example") is SignUpStatus.AVAILABLE


def test_a_strangers_account_begins_in_the_shared_tenant() -> None:
    """One that an operator approves has none, because an operator knows its owner."""
    begun: dict[SignUpMode, tuple[Isolation, str | None]] = {}
    for mode in (SignUpMode.OPEN, SignUpMode.APPROVED):
        world = SignUps(mode, tenant="pillarbox-shared")
        world.create()
        if mode is SignUpMode.APPROVED:
            world.sign_up_approval.approve(APPLICANT, None, by="operator@pillarbox.example")
        (account,) = world.account_store.all()
        begun[mode] = (account.isolation, account.tenant)
    assert begun == {
        SignUpMode.OPEN: (Isolation.STRICT, "pillarbox-shared"),
        SignUpMode.APPROVED: (Isolation.NONE, None),
    }
