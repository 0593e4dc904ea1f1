"""HTTP/1.1 as the contract needs it; the local edge reads its requests in the same way."""

from http import HTTPStatus
from typing import Final
from uuid import uuid4

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pillarbox.domain.errors import ServiceError
from pillarbox.http.replies import reply_error

_MALFORMED: Final = ServiceError(
    "validation_failed", "The request could not be read.", details={"errors": []}
)


class Protocol(HttpToolsProtocol):
    """uvicorn's parser without trailers, with clean values, and with errors in the envelope."""

    _headers_are_complete = False

    def on_message_begin(self) -> None:
        """Start a request."""
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
        """Start the application."""
        self._headers_are_complete = True
        super().on_headers_complete()

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
