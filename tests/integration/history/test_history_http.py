"""GET /v1/emails and GET /v1/emails/analytics: their handlers on emulated AWS."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import boto3
import pytest

from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.rebuild_marks import DynamoRebuildMarks
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind, Message, Status
from pillarbox.domain.timing import milliseconds
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.service import Service
from tests.contract.test_backend_down import no_answer
from tests.fakes.builders import message

JUNE = datetime(2026, 6, 10, 12, 0, tzinfo=UTC)
KEY_ID = "key_0123456789ababcdefgh"
WINDOW = {"from": "2026-06-10T12:00:00Z", "to": "2026-06-10T14:00:00Z"}


def listed(api: Api, **query: str) -> Any:
    response = api.raw("GET", "/emails", query=query)
    assert response.status == 200, response.text
    return response.json


def ids(page: Any) -> list[str]:
    return [item["messageId"] for item in page["items"]]


def put(account: str, at: datetime, *kinds: tuple[EventKind, float]) -> Message:
    """Put a message with events, each some seconds after its acceptance."""
    events = [
        Event(kind=kind, at=at + timedelta(seconds=after), code="mailbox_full", reason="Full.")
        for kind, after in kinds
    ]
    stored = message(account, new_id(at), revision=len(events)).with_events(events)
    services().table.put(message_item(stored))
    return stored


def stream(account: str) -> list[dict[str, Any]]:
    """Return stream records with the current images of the account's items."""
    items = boto3.client("dynamodb").scan(TableName="pillarbox")["Items"]
    return [
        {"eventName": "INSERT", "dynamodb": {"NewImage": item, "SequenceNumber": str(number)}}
        for number, item in enumerate(items)
        if item.get("account") == {"S": account} or item["pk"]["S"].startswith("STAT#")
    ]


def aggregate(account: str) -> Mapping[str, Any]:
    return handler("aggregate_stats")({"Records": stream(account)}, Invocation())


def errors(response: ApiResponse) -> dict[str, str]:
    assert (response.status, response.code) == (422, "validation_failed")
    return response.errors


def test_an_accepted_email_is_listed_at_once(service: Service, api: Api) -> None:
    """4.3: accepted emails are listed at once, newest first, with the fields of 2.5."""
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
        "tags",
        "scheduledAt",
        "held",
        "awaitsOwner",
        "resendOf",
        "keyId",
        "starterTemplate",
        "templateId",
    }
    assert (item["starterTemplate"], item["templateId"]) == ("otp", None)
    assert listed(api, keyId=item["keyId"])["total"] == 3
    assert UUID(item["messageId"])
    assert item["status"] == "pending"
    assert item["errorMessage"] is None
    assert item["createdAt"].endswith("+00:00")
    service.deliver()
    assert listed(api, status="sent")["total"] == 3
    assert listed(api, status="pending")["items"] == []


def test_filters_orders_and_pages_follow_the_query(account: str, api: Api) -> None:
    """4.3: from, to (exclusive), status, sortBy, skip and limit work with and without rollups."""
    first = put(account, JUNE, (EventKind.SENT, 1), (EventKind.BOUNCED, 9000))
    second = put(account, JUNE + timedelta(minutes=30), (EventKind.SENT, 1))
    third = put(account, JUNE + timedelta(hours=2), (EventKind.SENT, 1), (EventKind.DELIVERED, 2))
    a, b, c = (str(stored.message_id) for stored in (first, second, third))
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


