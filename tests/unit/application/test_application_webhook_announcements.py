"""Announcements: who receives what, how often endpoints are read, and what fails."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum, auto
from unittest.mock import Mock
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import added_events
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.webhooks.announce import Announcement
from pillarbox.application.webhooks.ports import WebhookEndpoints, WebhookQueue
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint
from pillarbox.domain.webhooks.events import AccountEvent, account_paused
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT, event, message
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.webhooks import FakeWebhookQueue, endpoint


class _Endpoints(DynamoWebhookEndpoints):
    """Counts the reads of each account, and cannot read the endpoints of some."""

    def __init__(self, unreadable: Collection[str] = ()) -> None:
        table = MemoryTable("table")
        super().__init__(MemoryTable("credentials", table), table)
        self.reads = Counter[str]()
        self._unreadable = unreadable

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        self.reads[account_id] += 1
        if account_id in self._unreadable:
            raise KeyError("types")
        return super().of_account(account_id)


def _announcement(endpoints: WebhookEndpoints, queue: WebhookQueue) -> Announcement[str]:
    """Return an announcement of records that are the id of an account that was paused."""
    return Announcement(
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        written_at=lambda _: NOW,
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    )


def test_a_batch_reads_the_endpoints_of_each_account_once() -> None:
    endpoints = _Endpoints()
    announcement = _announcement(endpoints, FakeWebhookQueue())
    announcement.apply([ACCOUNT, OTHER_ACCOUNT, ACCOUNT])
    assert endpoints.reads == {ACCOUNT: 1, OTHER_ACCOUNT: 1}
    announcement.apply([ACCOUNT])
    assert endpoints.reads == {ACCOUNT: 2, OTHER_ACCOUNT: 1}
    without_events = Announcement[str](
        account_of=str,
        read=lambda _: [],
        written_at=lambda _: NOW,
        endpoints=endpoints,
        queue=FakeWebhookQueue(),
        clock=lambda: NOW,
    )
    without_events.apply([ACCOUNT])
    assert endpoints.reads.total() == 3


class _Step(StrEnum):
    CREATE = auto()
    CHANGE = auto()
    DELIVER = auto()


_STEPS = st.tuples(
    st.sampled_from(_Step), st.integers(0, 40_000), st.integers(-30_000, 30_000), st.booleans()
)


@given(st.lists(_STEPS, max_size=40))
def test_an_endpoint_receives_each_event_after_its_creation(
    steps: Sequence[tuple[_Step, int, int, bool]],
) -> None:
    """Two functions take the batches, and clocks of writers are up to 30 seconds wrong."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    functions = [
        Announcement[AccountEvent](
            account_of=lambda event: event.account_id,
            read=lambda event: [event],
            written_at=lambda event: event.at,
            endpoints=endpoints,
            queue=queue,
            clock=lambda: NOW,
        )
        for _ in range(2)
    ]
    now, stream, expected = NOW, list[AccountEvent](), set[UUID]()
    for step, wait, error, is_first in [*steps, (_Step.DELIVER, 0, 0, True)]:
        now += timedelta(milliseconds=wait)
        clock = now + timedelta(milliseconds=error)
        if step is _Step.CREATE:
            endpoints.add(endpoint(created_at=clock), 10)
        elif step is _Step.CHANGE:
            event = account_paused(ACCOUNT, clock)
            stream.append(event)
            existing = endpoints.of_account(ACCOUNT)
            expected |= {event.event_id(each.endpoint_id) for each in existing}
        else:
            functions[is_first].apply(stream)
            stream.clear()
    assert expected <= {event.event_id for event in queue.events}


def test_only_enabled_endpoints_receive_what_they_chose() -> None:
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    chosen = [endpoint(types=frozenset({one})) for one in ("account.paused", "email.bounced")]
    for each in (*chosen, endpoint(enabled=False)):
        endpoints.add(each, 10)
    _announcement(endpoints, queue).apply([ACCOUNT])
    assert [event.endpoint_id for event in queue.events] == [chosen[0].endpoint_id]


