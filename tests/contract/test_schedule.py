"""Scheduled and held emails: send, batch, and the routes below /v1/emails/{message_id}."""

from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any
from unittest import mock

import boto3
import pytest

from local import template
from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.accounts.key import SCOPES, AgentSettings, Preset
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api, Invocation, handler
from tests.contract.operations import in_an_hour
from tests.contract.service import Service

LONG_HIDDEN = 60
MAX_DELAY = 900

MINUTE = timedelta(minutes=1)


@pytest.fixture
def api(account: str) -> Api:
    """A client whose key is in the list of its account, as each real key is."""
    issued = wiring.services().api_keys.issue_live(account, "web", Preset.CUSTOM, SCOPES)
    return Api(issued.text)


def later(service: Service, minutes: int) -> list[dict[str, Any]]:
    """Run the timer some minutes from now, and return the jobs that it queued.

    An earlier run moved the timer ahead of the real time, so it is set back.
    """
    wiring.services().table.put(keys.timer_note("WAKE"))
    with service.at(wiring.utc_now() + minutes * MINUTE):
        handler("enqueue_due")({}, Invocation())
    return service.jobs()


def change(api: Api, message_id: str, action: str, **body: Any) -> Any:
    if action == "reschedule":
        return api.raw("PATCH", f"/emails/{message_id}", body)
    return api.raw("POST", f"/emails/{message_id}/{action}")


def delivered(service: Service, minutes: int) -> list[str]:
    """Return the subjects of the emails that SES gets in some minutes."""
    before = len(service.ses.mails)
    jobs = later(service, minutes)
    with service.at(wiring.utc_now() + minutes * MINUTE):
        for job in jobs:
            service.consume("deliver_message", job["body"])
    lines = [line for mail in service.ses.mails[before:] for line in mail["raw"].splitlines()]
    return [line[9:].decode() for line in lines if line.startswith(b"Subject: ")]


@pytest.mark.parametrize("size", [10, 20_000])
def test_a_scheduled_email_is_shown_and_sent_when_it_is_due(
    service: Service, api: Api, size: int
) -> None:
    """Its content waits in the table or in the bucket, and is gone afterwards."""
    at = in_an_hour()
    sent = api.send(raw_html(subject="later", html="x" * size, scheduledAt=at))
    shown = sent.json["scheduledAt"]
    assert (sent.json["status"], shown[:19]) == ("queued", at[:19])
    detail = api.get(sent.json["messageId"]).json
    assert (detail["status"], detail["scheduledAt"], detail["held"]) == ("pending", shown, False)
    listed = api.raw("GET", "/emails").json["items"][0]
    assert (listed["scheduledAt"], listed["held"]) == (shown, False)
    assert delivered(service, 30) == []
    assert delivered(service, 61) == ["later"]
    assert api.get(sent.json["messageId"]).json["status"] == "sent"
    items = boto3.client("dynamodb").scan(TableName="pillarbox")["Items"]
    account_id = wiring.services().authentication.authenticate(api.key or "").account.account_id
    waiting = (f"LATER#{account_id}", f"WAKE#{account_id}")
    assert not [item for item in items if item["pk"]["S"].startswith(waiting)]


def test_an_email_that_is_due_soon_is_queued_hidden(service: Service, api: Api) -> None:
    """SQS hides its job until then, so no timer is needed."""
    soon = (wiring.utc_now() + 5 * MINUTE).isoformat()
    assert api.send(raw_html(scheduledAt=soon)).status == 200
    names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed")
    sqs: Any = boto3.client("sqs")
    found = sqs.get_queue_attributes(QueueUrl=service.queue_url, AttributeNames=["All"])
    assert [found["Attributes"][name] for name in names] == ["0", "1"]
    sqs.purge_queue(QueueUrl=service.queue_url)


def test_a_canceled_email_is_not_sent(service: Service, api: Api) -> None:
    """It has failed, says since when, and counts no more; what was sent cannot be canceled."""
    message = api.send(raw_html(scheduledAt=in_an_hour())).json["messageId"]
    canceled = change(api, message, "cancel")
    assert (canceled.status, canceled.json["status"]) == (200, "failed")
    assert canceled.json["canceledAt"] == canceled.json["events"][-1]["at"]
    assert canceled.json["events"][-1]["code"] == "canceled"
    assert change(api, message, "cancel").json == canceled.json
    used = {limit["name"]: limit["used"] for limit in api.raw("GET", "/me").json["limits"]}
    assert (used["minute"], used["day"], used["month"]) == (1, 0, 0)
    assert delivered(service, 61) == []
    sent = api.send(raw_html()).json["messageId"]
    for action in ("cancel", "release", "reschedule"):
        answer = change(api, sent, action, scheduledAt=in_an_hour())
        assert (answer.status, answer.code) == (409, "not_cancelable")
    assert service.deliver() == []