def test_messages_are_found_by_recipient_and_tag(service: Service, api: Api, account: str) -> None:
    first = api.send(otp(to="Ann+news@customer.example", tags={"order": "10:442"}))
    bodies = (otp(to="bob@customer.example", bcc=["ANN+news@customer.example"]), otp())
    second, third = (api.send(body).json["messageId"] for body in bodies)
    found = first.json["messageId"]
    for _ in range(2):
        assert ids(listed(api, recipient="ann+news@Customer.example")) == [second, found]
        assert ids(listed(api, recipient="ANN+*")) == [second, found]
        assert ids(listed(api, recipient="ann@customer.example")) == []
        assert ids(listed(api, tag="order:10:442")) == [found]
        assert ids(listed(api, tag="order:10")) == []
        both = {"recipient": "ann*", "tag": "order:10:442", "status": "pending"}
        page = listed(api, **both)
        assert (ids(page), page["total"]) == ([found], 1)
        page = listed(api, recipient="ann*", skip="1", limit="1", sortBy="updated_at")
        assert (ids(page), page["total"]) == ([found], 2)
        assert listed(api, recipient="ann*", **{"from": "2100-01-01"})["total"] == 0
        assert third in ids(listed(api))
        assert aggregate(account) == {"batchItemFailures": []}
    stranger = Api(service.key(service.account()))
    for query in ({"recipient": "ann*"}, {"tag": "order:10:442"}):
        assert listed(stranger, **query)["items"] == []


def test_a_list_of_a_key_or_a_template_has_its_messages(
    service: Service, account: str, api: Api
) -> None:
    """`key` and `template` are ours: both choose messages at once and after the stream has them.

    A template's id is the same in both cases. An id of another account finds nothing.
    """
    template = service.template(account, "<p>Hello</p>")
    other = Api(service.key(account))
    code, from_template, of_other = (
        sender.send(body).json["messageId"]
        for sender, body in (
            (api, otp(tags={"order": "1"})),
            (api, {"to": "ann@example.com", "templateId": template}),
            (other, otp()),
        )
    )
    key, other_key = (api.raw("GET", f"/emails/{one}").json["keyId"] for one in (code, of_other))
    foreign = Api(service.key(service.account()))
    foreign_id = foreign.send(otp()).json["messageId"]
    foreign_key = foreign.raw("GET", f"/emails/{foreign_id}").json["keyId"]
    expected: list[tuple[dict[str, str], list[str]]] = [
        ({"keyId": key}, [from_template, code]),
        ({"keyId": other_key}, [of_other]),
        ({"template": "otp", "sortBy": "updated_at"}, [of_other, code]),
        ({"template": template.upper(), "sortBy": "status"}, [from_template]),
        ({"template": "otp", "keyId": key, "status": "pending"}, [code]),
        ({"template": "otp", "keyId": key, "status": "sent"}, []),
        ({"template": "otp", "tag": "order:1"}, [code]),
        ({"keyId": other_key, "tag": "order:1"}, []),
        ({"keyId": key, "to": "2020-01-01"}, []),
        ({"keyId": foreign_key}, []),
        ({"template": "receipt"}, []),
    ]
    for _ in range(2):
        for query, found in expected:
            page = listed(api, **query)
            assert (ids(page), page["total"]) == (found, len(found)), query
        assert aggregate(account) == {"batchItemFailures": []}
    page = listed(api, keyId=key, skip="1", limit="1")
    assert (ids(page), page["total"]) == ([code], 2)


def test_analytics_count_the_messages_created_in_the_window(account: str, api: Api) -> None:
    """4.5 and 2.8: analytics have a row for each bucket, counts by status, rates and errors."""
    put(account, JUNE, (EventKind.SENT, 1), (EventKind.DELIVERED, 2), (EventKind.COMPLAINED, 9000))
    put(account, JUNE, (EventKind.SENT, 1), (EventKind.BOUNCED, 3))
    put(account, JUNE + timedelta(hours=1), (EventKind.FAILED, 1))
    put(account, JUNE + timedelta(hours=2))
    for _ in range(2):
        response = api.raw("GET", "/emails/analytics", query=WINDOW | {"bucket": "hour"})
        assert response.json == {
            "totalMessages": 3,
            "deliveryRate": 0.5,
            "bounceRate": 0.5,
            "complaintRate": 0.5,
            "windowStart": "2026-06-10T12:00:00.000+00:00",
            "windowEnd": "2026-06-10T14:00:00.000+00:00",
            "bucket": "hour",
            "statuses": _statuses(bounced=1, complained=1, failed=1),
            "volume": [
                _hour("12", 2, _statuses(bounced=1, complained=1), [2, 1, 1, 1, 0]),
                _hour("13", 1, _statuses(failed=1), [0, 0, 0, 0, 1]),
            ],
            "secondsToSent": {"p50": 1.131, "p95": 1.131},
            "topErrors": [{"code": "mailbox_full", "message": "The mailbox is full.", "count": 3}],
        }
        assert listed(api, error="mailbox_full")["total"] == 3
        assert aggregate(account) == {"batchItemFailures": []}


