"""The TLS certificate, reloaded periodically so that a renewal needs no restart."""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pillarbox.domain.errors import ServiceError
from pillarbox.observability import log_failure
from relay.tls import Certificate, make_context

_LOG: Final = logging.getLogger("relay")
#: Seconds between two reads. Certificates are renewed weeks before they expire.
_INTERVAL: Final = 300.0


def from_file(path: str) -> Callable[[], Certificate]:
    """Return a function that reads the chain and its key from a PEM file."""
    return lambda: Certificate(Path(path).read_bytes(), b"")


def from_secret(read_secret: Callable[[], str]) -> Callable[[], Certificate]:
    """Return a function that reads a certificate from a secret.

    The secret is JSON with `certificate`, which holds the whole chain, and `key`.
    """

    def read() -> Certificate:
        content = json.loads(read_secret())
        return Certificate(content["certificate"].encode(), content["key"].encode())

    return read


class CertificateUnusable(Exception):
    """The first certificate cannot be read or used; the text is one line and quotes none of it."""


class CertificateStore:
    """Provide the TLS context of the newest certificate for each new session."""

    def __init__(self, read: Callable[[], Certificate], source: str = "the given source") -> None:
        """Read the first certificate; errors name the source."""
        self._read = read
        try:
            self._certificate = read()
            self._tls_context = make_context(self._certificate)
        except Exception as error:
            raise CertificateUnusable(
                f"The certificate from {source} cannot be used: {_reason(error)}"
            ) from error

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


def _reason(error: Exception) -> str:
    """Return what is wrong, without the content of a file or secret."""
    match error:
        case ServiceError():
            return " ".join(str(text) for text in error.log_fields.values()) or error.code
        case ssl.SSLError():
            return error.reason or "it is not a certificate with its key, both in PEM"
        case OSError():
            return f"{error.strerror} ({error.filename})"
        case KeyError():
            return f"the secret has no {error}"
        case ValueError() | TypeError() | AttributeError():
            return "the secret is not JSON with certificate and key"
    return type(error).__name__  # such as ResourceNotFoundException
