"""What webhooks write under each partition key for an account that sends 1,000 emails a second."""

from collections import Counter
from typing import Final

from benchmarks.metered import Partitions
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
    WebhookEvent,
)
from pillarbox.domain.webhooks.events import events_of
from tests.fakes.builders import ACCOUNT, at, event, message
from tests.loops import all_pages

#: Half of what a partition of DynamoDB takes in a second.
MOST: Final = 500
ENDPOINT: Final = "019cece5-2687-79c4-91d7-b783c86e3849"


def _events() -> list[WebhookEvent]:
    """Return the events of the emails of a second: each is sent and delivered."""
    events: list[WebhookEvent] = []
    for number in range(1000):
        seconds = number / 1000
        to = f"customer-{number}@mailbox.example"
        sent = message(ACCOUNT, new_id(at(seconds), 8), to=(to,)).with_events(
            [event(EventKind.SENT, seconds), event(EventKind.DELIVERED, seconds, to)]
        )
        events += [each.for_endpoint(ENDPOINT) for each in events_of(sent)[1:]]
    return events


def _busiest(engine: Partitions) -> int:
    by_key = Counter[str]()
    for (pk, _), units in engine.writes.items():
        by_key[pk] += units
    return max(by_key.values())


def _table() -> tuple[Table, Partitions]:
    table, engine = Table("metered"), Partitions()
    vars(table)["client"] = engine
    return table, engine


def test_the_log_of_a_busy_endpoint_throttles_on_no_key() -> None:
    table, engine = _table()
    deliveries, events = DynamoWebhookDeliveries(table), _events()
    attempt = DeliveryAttempt(at=at(2), status_code=200, milliseconds=80)
    for each in events:
        assert deliveries.peek(ACCOUNT, ENDPOINT, each.delivery_id) is None
        delivered = WebhookDelivery(event=each, state=DeliveryState.DELIVERED, attempts=(attempt,))
        deliveries.put(delivered)
    assert (len(events), engine.write_units) == (2000, 2000)
    assert _busiest(engine) <= MOST
    assert _is_listed_in_order(deliveries, events)


def test_the_waiting_list_of_a_busy_endpoint_throttles_on_no_key() -> None:
    table, engine = _table()
    waiting, events = DynamoWaitingEvents(table, lambda: at(5)), _events()
    for each in events:
        waiting.put(each)
    assert engine.write_units == 2000
    assert _busiest(engine) <= MOST
    oldest = sorted(events, key=lambda each: each.delivery_id)
    assert [*waiting.oldest(ACCOUNT, ENDPOINT, 5)] == oldest[:5]


def _is_listed_in_order(deliveries: DynamoWebhookDeliveries, events: list[WebhookEvent]) -> bool:
    """Return whether the pages of the log have each event once, the newest first."""
    found = all_pages(lambda cursor: deliveries.newest_first(ACCOUNT, ENDPOINT, 300, cursor))
    newest = sorted(events, key=lambda each: each.delivery_id, reverse=True)
    return [one.event.event_id for one in found] == [each.event_id for each in newest]
