"""One TCP connection: reads octets, sends replies, and enforces the deadlines.

The transport is paused during a call of the service and while the client does not read its
replies. So no client can make the server buffer more than one read of the socket.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

from pillarbox.observability import log_failure
from relay import framing, proxy, replies
from relay.admission import Admission
from relay.framing import ContentBuffer, LineBuffer
from relay.replies import AfterReply, Reply
from relay.session import PendingReply, ServerContext, SmtpSession
from relay.tls import TlsRecords

_LOG: Final = logging.getLogger("relay")
#: Seconds that a client has to read the last reply and disconnect.
_LINGER: Final = 5.0
#: Octets of unread replies above which the server stops reading from a client.
_MAX_UNREAD: Final = 16_384


class Connection(asyncio.Protocol):
    """Connects a session to its client over TCP, the PROXY protocol and TLS."""

    def __init__(
        self,
        context: ServerContext,
        proxies: proxy.Networks,
        tls_context: Callable[[], ssl.SSLContext],
        connections: "set[Connection]",
    ) -> None:
        self._context, self._proxies = context, proxies
        self._tls_context = tls_context
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._admission: Admission | None = None
        #: The octets of an incomplete PROXY header; None if no header is expected.
        self._proxy_header: bytearray | None = None
        self._records: TlsRecords | None = None
        self._session: SmtpSession | None = None
        self._lines = LineBuffer()
        self._content: ContentBuffer | None = None
        self._replies: list[bytes] = []
        #: The running call of the service; its reply comes next.
        self._call_task: asyncio.Task[None] | None = None
        self._replies_unread = self._closing = self._draining = self._lost = False
        self._started = self._deadline = context.clock()
        #: By then more of the message must have arrived.
        self._content_deadline = 0.0

    # --- called by asyncio ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the client, or wait for the PROXY header with its address."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._transport.set_write_buffer_limits(high=_MAX_UNREAD)
        self._deadline = self._started + self._context.limits.handshake
        peer = transport.get_extra_info("peername")
        if peer is None:  # already disconnected
            self._transport.abort()
        elif proxy.is_proxy(peer[0], self._proxies):
            self._proxy_header = bytearray()
        else:
            self._admit(peer[0])
            self._flush()

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        try:
            if self._proxy_header is not None:
                data = self._read_proxy_header(self._proxy_header, data)
            if self._records is not None:
                data = self._decrypt(self._records, data)
            if data:
                self._lines.feed(data)
                self._advance()
        except (proxy.ProxyHeaderError, ssl.SSLError):
            self._transport.abort()
            return
        self._flush()
        if self._records is not None and self._records.ended:
            self._flush(last=True)
            self._transport.close()

    def pause_writing(self) -> None:
        """Stop reading: the client does not read its replies."""
        self._replies_unread = True
        self._update_reading()

    def resume_writing(self) -> None:
        """Read again: the client has read its replies."""
        self._replies_unread = False
        self._update_reading()
        self._advance()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up. A running call of the service continues; an incomplete message is dropped."""
        del exc
        self._closing = self._lost = True
        # Break the reference cycle, or the TLS buffers stay until a garbage collection.
        self._session = self._records = None
        if self._call_task is None:
            self._connections.discard(self)
            self._drop_content()
        self._release_admission()

    # --- called by the server -------------------------------------------------------------------

    @property
    def is_in_call(self) -> bool:
        """Whether a call of the service is under way, such as one that accepts a message."""
        return self._call_task is not None

    def check_deadline(self, now: float) -> None:
        """End the connection if its deadline has passed."""
        if self._closing:
            if now > self._deadline:
                self._transport.abort()
            return
        if self._call_task:
            return
        limits, session = self._context.limits, self._session
        deadline = self._deadline
        if self._content is None:
            authenticated = session is not None and session.authenticated
            allowed = limits.session if authenticated else limits.authentication
            deadline = min(deadline, self._started + allowed)
        elif now > self._content_deadline:
            self.disconnect(replies.TOO_SLOW)
            return
        if now > deadline:
            self.disconnect(replies.TIMED_OUT)

    def drain(self) -> None:
        """Close: at once if idle, else after the message in progress."""
        self._draining = True
        if not (self._call_task or self._content is not None):
            self.disconnect(replies.SHUTTING_DOWN)

    def disconnect(self, reply: Reply) -> None:
        """End the connection, with a reply if the client can read one."""
        if self._closing:
            return
        if self._session is None or (self._records is not None and not self._records.established):
            self._transport.abort()
        else:
            self._end(reply)

    def abort(self) -> None:
        self._transport.abort()

    # --- internal -------------------------------------------------------------------------------

    def _read_proxy_header(self, received: bytearray, data: bytes) -> bytes:
        received += data
        header = proxy.read_header(received)
        if header is None:
            return b""
        self._proxy_header = None
        if header.address is None:  # the load balancer only checks that the server answers
            self._transport.close()
            self._closing = True
            return b""
        self._admit(header.address)
        return b"" if self._closing else header.rest

    def _admit(self, address: str) -> None:
        admission = self._context.connections.admit(address, self.disconnect)
        if not isinstance(admission, Admission):
            self._end(admission)
            return
        self._admission = admission
        self._session = SmtpSession(self._context, admission)
        self._send_reply(self._session.greet())

    def _decrypt(self, records: TlsRecords, data: bytes) -> bytes:
        established = records.established
        content = records.decrypt(data)
        if records.established and not established and self._session is not None:
            self._deadline = self._context.clock() + self._context.limits.idle
            self._session.tls_established()
        return content

    def _advance(self) -> None:
        """Answer the buffered input until a reply has to wait."""
        session = self._session
        if session is None:
            return
        while not (self._call_task or self._replies_unread or self._closing):
            try:
                if self._content is None:
                    line = self._lines.next_line(session.longest_line)
                    if line is None:
                        return
                    self._answer(session.command(line))
                    self._begin_content(session)
                else:
                    octets = self._lines.pop_all()
                    if not octets:
                        return
                    self._add_content(session, self._content, octets)
            except framing.LineTooLong:
                self._answer(session.line_too_long())
            except framing.BareControlCharacter:
                in_content = self._content is not None
                self._end(replies.BARE_CONTROL_IN_CONTENT if in_content else replies.BARE_CONTROL)
            except framing.ContentFarTooLarge:
                self._end(replies.TOO_LARGE_BY_FAR)

    def _begin_content(self, session: SmtpSession) -> None:
        if session.content is not None:
            self._content = session.content
            now, limits = self._context.clock(), self._context.limits
            self._deadline = now + limits.content
            self._content_deadline = now + limits.content_stall

    def _add_content(self, session: SmtpSession, content: ContentBuffer, octets: bytes) -> None:
        limits = self._context.limits
        bought = self._content_deadline + len(octets) / limits.content_rate
        self._content_deadline = min(bought, self._context.clock() + limits.content_stall)
        rest = content.feed(octets)
        if rest is None:
            return
        self._lines.feed(rest)
        pending = session.content_ended(content)
        if isinstance(pending, Reply):
            self._drop_content()
        self._answer(pending)

    def _answer(self, pending: PendingReply) -> None:
        """Send a reply, or start the call that produces it."""
        if isinstance(pending, Reply):
            self._send_reply(pending)
            return
        task = asyncio.Task(self._run_call(pending), loop=self._loop, eager_start=True)
        if not task.done():
            self._call_task = task
            self._update_reading()
            task.add_done_callback(self._call_ended)

    async def _run_call(self, pending: Coroutine[Any, Any, Reply]) -> None:
        try:
            reply = await pending
        except Exception as error:  # noqa: BLE001  no error may become a 250
            log_failure(_LOG, error)
            reply = replies.TEMPORARY_FAILURE
        self._drop_content()
        self._send_reply(reply)

    def _call_ended(self, _: asyncio.Task[None]) -> None:
        self._call_task = None
        if self._lost:
            self._connections.discard(self)
        if self._closing:
            return
        self._update_reading()
        self._advance()
        self._flush()

    def _send_reply(self, reply: Reply) -> None:
        if self._closing:
            return
        self._replies.append(reply.wire)
        self._deadline = self._context.clock() + self._context.limits.idle
        if reply.then is AfterReply.START_TLS:
            self._start_tls()
        elif reply.then is AfterReply.CLOSE:
            self._close(client_quit=reply is replies.BYE)
        elif self._draining and reply.code != replies.START_CONTENT.code:
            self._end(replies.SHUTTING_DOWN)

    def _start_tls(self) -> None:
        """Start the handshake; drop plaintext that came too early (RFC 3207 section 4.2)."""
        self._flush()
        self._lines.pop_all()
        self._records = TlsRecords(self._tls_context())
        self._deadline = self._context.clock() + self._context.limits.handshake

    def _end(self, reply: Reply) -> None:
        self._replies.append(reply.wire)
        self._close()

    def _close(self, *, client_quit: bool = False) -> None:
        """Send nothing more, and let the client read the last reply before the socket closes.

        Closing a socket that has unread input resets the connection, and the client may
        lose the reply. So input is read and dropped until the client disconnects.
        """
        self._flush(last=True)
        self._closing = True
        self._deadline = self._context.clock() + _LINGER
        self._drop_content()
        self._release_admission()
        if client_quit:
            self._transport.close()
        elif not self._transport.is_closing():
            try:
                self._transport.write_eof()
            except OSError:  # the client has disconnected
                self._transport.abort()
        self._update_reading()

    def _release_admission(self) -> None:
        if self._admission is not None:
            self._context.connections.release(self._admission)

    def _drop_content(self) -> None:
        if self._content is not None:
            self._content.release()
            self._content = None

    def _flush(self, *, last: bool = False) -> None:
        """Write all pending replies at once."""
        octets = b"".join(self._replies)
        self._replies.clear()
        if self._records is not None:
            if octets:
                self._records.encrypt(octets)
            if last:
                self._records.end()
            octets = self._records.outgoing()
        if octets:
            self._transport.write(octets)

    def _update_reading(self) -> None:
        if self._transport.is_closing():
            return
        if (self._call_task or self._replies_unread) and not self._closing:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
