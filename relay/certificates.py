"""The TLS certificate, reloaded periodically so that a renewal needs no restart."""

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
#: Seconds between two reads. Certificates are renewed weeks before they expire.
_INTERVAL: Final = 300.0


def from_files(certificate: str, key: str) -> Callable[[], Certificate]:
    """Return a function that reads a certificate from two PEM files."""

    def read() -> Certificate:
        return Certificate(Path(certificate).read_bytes(), Path(key).read_bytes())

    return read


def from_secret(read_secret: Callable[[], str]) -> Callable[[], Certificate]:
    """Return a function that reads a certificate from a secret.

    The secret is JSON with `certificate`, which holds the whole chain, and `key`.
    """

    def read() -> Certificate:
        content = json.loads(read_secret())
        return Certificate(content["certificate"].encode(), content["key"].encode())

    return read


class CertificateStore:
    """Provide the TLS context of the newest certificate for each new session."""

    def __init__(self, read: Callable[[], Certificate]) -> None:
        """Read the first certificate.

        Raises:
            OSError, ssl.SSLError, ValueError, KeyError: there is no usable certificate.
        """
        self._read = read
        self._certificate = read()
        self._tls_context = make_context(self._certificate)

    def tls_context(self) -> ssl.SSLContext:
        """Return the context for a new TLS session."""
        return self._tls_context

    async def refresh(self) -> None:
        """Reload the certificate. If the new one is unusable, keep the old one."""
        try:
            newest = await asyncio.to_thread(self._read)
            if newest != self._certificate:
                self._tls_context = make_context(newest)
                self._certificate = newest
                _LOG.info("certificate renewed")
        except Exception as error:  # noqa: BLE001  the old certificate works until it expires
            log_failure(_LOG, error)

    async def refresh_periodically(self) -> None:
        """Reload the certificate every five minutes."""
        while True:
            await asyncio.sleep(_INTERVAL)
            await self.refresh()
