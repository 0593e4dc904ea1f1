"""Pauses by the provider: its events about tenants become pauses of accounts, and end them."""

from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import added_events
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.delivery import tenant_pauses
from pillarbox.application.delivery.ports import TenantChange
from pillarbox.application.delivery.tenant_pauses import TenantPauses
from pillarbox.domain.accounts.account import Account, Isolation
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.pause import (
    PROVIDER_KEY,
    Pause,
    PauseCause,
    PauseLevel,
    PauseScope,
    find_pause,
)
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.webhooks.endpoint import WebhookType
from tests.fakes.builders import ACCOUNT, NOW, account
from tests.fakes.memory_tables import MemoryTable
from tests.refusals import refusal

OWN = f"pillarbox-{ACCOUNT}"
SHARED = "pillarbox-shared"
LATER = NOW + timedelta(hours=1)


class World:
    """Accounts, and what SES says of their tenants."""

    def __init__(self, *accounts: Account) -> None:
        self.accounts = DynamoAccounts(MemoryTable("table"))
        for one in accounts:
            self.accounts.add(one)
        self.paused_at_ses: set[str] = set()
        self.alerts: list[tuple[str, Alert]] = []
        self.fails = False

    @property
    def pauses(self) -> TenantPauses:
        return TenantPauses(
            accounts=self.accounts,
            may_send=self.may_send,
            shared_tenant=lambda: SHARED,
            raise_alert=lambda account_id, alert: self.alerts.append((account_id, alert)),
            clock=lambda: LATER,
        )

    def may_send(self, name: str) -> bool | None:
        if self.fails:
            raise Unavailable("provider")
        return name not in self.paused_at_ses

    def tell(self, tenant: str, *, may_send: bool) -> bool:
        """Change the status at SES, and deliver its event."""
        (self.paused_at_ses.discard if may_send else self.paused_at_ses.add)(tenant)
        return self.late_event(tenant)

    def late_event(self, tenant: str) -> bool:
        return self.pauses.apply(TenantChange(tenant))

    def stopped(self) -> list[str]:
        """Return the accounts whose emails are refused."""
        return [
            one.account_id
            for one in self.accounts.all()
            if find_pause(one.pauses, key_id="key", template="otp", now=LATER)
        ]

    def read(self) -> Account:
        found = self.accounts.get(ACCOUNT)
        assert found
        return found


def test_a_pause_begins_and_ends() -> None:
    """It stops the whole account, codes too, until SES lets its tenant send."""
    world = World(account(tenant=OWN), account(account_id="acct00000002"))
    assert world.tell(OWN, may_send=False)
    assert not world.late_event(OWN), "the same event again"
    assert world.stopped() == [ACCOUNT]
    (pause,) = world.read().pauses
    assert (pause.key, pause.cause) == (PROVIDER_KEY, PauseCause.PROVIDER)
    assert (pause.since, pause.until) == (LATER, None)
    assert world.tell(OWN, may_send=True)
    assert not world.late_event(OWN)
    assert world.stopped() == []


def test_a_late_event_changes_nothing() -> None:
    """SES is asked for its present status: events come in any order, and name one status of two."""
    world = World(account(tenant=OWN))
    assert not world.late_event(OWN), "paused, and reinstated before the event came"
    world.tell(OWN, may_send=False)
    assert not world.late_event(OWN), "the owner's status is enabled, SES's own is not"
    assert world.stopped() == [ACCOUNT]
    world.fails = True
    assert refusal(world.late_event, OWN).code == "service_unavailable"


def test_a_tenant_of_nobody_changes_nothing() -> None:
    """Events name tenants of other stacks, of deleted accounts, and those of former settings."""
    world = World(account(tenant=SHARED))
    for tenant in ("other", "pillarbox-dev-acct00000009", OWN):
        assert not world.tell(tenant, may_send=False)
    assert world.stopped() == []


def test_all_accounts_of_the_shared_tenant_are_paused() -> None:
    """Also over pages, and after an interruption; those with another tenant go on sending."""
    strangers = [account(account_id=f"many{n:08}", tenant=SHARED) for n in range(12)]
    world = World(*strangers, account(tenant=OWN))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tenant_pauses, "_PAGE", 5)
        calls = iter([True] * 7)
        original = DynamoAccounts.set_pauses

        def fail_later(*arguments: object, **named: object) -> object:
            if not next(calls, False):
                raise Unavailable("table")
            return original(*arguments, **named)  # type: ignore[arg-type]

        patch.setattr(DynamoAccounts, "set_pauses", fail_later)
        with pytest.raises(Unavailable):
            world.tell(SHARED, may_send=False)
    assert len(world.stopped()) == 7
    assert world.tell(SHARED, may_send=False)
    assert world.stopped() == [one.account_id for one in strangers]
    assert world.tell(SHARED, may_send=True)
    assert world.stopped() == []


def test_the_sweep_ends_a_pause_whose_end_was_not_told() -> None:
    """It asks SES only about accounts that are paused, and leaves the breaker's own pauses."""
    own = Pause(
        scope=PauseScope.ACCOUNT, level=PauseLevel.WARN, cause=PauseCause.BOUNCES, since=NOW
    )
    world = World(account(tenant=OWN, pauses=(own,)))
    world.fails = True
    world.pauses.look(world.read())
    world.fails = False
    world.tell(OWN, may_send=False)
    world.pauses.look(world.read())
    assert world.stopped() == [ACCOUNT]
    world.fails = True
    world.pauses.look(world.read())
    assert world.stopped() == [ACCOUNT]
    world.fails, world.paused_at_ses = False, set()
    world.pauses.look(world.read())
    assert world.stopped() == []
    assert own in world.read().pauses


def test_a_pause_ends_with_the_tenant() -> None:
    world = World(account(tenant=OWN))
    world.tell(OWN, may_send=False)
    world.accounts.set_isolation(ACCOUNT, Isolation.NONE, None)
    world.fails = True
    world.pauses.look(world.read())
    assert world.stopped() == []


def test_a_pause_by_ses_is_announced_once() -> None:
    """Webhook endpoints get `account.paused` when it begins, and nothing when it ends."""
    world = World(account(tenant=OWN))
    before = account_item(world.read())
    world.tell(OWN, may_send=False)
    paused = account_item(world.read())
    world.tell(OWN, may_send=True)
    ended = account_item(world.read())
    images = {"OldImage": before, "NewImage": paused, "Keys": keys.account(ACCOUNT)}
    (event,) = added_events({"dynamodb": images})
    assert (event.type, event.at) == (WebhookType.ACCOUNT_PAUSED, LATER)
    assert not added_events({"dynamodb": images | {"OldImage": paused, "NewImage": ended}})


def test_owners_hear_of_a_pause_before_it_is_stored() -> None:
    """Several events of one pause raise the same alert, and a widget's visitor hears of none."""
    visitor = account(account_id="acct00000002", tenant=SHARED, widget_secret="s")
    world = World(account(tenant=OWN), visitor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DynamoAccounts, "set_pauses", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.tell(OWN, may_send=False)
    world.tell(OWN, may_send=False)
    world.late_event(OWN)
    (account_id, alert), (_, again) = world.alerts
    assert (account_id, alert.kind, alert.alert_id) == (
        ACCOUNT,
        AlertKind.SENDING,
        again.alert_id,
    )
    assert "Amazon SES paused it" in alert.paragraphs[0]
    assert not any("dashboard, once" in text for text in alert.paragraphs)
    world.tell(SHARED, may_send=False)
    assert set(world.stopped()) == {ACCOUNT, "acct00000002"}
    world.tell(OWN, may_send=True)
    assert len(world.alerts) == 2