def _hour(hour: str, count: int, statuses: dict[str, int], reached: list[int]) -> dict[str, Any]:
    """Return the row of an hour; `reached` has how many were sent, delivered and so on."""
    row = {"timestamp": f"2026-06-10T{hour}:00:00.000+00:00", "count": count, "statuses": statuses}
    names = ("sent", "delivered", "bounced", "complained", "failed")
    return row | dict(zip(names, reached, strict=True))


def _statuses(**counts: int) -> dict[str, int]:
    return {status.value: 0 for status in Status} | counts


def test_each_count_by_status_is_the_total_of_its_list(account: str, api: Api) -> None:
    """An out-of-office reply is a transient bounce of a delivered message, and no bounce here."""
    for delivered in range(3):
        put(account, JUNE, (EventKind.BOUNCED_TRANSIENT, 2), (EventKind.DELIVERED, delivered))
    put(account, JUNE, (EventKind.BOUNCED_TRANSIENT, 2))
    put(account, JUNE, (EventKind.BOUNCED_TRANSIENT, 2), (EventKind.BOUNCED, 3))
    put(account, JUNE, (EventKind.UNCERTAIN, 2), (EventKind.SENT, 3))
    put(account, JUNE)
    for _ in range(2):
        figures = api.raw("GET", "/emails/analytics", query=WINDOW).json
        totals = {status.value: listed(api, status=status, **WINDOW)["total"] for status in Status}
        assert figures["statuses"] == totals
        assert totals == _statuses(pending=1, sent=1, delivered=3, bounced=2)
        assert (figures["bounceRate"], figures["volume"][0]["bounced"]) == (round(1 / 6, 4), 1)
        assert aggregate(account) == {"batchItemFailures": []}


def test_an_empty_window_has_rows_and_zero_rates(api: Api) -> None:
    """2.8: every bucket has a row, the default bucket is day, and rates of nothing are 0."""
    window = {"from": "2026-02-27", "to": "2026-03-02T00:00:01"}
    analytics = api.raw("GET", "/emails/analytics", query=window).json
    assert [row["timestamp"][:10] for row in analytics["volume"]] == [
        "2026-02-27",
        "2026-02-28",
        "2026-03-01",
        "2026-03-02",
    ]
    assert (analytics["bucket"], analytics["totalMessages"], analytics["deliveryRate"]) == (
        "day",
        0,
        0,
    )
    assert analytics["topErrors"] == []
    assert analytics["secondsToSent"] == {"p50": None, "p95": None}


def test_analytics_of_a_key_and_of_a_template_count_their_messages(
    service: Service, account: str, api: Api
) -> None:
    """`key` and `template` choose messages by where they came from, before and after the stream."""
    now = datetime.now(UTC)
    window = {"from": str(now.date()), "to": str((now + timedelta(days=2)).date())}
    template = service.template(account, "<p>Hello</p>")
    other = Api(service.key(account))
    sent = [
        api.send(otp()).json["messageId"],
        api.send({"to": "ann@example.com", "templateId": template}).json["messageId"],
        other.send(otp()).json["messageId"],
    ]
    key_ids = [api.raw("GET", f"/emails/{one}").json["keyId"] for one in sent]
    assert key_ids[0] == key_ids[1] != key_ids[2]
    expected = {
        ("keyId", key_ids[0]): 2,
        ("keyId", key_ids[2]): 1,
        ("template", "otp"): 2,
        ("template", template): 1,
        ("template", template.upper()): 1,
        ("template", "receipt"): 0,
    }
    for _ in range(2):
        for (name, value), count in expected.items():
            figures = api.raw("GET", "/emails/analytics", query=window | {name: value})
            assert figures.json["totalMessages"] == count, (name, value)
        assert aggregate(account) == {"batchItemFailures": []}


