"""The functions' logs: the engine keeps them as CloudWatch would, a user wants a file."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

# Seconds between two looks.
_PAUSE: Final = 1.0


@contextlib.asynccontextmanager
async def following(client: Any, path: Path) -> AsyncIterator[None]:  # noqa: ANN401  a boto3 client
    """Append what the functions log to a file, from now to the end of the block."""
    groups = [group["logGroupName"] for group in client.describe_log_groups()["logGroups"]]
    # The engine writes a stream for each invocation, all of it at once.
    seen: set[str] = set()
    since = 0

    def look() -> None:
        nonlocal since
        # Once more over the last seconds: the groups are not read at the same moment.
        started = int(time.time() * 1000) - 5000
        with path.open("a") as file:
            for group in groups:
                pages = client.get_paginator("filter_log_events").paginate(
                    logGroupName=group, startTime=since
                )
                events = [event for page in pages for event in page["events"]]
                fresh = [event for event in events if event["logStreamName"] not in seen]
                file.writelines(f"{event['message']}\n" for event in fresh)
                seen.update(event["logStreamName"] for event in fresh)
        since = started

    async def keep_looking() -> None:
        while True:
            # An engine that has ended is noticed, and told, elsewhere.
            with contextlib.suppress(BotoCoreError, ClientError):
                await asyncio.to_thread(look)
            await asyncio.sleep(_PAUSE)

    looking = asyncio.create_task(keep_looking())
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        with contextlib.suppress(BotoCoreError, ClientError):
            await asyncio.to_thread(look)
