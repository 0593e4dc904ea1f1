"""Server-sent events."""

import json
from collections.abc import AsyncIterator
from typing import Final

from starlette.responses import Response, StreamingResponse

from pillarbox.domain.errors import Json

_BEGINNING: Final = ": listening\n\n"


def live_response(events: AsyncIterator[str]) -> Response:
    """Return a response that sends events as they happen."""
    return StreamingResponse(
        _stream(events), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


def live_event(name: str, data: Json) -> str:
    """Return an event in its wire format."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


async def _stream(events: AsyncIterator[str]) -> AsyncIterator[str]:
    yield _BEGINNING
    async for event in events:
        yield event
