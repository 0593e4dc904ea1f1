"""HTTP/1.1 as the contract needs it; the local edge reads its requests in the same way."""

import asyncio
from http import HTTPStatus
from typing import Final
from uuid import uuid4

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pillarbox.domain.errors import ServiceError
from pillarbox.http.messages.replies import reply_error

_MALFORMED: Final = ServiceError(
    "validation_failed", "The request could not be read.", details={"errors": []}
)
#: In seconds: how long a connection without a request to answer waits for the next one. It exceeds
#: the load balancer's idle timeout (60), so that the load balancer never sends a request on a
#: connection that the front is closing. The rest of a refused body may take as long.
IDLE_TIMEOUT: Final = 75
#: In bytes: a start line and header fields. The load balancer takes as much.
_MAX_HEAD: Final = 64 * 1024


class Protocol(HttpToolsProtocol):
    """uvicorn's parser without trailers, with clean values, and with errors in the envelope.

    A connection on which no request is being answered ends after `IDLE_TIMEOUT`. uvicorn's own
    timeout starts after a response, and any octet stops it.
    """

    _headers_are_complete = False
    _head_size = 0
    _idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse octets, and refuse header fields without an end."""
        super().data_received(data)
        self._head_size = 0 if self._headers_are_complete else self._head_size + len(data)
        if self._head_size > _MAX_HEAD and not self.transport.is_closing():
            self.send_400_response("")

    def on_message_begin(self) -> None:
        self._headers_are_complete = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header without the blanks around its value (RFC 9110 section 5.5).

        Drop the fields after a chunked body: a recipient may not merge those that it does not know
        (RFC 9110 section 6.5.1), and uvicorn would take each of them for a header.
        """
        if not self._headers_are_complete:
            super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._headers_are_complete = True
        self._stop_waiting()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is already here."""
        is_idle = not self.pipeline
        super().on_response_complete()
        if is_idle and not self.transport.is_closing():
            self._wait()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's text, not in the envelope
        """Answer a request that is not HTTP as the gateway does, and close the connection."""
        response = reply_error(_MALFORMED)
        status = HTTPStatus(response.status_code)
        body = (response.body or "").encode()
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(body)}\r\n"
            f"x-request-id: {uuid4()}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _wait(self) -> None:
        self._stop_waiting()
        self._idle = self.loop.call_later(IDLE_TIMEOUT, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
