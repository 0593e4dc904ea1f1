"""Record the provider's events as statuses and suppressions."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pillarbox.application.delivery.ports import (
    EventHeartbeat,
    EventRecord,
    ProviderEvent,
    SeenEvents,
    TaggedMessage,
    TenantChange,
    UnreadableEvent,
)
from pillarbox.application.ports import Clock, Messages, StrangerMail, Suppressions
from pillarbox.application.provider_suppressions import ProviderSuppressions
from pillarbox.application.stranger_pauses import paused
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import ERASED_ADDRESS, EventKind, Message
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.sign_in.strangers import ALL, MOST_OF_PARTY, Cause, cause_of
from pillarbox.domain.wilson import LEAST_TOTAL

#: Workers that change one message at the same time take turns, after random pauses of up to
#: these seconds, which double. More tries than this are a bug.
_TRIES: Final = 10
_FIRST_PAUSE: Final = 0.01
#: How long a batch frees addresses. SES takes about one call a second that is no send, and the
#: function has 30. The other events come again.
_FREEING_TIME: Final = timedelta(seconds=8)
#: From this receipt on, each a minute after the one before, an event does not come again for its
#: addresses. SES then refuses the next email to one, and the event of that frees it.
_LAST_RECEIPT: Final = 5


class FeedbackOutcome(StrEnum):
    """What an event changed."""

    CHANGED = "changed"
    KNOWN = "known"
    #: There is no such message: it is another service's, or its record has expired.
    UNKNOWN = "unknown"
    #: A kind of record that is not about a message of this service.
    IGNORED = "ignored"
    #: The record names its message, and what it says is not known. The message has a mark.
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """The outcome of one record, and its event (None if the record was ignored)."""

    outcome: FeedbackOutcome
    provider_event: ProviderEvent | None = None
    #: The service's own mail to strangers pauses, because of this event or an earlier one.
    strangers_paused: bool = False
    #: The event is recorded, and must come again: the provider's list may yet get its address.
    again: bool = False


class MessageContention(Exception):
    """Other workers kept changing the message; the queue delivers the event again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Record the provider's events, in any order and any number of times."""

    read: Callable[[str], ProviderEvent | TenantChange | None]
    #: Finds the message of a record, also of one that cannot be read.
    find_message: Callable[[str], TaggedMessage | None]
    messages: Messages
    suppressions: Suppressions
    provider_suppressions: ProviderSuppressions
    #: Returns the tenant of an account at the provider, if it has one.
    tenant_of: Callable[[str], str | None]
    #: Suspends an account, if it is one of the preview widget.
    suspend_preview: Callable[[str, Suspension], None]
    strangers: StrangerMail
    #: Returns how many recipients the provider counted in the last 24 hours, of all its mail.
    sent_in_a_day: Callable[[], float]
    #: `TenantPauses.apply`.
    apply_tenant_change: Callable[[TenantChange], bool]
    seen_events: SeenEvents
    heartbeat: EventHeartbeat
    clock: Clock
    pause: Callable[[float], None]

    def record(self, records: Sequence[EventRecord]) -> list[FeedbackResult | Exception]:
        """Record events; those of one message are merged into it together.

        Returns:
            The result of each record, or its error, such as UnreadableEvent for a text that is no
            record of a known form and names no message. The queue then delivers the event again.
        """
        results: list[FeedbackResult | Exception] = []
        by_message = defaultdict[tuple[str, UUID], dict[int, ProviderEvent]](dict)
        self._leave_marks(records)
        for position, record in enumerate(records):
            try:
                event = self.read(record.text)
                if isinstance(event, TenantChange):
                    is_news = self.apply_tenant_change(event)
                    outcome = FeedbackOutcome.CHANGED if is_news else FeedbackOutcome.KNOWN
                    results.append(FeedbackResult(outcome))
                    continue
            except UnreadableEvent as unreadable:
                results.append(self._note_unreadable(record, unreadable))
                continue
            except Exception as error:  # noqa: BLE001  as below
                results.append(error)
                continue
            results.append(FeedbackResult(FeedbackOutcome.IGNORED))
            if event is not None:
                by_message[event.account_id, event.message_id][position] = event
        for events in by_message.values():
            done = self._record_together([*events.values()])
            for position, event in events.items():
                results[position] = (
                    done if isinstance(done, Exception) else replace(done, provider_event=event)
                )
        self._free_all(records, results)
        return results

    def _free_all(
        self, records: Sequence[EventRecord], results: list[FeedbackResult | Exception]
    ) -> None:
        """Take the addresses of recorded events off the provider's own lists, as time allows.

        Our list is the truth: it refuses the address for the account whose mail bounced, and for
        no other. The provider may list the address some time after its event.
        """
        ends_at = self.clock() + _FREEING_TIME
        for position, (record, result) in enumerate(zip(records, results, strict=True)):
            if isinstance(result, Exception) or result.outcome is FeedbackOutcome.UNKNOWN:
                continue
            event = result.provider_event
            if event is None or not event.listed:
                continue
            again = record.receives < _LAST_RECEIPT
            try:
                if self.clock() < ends_at:
                    again = not self._free(event) and record.receives == 1
            except ServiceError:  # the provider wants fewer calls, or is out of reach
                ends_at = self.clock()
            except Exception as error:  # noqa: BLE001  the caller logs it
                if again:
                    results[position] = error
                continue
            results[position] = replace(result, again=again)

    def _free(self, event: ProviderEvent) -> bool:
        """Return whether the provider had listed all addresses of an event."""
        tenant = self.tenant_of(event.account_id)
        return False not in [self.provider_suppressions.remove(one, tenant) for one in event.listed]

    def _leave_marks(self, records: Sequence[EventRecord]) -> None:
        """Mark the messages of events that were received before and not merged.

        SQS leaves an event that was received three times out of the age of the oldest one. From
        then on nothing else shows that it exists, and the next step may kill the process.
        """
        repeated = (self.find_message(record.text) for record in records if record.receives > 1)
        # An event that can be merged needs no mark.
        with suppress(Exception):
            self.seen_events.put_all({*filter(None, repeated)}, self.clock())

    def _note_unreadable(
        self, record: EventRecord, unreadable: UnreadableEvent
    ) -> FeedbackResult | Exception:
        """Leave the mark of the message that an event names, since no other try could read it."""
        message, now = self.find_message(record.text), self.clock()
        if message is None:
            return unreadable
        try:
            self.seen_events.put_all([message], now)
        except Exception as error:  # noqa: BLE001  as above
            return error
        event = ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=now,
            events=(),
            unknown=(str(unreadable),),
        )
        return FeedbackResult(FeedbackOutcome.UNREADABLE, event)

    def _record_together(self, events: Sequence[ProviderEvent]) -> FeedbackResult | Exception:
        strangers_paused = False
        try:
            outcome, message = self._merge(events)
            if message is not None:
                strangers_paused = self._note_stranger(events, message)
            # Only now, because it tells workers that events of this time are recorded. A mailbox
            # provider dates its complaints itself, perhaps in the future.
            self.heartbeat.record(min(max(event.at for event in events), self.clock()))
        except Exception as error:  # noqa: BLE001  the caller logs it; other messages go on
            return error
        return FeedbackResult(outcome, strangers_paused=strangers_paused)

    def _merge(self, events: Sequence[ProviderEvent]) -> "tuple[FeedbackOutcome, Message | None]":
        account_id, message_id = events[0].account_id, events[0].message_id
        # A stale copy does no harm: its events stay recorded, and `save` refuses a change that
        # was made from it. Only a missing record needs a second, consistent read.
        message = self.messages.peek(account_id, message_id)
        for attempt in range(_TRIES):
            message = message or self.messages.get(account_id, message_id)
            if message is None:
                return FeedbackOutcome.UNKNOWN, None
            changed = message
            for event in events:
                before = changed
                changed = changed.with_events(event.events, event.provider_message_id)
                # Before the message says so: what it says already has suppressed, and perhaps
                # somebody has removed the suppression since. Erased recipients share an event.
                if changed is not before or message.is_erased:
                    self._suppress(event, message)
            if changed is message:
                return FeedbackOutcome.KNOWN, message
            if self.messages.save(changed):
                return FeedbackOutcome.CHANGED, message
            self.pause(random.uniform(0, _FIRST_PAUSE * 2**attempt))  # noqa: S311  spreads load only
            message = None
        raise MessageContention(str(message_id))

    def _suppress(self, event: ProviderEvent, message: Message) -> None:
        """Suppress recipients of the message; of an erased one only a hash is stored."""
        for address, reason in event.suppress:
            recipient = message.recipient_of(address)
            if recipient is not None:
                mailbox = mailbox_key(recipient)
                if recipient == ERASED_ADDRESS:
                    mailbox = hashed_mailbox(event.account_id, mailbox_key(address))
                list_id = event.account_id
                if (list_id, reason) == (SERVICE_ACCOUNT_ID, "complained"):
                    # A stranger may have asked for the code; its owner may need the next one.
                    named = address if recipient == ERASED_ADDRESS else recipient
                    list_id, mailbox = PREVIEW_LIST, stopped_mailbox(named)
                self.suppressions.put(list_id, mailbox, reason, event.at, event.message_id)
            if reason == "complained":
                suspension = Suspension(self.clock(), "a recipient complained")
                self.suspend_preview(event.account_id, suspension)

    def _note_stranger(self, events: Sequence[ProviderEvent], message: Message) -> bool:
        """Note a permanent bounce of the service's own mail to somebody who has not agreed.

        Returns whether such mail now pauses; False if this is no such bounce.
        """
        is_own = message.account_id == SERVICE_ACCOUNT_ID
        cause = cause_of(message.origin.labels.tags) if is_own else None
        kinds = {event.kind for each in events for event in each.events}
        if cause is None or EventKind.BOUNCED not in kinds:
            return False
        add, day, now = self.strangers.add_bounced, message.created_at.date(), self.clock()
        of_party = add(cause.own, day, message.message_id) if cause.party else 0
        if of_party <= MOST_OF_PARTY:
            add(cause.audience, day, message.message_id)
        if add(ALL, day, message.message_id) >= LEAST_TOTAL:
            self.strangers.set_sent(ALL, now.date(), int(self.sent_in_a_day()))
        return paused(self.strangers, Cause(cause.audience), now) is not None
