"""GET /v1/emails and GET /v1/emails/analytics, by their handlers on emulated AWS."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import boto3
import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.ids import new_id
from pillarbox.domain.key import Preset
from pillarbox.domain.message import Event, EventKind, Message
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.service import Service
from tests.fakes.builders import message

JUNE = datetime(2026, 6, 10, 12, 0, tzinfo=UTC)
WINDOW = {"from": "2026-06-10T12:00:00Z", "to": "2026-06-10T14:00:00Z"}


@pytest.fixture
def account(service: Service) -> str:
    return service.account()


@pytest.fixture
def api(service: Service, account: str) -> Api:
    return Api(service.key(account))


def listed(api: Api, **query: str) -> Any:
    answer = api.raw("GET", "/emails", query=query)
    assert answer.status == 200, answer.text
    return answer.json


def ids(page: Any) -> list[str]:
    return [item["messageId"] for item in page["items"]]


def put(account: str, at: datetime, *happened: tuple[EventKind, float]) -> Message:
    """A message of the past, with what happened to it so many seconds later."""
    events = [
        Event(kind=kind, at=at + timedelta(seconds=after), code="mailbox_full", reason="Full.")
        for kind, after in happened
    ]
    made = message(account, new_id(at), revision=len(events)).with_events(events)
    wiring.table().put(message_item(made))
    return made


def stream(account: str) -> list[dict[str, Any]]:
    """Records of the table's stream that have the account's items as they are now."""
    items = boto3.client("dynamodb").scan(TableName="pillarbox")["Items"]
    return [
        {"eventName": "INSERT", "dynamodb": {"NewImage": item, "SequenceNumber": str(number)}}
        for number, item in enumerate(items)
        if item.get("account") == {"S": account} or item["pk"]["S"].startswith("STAT#")
    ]


def aggregate(account: str) -> Mapping[str, Any]:
    return handler("aggregate_stats")({"Records": stream(account)}, Invocation())


def faults(answer: ApiResponse) -> dict[str, str]:
    assert (answer.status, answer.code) == (422, "validation_failed")
    return answer.faults


def test_a_client_sees_its_own_sends_at_once(service: Service, api: Api) -> None:
    """4.3: what was accepted is listed, newest first, with the fields of 2.5."""
    sent = [api.send(otp()).json["messageId"] for _ in range(3)]
    page = listed(api)
    assert (page["total"], page["skip"], page["limit"]) == (3, 0, 50)
    assert sorted(ids(page)) == sorted(sent)
    item = page["items"][0]
    assert set(item) == {
        "messageId",
        "recipientEmail",
        "subject",
        "status",
        "createdAt",
        "updatedAt",
        "errorMessage",
    }
    assert UUID(item["messageId"])
    assert item["status"] == "pending"
    assert item["errorMessage"] is None
    assert item["createdAt"].endswith("+00:00")
    service.deliver()
    assert listed(api, status="sent")["total"] == 3
    assert listed(api, status="pending")["items"] == []


def test_filters_orders_and_places_are_those_asked_for(account: str, api: Api) -> None:
    """4.3: from is inclusive, to is not; status, sortBy, skip, limit; with and without tallies."""
    first = put(account, JUNE, (EventKind.SENT, 1), (EventKind.BOUNCED, 9000))
    second = put(account, JUNE + timedelta(minutes=30), (EventKind.SENT, 1))
    third = put(account, JUNE + timedelta(hours=2), (EventKind.SENT, 1), (EventKind.DELIVERED, 2))
    a, b, c = (str(each.message_id) for each in (first, second, third))
    for _ in range(2):
        assert ids(listed(api)) == [c, b, a]
        assert ids(listed(api, sortBy="updated_at")) == [a, c, b]
        assert ids(listed(api, sortBy="status")) == [b, c, a]
        assert ids(listed(api, **WINDOW)) == [b, a]
        assert ids(listed(api, to="2026-06-10T14:00:00.001Z")) == [c, b, a]
        assert ids(listed(api, **{"from": "2026-06-10T15:30:00.001+03:00"})) == [c]
        assert ids(listed(api, status="bounced")) == [a]
        page = listed(api, skip="1", limit="1")
        assert (ids(page), page["total"], page["skip"], page["limit"]) == ([b], 3, 1, 1)
        assert listed(api, skip="3")["items"] == []
        assert listed(api, status="bounced")["items"][0]["errorMessage"] == "Full."
        assert aggregate(account) == {"batchItemFailures": []}


def test_analytics_count_what_was_created_in_the_window(account: str, api: Api) -> None:
    """4.5 and 2.8: a row for each bucket, those that ever reached a status, rates, errors."""
    put(account, JUNE, (EventKind.SENT, 1), (EventKind.DELIVERED, 2), (EventKind.COMPLAINED, 9000))
    put(account, JUNE, (EventKind.SENT, 1), (EventKind.BOUNCED, 3))
    put(account, JUNE + timedelta(hours=1), (EventKind.FAILED, 1))
    put(account, JUNE + timedelta(hours=2))
    for _ in range(2):
        answer = api.raw("GET", "/emails/analytics", query=WINDOW | {"bucket": "hour"})
        assert answer.json == {
            "totalMessages": 3,
            "deliveryRate": 0.3333,
            "bounceRate": 0.3333,
            "complaintRate": 0.3333,
            "windowStart": "2026-06-10T12:00:00.000+00:00",
            "windowEnd": "2026-06-10T14:00:00.000+00:00",
            "bucket": "hour",
            "volume": [
                {
                    "timestamp": "2026-06-10T12:00:00.000+00:00",
                    "count": 2,
                    "sent": 2,
                    "delivered": 1,
                    "bounced": 1,
                    "complained": 1,
                    "failed": 0,
                },
                {
                    "timestamp": "2026-06-10T13:00:00.000+00:00",
                    "count": 1,
                    "sent": 0,
                    "delivered": 0,
                    "bounced": 0,
                    "complained": 0,
                    "failed": 1,
                },
            ],
            "topErrors": [{"code": "mailbox_full", "message": "Mailbox full.", "count": 3}],
        }
        assert aggregate(account) == {"batchItemFailures": []}


def test_an_empty_window_has_its_rows_and_no_rates(api: Api) -> None:
    """2.8: a row for every bucket, day being the default; 0 where there is nothing to divide."""
    window = {"from": "2026-02-27", "to": "2026-03-02T00:00:01"}
    answer = api.raw("GET", "/emails/analytics", query=window).json
    assert [row["timestamp"][:10] for row in answer["volume"]] == [
        "2026-02-27",
        "2026-02-28",
        "2026-03-01",
        "2026-03-02",
    ]
    assert (answer["bucket"], answer["totalMessages"], answer["deliveryRate"]) == ("day", 0, 0)
    assert answer["topErrors"] == []


def test_accounts_see_their_own_alone(service: Service, account: str) -> None:
    """4.3, 4.5: another account's messages are neither listed nor counted."""
    put(account, JUNE)
    other = Api(service.key(service.account()))
    assert listed(other) == {"items": [], "total": 0, "skip": 0, "limit": 50}
    assert other.raw("GET", "/emails/analytics", query=WINDOW).json["totalMessages"] == 0


