"""aiosmtpd as its documentation sets it up for submission, with a handler that answers at once."""

import asyncio
import ssl
import sys
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult

folder, port = Path(sys.argv[1]), int(sys.argv[2])


class AiosmtpdHandler:
    """Accepts each message and stores nothing."""

    async def handle_DATA(self, _server: Any, _session: Any, _envelope: Any) -> str:  # noqa: ANN401, N802  as in aiosmtpd
        return "250 Ok: queued"


def authenticate(*_: object) -> AuthResult:
    """Accept any key."""
    return AuthResult(success=True)


async def serve() -> None:
    """Serve until killed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")

    def connect() -> SMTP:
        return SMTP(
            AiosmtpdHandler(),
            data_size_limit=32 * 1024 * 1024,
            tls_context=context,
            require_starttls=True,
            authenticator=authenticate,
            auth_required=True,
        )

    loop = asyncio.get_running_loop()
    await loop.create_server(connect, "127.0.0.1", port, backlog=512)
    await asyncio.Event().wait()


asyncio.run(serve())
