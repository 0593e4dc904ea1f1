"""Events of SES in forms that nobody expected: through the function, in one batch with others."""

import copy
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import pytest

from pillarbox import wiring
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.service import Service, queue_record

ANN, BOB = "ann@customer.example", "bob@customer.example"
_REMOVED: Final = object()
type Record = dict[str, Any]


def record(kind: str, part: Record, *, to: tuple[str, ...] = (ANN,)) -> Record:
    """Return a record whose tags are not those of a message yet."""
    now = wiring.utc_now().isoformat()
    mail = {"timestamp": now, "messageId": "ses-1", "destination": [*to], "tags": {}}
    name = "failure" if kind == "Rendering Failure" else kind[0].lower() + kind[1:]
    return {"eventType": kind, "mail": mail, name: {"timestamp": now} | part}


def bounce(**changes: Any) -> Record:
    part = {"bounceType": "Permanent", "bounceSubType": "General"}
    return part | {"bouncedRecipients": [{"emailAddress": ANN}]} | changes


def complaint(**changes: Any) -> Record:
    return {"complainedRecipients": [{"emailAddress": ANN}]} | changes


def delay(**changes: Any) -> Record:
    part = {"delayType": "General", "delayedRecipients": [{"emailAddress": ANN}]}
    return part | changes


def changed(base: Record, *path: str, to: Any = _REMOVED) -> Record:
    """Return a record with another value at a path, or without the member."""
    result = copy.deepcopy(base)
    part = result
    for name in path[:-1]:
        part = part[name]
    if to is _REMOVED:
        del part[path[-1]]
    else:
        part[path[-1]] = to
    return result


class Mails:
    """Emails of an account that SES took, but without an answer: nothing is known of them."""

    def __init__(self, service: Service, account: str, api: Api) -> None:
        self.service, self._account, self._api = service, account, api
        self._jobs: dict[str, str] = {}

    def send(self, *to: str) -> str:
        message_id: str = self._api.send(otp(to=[*to] or ANN)).json["messageId"]
        (job,) = (job for job in self.service.jobs_of(self._api) if message_id in job["body"])
        self._jobs[message_id] = job["body"]
        self.service.ses.failure = (500, "InternalServerError")
        self.service.consume("deliver_message", job["body"])
        self.service.ses.failure = None
        return message_id

    def report(self, message_id: str, *texts: Record | str, last: str = "") -> list[str]:
        """Report events of a message, and return the ids of those that stay in the queue."""
        tags = {"account": [self._account], "message": [message_id]}
        rows = []
        for number, each in enumerate(texts):
            text = each if isinstance(each, str) else json.dumps(each)
            text = text.replace('"tags": {}', f'"tags": {json.dumps(tags)}')
            rows.append(queue_record(text, str(number)))
        if last:
            rows.append(queue_record(last, "last"))
        return self.service._consume("record_feedback", rows)

    def delivery(self, message_id: str) -> str:
        """Return the report that a message was delivered to Bob."""
        delivered = record("Delivery", {"recipients": [BOB]}, to=(BOB,))
        delivered["mail"]["tags"] = {"account": [self._account], "message": [message_id]}
        return json.dumps(delivered)

    def settle(self, message_id: str) -> str:
        """Let the worker look again after the wait for an event; return the status."""
        wiring.services().delivery.heartbeat.record(wiring.utc_now() + timedelta(minutes=30))
        sent = len(self.service.ses.mails)
        with self.service.at(wiring.utc_now() + timedelta(minutes=20)):
            self.service.consume("deliver_message", self._jobs[message_id])
        assert len(self.service.ses.mails) == sent  # not handed over again
        return self.status(message_id)

    def status(self, message_id: str) -> str:
        status: str = self._api.get(message_id).json["status"]
        return status

    def suppressed(self) -> set[str]:
        found = wiring.services().suppression_store.find_suppressed(self._account, [ANN, BOB])
        return {*found}


@pytest.fixture
def mails(service: Service, account: str, api: Api) -> Iterator[Mails]:
    yield Mails(service, account, api)
    service.ses.failure = None


SEND = record("Send", {})
DELIVERY = record("Delivery", {"recipients": [ANN]})
BOUNCE, COMPLAINT, DELAY = (
    record("Bounce", bounce()),
    record("Complaint", complaint()),
    record("DeliveryDelay", delay()),
)
REJECT = record("Reject", {"reason": "Bad content"})
FAILURE = record("Rendering Failure", {"errorMessage": "no x", "templateName": "t"})

