"""The overload run notices a message that is missing in any one place."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

import pytest

from pillarbox.domain.messages.message import EventKind, Message
from tests.fakes import builders
from verification.overload.views import Comparison, History, Inbox, compare

pytestmark = pytest.mark.slow


class Views:
    """What table, list, filters, analytics and inbox show; in place of `History` and `Inbox`."""

    def __init__(self, count: int) -> None:
        delivered = (builders.event(EventKind.SENT), builders.event(EventKind.DELIVERED))
        messages = [builders.message(events=delivered) for _ in range(count)]
        self.records = {str(message.message_id): message for message in messages}
        self.ids = [*self.records]
        self.shown, self.timed, self.sent = [*self.ids], [*self.ids], [*self.ids]
        self.statuses = dict.fromkeys(self.ids, "delivered")
        self.total = self.rows = count

    def compare(self) -> Comparison:
        return compare(set(self.ids), self.records, cast("History", self), cast("Inbox", self))

    def listed(self) -> list[str]:
        return self.shown

    def by_status(self) -> dict[str, str]:
        return self.statuses

    def by_time(self, _middle: datetime) -> list[str]:
        return self.timed

    def analytics(self) -> Any:
        return {"totalMessages": self.total, "volume": [{"count": self.rows}]}

    def counts(self) -> Counter[str]:
        return Counter(self.sent)


def test_nothing_is_missing() -> None:
    """If every message is everywhere once, nothing is wrong."""
    assert not Views(3).compare()


def test_a_run_without_acknowledgements_shows_nothing() -> None:
    """A run in which no client got an id has not passed."""
    assert Views(0).compare()


def _pending(message: Message) -> Message:
    return replace(message, events=())


@pytest.mark.parametrize(
    ("place", "break_it"),
    [
        ("table", lambda views: views.records.pop(views.ids[0])),
        ("list", lambda views: views.shown.pop()),
        ("list", lambda views: views.shown.append(views.ids[0])),
        ("filters", lambda views: views.statuses.pop(views.ids[0])),
        ("filters", lambda views: views.statuses.update({views.ids[0]: "sent"})),
        ("filters", lambda views: views.timed.pop()),
        ("analytics", lambda views: setattr(views, "total", 2)),
        ("analytics", lambda views: setattr(views, "rows", 4)),
        ("inbox", lambda views: views.sent.pop()),
        ("doubled", lambda views: views.sent.append(views.ids[0])),
        (
            "unfinished",
            lambda views: views.records.update(
                {views.ids[0]: _pending(views.records[views.ids[0]])}
            ),
        ),
    ],
)
def test_each_place_is_compared(place: str, break_it: Callable[[Views], object]) -> None:
    """One message that is missing, wrong or repeated in a place is counted for that place."""
    views = Views(3)
    break_it(views)
    comparison = views.compare()
    assert comparison
    assert getattr(comparison, place) == 1
