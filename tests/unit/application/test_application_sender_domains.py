"""The look at the sender domains of an account, over fakes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pillarbox.application.accounts.senders import SenderDomains
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.alert import Alert
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain
from pillarbox.domain.errors import Unavailable
from tests.fakes.builders import ACCOUNT, NOW, account, at
from tests.unit.admin.domain_fakes import FakeDomains

VERIFIED, PENDING = DomainState.VERIFIED, DomainState.PENDING


@dataclass
class Look:
    """An account, what is known about its domains, and the provider."""

    senders: Mapping[str, bool]
    states: dict[str, DomainState] = field(default_factory=dict)
    known: dict[str, SenderDomain] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    has_webhooks: bool = True
    alerts: list[Alert] = field(default_factory=list)
    fails: bool = False
    #: When members proved domains that they added; None: not yet.
    proved: Mapping[str, datetime | None] = field(default_factory=dict)

    def state(self, name: str) -> DomainState | None:
        self.asked.append(name)
        if self.fails:
            raise Unavailable("provider")
        return self.states.get(name)

    def of_account(self, account_id: str) -> list[SenderDomain]:
        assert account_id == ACCOUNT
        return [*self.known.values()]

    def domains_of_members(self, account_id: str) -> list[AccountDomain]:
        identities = FakeDomains()
        return [
            AccountDomain(
                account_id=account_id,
                identity=identities.add(name),
                added_at=NOW,
                checked_at=NOW,
                proved_at=proved_at,
            )
            for name, proved_at in self.proved.items()
        ]

    def replace(self, account_id: str, old: SenderDomain | None, new: SenderDomain) -> bool:
        assert account_id == ACCOUNT
        if self.known.get(new.name) != old:
            return False
        self.known[new.name] = new
        return True

    def __call__(self, seconds: int = 0) -> None:
        stored = replace(account(), senders=self.senders, has_webhooks=self.has_webhooks)
        SenderDomains(
            records=self,
            domains_of_members=self.domains_of_members,
            provider=self,
            raise_alert=lambda _, alert: self.alerts.append(alert),
            clock=lambda: at(seconds),
        ).look(stored)


SENDERS = {"ann@shop.example": True, "bob@shop.example": False, "ann@new.example": False}


def test_each_domain_is_asked_for_once() -> None:
    """Two senders of a domain are one question; the first state is stored without an event."""
    look = Look(SENDERS, {"shop.example": VERIFIED, "new.example": PENDING})
    look()
    assert look.asked == ["new.example", "shop.example"]
    assert [*look.known.values()] == [
        SenderDomain("new.example", PENDING),
        SenderDomain("shop.example", VERIFIED),
    ]


def test_an_account_without_an_endpoint_is_looked_at_four_times_a_day() -> None:
    look = Look(SENDERS, {"shop.example": VERIFIED}, has_webhooks=False)
    asked = []
    for hour in range(24):
        look(hour * 3_600)
        asked += [at(hour * 3_600).hour] * bool(look.asked)
        look.asked.clear()
    assert sorted(asked) == [0, 6, 12, 18]


def test_owners_hear_once_of_a_domain_that_breaks() -> None:
    """Neither the first look nor a domain that was never verified raises an alert."""
    look = Look(SENDERS, {"shop.example": VERIFIED, "new.example": PENDING})
    look()
    look.states |= {"shop.example": PENDING, "new.example": DomainState.FAILED}
    for seconds in (1, 2):
        look(seconds)
    (alert,) = look.alerts
    assert (alert.kind, alert.about) == ("domain", "Domain: shop.example")


def test_a_change_is_stored_once() -> None:
    """The time of a change stays in later looks, so its event keeps its id."""
    look = Look(SENDERS, {"new.example": PENDING})
    for seconds, state in ((0, PENDING), (60, VERIFIED), (120, VERIFIED)):
        look.states["new.example"] = state
        look(seconds)
    assert look.known == {"new.example": SenderDomain("new.example", VERIFIED, at(60))}


def test_an_answer_that_is_missing_changes_nothing() -> None:
    known = {"shop.example": SenderDomain("shop.example", VERIFIED, NOW)}
    look = Look(SENDERS, known=dict(known), fails=True)
    look(60)
    assert look.known == known
    assert len(look.asked) == 1


def test_a_domain_of_members_is_announced_once_without_a_sender() -> None:
    """It is looked at when the account has proved it; a sender that comes later changes nothing."""
    look = Look({}, {"new.example": PENDING, "other.example": VERIFIED})
    look.proved = {"new.example": NOW, "other.example": None}
    for seconds, state in ((0, PENDING), (60, VERIFIED), (120, VERIFIED)):
        look.states["new.example"] = state
        look(seconds)
    look.senders = {"ann@new.example": True}
    look(180)
    assert look.known == {"new.example": SenderDomain("new.example", VERIFIED, at(60))}
    assert "other.example" not in look.asked


def test_a_domain_that_is_verified_before_the_first_look_is_announced() -> None:
    """Also if its first sender came before the look; but not a domain that was proved long ago."""
    senders = {"ann@new.example": True, "ann@old.example": True}
    look = Look(senders, {"new.example": VERIFIED, "old.example": VERIFIED})
    look.proved = {"new.example": NOW, "old.example": NOW - timedelta(days=2)}
    look(60)
    assert look.known == {
        "new.example": SenderDomain("new.example", VERIFIED, at(60)),
        "old.example": SenderDomain("old.example", VERIFIED),
    }
