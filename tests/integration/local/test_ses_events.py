"""The events that the SES stand-in publishes, and its behaviours."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from botocore.exceptions import ReadTimeoutError
from mypy_boto3_sesv2 import SESV2Client

from local.ses.emitter import EventEmitter
from local.ses.events import records
from local.ses.mail import CapturedMail, Destination
from local.ses.store import MailStore
from tests.integration.local.local_ses import RAW, LocalSes, Record, Send, client
from tests.stack import PATIENCE


def kinds(records: list[Record]) -> list[Any]:
    return [record["eventType"] for record in records]


def test_send_and_delivery_of_an_ordinary_mail(send: Send, local_ses: LocalSes) -> None:
    mail_id = send("a@example.com", "b@example.com")
    records: list[Any] = local_ses.await_records(3)
    assert kinds(records) == ["Send", "Delivery", "Delivery"]
    assert records[0]["send"] == {}
    assert [record["delivery"]["recipients"] for record in records[1:]] == [
        ["a@example.com"],
        ["b@example.com"],
    ]
    delivery = records[1]["delivery"]
    assert datetime.fromisoformat(delivery["timestamp"]).tzinfo == UTC
    assert delivery["timestamp"].endswith("Z")
    assert delivery["processingTimeMillis"] >= 0
    assert delivery["smtpResponse"].startswith("250 ")
    assert delivery["reportingMTA"].endswith("amazonses.com")
    mail = records[1]["mail"]
    assert mail["messageId"] == mail_id
    assert mail["source"] == "post@sender.example"
    assert mail["sourceArn"].endswith(":identity/post@sender.example")
    assert mail["sendingAccountId"] == "000000000000"
    assert mail["destination"] == ["a@example.com", "b@example.com"]
    assert mail["headersTruncated"] is False
    assert {"name": "Message-ID", "value": "<m1@sender.example>"} in mail["headers"]
    assert mail["commonHeaders"] == {
        "from": ["Post <post@sender.example>"],
        "to": ["ada@example.com"],
        "messageId": "<m1@sender.example>",  # the sender's, which recipients do not get
        "subject": "Grüße",
        "date": "Fri, 20 Nov 2026 10:00:00 +0000",
    }
    assert mail["tags"]["message"] == ["0190f2c1-0000-7000-8000-000000000001"]
    assert mail["tags"]["account"] == ["a1"]
    assert mail["tags"]["attempt"] == ["1"]
    assert mail["tags"]["ses:configuration-set"] == ["mails"]
    assert mail["tags"]["ses:from-domain"] == ["sender.example"]


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        ("success@simulator.amazonses.com", ["Send", "Delivery"]),
        ("success+1@simulator.amazonses.com", ["Send", "Delivery"]),
        ("bounce@simulator.amazonses.com", ["Send", "Bounce"]),
        ("Bounce+a@Simulator.AmazonSES.com", ["Send", "Bounce"]),
        ("complaint+x@simulator.amazonses.com", ["Send", "Delivery", "Complaint"]),
        ("ooto@simulator.amazonses.com", ["Send", "Delivery", "Bounce"]),
        ("suppressionlist@simulator.amazonses.com", ["Send", "Bounce"]),
    ],
)
def test_the_mailbox_simulator(
    send: Send, local_ses: LocalSes, recipient: str, expected: list[str]
) -> None:
    """Each simulator address, with any label, has the outcome that SES documents."""
    send(recipient)
    assert kinds(local_ses.await_records(len(expected))) == expected


def test_a_bounce(send: Send, local_ses: LocalSes) -> None:
    send("bounce@simulator.amazonses.com")
    bounce: Any = local_ses.await_records(2)[1]["bounce"]
    assert (bounce["bounceType"], bounce["bounceSubType"]) == ("Permanent", "General")
    assert bounce["bouncedRecipients"] == [
        {
            "emailAddress": "bounce@simulator.amazonses.com",
            "action": "failed",
            "status": "5.1.1",
            "diagnosticCode": "smtp; 550 5.1.1 user unknown",
        }
    ]
    assert bounce["feedbackId"]
    assert bounce["timestamp"].endswith("Z")


def test_a_complaint(send: Send, local_ses: LocalSes) -> None:
    send("complaint@simulator.amazonses.com")
    complaint: Any = local_ses.await_records(3)[2]["complaint"]
    assert complaint["complaintFeedbackType"] == "abuse"
    assert complaint["userAgent"] == "Amazon SES Mailbox Simulator"
    assert complaint["complaintSubType"] is None
    assert complaint["complainedRecipients"] == [
        {"emailAddress": "complaint@simulator.amazonses.com"}
    ]


def test_a_virus_is_accepted_and_then_rejected(send: Send, local_ses: LocalSes) -> None:
    part = b"WDVPIVAlQEFQWzRcUFpYNTQoUF4pN0NDKTd9JEVJQ0FSLVNUQU5EQVJE\r\n"
    send(raw=RAW + part)
    records = local_ses.await_records(2)
    assert kinds(records) == ["Send", "Reject"]
    assert records[1]["reject"] == {"reason": "Bad content"}


def test_long_headers_are_truncated(send: Send, local_ses: LocalSes) -> None:
    """A record contains at most 10 KB of headers and reports the truncation."""
    long = b"".join(b"X-Long-%d: %b\r\n" % (n, b"v" * 900) for n in range(20))
    send(raw=long + RAW)
    mail: Any = local_ses.await_records(1)[0]["mail"]
    assert mail["headersTruncated"] is True
    assert 0 < len(mail["headers"]) < 20
    assert mail["commonHeaders"]["subject"] == "Grüße"


def test_only_what_the_configuration_set_publishes(
    ses: SESV2Client, send: Send, local_ses: LocalSes
) -> None:
    ses.create_configuration_set(ConfigurationSetName="deliveries")
    send(ConfigurationSetName="deliveries")
    ses.create_configuration_set_event_destination(
        ConfigurationSetName="deliveries",
        EventDestinationName="bus",
        EventDestination={"Enabled": True, "MatchingEventTypes": ["DELIVERY"]},
    )
    send("a@example.com", ConfigurationSetName="deliveries")
    send("b@example.com")
    assert kinds(local_ses.await_records(3)) == ["Delivery", "Send", "Delivery"]


def test_a_failing_destination_is_retried(send: Send, local_ses: LocalSes) -> None:
    local_ses.emit_faults = 2
    send()
    assert kinds(local_ses.await_records(2)) == ["Send", "Delivery"]


def mail_of(mailbox: MailStore) -> CapturedMail:
    mailbox.create_configuration_set("mails")
    return CapturedMail(
        id="m-1",
        source="a@sender.example",
        destination=Destination(to=("ada@example.com",)),
        configuration_set="mails",
        tags={},
        headers=(),
        from_header="a@sender.example",
        subject="",
        raw=b"",
        outcomes={"ada@example.com": "delivered"},
        received_at=datetime.now(UTC),
    )


def test_a_lost_event_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    emitted: list[Record] = []

    async def emit(record: Record) -> None:
        if record["eventType"] == "Send":
            raise ConnectionError("away")
        emitted.append(record)

    async def run() -> None:
        emitter = EventEmitter(emit, pauses=(0.0, 0.0))
        mailbox = MailStore()
        emitter.start(records(mail_of(mailbox), mailbox))
        await emitter.finish()

    asyncio.run(run())
    output = capsys.readouterr().err
    assert "SES event Send of m-1 is lost" in output
    assert "ada@example.com" not in output
    assert kinds(emitted) == ["Delivery"]


def test_stopping_does_not_wait_for_ever() -> None:
    async def run() -> None:
        async def emit(_record: Record) -> None:
            await asyncio.Event().wait()

        emitter = EventEmitter(emit)
        mailbox = MailStore()
        emitter.start(records(mail_of(mailbox), mailbox))
        await emitter.finish(0.0)

    asyncio.run(run())


# Behaviours


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("throttle", ("TooManyRequestsException", 429)),
        ("quota", ("LimitExceededException", 400)),
        ("reject", ("MessageRejected", 400)),
        ("mail-from", ("MailFromDomainNotVerifiedException", 400)),
        ("pause", ("SendingPausedException", 400)),
        ("suspend", ("AccountSuspendedException", 400)),
        ("server-error", ("ClientError", 500)),
    ],
)
def test_behaviours_that_return_errors(
    ses: SESV2Client, send: Send, inbox: httpx.Client, mode: str, expected: tuple[str, int]
) -> None:
    assert inbox.put("/behaviour", json={"mode": mode, "times": 2}).status_code == 200
    for _ in range(2):
        with pytest.raises(ses.exceptions.ClientError) as caught:
            send()
        status = caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
        assert (type(caught.value).__name__, status) == expected
    assert inbox.get("/messages").json()["items"] == []
    # What SES may accept later is no refused email: Pillarbox tries it again.
    kept = inbox.get("/messages", params={"refused": "true"}).json()["items"]
    assert len(kept) == (2 if mode in {"reject", "mail-from"} else 0)
    assert send()


def test_an_accepted_mail_without_a_response(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    inbox.put("/behaviour", json={"mode": "take-then-timeout", "times": 1})
    with closing(client(local_ses, read_timeout=0.5)) as impatient, pytest.raises(ReadTimeoutError):
        send(client=impatient)
    assert len(inbox.get("/messages").json()["items"]) == 1
    assert kinds(local_ses.await_records(2)) == ["Send", "Delivery"]


def test_an_accepted_mail_with_an_error_response(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    inbox.put("/behaviour", json={"mode": "take-then-error", "times": 1})
    with pytest.raises(ses.exceptions.ClientError):
        send()
    assert len(inbox.get("/messages").json()["items"]) == 1


def test_events_can_be_suppressed(send: Send, inbox: httpx.Client, local_ses: LocalSes) -> None:
    inbox.put("/behaviour", json={"mode": "accept", "times": 1, "events": False})
    silent, reported = send(), send()
    records: list[Any] = local_ses.await_records(2)
    assert {record["mail"]["messageId"] for record in records} == {reported}
    assert silent != reported


def test_a_behaviour_for_one_recipient(ses: SESV2Client, send: Send, inbox: httpx.Client) -> None:
    assert inbox.put("/behaviour?to=x@example.com", json={"mode": "throttle"}).status_code == 422
    inbox.put("/behaviour?recipient=X@example.com", json={"mode": "throttle"})
    assert send("y@example.com")
    with pytest.raises(ses.exceptions.TooManyRequestsException):
        send("y@example.com", "x@example.com")
    assert inbox.get("/behaviour?recipient=x@example.com").json()["mode"] == "throttle"
    assert inbox.get("/behaviour").json() == {
        "mode": "accept",
        "times": None,
        "delay_seconds": None,
        "events": True,
    }


def test_an_invalid_call_does_not_use_up_a_behaviour(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    inbox.put("/behaviour", json={"mode": "throttle", "times": 1})
    with pytest.raises(ses.exceptions.BadRequestException):
        send(raw=b"Subject: x\r\n\r\n")
    with pytest.raises(ses.exceptions.TooManyRequestsException):
        send()


@pytest.mark.parametrize(
    "body",
    [{}, {"mode": "dance"}, {"mode": "accept", "times": 0}, {"mode": "accept", "tmies": 1}],
)
def test_an_unknown_behaviour_is_refused(inbox: httpx.Client, body: dict[str, object]) -> None:
    answer = inbox.put("/behaviour", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_a_refused_mode_is_told_all_modes(inbox: httpx.Client) -> None:
    """The error names the field, and both how SES answers and what becomes of an email."""
    error = inbox.put("/behaviour", json={"mode": "dance"}).json()["error"]
    assert error.startswith("mode: must be ")
    assert all(f"'{mode}'" in error for mode in ("accept", "bounce", "late-delivery"))


def test_a_delayed_response_does_not_keep_the_server_from_stopping(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    inbox.put("/behaviour", json={"mode": "accept", "delay_seconds": 300})
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(send)
        while not inbox.get("/messages").json()["items"]:
            assert not sending.done()
        local_ses.on_loop(local_ses.mailbox.close)
        assert sending.result(timeout=PATIENCE)


ADA = "ada@example.com"


@pytest.fixture
def events(send: Send, inbox: httpx.Client, local_ses: LocalSes) -> Callable[..., list[Any]]:
    """Return a function that sends under a mode, and returns the events that follow."""

    def events(mode: str, count: int, *to: str) -> list[Any]:
        asked = {"recipient": ADA} if not to else {}
        assert inbox.put("/behaviour", params=asked, json={"mode": mode}).is_success
        send(*(to or (ADA,)))
        return local_ses.await_records(count)

    return events


@pytest.mark.parametrize(
    ("mode", "kinds", "outcome"),
    [
        ("bounce", ["Send", "Bounce"], "bounced"),
        ("soft-bounce", ["Send", "Bounce"], "bounced for now"),
        ("complaint", ["Send", "Delivery", "Complaint"], "complained"),
        ("delay", ["Send", "DeliveryDelay"], "delayed"),
        ("virus", ["Send", "Reject"], "rejected"),
        ("rendering-failure", ["Rendering Failure"], "not rendered"),
        ("global-list", ["Send", "Bounce"], "globally suppressed"),
        ("open", ["Send", "Delivery", "Open"], "opened"),
        ("click", ["Send", "Delivery", "Click"], "clicked"),
        ("subscription", ["Send", "Delivery", "Subscription"], "subscription changed"),
        ("unknown-event", ["Send", "Quarantine"], "delivered"),
        ("repeated-events", ["Send", "Send", "Delivery", "Delivery"], "delivered"),
    ],
)
def test_each_mode_has_its_events(
    events: Callable[..., list[Any]], inbox: httpx.Client, mode: str, kinds: list[str], outcome: str
) -> None:
    assert [record["eventType"] for record in events(mode, len(kinds))] == kinds
    (item,) = inbox.get("/messages", params={"to": ADA}).json()["items"]
    assert item["deliveries"][0]["outcome"] == outcome


@pytest.mark.parametrize(
    ("mode", "count", "member", "expected"),
    [
        ("soft-bounce", 2, "bounce", {"bounceType": "Transient", "bounceSubType": "MailboxFull"}),
        (
            "undetermined-bounce",
            2,
            "bounce",
            {
                "bounceType": "Undetermined",
                "bounceSubType": "Undetermined",
                "bouncedRecipients": [],
            },
        ),
        ("empty-bounce", 2, "bounce", {"bounceType": "Permanent", "bouncedRecipients": []}),
        ("empty-complaint", 3, "complaint", {"complainedRecipients": []}),
        ("empty-delivery", 2, "delivery", {"recipients": []}),
        ("empty-delay", 2, "deliveryDelay", {"delayedRecipients": []}),
        ("delay", 2, "deliveryDelay", {"delayType": "TransientCommunicationFailure"}),
        ("unknown-bounce", 2, "bounce", {"bounceSubType": "MailboxOnTheMoon"}),
        ("rendering-failure", 1, "failure", {"templateName": "none"}),
    ],
)
def test_the_last_event_has_these_members(
    events: Callable[..., list[Any]], mode: str, count: int, member: str, expected: dict[str, Any]
) -> None:
    details = events(mode, count)[-1][member]
    assert {name: details[name] for name in expected} == expected


def test_a_complaint_without_a_type(events: Callable[..., list[Any]]) -> None:
    assert "complaintFeedbackType" not in events("untyped-complaint", 3)[-1]["complaint"]


def test_one_event_with_a_result_for_each_recipient(events: Callable[..., list[Any]]) -> None:
    record = events("mixed-bounce", 2, ADA, "bob@example.com", "eve@example.com")[-1]
    bounced = record["bounce"]["bouncedRecipients"]
    assert [each["emailAddress"] for each in bounced] == [ADA, "bob@example.com", "eve@example.com"]
    assert [each.get("status") for each in bounced] == ["5.1.1", "5.2.2", None]


def test_a_late_delivery(events: Callable[..., list[Any]]) -> None:
    record = events("late-delivery", 2)[-1]
    accepted, delivered = (
        datetime.fromisoformat(record[member]["timestamp"]) for member in ("mail", "delivery")
    )
    assert delivered - accepted >= timedelta(hours=6)


def test_recipients_of_one_email_may_differ(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    inbox.put("/behaviour", params={"recipient": "b@example.com"}, json={"mode": "bounce"})
    inbox.put("/behaviour", params={"recipient": "d@example.com"}, json={"mode": "delay"})
    send("a@example.com", "b@example.com", "d@example.com")
    kinds = [record["eventType"] for record in local_ses.await_records(4)]
    assert kinds == ["Send", "Delivery", "Bounce", "DeliveryDelay"]