def test_a_foreign_key_or_template_and_an_unknown_one_have_no_messages(
    service: Service, api: Api
) -> None:
    """The answer does not tell whether an id exists in another account."""
    now = datetime.now(UTC)
    window = {"from": str(now.date()), "to": str((now + timedelta(days=2)).date())}
    stranger = service.account()
    foreign = Api(service.key(stranger))
    message_id = foreign.send(otp()).json["messageId"]
    foreign_key = foreign.raw("GET", f"/emails/{message_id}").json["keyId"]
    foreign_template = service.template(stranger, "<p>Hello</p>")
    for name, of_stranger, unknown in (
        ("keyId", foreign_key, f"{foreign_key[:-1]}{'b' if foreign_key[-1] == 'a' else 'a'}"),
        ("template", foreign_template, str(new_id(JUNE))),
    ):
        responses = [
            api.raw("GET", "/emails/analytics", query=window | {name: value})
            for value in (of_stranger, unknown)
        ]
        assert [response.status for response in responses] == [200, 200]
        assert responses[0].json == responses[1].json
        assert responses[0].json["totalMessages"] == 0


def test_an_account_sees_only_its_own_messages(service: Service, account: str) -> None:
    """4.3, 4.5: another account's messages are neither listed nor counted."""
    put(account, JUNE)
    other = Api(service.key(service.account()))
    assert listed(other) == {"items": [], "total": 0, "skip": 0, "limit": 50}
    assert other.raw("GET", "/emails/analytics", query=WINDOW).json["totalMessages"] == 0


@pytest.mark.parametrize(
    ("query", "expected"),
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
        ({"recipient": "ann"}, {"recipient": "invalid_address"}),
        ({"recipient": "*"}, {"recipient": "invalid_address"}),
        ({"recipient": "ann@shop.example#*"}, {"recipient": "invalid_address"}),
        ({"recipient": "ann@ex\u00e4mple*"}, {"recipient": "invalid_address"}),
        ({"recipient": "a" * 255 + "*"}, {"recipient": "invalid_address"}),
        ({"recipient": ["a@b.example", "c@d.example"]}, {"recipient": "repeated"}),
        ({"tag": "order"}, {"tag": "invalid_tag"}),
        ({"tag": ":1"}, {"tag": "invalid_tag"}),
        ({"tag": "or der:1"}, {"tag": "invalid_tag"}),
        ({"tag": "order:" + "x" * 65}, {"tag": "invalid_tag"}),
        ({"keyId": "bx_live_0123"}, {"keyId": "invalid_key_id"}),
        ({"keyId": [KEY_ID, KEY_ID]}, {"keyId": "repeated"}),
        ({"template": "otp#x"}, {"template": "invalid_template"}),
        ({"error": ""}, {"error": "too_short"}),
        ({"error": "mailbox_full", "status": "bounced"}, {"error": "not_with_status"}),
        ({"error": "mailbox_full", "sortBy": "updated_at"}, {"error": "not_with_order"}),
        ({"limit": ["1", "2"]}, {"limit": "repeated"}),
        ({"limit": "0", "skip": "-1"}, {"limit": "out_of_range", "skip": "out_of_range"}),
    ],
)
def test_a_list_with_a_bad_parameter_is_422(
    api: Api, query: dict[str, str | list[str]], expected: dict[str, str]
) -> None:
    """4.3: a parameter that is unknown, repeated, malformed or out of range is a 422."""
    assert errors(api.raw("GET", "/emails", query=query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
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
        (WINDOW | {"keyId": ""}, {"keyId": "invalid_key_id"}),
        (WINDOW | {"keyId": "bx_live_0123"}, {"keyId": "invalid_key_id"}),
        (WINDOW | {"keyId": "key_0123456789abABCDEFGH"}, {"keyId": "invalid_key_id"}),
        (WINDOW | {"template": ""}, {"template": "invalid_template"}),
        (WINDOW | {"template": "otp#x"}, {"template": "invalid_template"}),
        (WINDOW | {"template": "otp", "keyId": KEY_ID}, {"template": "not_with_key"}),
        (WINDOW | {"template": ["otp", "receipt"]}, {"template": "repeated"}),
    ],
)
def test_analytics_with_a_bad_parameter_are_422(
    api: Api, query: dict[str, str], expected: dict[str, str]
) -> None:
    """4.5: from and to are required, to is after from, and windows have a longest length."""
    assert errors(api.raw("GET", "/emails/analytics", query=query)) == expected


