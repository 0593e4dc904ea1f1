"""Table stream: each change of a message goes into its account's statistics."""

from collections.abc import Mapping, Sequence
from typing import Any

from pillarbox.application.history.aggregate import StreamResult
from pillarbox.consumer import consume_stream
from pillarbox.wiring import aggregation, count_changes


def aggregate_stats(records: Sequence[Mapping[str, Any]]) -> StreamResult:
    return aggregation().apply(records)


lambda_handler = consume_stream(aggregate_stats, count_changes)
