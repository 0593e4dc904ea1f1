"""One TCP connection: octets in, replies out, and what ends it.

Input is taken while the session is ready for it. During a call of the service,
or while the client does not read its replies, the transport is paused, so that
no client makes the server hold more than one read of the socket.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine
from typing import Any, Final, cast

from pillarbox.observability import log_failure
from relay import framing, proxy, replies
from relay.framing import ContentBuffer, LineBuffer
from relay.limits import ConnectionLimiter
from relay.replies import AfterReply, Reply
from relay.session import PendingReply, ServerContext, SmtpSession
from relay.tls import TlsRecords

_LOG: Final = logging.getLogger("relay")
#: Seconds that a client has to take a last reply and go.
_LINGER: Final = 5.0
#: Octets of replies that a client may leave unread before it is listened to no more.
_UNREAD: Final = 16_384


class Connection(asyncio.Protocol):
    """Carries a session over TCP, PROXY protocol and TLS."""

    def __init__(
        self,
        house: ServerContext,
        doors: ConnectionLimiter,
        proxies: proxy.Networks,
        tls: Callable[[], ssl.SSLContext],
        connections: "set[Connection]",
    ) -> None:
        self._house, self._doors, self._proxies = house, doors, proxies
        self._make_tls = tls
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._address: str | None = None
        #: Octets of the PROXY header so far; None when there is none to come.
        self._proxied: bytearray | None = None
        self._records: TlsRecords | None = None
        self._session: SmtpSession | None = None
        self._lines = LineBuffer()
        self._content: ContentBuffer | None = None
        self._replies: list[bytes] = []
        #: A call of the service that the client waits for.
        self._calling: asyncio.Task[None] | None = None
        self._unread = self._ending = self._draining = self._lost = False
        self._began = self._deadline = self._loop.time()

    # --- what asyncio calls ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a client in, or learn first who it is."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._transport.set_write_buffer_limits(high=_UNREAD)
        self._deadline = self._began + self._house.limits.handshake
        peer = transport.get_extra_info("peername")
        if peer is None:  # gone already
            self._transport.abort()
        elif proxy.is_proxy(peer[0], self._proxies):
            self._proxied = bytearray()
        else:
            self._admit(peer[0])
            self._flush()

    def data_received(self, data: bytes) -> None:
        """Go on with what came."""
        if self._ending:
            return
        try:
            if self._proxied is not None:
                data = self._read_proxied(self._proxied, data)
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
        """The client does not read its replies: listen no more until it does."""
        self._unread = True
        self._set_reading()

    def resume_writing(self) -> None:
        """It has read them."""
        self._unread = False
        self._set_reading()
        self._advance()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone. A call of the service goes on; a half message is nothing."""
        del exc
        self._ending = self._lost = True
        # The session knows us and we know it: let go, or TLS's buffers stay until a collection.
        self._session = self._records = None
        if self._calling is None:
            self._connections.discard(self)
            self._drop_content()
        if self._address is not None:
            self._doors.leave(self._address)

    # --- what the server calls ------------------------------------------------------------------

    def check_time(self, now: float) -> None:
        """End what takes too long."""
        if self._ending:
            if now > self._deadline:
                self._transport.abort()
            return
        if self._calling:
            return
        limits, session = self._house.limits, self._session
        last = self._deadline
        if self._content is None:
            known = session is not None and session.authenticated
            last = min(last, self._began + (limits.session if known else limits.authentication))
        if now <= last:
            return
        if session is None or (self._records is not None and not self._records.established):
            self._transport.abort()
        else:
            self._end(replies.TIMED_OUT)

    def drain(self) -> None:
        """Shut down: at once when idle, else after the message that is under way."""
        self._draining = True
        if self._ending or self._calling or self._content is not None:
            return
        if self._session is None or (self._records is not None and not self._records.established):
            self._transport.abort()
        else:
            self._end(replies.SHUTTING_DOWN)

    def abort(self) -> None:
        """End it now."""
        self._transport.abort()

    # --- inside ---------------------------------------------------------------------------------

    def _read_proxied(self, begun: bytearray, data: bytes) -> bytes:
        begun += data
        proxied = proxy.read_header(begun)
        if proxied is None:
            return b""
        self._proxied = None
        if proxied.address is None:  # the load balancer sees that we are here, and that is all
            self._transport.close()
            self._ending = True
            return b""
        self._admit(proxied.address)
        return b"" if self._ending else proxied.rest

    def _admit(self, address: str) -> None:
        limits, now = self._house.limits, self._loop.time()
        if self._doors.count >= limits.connections:
            self._end(replies.SERVER_FULL)
        elif not self._doors.admit(address, now):
            self._end(replies.TOO_MANY_CONNECTIONS)
        else:
            self._address = address
            self._deadline = now + limits.idle
            self._session = SmtpSession(
                self._house, lambda: self._doors.note_failure(address, self._loop.time())
            )
            self._say(self._session.greet())

    def _decrypt(self, records: TlsRecords, data: bytes) -> bytes:
        established = records.established
        content = records.decrypt(data)
        if records.established and not established and self._session is not None:
            self._deadline = self._loop.time() + self._house.limits.idle
            self._session.secured()
        return content

    def _advance(self) -> None:
        """Answer what is there, as long as the next answer needs no waiting."""
        session = self._session
        if session is None:
            return
        while not (self._calling or self._unread or self._ending):
            try:
                if self._content is None:
                    line = self._lines.next_line(session.longest_line)
                    if line is None:
                        return
                    self._answer(session.command(line))
                    self._begin_content(session)
                else:
                    octets = self._lines.remaining()
                    if not octets:
                        return
                    self._take_content(session, self._content, octets)
            except framing.LineTooLong:
                self._answer(session.line_too_long())
            except framing.BareControlCharacter:
                bare_in_text = self._content is not None
                self._end(replies.BARE_CONTROL_IN_CONTENT if bare_in_text else replies.BARE_CONTROL)
            except framing.ContentFarTooLarge:
                self._end(replies.TOO_LARGE_BY_FAR)

    def _begin_content(self, session: SmtpSession) -> None:
        if session.content is not None:
            self._content = session.content
            self._deadline = self._loop.time() + self._house.limits.content

    def _take_content(self, session: SmtpSession, content: ContentBuffer, octets: bytes) -> None:
        rest = content.feed(octets)
        if rest is None:
            return
        self._lines.feed(rest)
        answer = session.content_ended(content)
        if isinstance(answer, Reply):
            self._drop_content()
        self._answer(answer)

    def _answer(self, answer: PendingReply) -> None:
        """Send a reply, or wait for it."""
        if isinstance(answer, Reply):
            self._say(answer)
            return
        task = asyncio.Task(self._call(answer), loop=self._loop, eager_start=True)
        if not task.done():
            self._calling = task
            self._set_reading()
            task.add_done_callback(self._called)

    async def _call(self, answer: Coroutine[Any, Any, Reply]) -> None:
        try:
            reply = await answer
        except Exception as error:  # noqa: BLE001  whatever fails, it is no 250
            log_failure(_LOG, error)
            reply = replies.OUT_OF_ORDER
        self._drop_content()
        self._say(reply)

    def _called(self, _: asyncio.Task[None]) -> None:
        self._calling = None
        if self._lost:
            self._connections.discard(self)
        if self._ending:
            return
        self._set_reading()
        self._advance()
        self._flush()

    def _say(self, reply: Reply) -> None:
        if self._ending:
            return
        self._replies.append(reply.wire)
        self._deadline = self._loop.time() + self._house.limits.idle
        if reply.then is AfterReply.START_TLS:
            self._start_tls()
        elif reply.then is AfterReply.CLOSE:
            self._close(asked_for=reply is replies.BYE)
        elif self._draining and reply.code != replies.START_CONTENT.code:
            self._end(replies.SHUTTING_DOWN)

    def _start_tls(self) -> None:
        """RFC 3207 section 4.2: whatever the client said too early, it said in the clear."""
        self._flush()
        self._lines.remaining()
        self._records = TlsRecords(self._make_tls())
        self._deadline = self._loop.time() + self._house.limits.handshake

    def _end(self, reply: Reply) -> None:
        self._replies.append(reply.wire)
        self._close()

    def _close(self, *, asked_for: bool = False) -> None:
        """Say no more, and let the client read the last reply before the socket goes.

        A socket that is closed with unread input resets the connection, and the
        reply may be lost with it: so what comes is read, and dropped, until the
        client goes.
        """
        self._flush(last=True)
        self._ending = True
        self._deadline = self._loop.time() + _LINGER
        self._drop_content()
        if asked_for:
            self._transport.close()
        elif not self._transport.is_closing():
            try:
                self._transport.write_eof()
            except OSError:  # the client was quicker
                self._transport.abort()
        self._set_reading()

    def _drop_content(self) -> None:
        if self._content is not None:
            self._content.release()
            self._content = None

    def _flush(self, *, last: bool = False) -> None:
        """One write for all that is to be said."""
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

    def _set_reading(self) -> None:
        if self._transport.is_closing():
            return
        if (self._calling or self._unread) and not self._ending:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