def test_an_email_gets_another_time(service: Service, api: Api) -> None:
    message = api.send(raw_html(subject="moved", scheduledAt=in_an_hour())).json["messageId"]
    new = (wiring.utc_now() + 120 * MINUTE).isoformat()
    moved = change(api, message, "reschedule", scheduledAt=new)
    assert moved.json["scheduledAt"][:23] == new[:23]
    assert delivered(service, 70) == []
    assert delivered(service, 121) == ["moved"]


def test_a_held_email_waits_for_its_release(service: Service, api: Api) -> None:
    sent = api.send(raw_html(subject="held", hold=True))
    assert sent.json["held"] is True
    message = sent.json["messageId"]
    detail = api.get(message).json
    assert (detail["held"], detail["scheduledAt"]) == (True, None)
    assert delivered(service, 61) == []
    assert change(api, message, "reschedule", scheduledAt=in_an_hour()).code == "not_cancelable"
    assert change(api, message, "release").json["held"] is False
    assert service.deliver() == []
    assert api.get(message).json["status"] == "sent"


@pytest.mark.parametrize("due", [timedelta(seconds=-1), timedelta()], ids=["before", "after"])
@pytest.mark.parametrize("way", ["at once", "scheduled", "rescheduled", "released"])
def test_a_receipt_has_the_date_of_its_send(
    service: Service, api: Api, due: timedelta, way: str
) -> None:
    """Its Date and the day that it shows are those when it is due, on both sides of midnight."""
    now = wiring.utc_now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=2)
    sent_at, accepted_at = midnight + due, midnight + due - 60 * MINUTE
    other_side = (midnight + (MINUTE if due else -MINUTE)).isoformat()
    wishes: dict[str, dict[str, Any]] = {
        "at once": {},
        "scheduled": {"scheduledAt": sent_at.isoformat()},
        "rescheduled": {"scheduledAt": other_side},
        "released": {"hold": True},
    }
    variables = {"amount": 12, "currency": "EUR", "invoice_id": "7"}
    body = {"to": TO, "starterTemplate": "payment_receipt", "variables": variables} | wishes[way]
    with service.at(sent_at if way == "at once" else accepted_at):
        message = api.send(body).json["messageId"]
        if way == "rescheduled":
            change(api, message, "reschedule", scheduledAt=sent_at.isoformat())
    if way == "released":
        with service.at(sent_at):
            change(api, message, "release")
    assert len(delivered(service, (sent_at - now) // MINUTE + 2)) == 1
    mail = message_from_bytes(service.ses.mails[-1]["raw"], policy=policy.default)
    assert mail["Date"] == f"{sent_at:%a, %d %b %Y %H:%M:%S} +0000"
    html = mail.get_body(("html",))
    assert html
    assert f">{sent_at.day} {sent_at:%B %Y}</td>" in html.get_content()


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"scheduledAt": "2030-01-01"}, "scheduledAt", "invalid_time"),
        ({"scheduledAt": "2030-01-01T00:00:00"}, "scheduledAt", "invalid_time"),
        ({"scheduledAt": "in an hour"}, "scheduledAt", "invalid_time"),
        ({"scheduledAt": "2020-01-01T00:00:00Z"}, "scheduledAt", "out_of_range"),
        ({"scheduledAt": "9999-01-01T00:00:00+01:00"}, "scheduledAt", "out_of_range"),
        ({"scheduledAt": "9999-12-31T23:59:59-10:00"}, "scheduledAt", "invalid_time"),
        ({"scheduledAt": "0001-01-01T00:00:00+10:00"}, "scheduledAt", "invalid_time"),
        ({"scheduledAt": in_an_hour(), "hold": True}, "hold", "not_allowed"),
        (
            {
                "hold": True,
                "attachments": [{"attachmentId": "0" * 8 + "-0000" * 3 + "-" + "0" * 12}],
            },
            "attachments",
            "not_allowed",
        ),
    ],
)
def test_a_wrong_wish_is_named(api: Api, body: dict[str, Any], field: str, code: str) -> None:
    """Each fault is 422 on its field, and nothing is sent."""
    answer = api.send(raw_html(**body))
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert (field, code) in {(e["field"], e["code"]) for e in answer.error["details"]["errors"]}


