"""Signing up: who may create an account, and what the operator decides."""

from dataclasses import replace
from typing import Final

import pytest

from pillarbox.domain.accounts.account import Isolation, Plan
from pillarbox.domain.sign_in.session import SessionPrincipal, new_session, new_user
from pillarbox.domain.sign_in.sign_up import (
    CheckedProof,
    Proof,
    SignUpMode,
    SignUpPolicy,
    SignUpState,
    SignUpStatus,
)
from tests.fakes.builders import NOW, at
from tests.fakes.container import Container
from tests.refusals import refusal
from tests.unit.application.proofs import few_tries, solve

__all__ = ["few_tries"]

ADA: Final = "Ada@shop.example"


class World(Container):
    """Users, their sign-ups and the operator, under some policy."""

    def __init__(self, mode: SignUpMode = SignUpMode.OPEN, tenant: str | None = None) -> None:
        super().__init__({"sign_up": mode.value, "strangers": "on"})
        self.shared_tenant.store(tenant)

    def user(self, address: str = ADA) -> SessionPrincipal:
        session, _ = new_session(self.user_store.add(new_user(address)), "Firefox", NOW)
        return SessionPrincipal(session=session, operator=False)

    def status(self, address: str = ADA) -> SignUpStatus:
        return self.sign_up.offer(self.user(address)).status

    def create(self, address: str = ADA, name: str = "Acme", client: str = "") -> SignUpStatus:
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
    world = World(SignUpMode.APPROVED)
    world.create()
    (request,) = world.sign_up_store.all()
    before = replace(request, state=SignUpState(stored)) if stored else None
    policy = SignUpPolicy(mode=SignUpMode(mode), domains=frozenset(domains.split()))
    assert policy.status(ADA, before) == expected


@pytest.mark.parametrize("name", [" ", "x" * 129, "a\nb"])
def test_a_bad_name_costs_no_proof(name: str) -> None:
    world = World()
    user = world.user()
    challenge = world.sign_up.offer(user).challenge
    assert challenge
    proof = solve(challenge)
    assert refusal(world.sign_up.create, user, name, proof, "").code == "validation_failed"
    assert world.sign_up.create(user, "Acme", proof, "").status is SignUpStatus.CREATED


def test_a_proof_works_once_and_for_one_user() -> None:
    world = World(SignUpMode.OPEN)
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
    world = World()
    for number in range(5):
        client = f"198.51.100.{number}"
        assert world.create(f"u{number}@shop.example", client=client) is SignUpStatus.CREATED
    late = "late@shop.example"
    assert refusal(world.create, late, client="198.51.100.9").code == "rate_limit_exceeded"
    assert world.create(late, client="203.0.113.1") is SignUpStatus.CREATED


def test_the_operator_refuses_a_request_and_can_change_that() -> None:
    """The user sees the refusal and cannot ask again; an approval later still works."""
    world = World(SignUpMode.APPROVED)
    world.create()
    assert world.sign_up_approval.refuse(ADA).state is SignUpState.REFUSED
    assert world.status() is SignUpStatus.REFUSED
    assert refusal(world.create).code == "sign_up_closed"
    assert world.sign_up_approval.pending() == []
    assert world.sign_up_approval.approve(ADA).plan is Plan.FREE


def test_an_invitation_makes_a_user_who_creates_one_account() -> None:
    """Nobody else can; the operator may take it back, or invite the same user again."""
    world = World(SignUpMode.INVITED)
    assert refusal(world.create).code == "sign_up_closed"
    assert len(world.sign_up_approval.invite(ADA)) == 32
    assert world.sign_up_approval.refuse(ADA).state is SignUpState.REFUSED
    assert world.status() is SignUpStatus.CLOSED
    assert (
        refusal(world.sign_up_approval.approve, ADA).code == "validation_failed"
    )  # it has no name
    world.sign_up_approval.invite(ADA)
    assert world.create() is SignUpStatus.CREATED
    world.sign_up_approval.invite(ADA)
    assert world.create(name="Second") is SignUpStatus.CREATED
    assert {one.name for one in world.account_store.all()} == {"Acme", "Second"}


def test_nobody_is_invited_while_sign_up_is_closed() -> None:
    world = World(SignUpMode.CLOSED)
    assert refusal(world.sign_up_approval.invite, ADA).code == "validation_failed"
    assert world.user_store.get(ADA) is None


def test_one_mailbox_signs_up_once() -> None:
    """Forms of one address with tags, and with dots at Gmail, share one free account."""
    world = World()
    assert world.create("mallory@gmail.com") is SignUpStatus.CREATED
    for form in ("mallory+1@gmail.com", "m.allory@googlemail.com", "Mallory+x@gmail.com"):
        assert world.status(form) is SignUpStatus.CREATED
    assert world.create("m.allory@shop.example") is SignUpStatus.CREATED
    assert world.status("mallory@shop.example") is SignUpStatus.AVAILABLE


def test_a_strangers_account_begins_in_the_shared_tenant() -> None:
    """One that an operator approves has none, because an operator knows its owner."""
    begun: dict[SignUpMode, tuple[Isolation, str | None]] = {}
    for mode in (SignUpMode.OPEN, SignUpMode.APPROVED):
        world = World(mode, tenant="pillarbox-shared")
        world.create()
        if mode is SignUpMode.APPROVED:
            world.sign_up_approval.approve(ADA, None, by="operator@pillarbox.example")
        (account,) = world.account_store.all()
        begun[mode] = (account.isolation, account.tenant)
    assert begun == {
        SignUpMode.OPEN: (Isolation.STRICT, "pillarbox-shared"),
        SignUpMode.APPROVED: (Isolation.NONE, None),
    }
