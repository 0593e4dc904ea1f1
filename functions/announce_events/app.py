"""Table stream: queue what happens in accounts for their webhook endpoints."""

from collections.abc import Mapping, Sequence
from typing import Any

from pillarbox.application.stream_result import StreamResult
from pillarbox.consumer import consume_stream
from pillarbox.wiring import load, services


def announce_events(records: Sequence[Mapping[str, Any]]) -> StreamResult:
    return services().announcement.apply(records)


load(lambda it: it.announcement)
# aggregate_stats counts the changes.
lambda_handler = consume_stream(announce_events, lambda _: {})
