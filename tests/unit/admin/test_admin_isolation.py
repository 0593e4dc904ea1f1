"""Moving accounts into tenants of SES and out of them."""

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from admin.use_cases.isolation import Moved
from pillarbox.application.operator.checks import Verdict
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.refusals import refusal
from tests.unit.admin.use_cases import UseCases

WIDGETS = ("acct00000001", "acct00000002")
PREVIEW = "preview@shop.example"


def shop_with_senders(stack: UseCases) -> str:
    shop = stack.create_account()
    stack.senders.add(shop, "hello@shop.example", verified=True)
    return shop


def account(stack: UseCases, account_id: str) -> Account:
    found = stack.account_records.get(account_id)
    assert found is not None
    return found


def can_send(stack: UseCases, account_id: str) -> bool:
    """Return whether SES takes the account's email: it has no tenant, or all is associated."""
    found = account(stack, account_id)
    verified = {address for address, is_verified in found.senders.items() if is_verified}
    return found.tenant is None or verified <= stack.tenants.associated.get(found.tenant, set())


@pytest.mark.parametrize("isolation", [Isolation.STANDARD, Isolation.STRICT])
def test_an_account_gets_a_tenant_and_loses_it(isolation: Isolation) -> None:
    """The tenant may send from every sender and as a preview; `none` deletes it."""
    stack = UseCases()
    shop = shop_with_senders(stack)
    changed = stack.isolation.change(shop, isolation)
    tenant = f"pillarbox-{shop}"
    assert (changed.isolation, changed.tenant) == (isolation, tenant)
    assert stack.tenants.associated == {tenant: {"hello@shop.example", PREVIEW}}
    assert stack.tenants.policies == {tenant: isolation}
    changed = stack.isolation.change(shop, Isolation.NONE)
    assert (changed.isolation, changed.tenant) == (Isolation.NONE, None)
    assert stack.tenants.associated == {}


@pytest.mark.parametrize("isolation", list(Isolation))
def test_an_account_can_send_after_each_call(isolation: Isolation) -> None:
    """Whichever call fails, the account can send, and the same command ends the change."""
    for calls in count():
        stack = UseCases()
        shop = shop_with_senders(stack)
        if isolation is Isolation.NONE:
            stack.isolation.change(shop, Isolation.STRICT)
        stack.tenants.calls_left = calls
        failed = False
        try:
            stack.isolation.change(shop, isolation)
        except ServiceError:
            failed = True
        assert can_send(stack, shop)
        stack.tenants.calls_left = None
        stack.isolation.change(shop, isolation)
        assert account(stack, shop).isolation is isolation
        assert len(stack.tenants.associated) == (isolation is not Isolation.NONE)
        if not failed:
            break
    assert calls == (1 if isolation is Isolation.NONE else 2)


def test_the_name_waits_for_every_association() -> None:
    """If SES does not show an association, the record names no tenant."""
    stack = UseCases()
    shop = shop_with_senders(stack)
    stack.tenants.lost = {"hello@shop.example"}
    assert refusal(stack.isolation.change, shop, Isolation.STRICT).code == "service_unavailable"
    assert account(stack, shop).tenant is None


def test_a_new_sender_is_associated_first() -> None:
    """It becomes usable only when the tenant may send from it."""
    stack = UseCases()
    shop = shop_with_senders(stack)
    stack.isolation.change(shop, Isolation.STANDARD)
    stack.tenants.lost = {"new@shop.example"}
    assert (
        refusal(stack.senders.add, shop, "new@shop.example", verified=True).code
        == "service_unavailable"
    )
    assert "new@shop.example" not in account(stack, shop).senders
    stack.tenants.lost = set()
    stack.senders.add(shop, "new@shop.example", verified=True)
    assert account(stack, shop).senders["new@shop.example"]
    assert can_send(stack, shop)


def test_an_unverified_sender_is_not_associated() -> None:
    """An account cannot send from it, and may not own it."""
    stack = UseCases()
    shop = shop_with_senders(stack)
    stack.isolation.change(shop, Isolation.STANDARD)
    calls = stack.tenants.calls
    stack.senders.add(shop, "later@shop.example")
    assert stack.tenants.calls == calls


