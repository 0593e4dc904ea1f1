"""What the stream's reader counts for the metrics."""

from typing import Any

from pillarbox.adapters.dynamodb.history.message_log import count_changes, marked
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.messages.message import Event, EventKind
from tests.fakes.builders import NOW, at, message

NEW = message()
SENT = NEW.with_events([Event(kind=EventKind.SENT, at=NOW)])


def record(**images: Any) -> dict[str, Any]:
    return {"dynamodb": images}


def test_acceptances_and_new_statuses_are_counted() -> None:
    records = [
        record(NewImage=message_item(NEW)),
        record(OldImage=message_item(NEW), NewImage=message_item(SENT)),
        record(OldImage=message_item(SENT), NewImage=message_item(SENT)),
    ]
    assert count_changes(records) == {"accepted": 1, "sent": 1}


def test_a_deleted_message_is_no_count() -> None:
    """Deleting an account removes its messages: such a record has no new image."""
    assert count_changes([record(OldImage=message_item(SENT))]) == {}


def test_a_restored_message_was_counted_before() -> None:
    first, second = marked(message_item(NEW), NOW), marked(message_item(NEW), at(1))
    assert count_changes([record(NewImage=first)]) == {}
    assert count_changes([record(OldImage=message_item(SENT), NewImage=first)]) == {}
    assert count_changes([record(OldImage=first, NewImage=second)]) == {}
    later = marked(message_item(SENT), NOW)
    assert count_changes([record(OldImage=first, NewImage=later)]) == {"sent": 1}
