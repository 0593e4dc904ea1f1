"""Record the provider's events as statuses and suppressions."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.application.ports import EventHeartbeat, Messages, ProviderEvent, Suppressions
from pillarbox.domain.address import mailbox_key

#: Workers that change one message at the same time take turns. More tries than this are a bug.
_TRIES: Final = 10


class FeedbackOutcome(StrEnum):
    """What an event changed."""

    CHANGED = "changed"
    KNOWN = "known"
    #: There is no such message: it is another service's, or its record has expired.
    UNKNOWN = "unknown"
    #: A kind of record that is not about a message of this service.
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """The outcome of one record, and its event (None if the record was ignored)."""

    outcome: FeedbackOutcome
    provider_event: ProviderEvent | None = None


class MessageContention(Exception):
    """Other workers kept changing the message; the queue delivers the event again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Record the provider's events, in any order and any number of times."""

    read: Callable[[str], ProviderEvent | None]
    messages: Messages
    suppressions: Suppressions
    heartbeat: EventHeartbeat

    def record(self, text: str) -> FeedbackResult:
        """Record one event.

        Args:
            text: the record as the provider wrote it.

        Raises:
            ValueError: the text is not a record of a known form.
            MessageContention, ServiceError: nothing is lost; the queue delivers it again.
        """
        provider_event = self.read(text)
        if provider_event is None:
            return FeedbackResult(FeedbackOutcome.IGNORED)
        self.heartbeat.record(provider_event.at)
        outcome = self._apply(provider_event)
        if outcome is not FeedbackOutcome.UNKNOWN:
            for address, reason in provider_event.suppress:
                self.suppressions.put(
                    provider_event.account_id,
                    mailbox_key(address),
                    reason,
                    provider_event.at,
                    provider_event.message_id,
                )
        return FeedbackResult(outcome, provider_event)

    def _apply(self, provider_event: ProviderEvent) -> FeedbackOutcome:
        account_id, message_id = provider_event.account_id, provider_event.message_id
        # A stale copy does no harm: its events stay recorded, and `save` refuses a change that
        # was made from it. Only a missing record needs a second, consistent read.
        message = self.messages.peek(account_id, message_id)
        for _ in range(_TRIES):
            message = message or self.messages.get(account_id, message_id)
            if message is None:
                return FeedbackOutcome.UNKNOWN
            changed = message.with_events(provider_event.events, provider_event.provider_message_id)
            if changed is message:
                return FeedbackOutcome.KNOWN
            if self.messages.save(changed):
                return FeedbackOutcome.CHANGED
            message = None
        raise MessageContention(str(message_id))
