"""The inbox over HTTP: a page for people, JSON for programs, and the behaviours for tests.

Mail is hostile text. Its HTML goes only into a sandboxed frame without scripts, other
parts are never shown as documents, and the Host header is checked so that no page in a
browser can read mail by a name of its own (DNS rebinding).
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from local.inbox.reading import part_content, reading_of
from local.ses.events import timestamp
from local.ses.store import Behaviour, CapturedMail, MailStore, Mode
from pillarbox.domain.errors import Json

_STATIC: Final = Path(__file__).parent / "static"
_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: What a mail's own HTML may do: be looked at, and have its links opened elsewhere.
_MAIL_POLICY: Final = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "style-src 'unsafe-inline'; img-src 'self' data:{remote}; font-src data:; "
    "frame-ancestors 'self'"
)
#: The types that a browser may show in place; SVG is not one, for it carries scripts.
_SHOWN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class _BehaviourBody(BaseModel):
    """The body of PUT /behaviour; see `Behaviour` for the meanings."""

    model_config = ConfigDict(extra="forbid")

    mode: Mode
    times: Annotated[int, Field(ge=1)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=300)] | None = None
    events: bool = True


def inbox_app(mailbox: MailStore) -> Starlette:
    """The inbox of this mailbox.

    Args:
        mailbox: close it before the server is stopped: it ends the live updates.
    """
    inbox = _Inbox(mailbox)
    return Starlette(
        routes=[
            Route("/", inbox.page),
            Route("/messages", inbox.list_mails),
            Route("/messages", inbox.delete_mails, methods=["DELETE"]),
            Route("/messages/{id}", inbox.show_mail),
            Route("/messages/{id}/raw", inbox.show_raw),
            Route("/messages/{id}/html", inbox.show_html),
            Route("/messages/{id}/parts/{number:int}", inbox.show_part),
            Route("/events", inbox.live_events),
            Route("/hint", inbox.show_hint),
            Route("/behaviour", inbox.get_behaviour),
            Route("/behaviour", inbox.put_behaviour, methods=["PUT"]),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={HTTPException: _failed},
    )


async def _failed(_request: Request, fault: Exception) -> Response:
    if not isinstance(fault, HTTPException):
        raise fault
    return JSONResponse({"error": fault.detail}, fault.status_code, headers=fault.headers)


class _Inbox:
    """One method per route. Those that take mails apart are run in threads, being plain `def`."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox

    async def page(self, _request: Request) -> Response:
        return FileResponse(
            _STATIC / "index.html",
            headers={"Content-Security-Policy": _PAGE_POLICY, "Referrer-Policy": "no-referrer"},
        )

    def list_mails(self, request: Request) -> Response:
        """Newest first; `?q=` keeps those that hold each of its words, in any case."""
        words = request.query_params.get("q", "").lower().split()
        return JSONResponse(
            {
                "items": [
                    summary(mail)
                    for mail in self._mailbox.newest_first()
                    if not words or _holds(mail, words)
                ]
            }
        )

    async def delete_mails(self, _request: Request) -> Response:
        self._mailbox.clear()
        return Response(status_code=204)

    def show_mail(self, request: Request) -> Response:
        mail = self._mail(request)
        reading = reading_of(mail)
        kinds = {"to": mail.destination.to, "cc": mail.destination.cc, "bcc": mail.destination.bcc}
        return JSONResponse(
            summary(mail)
            | {
                "deliveries": [
                    {"address": address, "kind": kind, "outcome": mail.outcomes[address]}
                    for kind, addresses in kinds.items()
                    for address in addresses
                ],
                "sender": mail.source,
                "configurationSet": mail.configuration_set,
                "tags": dict(mail.tags),
                "headers": [{"name": name, "value": value} for name, value in reading.headers],
                "text": reading.text,
                "html": reading.html,
                "remoteImages": reading.has_remote_images,
                "attachments": [
                    {
                        "number": part.number,
                        "filename": part.filename,
                        "contentType": part.content_type,
                        "contentId": part.content_id,
                        "inline": part.inline,
                        "size": part.size,
                    }
                    for part in reading.parts
                ],
            }
        )

    async def show_raw(self, request: Request) -> Response:
        mail = self._mail(request)
        return Response(
            mail.raw,
            media_type="message/rfc822",
            headers={
                "Content-Disposition": f'attachment; filename="{mail.id}.eml"',
                "X-Content-Type-Options": "nosniff",
            },
        )

    def show_html(self, request: Request) -> Response:
        """The HTML for the frame; `?remote=1` lets it load images from elsewhere."""
        reading = reading_of(self._mail(request))
        if reading.html is None:
            raise HTTPException(404, "This mail has no HTML.")
        remote = " https: http:" if "remote" in request.query_params else ""
        return Response(
            reading.framed_html(),
            media_type="text/html",
            headers={
                "Content-Security-Policy": _MAIL_POLICY.format(remote=remote),
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            },
        )

    def show_part(self, request: Request) -> Response:
        mail = self._mail(request)
        number: int = request.path_params["number"]
        part = next((p for p in reading_of(mail).parts if p.number == number), None)
        if part is None:
            raise HTTPException(404, "This mail has no such part.")
        disposition = "inline" if part.content_type in _SHOWN else "attachment"
        filename = quote(part.filename or f"part-{number}", safe="")
        return Response(
            part_content(mail.raw, number),
            headers={
                "Content-Type": part.content_type,
                "Content-Disposition": f"{disposition}; filename*=UTF-8''{filename}",
                "Content-Security-Policy": "sandbox; default-src 'none'",
                "X-Content-Type-Options": "nosniff",
            },
        )

    async def live_events(self, _request: Request) -> Response:
        """Server-sent events: `mail` with a list item for each new one, `cleared`."""
        return StreamingResponse(
            self._events(),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    async def _events(self) -> AsyncIterator[str]:
        yield ": listening\n\n"
        async for mail in self._mailbox.arrivals():
            if mail is None:
                yield "event: cleared\ndata: {}\n\n"
            else:
                yield f"event: mail\ndata: {json.dumps(summary(mail))}\n\n"

    async def show_hint(self, _request: Request) -> Response:
        """The line to paste that sends a first mail."""
        return JSONResponse({"curl": self._mailbox.hint})

    async def get_behaviour(self, request: Request) -> Response:
        """What the next SendEmail meets; with `?recipient=` those to that address."""
        behaviour = self._mailbox.behaviour(request.query_params.get("recipient"))
        return JSONResponse(_behaviour(behaviour))

    async def put_behaviour(self, request: Request) -> Response:
        """Set it, for all or with `?recipient=` for the mails to that address."""
        try:
            body = _BehaviourBody.model_validate_json(await request.body())
        except ValidationError as fault:
            error = fault.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(step) for step in error["loc"])
            raise HTTPException(422, f"{where}: {error['msg']}") from fault
        behaviour = Behaviour(**body.model_dump())
        self._mailbox.behave(behaviour, request.query_params.get("recipient"))
        return JSONResponse(_behaviour(behaviour))

    def _mail(self, request: Request) -> CapturedMail:
        mail = self._mailbox.get(request.path_params["id"])
        if mail is None:
            raise HTTPException(404, "There is no such mail here.")
        return mail


def summary(mail: CapturedMail) -> dict[str, Json]:
    """A list item: `id` is SES's, `messageId` ours (the tag `message`), `size` in bytes."""
    return {
        "id": mail.id,
        "messageId": mail.tags.get("message"),
        "from": mail.from_header,
        "recipients": list(mail.destination.addresses),
        "subject": mail.subject,
        "receivedAt": timestamp(mail.received_at),
        "size": len(mail.raw),
    }


def _holds(mail: CapturedMail, words: list[str]) -> bool:
    reading = reading_of(mail)
    searched = "\n".join(
        (
            mail.id,
            mail.tags.get("message", ""),
            mail.from_header,
            *mail.destination.addresses,
            mail.subject,
            reading.text or reading.html or "",
            *(part.filename or "" for part in reading.parts),
        )
    ).lower()
    return all(word in searched for word in words)


def _behaviour(behaviour: Behaviour) -> dict[str, Json]:
    return {
        "mode": behaviour.mode,
        "times": behaviour.times,
        "delay_seconds": behaviour.delay_seconds,
        "events": behaviour.events,
    }
