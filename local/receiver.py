"""The SMTP server that receives: what the MX record of a domain names, on this machine."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Final

from aiosmtpd.smtp import SMTP, Envelope, Session

from local.ses.receiving import MAX_SIZE, RuleSets, Store

_UNKNOWN: Final = "550 5.1.1 Requested action not taken: mailbox unavailable"


class _Receiver:
    """Answers as SES does: it refuses an address that no rule names."""

    def __init__(self, rules: RuleSets) -> None:
        self._rules = rules

    async def handle_RCPT(  # noqa: N802  the library's name
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        if not self._rules.matching(address):
            return _UNKNOWN
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802  as above
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        content = envelope.content
        octets = content if isinstance(content, bytes) else (content or "").encode()
        await self._rules.receive(envelope.mail_from or "", envelope.rcpt_tos, octets)
        return "250 OK"


@contextlib.asynccontextmanager
async def receiving(listener: socket.socket, rules: RuleSets, store: Store) -> AsyncIterator[None]:
    """Serve until the end, and let rules store what comes here and from the inbox."""
    rules.put_object = store

    def serve() -> SMTP:
        handler = _Receiver(rules)
        return SMTP(handler, hostname="localhost", data_size_limit=MAX_SIZE, enable_SMTPUTF8=True)

    server = await asyncio.get_running_loop().create_server(serve, sock=listener)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()
