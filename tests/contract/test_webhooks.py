"""The routes of webhooks, as docs/openapi.json and docs/guides/webhooks.md describe them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoEndpointHealths
from pillarbox.domain.accounts.key import WEBHOOKS_READ, WEBHOOKS_WRITE, Preset
from pillarbox.domain.webhooks.endpoint import EndpointDrain, EndpointHealth, WebhookEvent
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

URL = "https://shop.example/hooks"
BOTH = frozenset({WEBHOOKS_READ, WEBHOOKS_WRITE})


@pytest.fixture
def api(service: Service, account: str) -> Api:
    """A client with a key of the account that may do everything with webhooks."""
    return Api(service.key(account, Preset.CUSTOM, scopes=BOTH | {"emails:send"}))


def call(api: Api, method: str, path: str = "", body: Any = None, **query: str) -> ApiResponse:
    return api.raw(method, f"/webhooks{path}", body, query=query)


def create(api: Api, **changes: Any) -> Any:
    response = call(api, "POST", body={"url": URL, "types": ["*"]} | changes)
    assert response.status == 201, response.text
    return response.json


def queued(service: Service, endpoint: str) -> list[WebhookEvent]:
    tasks = service.webhook_tasks()
    return [t for t in tasks if isinstance(t, WebhookEvent) and t.endpoint_id == endpoint]


def test_an_endpoint_is_created(api: Api) -> None:
    made = create(api, types=["email.bounced", "email.failed", "email.bounced"])
    assert set(made) == {
        *("id", "url", "types", "secret", "enabled", "format", "createdAt"),
        *("roleArn", "trustPolicy"),
        *("failingSince", "disabledAt", "disabledReason"),
    }
    assert made["types"] == ["email.bounced", "email.failed"]
    assert made["secret"].startswith("whsec_")
    shown = call(api, "GET", f"/{made['id']}")
    assert shown.json == {name: value for name, value in made.items() if name != "secret"}
    assert call(api, "GET").json == {"items": [shown.json]}
    for response in (
        call(api, "PATCH", f"/{made['id']}", {"enabled": False}),
        call(api, "POST", f"/{made['id']}/test"),
        call(api, "GET", f"/{made['id']}/deliveries"),
    ):
        assert made["secret"] not in response.text
        assert "whsec_" not in response.text


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"url": "http://127.0.0.1/", "types": ["*"]}, {"url": "invalid_url"}),
        ({"url": URL + "x" * 2048, "types": ["*"]}, {"url": "too_long"}),
        ({"url": URL, "types": ["*", "email.sent"]}, {"types": "not_allowed"}),
        ({"url": URL, "types": ["email.sent", "email.opened"]}, {"types": "unknown_type"}),
        ({"url": URL, "types": ["webhook.test"]}, {"types": "unknown_type"}),
        ({"url": URL, "types": ["x" * 5000]}, {"types": "unknown_type"}),
        ({"url": "ftp://x", "types": ["x"]}, {"url": "invalid_url", "types": "unknown_type"}),
    ],
)
def test_a_wrong_endpoint_is_refused(api: Api, body: Any, errors: dict[str, str]) -> None:
    response = call(api, "POST", body=body)
    assert (response.status, response.errors) == (422, errors)
    assert len(response.text) < 1000
    assert call(api, "GET").json == {"items": []}


def test_an_endpoint_is_changed(api: Api) -> None:
    """PATCH changes what it names, and null or an empty object changes nothing."""
    made = create(api)
    changes = {"url": "https://other.example/", "types": ["email.sent"], "enabled": False}
    changed = call(api, "PATCH", f"/{made['id']}", changes)
    assert changed.status == 200
    assert {name: changed.json[name] for name in changes} == changes
    for body in ({}, {"url": None, "types": None, "enabled": None}):
        assert call(api, "PATCH", f"/{made['id']}", body).json == changed.json
    for wrong, errors in (
        ({"enabled": 1}, {"enabled": "wrong_type"}),
        ({"url": "http://10.0.0.1/", "enabled": True}, {"url": "invalid_url"}),
        ({"secret": "whsec_x"}, {"secret": "unknown_field"}),
    ):
        assert call(api, "PATCH", f"/{made['id']}", wrong).errors == errors
    assert call(api, "GET", f"/{made['id']}").json == changed.json


def test_a_deleted_endpoint_is_gone(api: Api) -> None:
    made = create(api)
    deleted = call(api, "DELETE", f"/{made['id']}")
    assert (deleted.status, deleted.text) == (204, "")
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("GET", "/deliveries")):
        gone = call(api, method, f"/{made['id']}{path}")
        assert (gone.status, gone.code) == (404, "webhook_not_found")
    assert call(api, "GET").json == {"items": []}


@pytest.mark.parametrize("reason", ["failing", "gone"])
def test_a_disabled_endpoint_says_why_and_is_enabled_again(
    service: Service, account: str, api: Api, reason: str
) -> None:
    """The service's reason is shown; PATCH enabled: true ends it and has the events drained."""
    made = create(api)
    at = datetime(2026, 1, 2, tzinfo=UTC)
    health = EndpointHealth(failing_since=at, disabled_at=at, disabled_for=reason)
    healths = DynamoEndpointHealths(wiring.services().table)
    assert healths.replace(account, made["id"], EndpointHealth(), health)
    shown = call(api, "GET", f"/{made['id']}").json
    moment = "2026-01-02T00:00:00.000+00:00"
    assert (shown["enabled"], shown["failingSince"]) == (False, moment)
    assert (shown["disabledAt"], shown["disabledReason"]) == (moment, reason)
    other = call(api, "PATCH", f"/{made['id']}", {"types": ["email.sent"]}).json
    assert (other["enabled"], other["disabledReason"]) == (False, reason)
    enabled = call(api, "PATCH", f"/{made['id']}", {"enabled": True}).json
    assert enabled["enabled"] is True
    assert [enabled[name] for name in ("failingSince", "disabledAt", "disabledReason")] == [
        None
    ] * 3
    assert EndpointDrain(account, made["id"]) in service.webhook_tasks()
    assert call(api, "GET", f"/{made['id']}").json == enabled