def test_accounts_of_the_widget_share_a_strict_tenant() -> None:
    """There may be thousands, which nobody pays for; the tenant stays for the others."""
    stack = UseCases()
    for account_id in WIDGETS:
        stack.account_records.add(
            replace(builders.account(), account_id=account_id, senders={}, widget_secret="x")
        )
        changed = stack.isolation.change(account_id, Isolation.STANDARD)
        assert (changed.isolation, changed.tenant) == (Isolation.STRICT, "pillarbox-preview")
    assert stack.tenants.associated == {"pillarbox-preview": {PREVIEW}}
    stack.isolation.change(WIDGETS[0], Isolation.NONE)
    assert can_send(stack, WIDGETS[1])
    assert "pillarbox-preview" in stack.tenants.associated


@pytest.mark.slow
def test_one_command_moves_all_accounts_and_can_be_interrupted() -> None:
    """A thousand accounts: the repeated command makes no call for those that are done."""
    stack = UseCases()
    ids = [f"acct{number:08}" for number in range(1000)]
    for account_id in ids:
        stack.account_records.add(replace(builders.account(), account_id=account_id))

    def interrupt(seen: int) -> None:
        if seen == 437:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        stack.isolation.change_all(Isolation.STRICT, interrupt)
    assert len(stack.tenants.associated) == 437
    assert all(can_send(stack, account_id) for account_id in ids)
    calls = stack.tenants.calls
    assert stack.isolation.change_all(Isolation.STRICT, lambda _: None) == Moved(done=1000)
    assert stack.tenants.calls - calls == 1 + 2 * (1000 - 437)
    assert len(stack.tenants.associated) == 1000
    assert all(one.tenant for one in stack.account_records.all())


def test_an_account_that_fails_stops_no_other() -> None:
    """Its error is reported, and a repetition tries it again."""
    stack = UseCases()
    for number in range(3):
        one = replace(builders.account(), account_id=f"acct{number:08}")
        stack.account_records.add(replace(one, senders={f"a{number}@shop.example": True}))
    stack.tenants.lost = {"a1@shop.example"}
    moved = stack.isolation.change_all(Isolation.STANDARD, lambda _: None)
    assert (moved.done, [*moved.failed]) == (2, ["acct00000001"])
    stack.tenants.lost = set()
    assert stack.isolation.change_all(Isolation.STANDARD, lambda _: None) == Moved(done=3)


def test_the_doctor_compares_records_and_ses() -> None:
    """It finds a tenant that is gone, paused, without a sender, or without an account."""
    stack = UseCases()
    shop = shop_with_senders(stack)
    tenant = stack.isolation.change(shop, Isolation.STANDARD).tenant
    assert tenant is not None
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.PASS]
    stack.tenants.paused = {tenant}
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.FAIL]
    stack.tenants.paused = set()
    stack.tenants.associated[tenant].remove("hello@shop.example")
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.FAIL]
    stack.tenants.associated = {"other-tenant": set(), "pillarbox-gone": set()}
    verdicts = [(one.verdict, one.message) for one in stack.isolation.check()]
    assert verdicts == [
        (Verdict.FAIL, f"SES has no tenant {tenant}: email of account {shop} waits."),
        (Verdict.WARN, "SES has the tenant pillarbox-gone, which no account names."),
    ]


def test_one_command_removes_all_tenants() -> None:
    """Also the one that is shared, and one whose record is cleared already."""
    stack = UseCases()
    one, two = shop_with_senders(stack), stack.create_account()
    stack.account_records.add(replace(builders.account(), account_id=WIDGETS[0], widget_secret="x"))
    stack.isolation.change_all(Isolation.STANDARD, lambda _: None)
    assert len(stack.tenants.associated) == 3
    stack.account_records.set_isolation(one, Isolation.NONE, None)
    assert stack.isolation.change_all(Isolation.NONE, lambda _: None) == Moved(done=3)
    assert stack.tenants.associated == {}
    assert account(stack, two).tenant is None
