"""Records that are too old for their account."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pillarbox.application.delivery.sweep import RecordRetention
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import KeptContent, erase_copy
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.timing import milliseconds
from tests.fakes import builders
from tests.fakes.builders import NOW, event

#: The start of the first day whose records stay.
UNTIL = datetime(2025, 12, 14, tzinfo=UTC)


class Records:
    """The ports: a page of old records, their copies, and what is done in which order."""

    def __init__(self, *messages: Message, copies: Sequence[Message] = ()) -> None:
        self.messages = messages
        self.younger = {copy.message_id: copy for copy in copies}
        self.done: list[object] = []

    def oldest(self, _: str, until: int, cursor: str | None) -> ScanPage[Message]:
        self.done.append(("read", until, cursor))
        return ScanPage(self.messages, "more")

    def copies(self, _: str, shards: int) -> list[tuple[UUID, UUID]]:
        assert shards == 1
        stored = (*self.messages, *self.younger.values())
        pairs = [(one.origin.resend_of, one.message_id) for one in reversed(stored)]
        return [(original, copy) for original, copy in pairs if original]

    def get_all(self, _: str, message_ids: Iterable[UUID]) -> list[Message]:
        return [self.younger[each] for each in message_ids if each in self.younger]

    def rewrite_copy(self, _: Message, erased: Message) -> None:
        self.done.append(erased)

    def delete(self, _: str, message_ids: Sequence[UUID]) -> None:
        self.done.append(message_ids)

    def delete_page(self, days: int, records_from: datetime | None = None) -> str | None:
        retention = RecordRetention(
            records=self,
            copies=self.copies,
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


def copy_of(original: Message, to: str, days: int, **changes: Any) -> Message:
    copy = builders.message(message_id=new_id(UNTIL + timedelta(days=days)), to=(to,), **changes)
    return replace(copy, origin=replace(copy.origin, resend_of=original.message_id))


def test_copies_to_others_are_erased_before_what_they_repeat() -> None:
    """Copies of copies too: without the record no erasure finds them. Others stay."""
    first, other = old(), old()
    desk = copy_of(first, "desk@shop.example", 1, keep=7)
    boss = copy_of(desk, "boss@shop.example", 2)
    elsewhere = copy_of(builders.message(), "desk@shop.example", 3)
    records = Records(first, other, copies=[desk, boss, elsewhere])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [
        KeptContent.of(desk),
        erase_copy(desk),
        erase_copy(boss),
        [first.message_id, other.message_id],
    ]


def test_a_copy_to_the_same_recipient_stays_until_it_is_old() -> None:
    """An erasure finds it and its copies. Those of a copy that goes are erased in any case."""
    first = old()
    again = copy_of(first, "Ann@example.com", 1)
    once_more = copy_of(again, "ann@example.com", 2)
    records = Records(first, copies=[again, once_more])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [[first.message_id]]
    sent = replace(again, events=(event(EventKind.SENT),))
    records = Records(sent, copies=[once_more])
    records.delete_page(90, records_from=UNTIL)
    assert records.done[1:] == [erase_copy(once_more), [again.message_id]]


def test_an_email_that_is_pending_stays() -> None:
    records = Records(builders.message())
    records.delete_page(90, records_from=UNTIL)
    assert records.done[-1] == []


def test_a_later_time_is_not_taken_back() -> None:
    """An account that wanted fewer days before has no older records."""
    records = Records()
    records.delete_page(90, records_from=UNTIL + timedelta(days=9))
    assert records.done[0] == ("read", milliseconds(UNTIL), "here")


def test_an_account_keeps_its_records_by_default() -> None:
    records = Records(old())
    assert records.delete_page(0) is None
    assert records.done == []
