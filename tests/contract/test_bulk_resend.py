"""Failed emails are sent again in bulk, through the route that sends one again."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from admin.use_cases.send_again import BulkResend, CopyOutcome, ResendPlan, ResendSelection
from pillarbox import wiring
from pillarbox.application.accounts.keys import Keys
from pillarbox.domain.accounts.account import NO_LIMITS
from pillarbox.domain.accounts.key import SCOPES
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Event, EventKind, Status
from tests.contract.bodies import raw_html
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.test_cloudformation import InProcessProbe

HOUR: Final = timedelta(hours=1)
ANN, BOB = "ann@customer.example", "bob@customer.example"


class Bulk:
    """The command's use case, on an account that keeps content."""

    def __init__(self, service: Service, keep: int = 7, limits: Limits = NO_LIMITS) -> None:
        self.service = service
        self.account_id = service.account(limits=limits)
        self.api = Api(service.key(self.account_id, scopes=SCOPES))
        if keep:
            body = json.dumps({"keepDays": keep})
            assert self.api.raw("PATCH", "/account", body).status == 200
        self.probe = InProcessProbe()
        self.pauses: list[float] = []
        #: Whether pauses move the service's clock, which stands still.
        self.time_passes = False
        self.began = wiring.utc_now() - HOUR

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self.time_passes:
            self.service.clock.fixed = wiring.utc_now() + timedelta(seconds=seconds)

    @property
    def use_case(self) -> BulkResend:
        services = wiring.services()
        return BulkResend(
            messages=services.message_log,
            accounts=services.account_store,
            keys=services.api_keys,
            api_probe=self.probe,
            clock=wiring.utc_now,
            pause=self.pause,
        )

    def failed(self, recipient: str | None = None, **body: Any) -> str:
        """Send and deliver an email, of which an event says that it failed; return its id."""
        sent = self.api.send(raw_html(**body))
        assert sent.status == 200, sent.text
        self.service.deliver()
        messages, message_id = wiring.services().message_store, UUID(sent.json["messageId"])
        message = messages.get(self.account_id, message_id)
        assert message
        event = Event(kind=EventKind.FAILED, at=wiring.utc_now(), recipient=recipient, code="x")
        assert messages.save(message.with_events([event]))
        return str(message_id)

    def plan(self, status: Status = Status.FAILED, **changes: Any) -> ResendPlan:
        until: datetime = changes.pop("until", wiring.utc_now() + timedelta(seconds=1))
        selection = ResendSelection(status=status, since=self.began, until=until, **changes)
        return self.use_case.plan(self.account_id, selection, lambda _: None)

    def run(self, **changes: Any) -> list[CopyOutcome]:
        return [*self.use_case.run(self.plan(**changes), 5, lambda _: None)]

    @property
    def copies(self) -> list[str]:
        """The ids of the emails that have copies, once for each copy."""
        items = self.api.raw("GET", "/emails", query={"limit": "100"}).json["items"]
        return sorted(item["resendOf"] for item in items if item["resendOf"])

    @property
    def working_keys(self) -> int:
        keys = wiring.services().api_keys.of_account(self.account_id)
        return sum(key.works(wiring.utc_now) for key in keys)


@pytest.fixture
def bulk(service: Service) -> Bulk:
    return Bulk(service)


def test_each_is_sent_again_once(bulk: Bulk) -> None:
    """Also if the command runs again, and a key is left only while it runs."""
    failed = sorted(bulk.failed(ANN, to=ANN) for _ in range(3))
    keys = bulk.working_keys
    first = bulk.run()
    assert [one.error for one in first] == [None] * 3
    assert sorted(str(one.message.message_id) for one in first) == failed == bulk.copies
    assert bulk.pauses == [0.2] * 3
    assert bulk.working_keys == keys
    assert bulk.run() == []
    plan = bulk.plan()
    assert (plan.copies, dict(plan.left_out)) == ([], {"sent_again": 3})
    bulk.service.deliver()
    assert bulk.copies == failed


def test_a_run_that_was_killed_is_run_again(bulk: Bulk) -> None:
    """Whatever it had sent has one copy, also if no answer came, or the records are behind."""
    failed = sorted(bulk.failed() for _ in range(3))
    plan = bulk.plan()
    keys = bulk.working_keys
    bulk.probe = InProcessProbe(fails_at=1, after=True)  # it is accepted, and asked for again
    killed = bulk.use_case.run(plan, 5, lambda _: None)
    assert next(killed).error is None
    assert bulk.probe.calls == 2
    del killed
    assert bulk.working_keys == keys
    assert len(bulk.copies) == 1
    behind = [*bulk.use_case.run(plan, 5, lambda _: None)]  # it does not know of the copies
    assert [one.error for one in behind] == [None] * 3
    assert bulk.run() == []
    assert bulk.copies == failed


