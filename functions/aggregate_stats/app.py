"""Table stream: apply the changes of messages to their accounts' ledgers."""

from collections.abc import Mapping, Sequence
from typing import Any

from pillarbox.application.stream_result import StreamResult
from pillarbox.consumer import consume_stream
from pillarbox.wiring import count_changes, load, services


def aggregate_stats(records: Sequence[Mapping[str, Any]]) -> StreamResult:
    return services().aggregation.apply(records)


load(lambda it: it.aggregation)
lambda_handler = consume_stream(aggregate_stats, count_changes)
