"""Records that are too old for their account."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.delivery.sweep_records import RecordRetention
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.timing import milliseconds
from tests.fakes import builders
from tests.fakes.builders import NOW, event

#: The start of the first day whose records stay.
UNTIL = datetime(2025, 12, 14, tzinfo=UTC)


class Records:
    """The ports: a page of old records, and what is done in which order."""

    def __init__(self, *messages: Message) -> None:
        self.messages = messages
        self.done: list[object] = []

    def oldest(self, _: str, until: int, cursor: str | None) -> ScanPage[Message]:
        self.done.append(("read", until, cursor))
        return ScanPage(self.messages, "more")

    def delete(self, _: str, message_ids: Sequence[UUID]) -> None:
        self.done.append(message_ids)

    def delete_page(self, days: int, records_from: datetime | None = None) -> str | None:
        retention = RecordRetention(
            records=self,
            set_records_from=lambda _, moment: self.done.append(moment),
            remove_kept=self.done.append,
        )
        account = builders.account(record_days=days, records_from=records_from)
        return retention.delete_page(account, NOW, "here")


def old(**changes: Any) -> Message:
    message = builders.message(message_id=new_id(UNTIL - timedelta(days=1)))
    return replace(message, events=(event(EventKind.SENT),), **changes)


def test_lists_end_before_anything_is_deleted() -> None:
    """The time of whole days is stored first, then kept content goes, and the records last."""
    kept, plain = old(keep=7), old()
    records = Records(kept, plain)
    assert records.delete_page(90) == "more"
    assert records.done == [
        UNTIL,
        ("read", milliseconds(UNTIL), "here"),
        KeptContent.of(kept),
        [kept.message_id, plain.message_id],
    ]


def test_an_email_that_is_pending_stays() -> None:
    """Somebody should look at it."""
    records = Records(builders.message())
    records.delete_page(90, records_from=UNTIL)
    assert records.done[-1] == []


def test_a_later_time_is_not_taken_back() -> None:
    """An account that wanted fewer days before has no older records."""
    records = Records()
    records.delete_page(90, records_from=UNTIL + timedelta(days=9))
    assert records.done[0] == ("read", milliseconds(UNTIL), "here")


def test_an_account_keeps_its_records_by_default() -> None:
    """Nothing is read."""
    records = Records(old())
    assert records.delete_page(0) is None
    assert records.done == []