#: What counts for the only recipient of its message: the record, the status, who is suppressed.
COUNTED: list[tuple[Record, str, set[str]]] = [
    (changed(BOUNCE, "bounce", "bouncedRecipients", to=[]), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "bouncedRecipients", to=None), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "bouncedRecipients"), "bounced", {ANN}),
    (changed(COMPLAINT, "complaint", "complainedRecipients", to=[]), "complained", {ANN}),
    (changed(DELIVERY, "delivery", "recipients", to=[]), "delivered", set()),
    (changed(DELIVERY, "delivery", "recipients"), "delivered", set()),
    (changed(BOUNCE, "bounce", "bounceSubType", to="NoSuchThing"), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "bounceSubType"), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "bounceSubType", to=None), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "bounceType", to="Later"), "bounced", set()),
    (changed(BOUNCE, "bounce", "bouncedRecipients", to=[{"emailAddress": ""}]), "bounced", {ANN}),
    (changed(BOUNCE, "mail", "destination"), "bounced", {ANN}),
    (changed(COMPLAINT, "complaint", "complaintFeedbackType", to=None), "complained", {ANN}),
    (changed(COMPLAINT, "complaint", "complaintFeedbackType", to="new"), "complained", {ANN}),
    (changed(BOUNCE, "bounce", "newMember", to={"a": [1]}), "bounced", {ANN}),
    (changed(BOUNCE, "newPart", to="x"), "bounced", {ANN}),
    (changed(DELIVERY, "mail", "newMember", to=[]), "delivered", set()),
    (changed(BOUNCE, "bounce", "timestamp", to="0001-01-01T00:00:00Z"), "bounced", {ANN}),
    (changed(BOUNCE, "bounce", "timestamp", to="9999-12-31T23:59:59Z"), "bounced", {ANN}),
    (REJECT, "failed", set()),
    (FAILURE, "failed", set()),
    (changed(FAILURE, "eventType", to="RenderingFailure"), "failed", set()),
]
#: What only shows that SES took the email.
MARKED: list[Record | str] = [
    changed(SEND, "eventType", to="Teleport"),
    changed(SEND, "eventType", to=["Send"]),
    changed(BOUNCE, "bounce"),
    changed(BOUNCE, "bounce", to=[]),
    changed(BOUNCE, "bounce", "bounceType"),
    changed(BOUNCE, "bounce", "bouncedRecipients", to="ann"),
    changed(BOUNCE, "bounce", "bouncedRecipients", to=[5]),
    changed(BOUNCE, "bounce", "bouncedRecipients", to=[{}]),
    changed(BOUNCE, "bounce", "timestamp", to="soon"),
    changed(BOUNCE, "bounce", "timestamp", to="0001-01-01T00:00:00+14:00"),
    changed(BOUNCE, "bounce", "timestamp", to="2026-03-14T15:09:26"),
    changed(BOUNCE, "mail", "messageId"),
    changed(BOUNCE, "mail", "messageId", to=5),
    changed(BOUNCE, "mail", "messageId", to="\ud800"),
    changed(COMPLAINT, "complaint", to=None),
    changed(DELIVERY, "delivery"),
    changed(DELAY, "deliveryDelay", "timestamp"),
    changed(REJECT, "reject", to=None),
    changed(SEND, "mail", "timestamp"),
    json.dumps(SEND)[:-1],
    "[" * 100_000 + json.dumps(SEND),
]
#: What says nothing about delivery.
DROPPED = [
    *(record(kind, {}) for kind in ("Open", "Click", "Subscription")),
    record("Complaint", complaint(complaintFeedbackType="not-spam")),
]


@pytest.mark.parametrize(("odd", "status", "suppressed"), COUNTED)
def test_an_odd_event_counts_for_the_message_that_it_names(
    mails: Mails, odd: Record, status: str, suppressed: set[str]
) -> None:
    message_id = mails.send(ANN)
    assert mails.report(message_id, odd) == []
    assert mails.status(message_id) == status
    assert mails.suppressed() == suppressed


@pytest.mark.parametrize("odd", MARKED)
def test_an_event_that_cannot_be_read_shows_that_ses_took_the_email(
    mails: Mails, odd: Record | str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is done after one try, has one line in the log, and its email is not handed over again."""
    message_id = mails.send(ANN)
    caplog.clear()
    assert mails.report(message_id, odd) == []
    (line,) = map(vars, caplog.records)
    assert (line["outcome"], line["message_id"]) == ("unreadable", message_id)
    assert "@" not in str(line)
    assert mails.settle(message_id) == "sent"


@pytest.mark.parametrize("dropped", DROPPED)
def test_an_event_that_says_nothing_about_delivery_is_dropped(
    mails: Mails, dropped: Record
) -> None:
    """Opens, clicks, subscriptions and "not spam" change nothing, and are not tried again."""
    message_id = mails.send(ANN)
    assert mails.report(message_id, dropped) == []
    assert mails.status(message_id) == "pending"


@pytest.mark.parametrize(
    ("kind", "part", "status"),
    [
        ("Bounce", bounce(bouncedRecipients=[]), "bounced"),
        ("Complaint", complaint(complainedRecipients=[]), "complained"),
        ("Delivery", {"recipients": []}, "delivered"),
        ("DeliveryDelay", delay(delayedRecipients=[]), "pending"),
    ],
)
def test_a_report_without_recipients_is_about_the_message_as_a_whole(
    mails: Mails, api: Api, kind: str, part: Record, status: str
) -> None:
    message_id = mails.send(ANN, BOB)
    assert mails.report(message_id, record(kind, part, to=(ANN, BOB))) == []
    detail = api.get(message_id).json
    assert detail["status"] == status
    assert [each.get("recipient") for each in detail["events"][1:]] == [None]
    assert mails.suppressed() == set()


def test_what_is_new_is_logged_once(mails: Mails, caplog: pytest.LogCaptureFixture) -> None:
    """A member that AWS adds to each event has one line a process, without an address."""
    new = changed(DELIVERY, "delivery", "hopsOfAnn", to=[ANN])
    new["delivery"][ANN] = "a name that nobody at AWS chose"
    caplog.clear()
    for _ in range(2):
        assert mails.report(mails.send(ANN), new, new) == []
    logged = str([vars(line) for line in caplog.records])
    assert logged.count("hopsOfAnn") == 1
    assert "@" not in logged


def test_an_event_that_cannot_be_read_stops_no_other(mails: Mails) -> None:
    message_id, other = mails.send(ANN), mails.send(BOB)
    assert mails.report(message_id, MARKED[0], last=mails.delivery(other)) == []
    assert (mails.status(message_id), mails.status(other)) == ("pending", "delivered")
