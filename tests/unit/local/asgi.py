"""Requests to an application of the local stack, without a server."""

import asyncio
from typing import Any

import httpx


def ask(
    app: Any, method: str, path: str, base_url: str = "http://127.0.0.1:1", **request: Any
) -> httpx.Response:
    async def exchange() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=base_url) as client:
            return await client.request(method, path, **request)

    return asyncio.run(exchange())