def test_a_secret_is_rotated(api: Api) -> None:
    made = create(api)
    rotated = call(api, "POST", f"/{made['id']}/rotate")
    assert rotated.status == 200
    assert rotated.json["secret"] != made["secret"]
    assert rotated.json | {"secret": ""} == made | {"secret": ""}


def test_a_test_is_queued(service: Service, api: Api) -> None:
    """202 has the ids by which deliveries and receiver show the event."""
    made = create(api, types=["email.sent"])
    tested = call(api, "POST", f"/{made['id']}/test")
    assert tested.status == 202
    (event,) = queued(service, made["id"])
    assert tested.json == {
        "id": event.delivery_id,
        "eventId": str(event.event_id),
        "type": "webhook.test",
    }


def test_deliveries_are_listed_and_replayed(service: Service, account: str, api: Api) -> None:
    """Pages have the newest deliveries first; a replay queues the same event again."""
    made = create(api)
    start = wiring.utc_now()
    ids = []
    for second in range(3):
        with service.at(start + timedelta(seconds=second)):
            ids.append(service.delivery(account, made["id"]))
    deliveries = f"/{made['id']}/deliveries"
    first = call(api, "GET", deliveries, limit="2").json
    second_page = call(api, "GET", deliveries, limit="2", cursor=first["nextCursor"]).json
    assert [item["id"] for item in (*first["items"], *second_page["items"])] == ids[::-1]
    newest = first["items"][0]
    (attempt,) = newest["attempts"]
    assert attempt == {"at": newest["at"], "statusCode": 204, "milliseconds": 7, "error": None}
    assert (newest["status"], newest["nextAttemptAt"], newest["messageId"]) == (
        "delivered",
        None,
        None,
    )
    replayed = call(api, "POST", f"{deliveries}/{newest['id']}/replay")
    assert replayed.status == 202
    assert replayed.json == {name: newest[name] for name in ("id", "eventId", "type")}
    (event,) = queued(service, made["id"])
    assert str(event.event_id) == newest["eventId"]
    assert event.replayed_at is not None
    for unknown in ("x", f"1767268802317-{uuid4()}"):
        refused = call(api, "POST", f"{deliveries}/{unknown}/replay")
        assert (refused.status, refused.code) == (404, "delivery_not_found")
    assert call(api, "GET", deliveries, cursor="!").errors == {"cursor": "invalid_cursor"}


def test_a_time_range_is_replayed_once_a_minute(service: Service, api: Api) -> None:
    """The events of the emails are queued; a second request within a minute is 429."""
    made = create(api, types=["email.accepted"])
    now = wiring.utc_now()
    sent = api.send(otp()).json["messageId"]
    body = {"from": (now - timedelta(hours=1)).isoformat()}
    replayed = call(api, "POST", f"/{made['id']}/replay", body)
    assert (replayed.status, replayed.json) == (202, {"queued": 1, "nextTo": None})
    (event,) = queued(service, made["id"])
    assert (event.type, str(event.message_id)) == ("email.accepted", sent)
    refused = call(api, "POST", f"/{made['id']}/replay", body)
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    assert refused.headers["ratelimit-reset"] == "60"
    assert queued(service, made["id"]) == []


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"from": "yesterday"}, {"from": "invalid_timestamp"}),
        ({"from": "2026-01-02", "to": "2026-01-01"}, {"to": "not_after_from"}),
        ({"from": "2026-01-01", "types": ["suppression.added"]}, {"types": "not_allowed"}),
        ({"from": "2026-01-01", "types": ["email.received"]}, {"types": "not_allowed"}),
        (
            {"from": "2026-01-01", "types": ["email.sent", "account.paused"]},
            {"types": "not_allowed"},
        ),
        ({"from": "2026-01-01", "types": ["email.opened"]}, {"types": "unknown_type"}),
    ],
)
def test_a_wrong_range_is_refused(api: Api, body: Any, errors: dict[str, str]) -> None:
    """422 names each field, and the request does not begin the pause of a minute."""
    made = create(api)
    response = call(api, "POST", f"/{made['id']}/replay", body)
    assert (response.status, response.errors) == (422, errors)
    assert call(api, "POST", f"/{made['id']}/replay", {"from": "2026-01-01"}).status == 202


def test_an_endpoint_has_a_format(api: Api) -> None:
    """It is ours unless a request chooses Resend's, and may change; no other is accepted."""
    assert create(api)["format"] == "pillarbox"
    made = create(api, format="resend")
    assert call(api, "GET", f"/{made['id']}").json["format"] == "resend"
    kept = call(api, "PATCH", f"/{made['id']}", {"types": ["email.sent"]}).json
    assert kept["format"] == "resend"
    changed = call(api, "PATCH", f"/{made['id']}", {"format": "pillarbox"}).json
    assert changed["format"] == "pillarbox"
    wrong = call(api, "POST", body={"url": URL, "types": ["*"], "format": "svix"})
    assert (wrong.status, [*wrong.errors]) == (422, ["format"])
