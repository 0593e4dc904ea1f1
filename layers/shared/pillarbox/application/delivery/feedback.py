"""Following: the provider's events become statuses and suppressions."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.application.ports import EventHeartbeat, Messages, ProviderEvent, Suppressions
from pillarbox.domain.address import mailbox_key

#: Two workers changing one message take turns; more than this many is a fault.
_TRIES: Final = 10


class FeedbackOutcome(StrEnum):
    """What a notice changed."""

    CHANGED = "changed"
    KNOWN = "known"
    #: No such message: not ours, or its record is gone.
    UNKNOWN = "unknown"
    #: A kind of record that says nothing about a message of ours.
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """What became of one record; `provider_event` is what it said, None when that was nothing."""

    outcome: FeedbackOutcome
    provider_event: ProviderEvent | None = None


class MessageContention(Exception):
    """The message kept changing under our hands; the notice comes again by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Takes the provider's events, in any order and any number of times."""

    read: Callable[[str], ProviderEvent | None]
    messages: Messages
    suppressions: Suppressions
    heartbeat: EventHeartbeat

    def record(self, text: str) -> FeedbackResult:
        """Take one record as the provider wrote it.

        Raises:
            ValueError: it is no record of a kind that is known.
            Contended, ServiceError: nothing is lost, the record comes again.
        """
        provider_event = self.read(text)
        if provider_event is None:
            return FeedbackResult(FeedbackOutcome.IGNORED)
        self.heartbeat.record(provider_event.at)
        recorded = self._apply(provider_event)
        if recorded is not FeedbackOutcome.UNKNOWN:
            for address, reason in provider_event.suppress:
                self.suppressions.put(
                    provider_event.account_id,
                    mailbox_key(address),
                    reason,
                    provider_event.at,
                    provider_event.message_id,
                )
        return FeedbackResult(recorded, provider_event)

    def _apply(self, provider_event: ProviderEvent) -> FeedbackOutcome:
        # A peek that is behind does no harm: what it knows stays known, and what is made
        # from it is refused. Only an absence has to be looked at twice.
        message = self.messages.peek(provider_event.account_id, provider_event.message_id)
        for _ in range(_TRIES):
            message = message or self.messages.get(
                provider_event.account_id, provider_event.message_id
            )
            if message is None:
                return FeedbackOutcome.UNKNOWN
            changed = message.with_events(provider_event.events, provider_event.provider_message_id)
            if changed is message:
                return FeedbackOutcome.KNOWN
            if self.messages.save(changed):
                return FeedbackOutcome.CHANGED
            message = None
        raise MessageContention(str(provider_event.message_id))
