"""The Python client: what it sends, when it tries again, and what its errors say."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any, Final

import httpx
import pytest
from pillarbox_client import (
    AsyncPillarbox,
    InvalidSignature,
    Pillarbox,
    PillarboxError,
    types,
    verify_webhook,
)

KEY: Final = "bx_live_example"
URL: Final = "https://mail.example"
EMAIL: Final[types.SendEmailRequest] = {"to": "ada@customer.example", "starterTemplate": "welcome"}
SENT: Final = {"messageId": "019b7998-4c00-7000-8000-000000000001", "status": "queued"}
SECRET: Final = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()


def response(status: int, code: str = "", **more: str) -> httpx.Response:
    headers = {"X-Request-Id": "r1"} | {
        name.replace("_", "-"): value for name, value in more.items()
    }
    body = {"error": {"code": code, "message": "No.", "type": "api_error"}} if code else SENT
    return httpx.Response(status, json=body, headers=headers)


class Service:
    """Answers with what it was given, and keeps the requests and the waits before retries."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = [*answers]
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> Pillarbox:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return Pillarbox(KEY, url=URL, http=http, **options)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Service]:
    """Return what makes a service whose clients note their waits and do not wait."""

    def make(*answers: httpx.Response | Exception) -> Service:
        made = Service(*answers)

        async def note(seconds: float) -> None:
            made.waits.append(seconds)

        monkeypatch.setattr("pillarbox_client.client.time.sleep", made.waits.append)
        monkeypatch.setattr("pillarbox_client.client.asyncio.sleep", note)
        return made

    return make


def test_a_send_has_what_the_api_asks_for(service: Callable[..., Service]) -> None:
    asked = service(response(200))
    assert asked.client().send_email(EMAIL) == SENT
    (request,) = asked.requests
    assert (request.method, str(request.url)) == ("POST", f"{URL}/api/v1/emails")
    assert json.loads(request.content) == EMAIL
    assert request.headers["X-API-Key"] == KEY
    assert request.headers["User-Agent"].startswith("pillarbox-python/")
    assert len(request.headers["Idempotency-Key"]) == 36


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        response(500, "internal_error"),
        response(503, "service_unavailable"),
        httpx.Response(502, text="<html>"),
        response(409, "idempotency_in_flight"),
        response(429, "rate_limit_exceeded", RateLimit_Reset="2"),
    ],
)
def test_what_may_succeed_is_sent_again_under_the_same_key(
    failure: httpx.Response | Exception, service: Callable[..., Service]
) -> None:
    """After a failed connection, a 5xx, a 429 or a 409 in flight, the retry has the same key."""
    asked = service(failure, failure, response(200))
    assert asked.client().send_email(EMAIL) == SENT
    keys = {request.headers["Idempotency-Key"] for request in asked.requests}
    assert (len(asked.requests), len(keys)) == (3, 1)
    assert len(asked.waits) == 2


def test_the_service_sets_the_wait(service: Callable[..., Service]) -> None:
    """The wait is what Retry-After or a limit's reset says; without them, the waits double."""
    asked = service(
        response(429, "rate_limit_exceeded", RateLimit_Reset="7"),
        response(409, "idempotency_in_flight", Retry_After="5"),
        response(200),
    )
    asked.client().send_email(EMAIL)
    assert asked.waits == [7, 5]
    asked = service(*[response(503, "service_unavailable")] * 3, response(200))
    asked.client().send_email(EMAIL)
    for wait, longest in zip(asked.waits, (0.5, 1, 2), strict=True):
        assert longest / 2 <= wait <= longest


def test_a_limit_of_the_day_is_an_error_at_once(service: Callable[..., Service]) -> None:
    asked = service(response(429, "daily_limit_exceeded", RateLimit_Reset="3600"))
    with pytest.raises(PillarboxError, match="daily_limit_exceeded") as error:
        asked.client().send_email(EMAIL)
    assert (error.value.status, error.value.request_id, asked.waits) == (429, "r1", [])


def test_the_caller_chooses_key_and_retries(service: Callable[..., Service]) -> None:
    """A given Idempotency-Key is sent; after the last retry the caller gets the failure.

    It names the address.
    """
    asked = service(*[httpx.ConnectError("refused")] * 2)
    with pytest.raises(httpx.ConnectError, match=f"{URL} does not answer: refused"):
        asked.client(retries=1).send_email(EMAIL, idempotency_key="order-10442")
    assert [each.headers["Idempotency-Key"] for each in asked.requests] == ["order-10442"] * 2


