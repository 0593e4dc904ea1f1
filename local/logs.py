"""Copies the functions' logs from the engine's CloudWatch Logs to a file."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

# Seconds between two reads.
_INTERVAL: Final = 1.0


@contextlib.asynccontextmanager
async def follow_logs(client: Any, path: Path) -> AsyncIterator[None]:  # noqa: ANN401  a boto3 client
    """Append what the functions log to a file until the block ends."""
    groups = [group["logGroupName"] for group in client.describe_log_groups()["logGroups"]]
    # The engine writes one log stream per invocation, and writes it in one step.
    read_streams: set[str] = set()
    since = 0

    def copy_new_events() -> None:
        nonlocal since
        # The reads overlap by five seconds, because the groups are read one after the other.
        next_since = int(time.time() * 1000) - 5000
        with path.open("a") as file:
            for group in groups:
                pages = client.get_paginator("filter_log_events").paginate(
                    logGroupName=group, startTime=since
                )
                events = [event for page in pages for event in page["events"]]
                new = [event for event in events if event["logStreamName"] not in read_streams]
                file.writelines(f"{event['message']}\n" for event in new)
                read_streams.update(event["logStreamName"] for event in new)
        since = next_since

    async def keep_copying() -> None:
        while True:
            # The stack itself notices and reports an engine that has stopped.
            with contextlib.suppress(BotoCoreError, ClientError):
                await asyncio.to_thread(copy_new_events)
            await asyncio.sleep(_INTERVAL)

    task = asyncio.create_task(keep_copying())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        with contextlib.suppress(BotoCoreError, ClientError):
            await asyncio.to_thread(copy_new_events)
