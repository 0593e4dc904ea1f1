"""The history of emails and its statistics."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pillarbox.application.history.aggregate import Aggregation
    from pillarbox.application.history.ledger_check import LedgerCheck
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries


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
        )
