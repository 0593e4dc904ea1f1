"""Announcements over fakes: how often endpoints are read, and what fails."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from unittest.mock import Mock

from pillarbox.application.webhooks.announce import CACHED, Announcement
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.webhook import WebhookEndpoint
from pillarbox.domain.webhook_events import account_paused
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.webhooks import FakeWebhookEndpoints, FakeWebhookQueue, endpoint
from tests.unit.admin.fakes import OTHER_ACCOUNT


@dataclass
class _EndpointsOfAnotherVersion(FakeWebhookEndpoints):
    """Cannot read the endpoints of some accounts."""

    unreadable: set[str] = field(default_factory=set)

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        if account_id in self.unreadable:
            raise KeyError("types")
        return super().of_account(account_id)


@dataclass
class _CountedEndpoints(FakeWebhookEndpoints):
    """Counts the reads of each account."""

    reads: Counter[str] = field(default_factory=Counter)

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        self.reads[account_id] += 1
        return super().of_account(account_id)


def test_the_endpoints_of_an_account_are_read_twice_a_minute() -> None:
    """For 30 seconds a new endpoint may be missed; then the endpoints are read again."""
    endpoints, queue, now = _CountedEndpoints(), FakeWebhookQueue(), [NOW]
    announcement = Announcement[str](
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        endpoints=endpoints,
        queue=queue,
        clock=lambda: now[0],
    )
    announcement.apply([ACCOUNT, ACCOUNT])
    added = endpoint(ACCOUNT)
    endpoints.endpoints[ACCOUNT, added.endpoint_id] = added
    now[0] += CACHED - timedelta(milliseconds=1)
    announcement.apply([ACCOUNT])
    assert (endpoints.reads[ACCOUNT], queue.events) == (1, [])
    now[0] += timedelta(milliseconds=1)
    announcement.apply([ACCOUNT])
    assert (endpoints.reads[ACCOUNT], len(queue.events)) == (2, 1)
    now[0] += CACHED + timedelta(days=1)
    announcement.apply([ACCOUNT])
    assert endpoints.reads[ACCOUNT] == 3
    assert timedelta(seconds=30) == CACHED


def test_ten_thousand_accounts_are_remembered() -> None:
    """With one account more, all are read again, so the memory has a bound."""
    endpoints = _CountedEndpoints()
    announcement = Announcement[str](
        account_of=str,
        read=lambda _: [],
        endpoints=endpoints,
        queue=FakeWebhookQueue(),
        clock=lambda: NOW,
    )
    accounts = [str(number) for number in range(10_000)]
    announcement.apply([*accounts, *accounts])
    assert endpoints.reads.total() == 10_000
    announcement.apply(["one more", *accounts[:9], "one more"])
    assert endpoints.reads.total() == 10_010


def test_a_batch_that_cannot_be_queued_is_repeated_from_its_start() -> None:
    """An error of the queue is reported after those of records, and the whole batch comes again."""
    endpoints = _EndpointsOfAnotherVersion(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    announcement = Announcement[str](
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        endpoints=endpoints,
        queue=Mock(put_all=Mock(side_effect=Unavailable("queue"))),
        clock=lambda: NOW,
    )
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert result.retry_from == 0
    assert [type(error) for error in result.errors] == [KeyError, Unavailable]
    assert announcement.apply([OTHER_ACCOUNT]).retry_from is None


def test_unreadable_endpoints_do_not_stop_other_accounts() -> None:
    """If an account's endpoints cannot be read, the batch goes on, and the error is reported."""
    endpoints = _EndpointsOfAnotherVersion(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = FakeWebhookQueue()
    announcement = Announcement[str](
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    )
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert [event.account_id for event in queue.events] == [ACCOUNT]
    assert result.retry_from is None
    assert [type(error) for error in result.errors] == [KeyError]