def test_the_longest_windows_are_allowed(api: Api) -> None:
    """31 days by hour, 400 days by day and the first and last days of the calendar are allowed."""
    for window, rows in (
        ({"from": "2026-01-01", "to": "2026-02-01", "bucket": "hour"}, 744),
        ({"from": "2026-01-01", "to": "2027-02-05"}, 400),
        ({"from": "0001-01-01", "to": "0001-01-03"}, 2),
        ({"from": "9999-12-30", "to": "9999-12-31T23:59:59.999999Z"}, 2),
    ):
        response = api.raw("GET", "/emails/analytics", query=window)
        assert len(response.json["volume"]) == rows
    assert listed(api, **{"from": "0001-01-01", "to": "9999-12-31T23:59:59Z"})["total"] == 0


def test_reading_requires_its_scope(service: Service, account: str) -> None:
    """5: listing and counting need emails:read, which is checked before the parameters."""
    without_scope = Api(service.key(account, Preset.CUSTOM, scopes=frozenset({"emails:send"})))
    for path in ("/emails", "/emails/analytics"):
        response = without_scope.raw("GET", path, query={"limit": "0"})
        assert (response.status, response.code) == (403, "scope_required")
        assert response.error["details"] == {"required_permission": "emails:read"}
        assert Api().raw("GET", path).code == "missing_api_key"
    with_scope = Api(service.key(account, Preset.ANALYTICS))
    assert listed(with_scope)["total"] == 0
    preview = service.preview()
    preview.send(otp())
    assert listed(preview)["total"] == 1


def test_an_unreadable_change_is_marked_and_stops_nothing(account: str) -> None:
    stored = put(account, JUNE)
    image = message_item(message("acct00000002", stored.message_id)) | {"rev": {"S": "x"}}
    for broken in ({"pk": {"S": "MSG#x"}}, image):
        record = {"dynamodb": {"NewImage": broken, "SequenceNumber": "broken"}}
        records = [record, *stream(account)]
        assert handler("aggregate_stats")({"Records": records}, Invocation()) == {
            "batchItemFailures": []
        }
    (mark,) = DynamoRebuildMarks(services().table).all()
    assert (mark.account_id, mark.hour) == ("acct00000002", milliseconds(JUNE))
    assert DynamoLedger(services().table).newest_entry_time(account) == milliseconds(JUNE)


def test_a_batch_that_must_be_retried_fails(account: str, api: Api) -> None:
    """A temporary failure ends the invocation, as some engines ignore a partial response."""
    put(account, JUNE)
    records = stream(account)
    events, name = services().table.client.meta.events, "before-call.dynamodb.PutItem"
    events.register(name, no_answer)
    with pytest.raises(Exception, match="must be retried"):
        handler("aggregate_stats")({"Records": records}, Invocation())
    events.unregister(name, no_answer)
    handler("aggregate_stats")({"Records": records}, Invocation())
    assert listed(api)["total"] == 1
    assert DynamoLedger(services().table).newest_entry_time(account) == milliseconds(JUNE)
