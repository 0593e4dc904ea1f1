"""The certificate in use, read again from time to time: renewing it needs no restart."""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pillarbox.observability import log_failure
from relay.tls import Certificate, make_context

_LOG: Final = logging.getLogger("relay")
#: Seconds between two looks; certificates are renewed weeks before they end.
_INTERVAL: Final = 300.0


def from_files(certificate: str, key: str) -> Callable[[], Certificate]:
    """What reads a certificate from two PEM files."""

    def read() -> Certificate:
        return Certificate(Path(certificate).read_bytes(), Path(key).read_bytes())

    return read


def from_secret(read_secret: Callable[[], str]) -> Callable[[], Certificate]:
    """What reads one from a secret: JSON with `certificate`, the whole chain, and `key`."""

    def read() -> Certificate:
        content = json.loads(read_secret())
        return Certificate(content["certificate"].encode(), content["key"].encode())

    return read


class CertificateStore:
    """Gives each new session the context of the newest certificate."""

    def __init__(self, read: Callable[[], Certificate]) -> None:
        """Read the first one.

        Raises:
            OSError, ssl.SSLError, ValueError, KeyError: there is none that works.
        """
        self._read = read
        self._current = read()
        self._context = make_context(self._current)

    def context(self) -> ssl.SSLContext:
        """The context to begin TLS with."""
        return self._context

    async def refresh(self) -> None:
        """Look for a new one; one that does not work leaves the old one in use."""
        try:
            newest = await asyncio.to_thread(self._read)
            if newest != self._current:
                self._context = make_context(newest)
                self._current = newest
                _LOG.info("certificate renewed")
        except Exception as error:  # noqa: BLE001  the old one serves until it ends
            log_failure(_LOG, error)

    async def keep_fresh(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(_INTERVAL)
            await self.refresh()
