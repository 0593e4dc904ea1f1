"""Moving accounts into tenants of SES and out of them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from pillarbox.application.operator.checks import Verdict
from pillarbox.application.operator.isolation import Moved
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from tests.fakes import builders
from tests.fakes.builders import NOW
from tests.refusals import refusal
from tests.unit.admin.use_cases import UseCases

WIDGETS = ("acct00000001", "acct00000002")
PREVIEW = "preview@shop.example"


PROVIDER = Pause(
    scope=PauseScope.ACCOUNT, level=PauseLevel.STOP, cause=PauseCause.PROVIDER, since=NOW
)


def shop_with_senders(stack: UseCases) -> str:
    shop = stack.create_account()
    stack.senders.add(shop, "hello@shop.example", verified=True)
    return shop


def account(stack: UseCases, account_id: str) -> Account:
    found = stack.account_records.get(account_id)
    assert found is not None
    return found


def can_send(stack: UseCases, account_id: str) -> bool:
    return sends(stack, account(stack, account_id))


def all_can_send(stack: UseCases) -> bool:
    return all(sends(stack, one) for one in stack.account_records.all())


def sends(stack: UseCases, found: Account) -> bool:
    """Return whether SES takes the account's email: it has no tenant, or all is associated."""
    verified = {address for address, is_verified in found.senders.items() if is_verified}
    return found.tenant is None or verified <= stack.tenants.associated.get(found.tenant, set())


@pytest.mark.parametrize("isolation", [Isolation.STANDARD, Isolation.STRICT])
def test_an_account_gets_a_tenant_and_loses_it(isolation: Isolation) -> None:
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


def test_an_unverified_sender_is_not_associated() -> None:
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
        assert (changed.isolation, changed.tenant) == (Isolation.STRICT, "pillarbox-shared")
    assert stack.tenants.associated == {"pillarbox-shared": {PREVIEW}}
    stack.isolation.change(WIDGETS[0], Isolation.NONE)
    assert can_send(stack, WIDGETS[1])
    assert "pillarbox-shared" in stack.tenants.associated


def test_a_pause_by_ses_ends_with_the_tenant() -> None:
    stack = UseCases()
    shop = shop_with_senders(stack)
    stack.isolation.change(shop, Isolation.STANDARD)
    Pauses(stack.account_records).put(shop, PROVIDER)
    assert stack.isolation.change(shop, Isolation.STRICT).pauses == (PROVIDER,)
    assert stack.isolation.change(shop, Isolation.NONE).pauses == ()


def test_what_differs_from_ses_is_made_again() -> None:
    stack = UseCases()
    gone, former = shop_with_senders(stack), shop_with_senders(stack)
    stack.isolation.change(gone, Isolation.STANDARD)
    stack.tenants.create(f"former-{former}", Isolation.STANDARD)
    stack.account_records.set_isolation(former, Isolation.STANDARD, f"former-{former}")
    stack.tenants.delete(f"pillarbox-{gone}")
    assert stack.isolation.change_all(Isolation.STANDARD, lambda _: None) == Moved(done=2)
    for shop in (gone, former):
        assert account(stack, shop).tenant == f"pillarbox-{shop}"
        assert can_send(stack, shop)
        assert f"pillarbox-{shop}" in stack.tenants.associated


def test_an_account_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillarbox.application.operator.isolation._PAGE", 2)
    stack = UseCases()
    for number in range(3):
        one = replace(builders.account(), account_id=f"acct{number:08}")
        stack.account_records.add(replace(one, senders={f"a{number}@shop.example": True}))
    stack.tenants.lost = {"a1@shop.example"}
    moved = stack.isolation.change_all(Isolation.STANDARD, lambda _: None)
    assert (moved.done, [*moved.failed]) == (2, ["acct00000001"])
    assert account(stack, "acct00000001").tenant is None, "it waits for every association"
    assert stack.tenants.calls == 1 + 2 * 3, "two for each account, and the list of tenants"
    stack.tenants.lost = set()
    assert stack.isolation.change_all(Isolation.STANDARD, lambda _: None) == Moved(done=3)


def test_the_doctor_compares_records_and_ses() -> None:
    stack = UseCases()
    shop = shop_with_senders(stack)
    tenant = stack.isolation.change(shop, Isolation.STANDARD).tenant
    assert tenant is not None
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.PASS]
    stack.tenants.paused = {tenant}
    (finding,) = stack.isolation.check()
    assert finding.verdict is Verdict.FAIL
    assert "Its record does not say so" in finding.message
    Pauses(stack.account_records).put(shop, PROVIDER)
    (finding,) = stack.isolation.check()
    assert "Its record does not say so" not in finding.message
    stack.tenants.paused = set()
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.WARN]
    Pauses(stack.account_records).remove(shop, PROVIDER.key)
    stack.tenants.associated[tenant].remove("hello@shop.example")
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.FAIL]
    stack.tenants.associated[tenant].add("hello@shop.example")
    stack.tenants.sharing = {tenant}
    (finding,) = stack.isolation.check()
    assert (finding.verdict, finding.message) == (
        Verdict.WARN,
        f"The tenant {tenant} has no suppression list of its own: it shares that of others.",
    )
    stack.isolation.change(shop, Isolation.STANDARD)
    assert [one.verdict for one in stack.isolation.check()] == [Verdict.PASS]
    gone, others = f"pillarbox-{WIDGETS[0]}", ["pillarbox-dev-shared", f"pillarbox-dev-{shop}"]
    stack.tenants.associated = {name: set() for name in (gone, *others)}
    verdicts = [(one.verdict, one.message) for one in stack.isolation.check()]
    assert verdicts == [
        (Verdict.FAIL, f"SES has no tenant {tenant}: email of account {shop} waits."),
        (Verdict.WARN, f"SES has the tenant {gone}, which no account names."),
    ]