@pytest.mark.parametrize("wish", [{"scheduledAt": in_an_hour()}, {"hold": True}])
def test_email_of_a_preview_key_does_not_wait(service: Service, wish: dict[str, Any]) -> None:
    assert service.preview().send(otp(**wish)).code == "upgrade_required"


def test_the_last_moment_of_all_is_too_far_ahead(api: Api) -> None:
    message = api.send(raw_html(scheduledAt=in_an_hour())).json["messageId"]
    latest = "9999-12-31T23:59:59.999999Z"
    answer = change(api, message, "reschedule", scheduledAt=latest)
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert change(api, message, "cancel").status == 200


def test_an_email_whose_key_was_revoked_meanwhile_never_leaves(
    service: Service, api: Api, account: str
) -> None:
    sent = api.send(otp(scheduledAt=in_an_hour())).json["messageId"]
    reader = Api(service.key(account))
    wiring.services().api_keys.revoke(reader.get(sent).json["keyId"])
    assert delivered(service, 61) == []
    failed = reader.get(sent).json
    assert (failed["status"], failed["events"][-1]["code"]) == ("failed", "key_revoked")


def test_a_code_that_is_hidden_trips_no_alarm(service: Service, api: Api) -> None:
    """What SQS hides for long is in the ordinary queue, whose alarm allows more; others are not.

    Whatever the age of the oldest message counts, it stays below the thresholds.
    """
    alarms = template.load(template.ROOT / "stacks" / "alarms.yaml")["Resources"]
    allowed = {
        name: alarms[f"{name}Alarm"]["Properties"]["Threshold"]
        for name in ("JobsBehind", "UrgentJobsBehind")
    }
    assert (allowed["UrgentJobsBehind"], allowed["JobsBehind"]) >= (LONG_HIDDEN, MAX_DELAY)
    held = api.send(otp(hold=True)).json["messageId"]
    soon = (wiring.utc_now() + 5 * MINUTE).isoformat()
    with mock.patch("pillarbox.adapters.sqs.jobs.send_all") as send_all:
        assert api.send(otp(scheduledAt=soon)).status == 200
        assert change(api, held, "release").status == 200
    queues = [call.args[1] for call in send_all.call_args_list]
    assert queues == [service.queue_url, service.urgent_url]


def test_a_template_is_in_use_until_its_emails_are_sent(
    service: Service, api: Api, account: str
) -> None:
    """Its deletion is 409 while an email waits that it made."""
    template = service.template(account, "<p>x</p>")
    sent = api.send(raw_html(html=..., templateId=template, scheduledAt=in_an_hour()))
    assert api.raw("DELETE", f"/templates/{template}").code == "template_in_use"
    assert change(api, sent.json["messageId"], "cancel").status == 200
    assert api.raw("DELETE", f"/templates/{template}").status == 204


def test_an_agent_does_not_release_its_own_email(service: Service, account: str) -> None:
    """Its key needs somebody who confirms; another key and a member may release it."""
    agent = AgentSettings(recipients=("*",))
    issued = wiring.services().api_keys.issue_live(account, "bot", Preset.SEND, agent=agent)
    message = Api(service.key(account)).send(raw_html(hold=True)).json["messageId"]
    assert change(Api(issued.text), message, "release").code == "confirmation_required"


def test_a_batch_schedules_each_of_its_emails(service: Service, api: Api) -> None:
    large = raw_html(
        attachments=[attachment(b"%PDF-1.7" + bytes(20_000))], scheduledAt=in_an_hour()
    )
    messages = [raw_html(), large, raw_html(hold=True), raw_html(scheduledAt="x")]
    results = api.raw("POST", "/emails/batch", {"messages": messages}).json["results"]
    assert [result["error"] is None for result in results] == [True, True, True, False]
    assert ["scheduledAt" in result for result in results] == [False, True, False, False]
    assert results[2]["held"] is True
    assert service.deliver() == []