def test_a_batch_that_cannot_be_queued_is_repeated_from_its_start() -> None:
    """An error of the queue is reported after those of records, and the whole batch comes again."""
    endpoints = _Endpoints(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = Mock(put_all=Mock(side_effect=Unavailable("queue")))
    announcement = _announcement(endpoints, queue)
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert result.retry_from == 0
    assert [type(error) for error in result.errors] == [KeyError, Unavailable]
    assert announcement.apply([OTHER_ACCOUNT]).retry_from is None


def test_endpoints_that_are_out_of_reach_stop_the_batch() -> None:
    """The whole batch comes again, whichever of its records announces something."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    for account_id in (ACCOUNT, OTHER_ACCOUNT):
        endpoints.add(endpoint(account_id), 1)
    for failing in (ACCOUNT, OTHER_ACCOUNT):

        def of_account(account_id: str, *, failing: str = failing) -> Sequence[WebhookEndpoint]:
            if account_id == failing:
                raise Unavailable("data store")
            return endpoints.of_account(account_id)

        announcement = _announcement(Mock(of_account=of_account), queue)
        result = announcement.apply([ACCOUNT, OTHER_ACCOUNT, ACCOUNT])
        assert result.retry_from == 0
        assert [type(error) for error in result.errors] == [Unavailable]
        assert queue.events == []
    assert _announcement(endpoints, queue).apply([ACCOUNT, OTHER_ACCOUNT]).retry_from is None
    assert [event.account_id for event in queue.events] == [ACCOUNT, OTHER_ACCOUNT]


def test_unreadable_endpoints_do_not_stop_other_accounts() -> None:
    """If an account's endpoints cannot be read, the batch goes on, and the error is reported."""
    endpoints = _Endpoints(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = FakeWebhookQueue()
    announcement = _announcement(endpoints, queue)
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert [event.account_id for event in queue.events] == [ACCOUNT]
    assert result.retry_from is None
    assert [type(error) for error in result.errors] == [KeyError]


@pytest.mark.parametrize(
    ("age", "retry_from"),
    [
        (timedelta(minutes=15) - timedelta(milliseconds=1), 1),
        (timedelta(minutes=15), None),
        (None, None),
    ],
)
def test_a_recent_record_that_cannot_be_read_comes_again(
    age: timedelta | None, retry_from: int | None
) -> None:
    """A newer version may read it meanwhile. It holds no other up for longer than 15 minutes."""
    endpoints, queue = _Endpoints(), FakeWebhookQueue()
    endpoints.add(endpoint(ACCOUNT), 1)

    def read(record: str) -> Sequence[AccountEvent]:
        if record != ACCOUNT:
            raise ValueError("the kind is not one of this version")
        return [account_paused(record, NOW)]

    result = Announcement(
        account_of=str,
        read=read,
        written_at=lambda _: None if age is None else NOW - age,
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    ).apply([ACCOUNT, "newer", "newer", ACCOUNT])
    assert result.retry_from == retry_from
    assert [type(error) for error in result.errors] == [ValueError] * 2
    assert [event.account_id for event in queue.events] == [ACCOUNT] * 2


def test_the_stream_of_an_erasure_announces_nothing() -> None:
    """The change as DynamoDB reports it adds only that an email which waited has failed."""
    sent = [
        event(EventKind.SENT, 1),
        event(EventKind.DELAYED, 2, "ann@example.com"),
        event(EventKind.BOUNCED, 3, "ann@example.com"),
        event(EventKind.DELIVERED, 4, "bob@example.com"),
    ]
    old = message(to=("Ann@example.com", "bob@example.com"), announced=True).with_events(sent)
    erased = replace(erase_recipient(old, "ann@example.com"), revision=old.revision + 1)
    failed = erased.with_events([event(EventKind.FAILED, 9)])
    images = {
        "Keys": keys.message(old.account_id, old.message_id),
        "OldImage": message_item(old),
    }
    for new, kinds in ((erased, []), (failed, [EventKind.FAILED])):
        record = {"eventName": "MODIFY", "dynamodb": images | {"NewImage": message_item(new)}}
        assert [each.kind for each in added_events(record)] == kinds