def test_it_is_sent_again_once_more_on_purpose(bulk: Bulk) -> None:
    """What was last sent again before a time that the operator names, and again only once."""
    failed = bulk.failed()
    assert len(bulk.run()) == 1
    monday = wiring.utc_now() + timedelta(seconds=1)
    with bulk.service.at(monday + HOUR):
        assert bulk.run() == []
        plan = bulk.plan(again_since=monday)
        assert len([*bulk.use_case.run(plan, 5, lambda _: None)]) == 1
        assert bulk.run(again_since=monday) == []
        assert next(bulk.use_case.run(plan, 5, lambda _: None)).error is None
    assert bulk.copies == [failed] * 2


def test_what_is_left_out_has_a_reason(service: Service, bulk: Bulk) -> None:
    """Copies, codes, uncertain emails and those that somebody has are not sent by themselves."""
    both: dict[str, Any] = {"to": [ANN], "cc": [BOB]}
    arrived = bulk.failed(BOB, **both)
    no_one = bulk.failed(**both)
    uncertain = bulk.failed()
    unkept = bulk.failed(keep=0)
    copied = bulk.failed()
    copy = bulk.api.raw("POST", f"/emails/{copied}/resend").json["messageId"]
    messages = wiring.services().message_store
    for message_id, events in (
        (uncertain, [Event(kind=EventKind.UNCERTAIN, at=wiring.utc_now(), code="x")]),
        (copy, [Event(kind=EventKind.FAILED, at=wiring.utc_now(), code="x")]),
    ):
        message = messages.get(bulk.account_id, UUID(message_id))
        assert message
        kept = () if message_id == uncertain else message.events
        assert messages.save(replace(message, events=(*kept, *events)))
    service.deliver()
    plan = bulk.plan()
    assert [str(one.message.message_id) for one in plan.copies] == [no_one]
    reasons = ("partly_sent", "uncertain", "not_kept", "sent_again", "is_copy")
    assert dict(plan.left_out) == dict.fromkeys(reasons, 1), (arrived, unkept)
    with_them = [str(one.message.message_id) for one in bulk.plan(uncertain=True).copies]
    assert with_them == [no_one, uncertain]
    assert bulk.plan(Status.BOUNCED).copies == []
    assert bulk.plan(until=bulk.began + timedelta(seconds=1)).read == plan.read
    with service.at(wiring.utc_now() + timedelta(days=8)):
        assert bulk.plan().left_out["not_kept"] == 4


def change(bulk: Bulk, message_id: str, *events: Event) -> None:
    """Give a message other events, each at the present time."""
    messages = wiring.services().message_store
    message = messages.get(bulk.account_id, UUID(message_id))
    assert message
    assert messages.save(replace(message, events=events))


def test_what_somebody_stopped_is_not_sent_again(bulk: Bulk) -> None:
    """An email that was canceled, or stopped with its key or account, stays unsent."""
    codes = ("canceled", "key_revoked", "account_suspended", "sending_paused", "not_released")
    for code in codes:
        change(bulk, bulk.failed(), Event(kind=EventKind.FAILED, at=wiring.utc_now(), code=code))
    assert bulk.run() == []
    assert bulk.plan().left_out == {"stopped": len(codes)}


def test_a_bounce_that_names_nobody_sends_nothing_to_those_who_have_the_email(bulk: Bulk) -> None:
    """A server may name an address of its own; of one recipient it is clear whose it is."""
    now = wiring.utc_now()
    sent = Event(kind=EventKind.SENT, at=now)
    bounced, soft = (
        Event(kind=kind, at=now, code="x")
        for kind in (EventKind.BOUNCED, EventKind.BOUNCED_TRANSIENT)
    )
    several, late, alone = (bulk.failed(to=to) for to in ([ANN, BOB], [ANN, BOB], ANN))
    delivered = [Event(kind=EventKind.DELIVERED, at=now, recipient=one) for one in (ANN, BOB)]
    change(bulk, several, sent, delivered[1], bounced)
    change(
        bulk,
        late,
        sent,
        replace(soft, recipient=ANN),
        delivered[0],
        replace(bounced, recipient=BOB),
    )
    change(bulk, alone, sent, bounced)
    plan = bulk.plan(Status.BOUNCED)
    assert [str(one.message.message_id) for one in plan.copies] == [alone]
    assert plan.left_out == {"partly_sent": 2}