@pytest.mark.parametrize(
    ("query", "faulty"),
    [
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"limit": "101"}, {"limit": "out_of_range"}),
        ({"limit": "ten"}, {"limit": "wrong_type"}),
        ({"limit": ""}, {"limit": "wrong_type"}),
        ({"limit": "1e1"}, {"limit": "wrong_type"}),
        ({"skip": "-1"}, {"skip": "out_of_range"}),
        ({"skip": "9" * 40}, {"skip": "out_of_range"}),
        ({"sortBy": "x"}, {"sortBy": "invalid_choice"}),
        ({"sortBy": ""}, {"sortBy": "invalid_choice"}),
        ({"status": "queued"}, {"status": "invalid_choice"}),
        ({"status": "Sent"}, {"status": "invalid_choice"}),
        ({"from": "yesterday"}, {"from": "invalid_timestamp"}),
        ({"from": "2026-02-30"}, {"from": "invalid_timestamp"}),
        ({"from": "2026-01-01T00:00:00 00:00"}, {"from": "invalid_timestamp"}),
        ({"from": "0001-01-01T00:00:00+14:00"}, {"from": "invalid_timestamp"}),
        ({"to": "1767225600"}, {"to": "invalid_timestamp"}),
        ({"from": "2026-01-02", "to": "2026-01-02"}, {"to": "not_after_from"}),
        ({"from": "2026-01-02", "to": "2026-01-01"}, {"to": "not_after_from"}),
        ({"sortby": "status"}, {"sortby": "unknown_field"}),
        ({"limit": ["1", "2"]}, {"limit": "repeated"}),
        ({"limit": "0", "skip": "-1"}, {"limit": "out_of_range", "skip": "out_of_range"}),
    ],
)
def test_a_list_with_a_bad_parameter_is_422(
    api: Api, query: dict[str, str | list[str]], faulty: dict[str, str]
) -> None:
    """Attack 71: limit=0/101, skip=-1, sortBy=x, to before from, and whatever else is no value."""
    assert faults(api.raw("GET", "/emails", query=query)) == faulty


