"""Receivers of webhooks over HTTP: `POST /hooks/NAME`, a page for people, JSON for programs.

A payload is untrusted, as mail is: the page shows it as text only.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from local.inbox.live_events import live_event, live_response
from local.inbox.queries import Address, Query, comparable, invalid, place_of, query_of
from local.inbox.signatures import check_signature
from local.inbox.waiting import look_until_found
from local.inbox.webhooks import (
    SEEDED_RECEIVER,
    AnswerMode,
    ReceivedWebhook,
    ReceiverAnswer,
    WebhookStore,
)
from local.ses.mail import timestamp
from pillarbox.domain.errors import Json
from pillarbox.domain.ids import new_id

#: Returns the signing secrets of the endpoints that point at a receiver.
type SecretsOf = Callable[[str], Awaitable[Collection[str]]]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_BODY: Final = 1024 * 1024
#: In seconds: longer than any sender of webhooks waits.
_SLOW: Final = 60.0


class _AnswerBody(BaseModel):
    """The body of PUT /hooks/NAME/answer; `ReceiverAnswer` explains the members."""

    model_config = ConfigDict(extra="forbid")

    mode: AnswerMode
    times: Annotated[int, Field(ge=1)] | None = None


class WebhookSelection(Query):
    """The query of /webhooks and /webhooks/latest; a webhook must match all of it."""

    receiver: str = ""
    type: str = ""
    message: str = ""
    recipient: Address = ""
    after: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = ""

    def of(self, newest_first: list[ReceivedWebhook]) -> list[ReceivedWebhook]:
        """Return the selected webhooks, newest first, that are newer than `after`."""
        ids = [webhook.id for webhook in newest_first]
        end = place_of(self.after, ids) if self.after else None
        return [each for each in newest_first[:end] if self._matches(each)][: self.limit]

    def _matches(self, webhook: ReceivedWebhook) -> bool:
        return (
            self.receiver in {"", webhook.receiver}
            and self.type in {"", webhook.type}
            and self.message in {"", webhook.message_id}
            and self.recipient in {"", comparable(webhook.recipient)}
            and (self.since is None or webhook.received_at >= self.since)
        )


async def no_secrets(_receiver: str) -> Collection[str]:
    """Return nothing: no endpoint points at a receiver."""
    return ()


class WebhookReceivers:
    """One method per route."""

    def __init__(self, store: WebhookStore, secrets_of: SecretsOf, policy: str) -> None:
        """Serve the receivers.

        Args:
            store: the state. Close it before the server stops.
            secrets_of: the secrets that a receiver checks signatures with.
            policy: the Content-Security-Policy of the page.
        """
        self._store = store
        self._secrets_of = secrets_of
        self._policy = policy

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/hooks", self.redirect),
            Route("/hooks/{name}", self.page),
            Route("/hooks/{name}", self.receive, methods=["POST"]),
            Route("/hooks/{name}/answer", self.get_answer),
            Route("/hooks/{name}/answer", self.put_answer, methods=["PUT"]),
            Route("/hooks/{name}/hint", self.show_hint),
            Route("/webhooks", self.list_webhooks),
            Route("/webhooks", self.delete_webhooks, methods=["DELETE"]),
            Route("/webhooks/latest", self.show_latest),
            Route("/webhooks/events", self.live_events),
            Route("/webhooks/{id}", self.show_webhook),
        ]

    async def redirect(self, _request: Request) -> Response:
        return RedirectResponse(f"/hooks/{SEEDED_RECEIVER}")

    async def page(self, request: Request) -> Response:
        _receiver(request)
        return FileResponse(
            Path(__file__).parent / "static" / "hooks.html",
            headers={"Content-Security-Policy": self._policy, "Referrer-Policy": "no-referrer"},
        )

    async def receive(self, request: Request) -> Response:
        """Keep a POST with the verdict on its signature, and answer as the receiver is set to."""
        receiver = _receiver(request)
        body = await _body(request)
        secrets = await self._secrets_of(receiver)
        headers = dict(request.headers)
        answer = self._store.pop_answer(receiver)
        now = datetime.now(UTC)
        self._store.add(
            ReceivedWebhook(
                id=new_id(now).hex,
                receiver=receiver,
                received_at=now,
                headers=tuple(request.headers.items()),
                body=body,
                signature=check_signature(headers, body, secrets, time.time()),
                status=answer.status,
                attempt=1 + self._store.attempts(receiver, headers.get("webhook-id", "")),
            )
        )
        if answer.status is None:
            await self._until_disconnected(request)
        return Response(status_code=answer.status or 204)

    async def _until_disconnected(self, request: Request) -> None:
        """Wait until the client disconnects: `receive` returns nothing else after the body."""
        waiting = {
            asyncio.ensure_future(request.receive()),
            asyncio.ensure_future(self._store.closing.wait()),
        }
        _, pending = await asyncio.wait(waiting, timeout=_SLOW, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()

    async def get_answer(self, request: Request) -> Response:
        return JSONResponse(_answer(self._store.answer(_receiver(request))))

    async def put_answer(self, request: Request) -> Response:
        """Set how a receiver answers the next POSTs."""
        receiver = _receiver(request)
        try:
            body = _AnswerBody.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        answer = ReceiverAnswer(**body.model_dump())
        self._store.set_answer(receiver, answer)
        return JSONResponse(_answer(answer))

    async def show_hint(self, request: Request) -> Response:
        """Return the command that makes a first webhook: an endpoint, or an email if there is."""
        receiver = _receiver(request)
        has_endpoint = bool(await self._secrets_of(receiver))
        hint = self._store.hint if has_endpoint else self._store.endpoint_hint
        return JSONResponse({"curl": hint.replace("RECEIVER", receiver), "endpoint": has_endpoint})

    async def list_webhooks(self, request: Request) -> Response:
        """List the newest first; `WebhookSelection` explains the query."""
        return JSONResponse(
            {"items": [webhook_summary(each) for each in await self._find(request)]}
        )

    async def show_latest(self, request: Request) -> Response:
        """Return the newest webhook of a selection."""
        found = await self._find(request)
        if not found:
            raise HTTPException(404, "No webhook matches.")
        return JSONResponse(_detail(found[0]))

    async def _find(self, request: Request) -> list[ReceivedWebhook]:
        selection = query_of(WebhookSelection, request)

        async def look() -> list[ReceivedWebhook]:
            return selection.of(self._store.newest_first())

        return await look_until_found(look, selection.wait, self._store.closing)

    async def show_webhook(self, request: Request) -> Response:
        webhook = self._store.get(request.path_params["id"])
        if webhook is None:
            raise HTTPException(404, "No webhook has this id.")
        return JSONResponse(_detail(webhook))

    async def delete_webhooks(self, request: Request) -> Response:
        """Delete what GET lists with the same query."""
        self._store.delete(await self._find(request))
        return Response(status_code=204)

    async def live_events(self, _request: Request) -> Response:
        """Send server-sent events: `webhook` with a list item, and `cleared`."""
        return live_response(self._events())

    async def _events(self) -> AsyncIterator[str]:
        async for webhook in self._store.arrivals():
            if webhook is None:
                yield live_event("cleared", {})
            else:
                yield live_event("webhook", webhook_summary(webhook))


def webhook_summary(webhook: ReceivedWebhook) -> dict[str, Json]:
    """Return a list item; what a payload lacks is an empty text."""
    return {
        "id": webhook.id,
        "receiver": webhook.receiver,
        "receivedAt": timestamp(webhook.received_at),
        "eventId": webhook.header("webhook-id"),
        "attempt": webhook.attempt,
        "signature": webhook.signature,
        "status": webhook.status,
        "type": webhook.type,
        "messageId": webhook.message_id,
        "recipient": webhook.recipient,
    }


def _detail(webhook: ReceivedWebhook) -> dict[str, Json]:
    return webhook_summary(webhook) | {
        "headers": [{"name": name, "value": value} for name, value in webhook.headers],
        "body": webhook.body.decode("utf-8", "replace"),
    }


def _receiver(request: Request) -> str:
    name: str = request.path_params["name"]
    if not _NAME.fullmatch(name):
        raise HTTPException(404, "A receiver's name has up to 64 letters, digits, - and _.")
    return name


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY:
            raise HTTPException(413, "A webhook has at most 1 MiB.")
    return body


def _answer(answer: ReceiverAnswer) -> dict[str, Json]:
    return {"mode": answer.mode, "times": answer.times}
