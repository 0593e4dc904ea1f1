"""The inbox over HTTP: a page for people, JSON for programs, and the behaviours for tests.

Mail is untrusted. Its HTML is shown only in a sandboxed frame without scripts, and no other part is
shown as a document. The Host header is checked so that no web page can read mail under a name of
its own (DNS rebinding), and requests from the pages of other servers are refused.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from local.guard import SameOrigin
from local.inbox.answers import answer_to
from local.inbox.deliveries import deliveries_of
from local.inbox.extracts import codes_of, links_of, preview_of
from local.inbox.hooks import SecretsOf, WebhookReceivers, no_secrets
from local.inbox.live_events import live_event, live_response
from local.inbox.queries import OfRecipient, invalid, query_of
from local.inbox.reading import part_content, view_of
from local.inbox.selection import SelectedMails, Selection, page_of
from local.inbox.waiting import look_until_found
from local.inbox.webhooks import WebhookStore
from local.reference.app import reference_routes
from local.ses.account import Review
from local.ses.behaviour import Behaviour, Mode
from local.ses.mail import CapturedMail, timestamp
from local.ses.store import IdentityStatus, MailStore
from pillarbox.domain.errors import Json
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering.checks import check_result, check_source

_STATIC: Final = Path(__file__).parent / "static"
_OPENAPI: Final = Path(__file__).parent / "openapi.yaml"
_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
#: The policy of an email's own HTML: no scripts, and links open in a new tab.
_MAIL_POLICY: Final = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "style-src 'unsafe-inline'; img-src 'self' data:{remote}; font-src data:; "
    "frame-ancestors 'self'"
)
#: Types that a browser may show inline. SVG is not one, because it can contain scripts.
_INLINE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class _BehaviourBody(BaseModel):
    """The body of PUT /behaviour; `Behaviour` explains the members."""

    model_config = ConfigDict(extra="forbid")

    mode: Mode
    times: Annotated[int, Field(ge=1)] | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=300)] | None = None
    events: bool = True


class _IdentityBody(BaseModel):
    """The body of PUT /identities/NAME."""

    model_config = ConfigDict(extra="forbid")

    status: IdentityStatus


class _ReplyBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(min_length=1, max_length=100_000)]


class _MarkBody(BaseModel):
    """The body of PATCH /messages/ID."""

    model_config = ConfigDict(extra="forbid")

    unread: bool


class _AccountBody(BaseModel):
    """The body of PUT /account; null is the sandbox without a request."""

    model_config = ConfigDict(extra="forbid")

    review: Review | None
    reason: str | None = None


def inbox_app(
    mailbox: MailStore, webhooks: WebhookStore, secrets_of: SecretsOf = no_secrets
) -> Starlette:
    """Return the inbox and the receivers of webhooks as an application.

    Args:
        mailbox: the emails. Close it before the server stops, because that ends live updates.
        webhooks: what the receivers got. Close it too.
        secrets_of: the secrets that a receiver checks signatures with.
    """
    inbox = _Inbox(mailbox)
    return Starlette(
        routes=[
            Route("/", inbox.page),
            Route("/messages", inbox.list_mails),
            Route("/messages", inbox.delete_mails, methods=["DELETE"]),
            Route("/messages/latest", inbox.show_latest),
            Route("/messages/{id}", inbox.show_mail),
            Route("/messages/{id}", inbox.delete_mail, methods=["DELETE"]),
            Route("/messages/{id}", inbox.mark_mail, methods=["PATCH"]),
            Route("/messages/{id}/problems", inbox.list_problems),
            Route("/messages/{id}/reply", inbox.answer, methods=["POST"]),
            Route("/messages/{id}/raw", inbox.show_raw),
            Route("/messages/{id}/html", inbox.show_html),
            Route("/messages/{id}/parts/{number:int}", inbox.show_part),
            Route("/events", inbox.live_events),
            Route("/hint", inbox.show_hint),
            Route("/behaviour", inbox.get_behaviour),
            Route("/behaviour", inbox.put_behaviour, methods=["PUT"]),
            Route("/identities/{name}", inbox.put_identity, methods=["PUT"]),
            Route("/account", inbox.get_account),
            Route("/account", inbox.put_account, methods=["PUT"]),
            *WebhookReceivers(webhooks, secrets_of, _PAGE_POLICY).routes,
            Mount("/static", StaticFiles(directory=_STATIC)),
            *reference_routes(_document),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"]),
            # The id in the path is random, and only the inbox's own pages can read it.
            Middleware(SameOrigin, images="/messages/[^/]+/parts/[0-9]+"),
        ],
        exception_handlers={HTTPException: _failed},
    )


async def _failed(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


class _Inbox:
    """One method per route. Starlette runs those that parse emails in threads: plain `def`."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox

    async def page(self, _request: Request) -> Response:
        return FileResponse(
            _STATIC / "index.html",
            headers={"Content-Security-Policy": _PAGE_POLICY, "Referrer-Policy": "no-referrer"},
        )

    async def list_mails(self, request: Request) -> Response:
        """List the newest first; `Selection` explains the query."""
        page = await self._find(query_of(Selection, request))
        items = await run_in_threadpool(lambda: [self._item(mail) for mail in page.mails])
        body: dict[str, Json] = {"items": [*items]}
        if page.more:
            body["next"] = page.mails[-1].id
        return JSONResponse(body)

    async def show_latest(self, request: Request) -> Response:
        """Return the newest email of a selection."""
        page = await self._find(query_of(Selection, request).model_copy(update={"limit": 1}))
        if not page.mails:
            raise HTTPException(404, "No email matches.")
        return JSONResponse(await run_in_threadpool(self._detail, page.mails[0]))

    async def _find(self, selection: Selection) -> SelectedMails:
        """Return the selected emails; if there are none, wait for one first."""

        async def look() -> SelectedMails:
            mails = self._mailbox.newest_first(refused=True)
            return await run_in_threadpool(page_of, mails, selection, self._mailbox.read)

        return await look_until_found(look, selection.wait, self._mailbox.closing)

    async def delete_mails(self, request: Request) -> Response:
        """Delete what GET lists with the same query; without one, all that the inbox has."""
        if not request.query_params:
            self._mailbox.clear()
        else:
            for mail in (await self._find(query_of(Selection, request))).mails:
                self._mailbox.delete(mail.id)
        return Response(status_code=204)

    def show_mail(self, request: Request) -> Response:
        return JSONResponse(self._detail(self._mail(request)))

    async def mark_mail(self, request: Request) -> Response:
        """Mark an email as read or unread. To look at one over the API does not mark it."""
        mail = self._mail(request)
        try:
            body = _MarkBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        (self._mailbox.read.discard if body.unread else self._mailbox.read.add)(mail)
        return JSONResponse(body.model_dump())

    def list_problems(self, request: Request) -> Response:
        """Check the HTML, its links and the subject, as the editor of templates does."""
        mail = self._mail(request)
        html = view_of(mail).html
        found = html and check_result(mail.subject, html) + check_source(SourceKind.HTML, html)
        problems: list[Json] = [
            {"severity": one.severity, "code": one.code, "message": one.message, "line": one.line}
            for one in found or ()
        ]
        return JSONResponse({"problems": problems})

    async def answer(self, request: Request) -> Response:
        """Answer an email as its recipient; the answer comes in at the stack as from outside."""
        mail = self._mail(request)
        try:
            body = _ReplyBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        sender, recipient, octets = answer_to(mail, body.text)
        if not self._mailbox.receipts.matching(recipient):
            raise HTTPException(409, f"No domain of this stack receives mail for {recipient}.")
        await self._mailbox.receipts.receive(sender, [recipient], octets)
        return JSONResponse({"from": sender, "to": recipient}, 202)

    async def delete_mail(self, request: Request) -> Response:
        self._mailbox.delete(self._mail(request).id)
        return Response(status_code=204)

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
        """Return the HTML for the frame; `?remote=1` allows images from other hosts."""
        view = view_of(self._mail(request))
        if view.html is None:
            raise HTTPException(404, "This email has no HTML.")
        remote = " https: http:" if "remote" in request.query_params else ""
        return Response(
            view.framed_html(),
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
        part = next((p for p in view_of(mail).parts if p.number == number), None)
        if part is None:
            raise HTTPException(404, "This email has no part with that number.")
        disposition = "inline" if part.content_type in _INLINE_TYPES else "attachment"
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
        """Send server-sent events: `mail` and `refused` with a list item, `deleted`, `cleared`."""
        return live_response(self._events())

    async def _events(self) -> AsyncIterator[str]:
        async for mail in self._mailbox.arrivals():
            if isinstance(mail, str):
                yield live_event("deleted", {"id": mail})
            elif mail is None:
                yield live_event("cleared", {})
            else:
                item = await run_in_threadpool(self._item, mail)
                yield live_event("mail" if mail.refusal is None else "refused", item)

    async def show_hint(self, _request: Request) -> Response:
        """Return the command that sends a first email, and the address of the dashboard."""
        return JSONResponse({"curl": self._mailbox.hint, "dashboard": self._mailbox.dashboard})

    async def get_behaviour(self, request: Request) -> Response:
        """Return the behaviour of the next SendEmail; with `?recipient=` that of one address."""
        behaviour = self._mailbox.behaviour(query_of(OfRecipient, request).recipient)
        return JSONResponse(_behaviour(behaviour))

    async def put_behaviour(self, request: Request) -> Response:
        """Set the behaviour of all emails, or with `?recipient=` of emails to that address."""
        try:
            body = _BehaviourBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        behaviour = Behaviour(**body.model_dump())
        self._mailbox.set_behaviour(behaviour, query_of(OfRecipient, request).recipient)
        return JSONResponse(_behaviour(behaviour))

    async def put_identity(self, request: Request) -> Response:
        """Change whether SES has verified an address or a domain."""
        try:
            body = _IdentityBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        if not self._mailbox.set_identity_status(request.path_params["name"], body.status):
            raise HTTPException(404, "SES has no such identity.")
        return JSONResponse(body.model_dump())

    async def get_account(self, _request: Request) -> Response:
        """Return whether SES has granted production access, and why if a review ended."""
        account = self._mailbox.account
        return JSONResponse({"review": account.review, "reason": account.review_reason})

    async def put_account(self, request: Request) -> Response:
        """Let AWS decide about production access."""
        try:
            body = _AccountBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        self._mailbox.account.decide(body.review, body.reason)
        return JSONResponse(body.model_dump())

    def _mail(self, request: Request) -> CapturedMail:
        mail = self._mailbox.get(request.path_params["id"])
        if mail is None:
            raise HTTPException(404, "No email has this id.")
        return mail

    def _item(self, mail: CapturedMail) -> dict[str, Json]:
        return summary(mail) | {"unread": mail not in self._mailbox.read}

    def _detail(self, mail: CapturedMail) -> dict[str, Json]:
        return self._item(mail) | _content(mail)


def summary(mail: CapturedMail) -> dict[str, Json]:
    """Return a list item: `id` is SES's, `messageId` ours (tag `message`), `size` in bytes."""
    view = view_of(mail)
    return {
        "id": mail.id,
        "messageId": mail.tags.get("message"),
        "from": mail.from_header,
        "recipients": list(mail.destination.addresses),
        "deliveries": deliveries_of(mail),
        "subject": mail.subject,
        "receivedAt": timestamp(mail.received_at),
        "size": len(mail.raw),
        "preview": preview_of(view),
        "attachmentCount": len(view.attached),
    }


def _content(mail: CapturedMail) -> dict[str, Json]:
    view = view_of(mail)
    return {
        "sender": mail.source,
        "configurationSet": mail.configuration_set,
        "tags": dict(mail.tags),
        "headers": [{"name": name, "value": value} for name, value in view.headers],
        "text": view.text,
        "html": view.html,
        "links": [*links_of(view)],
        "codes": [*codes_of(mail.subject, view)],
        "remoteImages": view.has_remote_images,
        "attachments": [
            {
                "number": part.number,
                "filename": part.filename,
                "contentType": part.content_type,
                "contentId": part.content_id,
                "inline": part.inline,
                "size": part.size,
            }
            for part in view.parts
        ],
    }


def _document(request: Request) -> Response:
    """Return the description of this API with this server's address."""
    document = yaml.safe_load(_OPENAPI.read_text(encoding="utf-8"))
    document["servers"] = [{"url": str(request.base_url).rstrip("/")}]
    return JSONResponse(document)


def _behaviour(behaviour: Behaviour) -> dict[str, Json]:
    return {
        "mode": behaviour.mode,
        "times": behaviour.times,
        "delay_seconds": behaviour.delay_seconds,
        "events": behaviour.events,
    }