@pytest.mark.parametrize(
    ("query", "faulty"),
    [
        ({}, {"from": "required", "to": "required"}),
        ({"from": "2026-01-01"}, {"to": "required"}),
        ({"to": "2026-01-01"}, {"from": "required"}),
        ({"from": "2026-01-01", "to": "2026-01-01"}, {"to": "not_after_from"}),
        (WINDOW | {"bucket": "month"}, {"bucket": "invalid_choice"}),
        (WINDOW | {"bucket": "Hour"}, {"bucket": "invalid_choice"}),
        (WINDOW | {"skip": "0"}, {"skip": "unknown_field"}),
        (
            {"from": "2026-01-01", "to": "2026-02-01T00:00:00.001Z", "bucket": "hour"},
            {"to": "window_too_long"},
        ),
        ({"from": "2026-01-01", "to": "2027-02-05T00:00:01Z"}, {"to": "window_too_long"}),
    ],
)
def test_analytics_with_a_bad_parameter_are_422(
    api: Api, query: dict[str, str], faulty: dict[str, str]
) -> None:
    """4.5: from and to are required, to is after from; windows have bounds."""
    assert faults(api.raw("GET", "/emails/analytics", query=query)) == faulty


def test_the_longest_windows_are_answered(api: Api) -> None:
    """Decisions: 31 days by hour and 400 days by day are allowed; so are the ends of time."""
    for window, rows in (
        ({"from": "2026-01-01", "to": "2026-02-01", "bucket": "hour"}, 744),
        ({"from": "2026-01-01", "to": "2027-02-05"}, 400),
        ({"from": "0001-01-01", "to": "0001-01-03"}, 2),
        ({"from": "9999-12-30", "to": "9999-12-31T23:59:59.999999Z"}, 2),
    ):
        answer = api.raw("GET", "/emails/analytics", query=window)
        assert len(answer.json["volume"]) == rows
    assert listed(api, **{"from": "0001-01-01", "to": "9999-12-31T23:59:59Z"})["total"] == 0


def test_reading_needs_its_permission(service: Service, account: str) -> None:
    """5: emails:read lists and counts; the permission is told before a bad parameter."""
    barred = Api(service.key(account, Preset.CUSTOM, scopes=frozenset({"emails:send"})))
    for path in ("/emails", "/emails/analytics"):
        answer = barred.raw("GET", path, query={"limit": "0"})
        assert (answer.status, answer.code) == (403, "scope_required")
        assert answer.error["details"] == {"required_permission": "emails:read"}
        assert Api().raw("GET", path).code == "missing_api_key"
    reading = Api(service.key(account, Preset.ANALYTICS))
    assert listed(reading)["total"] == 0
    preview = service.preview()
    preview.send(otp())
    assert listed(preview)["total"] == 1


def test_a_change_that_cannot_be_taken_comes_again_from_there(account: str) -> None:
    """The stream's function names the record from which the stream is to go on."""
    put(account, JUNE)
    broken = {"dynamodb": {"NewImage": {"pk": {"S": "MSG#x"}}, "SequenceNumber": "broken"}}
    answer = handler("aggregate_stats")({"Records": [broken, *stream(account)]}, Invocation())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "broken"}]}