def test_what_must_not_happen_twice_is_sent_once(service: Callable[..., Service]) -> None:
    """A POST without an Idempotency-Key is not repeated after a lost answer."""
    asked = service(httpx.ReadTimeout("slow"))
    with pytest.raises(httpx.ReadTimeout):
        asked.client().create_webhook({"url": "https://shop.example/hooks", "types": ["*"]})
    assert len(asked.requests) == 1


def test_an_error_has_the_fields_of_the_envelope(service: Callable[..., Service]) -> None:
    """A refusal is not repeated; its code, type and status are attributes."""
    asked = service(response(400, "recipient_suppressed"))
    with pytest.raises(PillarboxError) as error:
        asked.client().send_email(EMAIL)
    assert (error.value.code, error.value.type) == ("recipient_suppressed", "api_error")
    asked = service(httpx.Response(404, text="<html>"))
    with pytest.raises(PillarboxError, match="unknown: The answer has the status 404"):
        asked.client().get_message("1")


def test_an_id_stays_one_segment(service: Callable[..., Service]) -> None:
    """An id with a slash cannot lead to another route; an empty one is refused."""
    asked = service(response(200))
    asked.client().get_message("../keys?x")
    assert asked.requests[0].url.raw_path == b"/api/v1/emails/..%2Fkeys%3Fx"
    with pytest.raises(ValueError, match="empty"):
        asked.client().get_message("")


def test_a_query_has_the_names_of_the_api(service: Callable[..., Service]) -> None:
    """Arguments in Python's spelling become the API's names; what is None is left out."""
    asked = service(response(200))
    asked.client().list_messages(sort_by="updated_at", from_="2026-01-01", limit=5)
    assert dict(asked.requests[0].url.params) == {
        "sortBy": "updated_at",
        "from": "2026-01-01",
        "limit": "5",
    }


def test_the_client_for_asyncio_does_the_same(service: Callable[..., Service]) -> None:
    """AsyncPillarbox sends, tries again and raises like Pillarbox."""
    asked = service(response(503, "service_unavailable"), response(200), response(403, "x"))

    async def use() -> None:
        http = httpx.AsyncClient(transport=httpx.MockTransport(asked))
        async with AsyncPillarbox(KEY, url=URL, http=http) as pillarbox:
            assert await pillarbox.send_email(EMAIL) == SENT
            with pytest.raises(PillarboxError):
                await pillarbox.get_me()

    asyncio.run(use())
    assert len(asked.requests) == 3


def test_key_and_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments, PILLARBOX_KEY and PILLARBOX_URL count; the error names what is missing."""
    monkeypatch.setenv("PILLARBOX_URL", f"{URL}/")
    monkeypatch.delenv("PILLARBOX_KEY", raising=False)
    with pytest.raises(ValueError, match="PILLARBOX_KEY"):
        Pillarbox()
    monkeypatch.setenv("PILLARBOX_KEY", KEY)
    with Pillarbox():
        pass


def signed(body: bytes, *, late: int = 0, secret: bytes = b"0123456789abcdef01234567") -> Any:
    moment = str(int(time.time()) - late)
    digest = hmac.digest(secret, b"e1." + moment.encode() + b"." + body, hashlib.sha256)
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"Webhook-Id": "e1", "Webhook-Timestamp": moment, "Webhook-Signature": signature}


def test_a_webhook_of_the_holder_of_the_secret_is_read() -> None:
    """The event is returned if one of several signatures is right."""
    body = json.dumps({"type": "webhook.test"}).encode()
    headers = signed(body)
    headers["Webhook-Signature"] = f"v1,AAAA {headers['Webhook-Signature']}"
    assert verify_webhook(body, headers, SECRET)["type"] == "webhook.test"


def test_another_webhook_is_refused() -> None:
    """A changed body, another secret, an old or future time, and missing headers are refused."""
    right = signed(b"{}")
    for headers, body in (
        (right, b"{ }"),
        (signed(b"{}", secret=b"another"), b"{}"),
        (signed(b"{}", late=400), b"{}"),
        (signed(b"{}", late=-400), b"{}"),
        (right | {"Webhook-Signature": "v2,é"}, b"{}"),
        (right | {"Webhook-Timestamp": "²"}, b"{}"),
        ({}, b"{}"),
    ):
        with pytest.raises(InvalidSignature):
            verify_webhook(body, headers, SECRET)