def test_the_doctor_looks_at_the_shared_tenant() -> None:
    stack = UseCases()
    begins = replace(stack.isolation, begins_shared=True)
    assert [one.verdict for one in begins.check()] == [Verdict.FAIL]
    begins.prepare_shared()
    assert [one.verdict for one in begins.check()] == [Verdict.PASS]
    stack.tenants.sharing = {"pillarbox-shared"}
    assert [one.verdict for one in begins.check()] == [Verdict.WARN]
    stack.tenants.associated["pillarbox-shared"].clear()
    assert [one.verdict for one in begins.check()] == [Verdict.FAIL]
    stack.tenants.associated.clear()
    assert [one.verdict for one in begins.check()] == [Verdict.FAIL]


def test_the_shared_tenant_is_named_when_it_may_send() -> None:
    stack = UseCases()
    stack.tenants.lost = {PREVIEW}
    assert refusal(stack.isolation.prepare_shared).code == "service_unavailable"
    assert stack.shared_tenant.stored() is None
    stack.tenants.lost = set()
    stack.isolation.prepare_shared()
    assert stack.shared_tenant.stored() == "pillarbox-shared"


def test_a_stranger_stays_in_the_shared_tenant_until_an_operator_says_otherwise() -> None:
    stack = UseCases()
    stack.isolation.prepare_shared()
    shop = shop_with_senders(stack)
    stack.account_records.set_isolation(shop, Isolation.STRICT, "pillarbox-shared")
    for isolation in (Isolation.STANDARD, Isolation.STRICT):
        assert stack.isolation.change_all(isolation, lambda _: None) == Moved(done=1)
        assert account(stack, shop).tenant == "pillarbox-shared"
    assert stack.isolation.change(shop, Isolation.STRICT).tenant == "pillarbox-shared"
    assert can_send(stack, shop)
    changed = stack.isolation.change(shop, Isolation.STANDARD)
    assert (changed.isolation, changed.tenant) == (Isolation.STANDARD, f"pillarbox-{shop}")
    assert can_send(stack, shop)


class Killed(BaseException):
    """The end of the process."""


class Process:
    """Ends the process at a call of SES or a write of a record: before it or after it."""

    def __init__(self, stack: UseCases, call: int, *, after: bool) -> None:
        self.left = call
        self.after = after
        objects = (
            (stack.tenants, ("create", "associate", "delete", "all")),
            (stack.account_records, ("set_isolation",)),
            (stack.shared_tenant, ("store",)),
        )
        for owner, names in objects:
            for name in names:
                setattr(owner, name, self._watch(getattr(type(owner), name).__get__(owner)))

    def _watch(self, call: Callable[..., object]) -> Callable[..., object]:
        def watched(*arguments: object) -> object:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise Killed
            result = call(*arguments)
            if self.left == 0:
                raise Killed
            return result

        return watched


def mixed_stack() -> UseCases:
    """Return accounts with a tenant, without one, of the widget and of a stranger."""
    stack = UseCases()
    stack.isolation.prepare_shared()
    one, two = shop_with_senders(stack), shop_with_senders(stack)
    stack.create_account()
    stack.isolation.change(one, Isolation.STANDARD)
    stack.account_records.set_isolation(two, Isolation.STRICT, "pillarbox-shared")
    stack.tenants.associate("pillarbox-shared", ["hello@shop.example"])
    widget = replace(builders.account(), account_id=WIDGETS[0], senders={}, widget_secret="x")
    stack.account_records.add(widget)
    return stack


@pytest.mark.parametrize("isolation", list(Isolation))
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_leaves_the_same_end(isolation: Isolation, *, after: bool) -> None:
    undisturbed = mixed_stack()
    undisturbed.isolation.change_all(isolation, lambda _: None)
    assert isolation is not Isolation.NONE or undisturbed.tenants.associated == {}
    expected = len(undisturbed.tenants.associated), undisturbed.shared_tenant.stored()
    for call in count(1):
        stack = mixed_stack()
        Process(stack, call, after=after)
        try:
            stack.isolation.change_all(isolation, lambda _: None)
            break
        except Killed:
            pass
        assert all_can_send(stack)
        assert not stack.isolation.change_all(isolation, lambda _: None).failed
        assert (len(stack.tenants.associated), stack.shared_tenant.stored()) == expected
        assert stack.tenants.calls <= undisturbed.tenants.calls + 3, "what a kill repeats"
        wanted = {None} if isolation is Isolation.NONE else {*stack.tenants.associated}
        assert {one.tenant for one in stack.account_records.all()} == wanted
        calls = stack.tenants.calls
        stack.isolation.change_all(isolation, lambda _: None)
        assert stack.tenants.calls == calls + 1, "a finished command only lists the tenants"
    assert call > 5
