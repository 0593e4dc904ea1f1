"""Table stream: apply the changes of messages to their accounts' ledgers."""

from collections.abc import Mapping, Sequence
from typing import Any

from pillarbox.application.history.aggregate import StreamResult
from pillarbox.consumer import follow
from pillarbox.wiring import aggregation, count_changes


def aggregate_stats(records: Sequence[Mapping[str, Any]]) -> StreamResult:
    return aggregation().apply(records)


lambda_handler = follow(aggregate_stats, count_changes)
