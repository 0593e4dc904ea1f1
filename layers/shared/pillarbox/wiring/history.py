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
        """Check and repair recent or marked hours of the statistics."""
        from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
        from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
        from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
        from pillarbox.application.history.ledger_check import LedgerCheck

        return LedgerCheck(
            log=DynamoMessageLog(self.table),
            ledger=DynamoLedger(self.table),
            audit=DynamoLedgerAudit(self.table),
            marks=DynamoRebuildMarks(self.table),
            index=DynamoSearchIndex(self.table),
            clock=utc_now,
        )

    @cached_property
    def message_lookup(self) -> "MessageLookup":
        """Look one message up."""
        from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
        from pillarbox.application.history.lookup import MessageLookup

        return MessageLookup(DynamoMessages(self.table))

    @cached_property
    def history_queries(self) -> "HistoryQueries":
        """List and count an account's messages."""
        from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
        from pillarbox.application.history.queries import HistoryQueries

        return HistoryQueries(
            log=DynamoMessageLog(self.table),
            ledger=DynamoLedger(self.table),
            index=DynamoSearchIndex(self.table),
            clock=utc_now,
        )

    @cached_property
    def aggregation(self) -> "Aggregation[Mapping[str, Any]]":
        """Apply the changes of messages to the statistics."""
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dynamodb.accounts.key_uses import DynamoKeyUses
        from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.history.message_log import (
            change_time,
            read_change,
            read_search_change,
        )
        from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
        from pillarbox.adapters.dynamodb.history.search_index import DynamoSearchIndex
        from pillarbox.application.history.aggregate import Aggregation
        from pillarbox.application.history.search_index import SearchIndexing

        return Aggregation(
            read=read_change,
            written_at=change_time,
            ledger=DynamoLedger(self.table),
            marks=DynamoRebuildMarks(self.table),
            key_uses=DynamoKeyUses(self.table),
            clock=utc_now,
            for_each=in_parallel,
            search=SearchIndexing(read_search_change, DynamoSearchIndex(self.table)),
        )
