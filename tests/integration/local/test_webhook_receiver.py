"""The receivers of webhooks: what they keep, what they check and how they answer."""

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest

from local.inbox.webhooks import ReceivedWebhook, WebhookStore
from pillarbox.domain.webhooks.endpoint import new_secret
from tests.integration.local.local_ses import LocalSes
from tests.integration.local.webhook_posts import MESSAGE, SECRET, PostWebhook
from tests.loops import for_each
from tests.stack import wait_for

OTHER: Final = new_secret(datetime.now(UTC))


def newest(inbox: httpx.Client, **query: str) -> Any:
    return inbox.get("/webhooks/latest", params=query).json()


def test_a_webhook_is_kept(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    event = uuid4()
    assert post_webhook(event=event).status_code == 204
    (item,) = inbox.get("/webhooks").json()["items"]
    received = datetime.fromisoformat(item["receivedAt"])
    assert datetime.now(UTC) - received < timedelta(minutes=5)
    assert item == {
        "id": item["id"],
        "receiver": "shop",
        "receivedAt": item["receivedAt"],
        "eventId": str(event),
        "attempt": 1,
        "signature": "valid",
        "status": 204,
        "type": "email.delivered",
        "messageId": MESSAGE,
        "recipient": "ada@example.com",
    }
    detail = inbox.get(f"/webhooks/{item['id']}").json()
    assert detail == newest(inbox)
    assert json.loads(detail["body"])["type"] == "email.delivered"
    assert {"name": "webhook-id", "value": str(event)} in detail["headers"]
    assert detail.items() > item.items()


def test_signatures_are_checked(
    post_webhook: PostWebhook, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    def verdict(**webhook: Any) -> str:
        post_webhook(**webhook)
        return str(newest(inbox)["signature"])

    assert verdict() == "valid"
    assert verdict(secret=OTHER) == "invalid"
    assert verdict(headers={"webhook-id": "changed"}) == "invalid"
    assert verdict(headers={"webhook-timestamp": "soon"}) == "invalid"
    assert verdict(headers={"webhook-signature": "v1,"}) == "invalid"
    assert verdict(age=timedelta(minutes=6)) == "stale"
    assert verdict(age=timedelta(minutes=-6)) == "stale"
    assert verdict(age=timedelta(minutes=4)) == "valid"
    assert verdict(headers={"webhook-signature": ""}) == "missing"
    assert verdict(receiver="nobody") == "unknown"
    local_ses.secrets["shop"] = [OTHER.text, SECRET.text]
    assert verdict() == "valid"
    assert verdict(secret=OTHER) == "valid"


@pytest.mark.parametrize(("mode", "status"), [("ok", 204), ("error", 500), ("gone", 410)])
def test_a_receiver_answers_as_it_is_set(
    mode: str, status: int, post_webhook: PostWebhook, inbox: httpx.Client
) -> None:
    assert inbox.put("/hooks/shop/answer", json={"mode": mode}).json()["mode"] == mode
    assert inbox.get("/hooks/shop/answer").json() == {"mode": mode, "times": None}
    assert [post_webhook().status_code for _ in range(2)] == [status, status]
    assert newest(inbox)["status"] == status
    assert post_webhook(receiver="other").status_code == 204


def test_an_answer_can_have_a_limit(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    inbox.put("/hooks/shop/answer", json={"mode": "error", "times": 2})
    event = uuid4()
    assert [post_webhook(event=event).status_code for _ in range(3)] == [500, 500, 204]
    post_webhook(receiver="other", event=event)
    items = inbox.get("/webhooks?receiver=shop").json()["items"]
    assert [(item["attempt"], item["status"]) for item in items] == [(3, 204), (2, 500), (1, 500)]
    assert inbox.get("/hooks/shop/answer").json() == {"mode": "ok", "times": None}


def test_a_slow_receiver_does_not_answer(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    inbox.put("/hooks/shop/answer", json={"mode": "slow", "times": 1})
    with pytest.raises(httpx.ReadTimeout):
        post_webhook(timeout=0.3)
    assert newest(inbox)["status"] is None
    assert post_webhook().status_code == 204


def test_a_slow_answer_ends_with_the_stack(
    post_webhook: PostWebhook, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    inbox.put("/hooks/shop/answer", json={"mode": "slow"})
    done = threading.Thread(target=post_webhook)
    done.start()
    wait_for(lambda: inbox.get("/webhooks").json()["items"])
    local_ses.on_loop(local_ses.webhooks.close)
    done.join(60)
    assert not done.is_alive()


@for_each(
    ("body", "error"),
    [
        ({"mode": "teapot"}, "mode: must be 'ok', 'error', 'slow' or 'gone'"),
        ({"mode": "ok", "times": 0}, "times: must be greater than or equal to 1"),
        ({}, "mode: is required"),
    ],
)
def test_an_invalid_answer_is_refused(body: Any, error: str, inbox: httpx.Client) -> None:
    response = inbox.put("/hooks/shop/answer", json=body)
    assert (response.status_code, response.json()) == (422, {"error": error})


def test_webhooks_are_selected(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    post_webhook("email.sent", messageId="m1")
    first = newest(inbox)
    post_webhook("email.delivered", messageId="m1", recipient="Bob@example.com")
    post_webhook("email.sent", messageId="m2", receiver="other")

    def types(**query: str) -> list[str]:
        items = inbox.get("/webhooks", params=query).json()["items"]
        return [item["type"].removeprefix("email.") for item in items]

    assert types() == ["sent", "delivered", "sent"]
    assert types(receiver="shop") == ["delivered", "sent"]
    assert types(type="email.sent") == ["sent", "sent"]
    assert types(message="m1") == ["delivered", "sent"]
    assert types(message="m1", type="email.sent") == ["sent"]
    assert types(recipient="bob@EXAMPLE.com") == ["delivered"]
    assert types(since=first["receivedAt"]) == ["sent", "delivered", "sent"]
    assert types(since="2999-01-01T00:00:00") == []
    assert types(after=first["id"]) == ["sent", "delivered"]
    assert types(limit="1") == ["sent"]
    assert inbox.get("/webhooks/latest?type=no").status_code == 404
    assert inbox.get("/webhooks/absent").status_code == 404
    assert inbox.get("/webhooks?typ=x").json()["error"].startswith("typ: is not a field")


def test_webhooks_are_deleted(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    post_webhook("email.delivered", recipient="ann+1@example.com")
    for receiver in ("shop", "shop", "other"):
        post_webhook("email.sent", receiver=receiver)
    for query in ("typ=email.sent", "receiver=", "after=zzz", "type=a&type=b"):
        assert inbox.delete(f"/webhooks?{query}").status_code == 422
    assert inbox.delete("/webhooks?recipient=ann+1@example.com").status_code == 204
    assert len(inbox.get("/webhooks").json()["items"]) == 3
    assert inbox.delete("/webhooks?receiver=shop").status_code == 204
    assert [item["receiver"] for item in inbox.get("/webhooks").json()["items"]] == ["other"]
    assert inbox.delete("/webhooks").status_code == 204
    assert inbox.get("/webhooks").json() == {"items": []}


@for_each(
    "body",
    [
        b"",
        b"\xff\x00",
        b"[1]",
        b'"text"',
        b'{"type": 5, "data": [{}]}',
        b'{"data": {"messageId": null}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_a_payload_of_any_form_is_kept(
    body: bytes, post_webhook: PostWebhook, inbox: httpx.Client
) -> None:
    assert post_webhook(body=body).status_code == 204
    detail = newest(inbox)
    assert (detail["type"], detail["messageId"], detail["recipient"]) == ("", "", "")
    assert detail["signature"] == "valid"
    assert detail["body"] == body.decode("utf-8", "replace")


def test_a_payload_with_half_a_character_breaks_no_list(
    post_webhook: PostWebhook, inbox: httpx.Client
) -> None:
    """A lone surrogate in a type, which UTF-8 cannot have, is shown as a question mark."""
    post_webhook(body=b'{"type": "a\\ud800"}')
    assert inbox.get("/webhooks").json()["items"][0]["type"] == "a?"


def test_a_body_that_is_too_long_is_refused(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    assert post_webhook(body=bytes(1024 * 1024)).status_code == 204
    assert post_webhook(body=bytes(1024 * 1024 + 1)).status_code == 413
    assert len(inbox.get("/webhooks").json()["items"]) == 1


@for_each("name", ["a.b", "a%20b", "a" * 65, "%3Cb%3E"])
def test_a_receiver_has_a_plain_name(name: str, inbox: httpx.Client) -> None:
    assert inbox.post(f"/hooks/{name}", content=b"{}").status_code == 404
    assert inbox.get(f"/hooks/{name}").status_code == 404


def test_live_events_name_each_webhook(post_webhook: PostWebhook, inbox: httpx.Client) -> None:
    with inbox.stream("GET", "/webhooks/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": listening"
        post_webhook("email.sent")
        inbox.delete("/webhooks")
        shown = [line for line in (next(lines) for _ in range(7)) if line]
    assert shown[0] == "event: webhook"
    assert json.loads(shown[1].removeprefix("data: "))["type"] == "email.sent"
    assert shown[2:4] == ["event: cleared", "data: {}"]


def test_a_page_of_another_server_cannot_post(
    post_webhook: PostWebhook, inbox: httpx.Client
) -> None:
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert post_webhook(headers=foreign).status_code == 403
    assert post_webhook(headers={"Host": "evil.example"}).status_code == 400
    assert inbox.get("/webhooks").json() == {"items": []}
    assert post_webhook(headers={"Origin": str(inbox.base_url)}).status_code == 204


def test_the_hint_fits_the_receiver(
    post_webhook: PostWebhook, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    local_ses.webhooks.hint = "curl emails"
    local_ses.webhooks.endpoint_hint = "curl webhooks /hooks/RECEIVER"
    assert post_webhook().status_code == 204
    assert inbox.get("/hooks/shop/hint").json() == {"curl": "curl emails", "endpoint": True}
    assert inbox.get("/hooks/mine/hint").json() == {
        "curl": "curl webhooks /hooks/mine",
        "endpoint": False,
    }


def received(number: int, size: int) -> ReceivedWebhook:
    now = datetime.now(UTC)
    return ReceivedWebhook(str(number), "shop", now, (), bytes(size), "unknown", 204, 1)


def test_the_oldest_webhooks_are_dropped() -> None:
    few, small = WebhookStore(keep=2), WebhookStore(keep_bytes=10)
    for number in range(4):
        few.add(received(number, 5))
        small.add(received(number, 4))
    assert [webhook.id for webhook in few.newest_first()] == ["3", "2"]
    assert [webhook.id for webhook in small.newest_first()] == ["3", "2"]
    small.add(received(4, 100))
    assert [webhook.id for webhook in small.newest_first()] == ["4"]
