"""The two clients: `Pillarbox` waits for each answer, `AsyncPillarbox` awaits it."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any, Final

import httpx

from pillarbox_client.operations import AsyncOperations, Operations
from pillarbox_client.request import Request, result, wait_before_retry

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

VERSION: Final = "0.1.0"
#: Seconds until a try is given up. The service answers within 30.
_TIMEOUT: Final = 35.0
_RETRIES: Final = 3


class _Settings:
    """Where a client sends its requests, and as whom."""

    def __init__(self, key: str | None, url: str | None, retries: int) -> None:
        key = key or os.environ.get("PILLARBOX_KEY")
        url = url or os.environ.get("PILLARBOX_URL")
        if not key or not url:
            missing = "key" if not key else "url"
            raise ValueError(f"Give `{missing}`, or set the variable PILLARBOX_{missing.upper()}.")
        self._retries = retries
        self._base = url.rstrip("/").removesuffix("/api")
        self._headers = {
            "X-API-Key": key,
            "User-Agent": f"pillarbox-python/{VERSION}",
        }

    def _arguments(self, made: Request) -> dict[str, Any]:
        key = made.idempotency_key
        return {
            "method": made.method,
            "url": self._base + made.path,
            "params": made.given_query,
            "headers": self._headers | ({} if key is None else {"Idempotency-Key": key}),
        } | ({} if made.body is None else {"json": made.body})

    def _unanswered(self, failure: httpx.TransportError | None) -> Exception:
        """Return the failure with the address that was asked: httpx does not name it."""
        if failure is None:
            raise AssertionError
        failure.args = (f"{self._base} does not answer: {failure}",)
        return failure

    def _wait(self, made: Request, response: httpx.Response | None, tried: int) -> float | None:
        return wait_before_retry(made, response, tried) if tried <= self._retries else None


class Pillarbox(_Settings, Operations):
    """A client of one service with one API key. Threads may share it.

    Args:
        key: the API key; without it, the variable PILLARBOX_KEY has it.
        url: the address of the service; without it, the variable PILLARBOX_URL has it.
        retries: how often a request is sent again that failed and may succeed.
        http: the connection to use, for time-outs and proxies of your own.
    """

    def __init__(
        self,
        key: str | None = None,
        *,
        url: str | None = None,
        retries: int = _RETRIES,
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(key, url, retries)
        self._http = http or httpx.Client(timeout=_TIMEOUT)

    def __enter__(self) -> Self:
        """Return the client, which ends with the block."""
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, made: Request) -> Any:  # noqa: ANN401  JSON
        tried = 0
        while True:
            tried += 1
            response, failure = None, None
            try:
                response = self._http.request(**self._arguments(made))
            except httpx.TransportError as error:
                failure = error
            wait = self._wait(made, response, tried)
            if wait is not None:
                time.sleep(wait)
            elif response is None:
                raise self._unanswered(failure)
            else:
                return result(response)


class AsyncPillarbox(_Settings, AsyncOperations):
    """A client for asyncio. Its arguments are those of `Pillarbox`."""

    def __init__(
        self,
        key: str | None = None,
        *,
        url: str | None = None,
        retries: int = _RETRIES,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(key, url, retries)
        self._http = http or httpx.AsyncClient(timeout=_TIMEOUT)

    async def __aenter__(self) -> Self:
        """Return the client, which ends with the block."""
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, made: Request) -> Any:  # noqa: ANN401  JSON
        tried = 0
        while True:
            tried += 1
            response, failure = None, None
            try:
                response = await self._http.request(**self._arguments(made))
            except httpx.TransportError as error:
                failure = error
            wait = self._wait(made, response, tried)
            if wait is not None:
                await asyncio.sleep(wait)
            elif response is None:
                raise self._unanswered(failure)
            else:
                return result(response)
