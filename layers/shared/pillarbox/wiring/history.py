"""The history of emails and its statistics."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pillarbox.application.history.aggregate import Aggregation
    from pillarbox.application.history.ledger_check import LedgerCheck
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.domain.messages.message import Message
    from pillarbox.domain.messages.statistics import IndexEntry


class HistoryWiring(Stores):
    """Makes each use case of this area once."""

    @cached_property
    def ledger_check(self) -> "LedgerCheck":
        from pillarbox.application.history.ledger_check import LedgerCheck

        return LedgerCheck(
            log=self.message_log,
            ledger=self.ledger,
            audit=self.ledger_audit,
            marks=self.rebuild_marks,
            index=self.search_index,
            accounts=self.account_store,
            clock=utc_now,
        )

    @cached_property
    def message_lookup(self) -> "MessageLookup":
        from pillarbox.application.history.lookup import MessageLookup

        return MessageLookup(self.message_store)

    @cached_property
    def history_queries(self) -> "HistoryQueries":
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.application.history.queries import HistoryQueries

        return HistoryQueries(
            log=self.message_log,
            ledger=self.ledger,
            index=self.search_index,
            clock=utc_now,
            for_each=in_parallel,
        )

    @cached_property
    def aggregation(self) -> "Aggregation[Mapping[str, Any]]":
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dynamodb.history.message_log import (
            change_time,
            read_change,
            read_search_change,
        )
        from pillarbox.application.history.aggregate import Aggregation
        from pillarbox.application.history.search_index import SearchIndexing

        return Aggregation(
            read=read_change,
            written_at=change_time,
            ledger=self.ledger,
            marks=self.rebuild_marks,
            key_uses=self.key_uses,
            clock=utc_now,
            for_each=in_parallel,
            search=SearchIndexing(read_search_change, self.search_index),
            judge=self._judge,
            tell_owners=self._tell_of_held,
        )

    def _tell_of_held(self, account_id: str, messages: "Sequence[Message]") -> None:
        from pillarbox.application.alerts.held import held_alerts

        for alert in held_alerts(messages, self.service_address.read()):
            self.alerts.raise_alert(account_id, alert)

    @cached_property
    def _judge(self) -> "Callable[[str, Sequence[IndexEntry]], int] | None":
        """Return what looks at new entries of the ledger; None if the breaker is off."""
        from pillarbox.application.breaker.breaker import Breaker
        from pillarbox.application.breaker.volume import VolumeWatch
        from pillarbox.application.pauses import Pauses
        from pillarbox.domain.accounts.reputation import BreakerMode, ReputationLimits

        mode = BreakerMode(self.settings.breaker_mode)
        if mode is BreakerMode.OFF:
            return None
        breaker = Breaker(
            ledger=self.ledger,
            pauses=Pauses(self.account_store),
            limits=ReputationLimits.parse(self.settings.breaker_limits),
            mode=mode,
            raise_alert=self.alerts.raise_alert,
            clock=utc_now,
        )
        volume = VolumeWatch(ledger=self.ledger, raise_alert=self.alerts.raise_alert, clock=utc_now)

        def judge(account_id: str, entries: "Sequence[IndexEntry]") -> int:
            paused = breaker.judge(account_id, entries)
            volume.watch(account_id, entries)
            return paused

        return judge