def test_a_plan_that_does_not_hold_sends_nothing(bulk: Bulk) -> None:
    """What has changed since, and all after 23 hours: the keys of another run end after 24."""
    changed, _ = bulk.failed(), bulk.failed()
    plan = bulk.plan()
    change(bulk, changed, Event(kind=EventKind.SENT, at=wiring.utc_now()))
    errors = sorted(str(one.error) for one in bulk.use_case.run(plan, 5, lambda _: None))
    assert errors == ["None", "changed"]
    with bulk.service.at(wiring.utc_now() + 23 * HOUR + timedelta(seconds=1)):
        errors = [str(one.error) for one in bulk.use_case.run(plan, 5, lambda _: None)]
    assert errors == ["plan_too_old"] * 2


@pytest.mark.parametrize("method", ["issue_live", "revoke"])
def test_a_failure_of_a_key_loses_no_email_and_no_result(
    bulk: Bulk, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A key that could not be made is made at the next try; one that is left is told at the end."""
    failed = bulk.failed()
    real, errors = getattr(Keys, method), [ServiceError("service_unavailable", "planted")]

    def fail_once(keys: Keys, *arguments: Any, **options: Any) -> Any:
        if errors:
            raise errors.pop()
        return real(keys, *arguments, **options)

    monkeypatch.setattr(Keys, method, fail_once)
    outcomes: list[CopyOutcome] = []
    run = bulk.use_case.run(bulk.plan(), 5, lambda _: None)
    if method == "revoke":
        with pytest.raises(ServiceError, match="planted"):
            outcomes.extend(run)
    else:
        outcomes.extend(run)
    assert [one.error for one in outcomes] == [None]
    assert bulk.copies == [failed]


def test_a_copy_for_somebody_else_does_not_count(bulk: Bulk) -> None:
    """What support sent to another address did not reach the recipient."""
    failed = bulk.failed()
    assert (
        bulk.api.raw("POST", f"/emails/{failed}/resend", '{"to": "x@home.example"}').status == 200
    )
    assert len(bulk.run()) == 1


def test_refusals_are_counted_and_end_an_account(service: Service) -> None:
    """Each email has its own refusal; a full day refuses the others without a request."""
    bulk = Bulk(service, limits=Limits(per_minute=99, per_day=5, per_month=99))
    bulk.failed(to=ANN)
    for _ in range(3):
        bulk.failed(to=BOB)
    service.suppress(bulk.account_id, ANN)
    outcomes = bulk.run()
    assert [one.error for one in outcomes] == [
        "recipient_suppressed",
        None,
        "daily_limit_exceeded",
        "daily_limit_exceeded",
    ]
    assert bulk.probe.calls == 3
    assert len(bulk.copies) == 1


def test_an_account_that_can_have_no_key_stops_no_other(
    service: Service, bulk: Bulk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its emails are refused with the reason, without a request."""
    full = Bulk(service)
    plans = [each.plan() for each in (full, bulk) if each.failed()]
    issue = Keys.issue_live

    def issue_live(keys: Keys, account_id: str, *arguments: Any, **options: Any) -> Any:
        if account_id == full.account_id:
            raise ServiceError("key_limit_exceeded", "No.")
        return issue(keys, account_id, *arguments, **options)

    monkeypatch.setattr(Keys, "issue_live", issue_live)
    plan = ResendPlan(wiring.utc_now(), [*plans[0].copies * 2, *plans[1].copies])
    outcomes = [one.error for one in bulk.use_case.run(plan, 5, lambda _: None)]
    assert outcomes == ["key_limit_exceeded", "key_limit_exceeded", None]
    assert bulk.probe.calls == 1


def test_a_full_minute_is_waited_for(service: Service) -> None:
    """The next minute has room, so nothing is refused."""
    bulk = Bulk(service, limits=Limits(per_minute=1, per_day=99, per_month=99))
    moment = wiring.utc_now().replace(second=10, microsecond=0)
    for minute in range(2):
        with service.at(moment + timedelta(minutes=minute)):
            bulk.failed()
    with service.at(moment + timedelta(minutes=1, seconds=20)):
        bulk.time_passes = True
        outcomes = bulk.run()
    assert [one.error for one in outcomes] == [None, None]
    assert bulk.pauses == [30, 0.2, pytest.approx(60), 0.2]
