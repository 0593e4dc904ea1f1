"""The part of the SES v2 API (REST-JSON) that Pillarbox and its operator's command use.

It checks no credentials. It listens on loopback only, and it checks the Host header so that no web
page can reach it under a name of its own (DNS rebinding).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.account_routes import account_routes
from local.ses.behaviour import REFUSALS, WHOLE, Mode
from local.ses.configuration_set_routes import configuration_set_routes
from local.ses.emitter import Emit, EventEmitter
from local.ses.errors import SesError
from local.ses.events import records
from local.ses.identity_routes import identity_routes
from local.ses.outcomes import take
from local.ses.sending import SesSendEmailRequest, accept, check, parse, refused
from local.ses.store import MailStore
from local.ses.suppression_routes import suppression_routes
from local.ses.tenant_routes import tenant_routes

_MAX_WAIT: Final = 300.0  # seconds


def ses_app(mailbox: MailStore, emit: Emit) -> Starlette:
    """Return the API as an application.

    Args:
        mailbox: the state. Close it before the server stops, because that ends delayed
            responses.
        emit: publishes an event record in place of the configuration set's event destination.
            It is called in the background and retried if it fails.
    """
    api = _Api(mailbox, EventEmitter(emit))
    return Starlette(
        routes=[
            Route("/v2/email/outbound-emails", api.send_email, methods=["POST"]),
            *account_routes(mailbox),
            *identity_routes(mailbox),
            *configuration_set_routes(mailbox),
            *tenant_routes(mailbox),
            *suppression_routes(mailbox),
            *mailbox.receipts.routes(),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={SesError: _ses_error, HTTPException: api.unknown_operation},
        lifespan=api.lifespan,
    )


async def _ses_error(_request: Request, error: Exception) -> Response:
    return cast("SesError", error).response()


class _Api:
    """One method per operation of the API."""

    def __init__(self, mailbox: MailStore, emitter: EventEmitter) -> None:
        self._mailbox = mailbox
        self._emitter = emitter
        mailbox.tenants.tell = lambda event: emitter.start([event])

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        yield
        await self._emitter.finish()

    async def unknown_operation(self, request: Request, _error: Exception) -> Response:
        """Refuse what `conformity.yaml` has no row for, and remember that it was asked."""
        operation = f"{request.method} {request.url.path}"
        self._mailbox.unknown_operations.append(operation)
        return SesError(
            "UnknownOperationException", f"This SES stand-in does not imitate {operation}."
        ).response()

    async def send_email(self, request: Request) -> Response:
        """Accept an email as SES does, or behave as the mailbox says."""
        message = parse(await request.body())
        try:
            return await self._accept(message, request)
        except SesError as error:
            if error.is_final and (mail := refused(message, error.message)):
                self._mailbox.add(mail)
            raise

    async def _accept(self, message: SesSendEmailRequest, request: Request) -> Response:
        recipients = check(self._mailbox, message).addresses
        met = self._mailbox.pop_behaviours(recipients)
        modes = {recipient: behaviour.mode for recipient, behaviour in met.items()}
        answer: Mode = next((mode for mode in modes.values() if mode in WHOLE), "accept")
        delays = [each.delay_seconds for each in met.values() if each.delay_seconds is not None]
        if refusal := REFUSALS.get(answer):
            await self._pause(max(delays, default=0))
            raise SesError(*refusal)
        if not self._mailbox.account.rate_limit.allow(len(recipients), time.monotonic()):
            raise SesError(*REFUSALS["throttle"])
        mail = accept(self._mailbox, message, modes)
        take(self._mailbox, mail)
        if all(behaviour.events for behaviour in met.values()):
            self._emitter.start(records(mail, self._mailbox, modes.values()))
        if answer == "take-then-timeout" and not delays:
            await self._until_disconnected(request)
        else:
            await self._pause(max(delays, default=0))
        if answer == "take-then-error":
            raise SesError(*REFUSALS["server-error"])
        return JSONResponse({"MessageId": mail.id})

    async def _pause(self, seconds: float) -> None:
        """Wait that long, or until the mailbox closes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._mailbox.closing.wait(), seconds)

    async def _until_disconnected(self, request: Request) -> None:
        """Wait until the client disconnects: `receive` returns nothing else after the body."""
        waiting = {
            asyncio.ensure_future(request.receive()),
            asyncio.ensure_future(self._pause(_MAX_WAIT)),
        }
        _, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
