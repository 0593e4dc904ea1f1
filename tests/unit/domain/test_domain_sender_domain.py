"""What a look at a sender domain changes, and what is announced."""

import pytest

from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain, next_known
from pillarbox.domain.webhooks.endpoint import WebhookType
from pillarbox.domain.webhooks.events import domain_changed
from tests.fakes.builders import ACCOUNT, NOW, at

NAME = "shop.example"
VERIFIED, PENDING, FAILED = DomainState.VERIFIED, DomainState.PENDING, DomainState.FAILED


@pytest.mark.parametrize(
    ("observed", "was_verified", "new"),
    [
        (None, False, None),
        (PENDING, False, SenderDomain(NAME, PENDING)),
        (FAILED, False, SenderDomain(NAME, FAILED)),
        (VERIFIED, True, SenderDomain(NAME, VERIFIED)),
        (VERIFIED, False, SenderDomain(NAME, VERIFIED, NOW)),
    ],
)
def test_the_first_look_announces_only_what_is_new(
    observed: DomainState | None, *, was_verified: bool, new: SenderDomain | None
) -> None:
    """A domain that was verified before is no news; one whose senders were pending is."""
    assert next_known(None, NAME, observed, was_verified=was_verified, now=NOW) == new


@pytest.mark.parametrize(
    ("known", "observed", "state", "announced"),
    [
        (PENDING, VERIFIED, VERIFIED, True),
        (PENDING, FAILED, FAILED, True),
        (PENDING, None, None, False),
        (VERIFIED, FAILED, FAILED, True),
        (VERIFIED, PENDING, FAILED, True),
        (VERIFIED, None, FAILED, True),
        (FAILED, VERIFIED, VERIFIED, True),
        (FAILED, PENDING, PENDING, False),
        (FAILED, None, None, False),
        (PENDING, PENDING, None, False),
        (VERIFIED, VERIFIED, None, False),
        (FAILED, FAILED, None, False),
    ],
)
def test_each_change_is_announced_with_its_time(
    known: DomainState,
    observed: DomainState | None,
    state: DomainState | None,
    *,
    announced: bool,
) -> None:
    """A change to verified or failed has a new time, one to pending keeps the old one."""
    new = next_known(SenderDomain(NAME, known, NOW), NAME, observed, was_verified=False, now=at(60))
    assert new == (None if state is None else SenderDomain(NAME, state, at(60 if announced else 0)))


def test_the_event_of_a_domain_names_it() -> None:
    """The id follows from account, domain, state and time; pending is no event."""
    verified = domain_changed(ACCOUNT, NAME, VERIFIED, NOW)
    assert verified is not None
    assert (verified.type, verified.domain) == (WebhookType.DOMAIN_VERIFIED, NAME)
    others = [
        domain_changed(ACCOUNT, "other.example", VERIFIED, NOW),
        domain_changed(ACCOUNT, NAME, FAILED, NOW),
        domain_changed(ACCOUNT, NAME, VERIFIED, at(1)),
        verified,
    ]
    assert len({each.event_id("e") for each in others if each}) == 4
    assert domain_changed(ACCOUNT, NAME, PENDING, NOW) is None
