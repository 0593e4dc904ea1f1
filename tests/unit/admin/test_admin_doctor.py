"""The doctor on a stack of fakes, and the test email that it sends."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from admin.use_cases.doctor import Doctor
from admin.use_cases.ports import Receipts
from admin.use_cases.round_trip import RoundTrip
from admin.use_cases.scale import Scale
from admin.use_cases.ses_plans import ChosenPlan
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_format import rollup_attributes
from pillarbox.adapters.dynamodb.queue_log import DynamoQueueLog
from pillarbox.adapters.dynamodb.replies import DynamoReceivingDomains
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.application.accounts.domains import Domains, required_records
from pillarbox.application.operator.checks import Finding, QueueOperations, Verdict
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import Granularity, Rollup
from pillarbox.domain.timing import milliseconds
from tests.fakes.builders import NOW
from tests.fakes.memory_tables import MemoryTable
from tests.refusals import refusal
from tests.unit.admin.doctor_fakes import (
    PROTECTED,
    FakeApi,
    FakeMonitoring,
    FakeProvider,
    FakeQueues,
    Reads,
    queue_policies,
)
from tests.unit.admin.domain_fakes import FakeDns, FakeDomains
from tests.unit.admin.test_admin_checks import DEPLOYED
from tests.unit.admin.use_cases import UseCases

SHOP = "shop.example"
ADDRESS = "https://mail.example"
ANSWERS = f"in.{SHOP}"
INBOUND = "inbound-smtp.eu-west-1.amazonaws.com"
RECEIPTS = Receipts(host=INBOUND, active="theirs", rules={ANSWERS: True}, may_write=True)


class HealthyStack(UseCases):
    """A stack without problems: one domain with every record, and one account that can send."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.ledger = DynamoLedger(self.table)
        self.protection, self.protection_of_credentials = Reads(PROTECTED), Reads(PROTECTED)
        self.monitoring, self.api = FakeMonitoring(), FakeApi()
        self.queue_policies, self.shares = Reads(queue_policies()), Reads({"pillarbox": 100})
        self.stored_address: str | None = ADDRESS
        self.receipts, self.receiving = Reads(RECEIPTS), DynamoReceivingDomains(self.table)
        self.domain_identities, self.dns = FakeDomains(), FakeDns()
        self.monitoring.ages = {"jobs": 1.0, "events": 1.0}
        self.domain_identities.add(SHOP)
        self.domain_identities.set_mail_from(SHOP, f"mail.{SHOP}")
        self.domain_identities.verify(SHOP)
        self.dns.add(*required_records(self.domain_identities.add(SHOP)))
        self.shop = self.create_account()
        self.senders.add(self.shop, f"hello@{SHOP}", verified=True)

        self.zones: Any = None  # the doctor changes no record
        self.capacity = DEPLOYED
        self.scale = Scale(500)

    def clock(self) -> datetime:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def findings(self) -> list[Finding]:
        doctor = Doctor(
            strangers=DynamoStrangerMail(MemoryTable("table")),
            provider=FakeProvider(),
            plan=lambda: ChosenPlan("NONE"),
            accounts=self.account_records,
            ledger=self.ledger,
            domains=Domains(
                identities=self.domain_identities,
                dns=self.dns,
                zones=self.zones,
                clock=self.clock,
                pause=self.pause,
            ),
            queues=QueueOperations(
                queues=FakeQueues(),
                ages=self.monitoring,
                log=DynamoQueueLog(self.table),
                clock=self.clock,
                urls={name: name for name in self.monitoring.ages},
            ),
            protections={
                "The table": self.protection,
                "The table Credentials": self.protection_of_credentials,
            },
            monitoring=self.monitoring,
            queue_policies=self.queue_policies,
            shares=self.shares,
            receipts=self.receipts,
            receiving=self.receiving,
            api_probe=self.api,
            api_url=ADDRESS,
            stored_address=lambda: self.stored_address,
            certificate_expiry=lambda: NOW + timedelta(days=60),
            clock=self.clock,
            isolation=self.isolation,
            configuration_set="set",
            preview_sender=f"preview@{SHOP}",
            scale=self.scale,
            capacity=lambda: self.capacity,
        )
        return list(doctor.run({}))

    def problems(self) -> list[tuple[str, str]]:
        """Return the check and verdict of each finding that neither passes nor is skipped."""
        fine = (Verdict.PASS, Verdict.SKIPPED)
        return [
            (finding.check, finding.verdict.value)
            for finding in self.findings()
            if finding.verdict not in fine
        ]

    def round_trip(self) -> RoundTrip:
        return RoundTrip(
            accounts=self.account_records,
            keys=self.keys,
            api_probe=self.api,
            clock=self.clock,
            pause=self.pause,
        )


@pytest.fixture
def stack() -> HealthyStack:
    return HealthyStack()


def test_the_doctor_knows_what_the_table_and_the_region_take(stack: HealthyStack) -> None:
    stack.capacity = replace(stack.capacity, max_rate=1_000, region="eu-north-1")
    assert [check for check, _ in stack.problems()] == ["rate"] * 2
    remedies = " ".join(finding.remedy or "" for finding in stack.findings())
    assert "EmailsPerSecond=1000" in remedies
    assert "EventBridge" in remedies


def test_the_doctor_sees_the_other_stacks(stack: HealthyStack) -> None:
    stack.shares.state = {"pillarbox": 100, "pillarbox-dev": 100}
    assert stack.problems() == [("rate", "warn")]
    message = next(f.message for f in stack.findings() if f.verdict is Verdict.WARN)
    assert message.endswith("200 % of SES's rate: pillarbox 100 %, pillarbox-dev 100 %.")
    stack.shares.state = {"pillarbox": 90, "pillarbox-dev": 10}
    assert stack.problems() == []


@pytest.mark.parametrize("found", ["", '{"Version": "2012-10-17", "Statement": []}'])
def test_the_doctor_reads_the_policies_of_the_queues_of_events(
    stack: HealthyStack, found: str
) -> None:
    stack.queue_policies.state["EventsDeadLetters"] = queue_policies(found)["EventsDeadLetters"]
    assert stack.problems() == [("policies", "fail")]
    finding = next(f for f in stack.findings() if f.verdict is Verdict.FAIL)
    assert finding.message.startswith("EventsDeadLetters has ")
    assert "pillarbox deploy" in finding.remedy


def test_tables_that_should_be_protected_must_be(stack: HealthyStack) -> None:
    for protection in (stack.protection, stack.protection_of_credentials):
        protection.state = replace(protection.state, deletion_protection=False)
    assert stack.problems() == [("table", "fail")] * 2


@pytest.mark.parametrize(
    ("in_an_hour", "shards", "advised"),
    [(112_500, 1, None), (112_501, 1, 2), (900_000, 8, None), (900_001, 8, 16), (10**9, 8, 256)],
)
def test_a_busy_account_is_advised_to_have_more_shards(
    stack: HealthyStack, in_an_hour: int, shards: int, advised: int | None
) -> None:
    """The busiest hour of the last week, four times over, must fit: 125 a second in a shard."""
    stack.accounts.raise_shards(stack.shop, shards)
    for days, count in ((1, in_an_hour), (2, 10), (8, 10**12)):
        start = Granularity.HOUR.start(milliseconds(NOW - timedelta(days=days)))
        hour = Rollup(Granularity.HOUR, start)
        hour.by_status_and_update[Status.DELIVERED, start] = count
        key = keys.rollup(stack.shop, Granularity.HOUR, start)
        stack.table.put(key | rollup_attributes(hour, 1))
    (finding,) = [f for f in stack.findings() if f.check == "shards"]
    assert finding.verdict is (Verdict.WARN if advised else Verdict.PASS)
    if advised:
        assert finding.remedy == f"pillarbox account shard {stack.shop} {advised}"


@pytest.mark.parametrize("stored", [None, "https://former.example"])
def test_links_in_emails_must_lead_to_the_stack(stack: HealthyStack, stored: str | None) -> None:
    """A missing address, and one of a former stack, is a failure that a deployment mends."""
    stack.stored_address = stored
    (finding,) = [f for f in stack.findings() if f.verdict is Verdict.FAIL]
    remedy = "Run `pillarbox deploy`, which stores it."
    assert (finding.check, finding.remedy) == ("address", remedy)
    assert (stored or "no code or invitation is sent") in finding.message


def test_events_may_wait_while_webhooks_are_off(stack: HealthyStack) -> None:
    """Nothing empties their queue then, for up to four days, and that is no failure."""
    stack.monitoring.ages["webhooks"] = 300_000.0
    assert stack.problems() == [("waiting", "fail")]
    stack.scale = Scale(500, webhooks=False)
    assert stack.problems() == []


@pytest.mark.parametrize(
    "reply", [(401, {"error": {"code": "other"}}), (200, {"items": []}), (403, None)]
)
def test_only_the_apis_own_401_passes(stack: HealthyStack, reply: tuple[int, None]) -> None:
    stack.api.reply_without_key = reply
    assert stack.problems() == [("address", "fail")]


def test_a_sender_in_a_domain_that_ses_does_not_know(stack: HealthyStack) -> None:
    stack.senders.add(stack.shop, "ann@mailbox.test", verified=True)
    stack.senders.add(stack.shop, "bob@pending.test")
    (finding,) = [f for f in stack.findings() if f.verdict is Verdict.WARN]
    assert finding.remedy == "pillarbox domain add mailbox.test"


def test_senders_that_get_each_bounce_by_mail(stack: HealthyStack) -> None:
    identities, own = stack.domain_identities.identities, f"hello@{SHOP}"
    identities[SHOP] = replace(identities[SHOP], mails_feedback=True)
    identities[own] = replace(identities[SHOP], name=own)
    found = [(f.message, f.remedy) for f in stack.findings() if f.verdict is Verdict.WARN]
    assert found == [
        (
            "shop.example: SES also mails each bounce and complaint to the sender.",
            "pillarbox domain verify shop.example",
        ),
        (
            "hello@shop.example: SES also mails each bounce and complaint to the sender.",
            f"pillarbox sender add --account {stack.shop} hello@shop.example",
        ),
    ]


def test_a_dkim_key_that_is_missing_in_dns(stack: HealthyStack) -> None:
    del stack.dns.records[f"token2._domainkey.{SHOP}", "CNAME"]
    assert stack.problems() == [("domains", "fail")]


def test_a_mail_from_domain_that_does_not_work(stack: HealthyStack) -> None:
    """A broken MAIL FROM domain is a warning, since DKIM still passes."""
    del stack.dns.records[f"mail.{SHOP}", "TXT"]
    assert stack.problems() == [("domains", "warn")]
    stack.domain_identities.set_mail_from(SHOP, f"mail.{SHOP}")
    assert stack.problems() == [("domains", "warn")]


@pytest.mark.parametrize(
    ("receipts", "records", "stopped", "problem"),
    [
        (RECEIPTS, [f"10 {INBOUND}"], None, ""),
        (RECEIPTS, ["5 mx.example", f"10 {INBOUND.upper()}"], None, ""),
        (RECEIPTS, ["10 mx.example"], None, "leads to inbound-smtp"),
        (RECEIPTS, [], None, "leads to inbound-smtp"),
        (replace(RECEIPTS, rules={}), [f"10 {INBOUND}"], None, "is not in the active set"),
        (replace(RECEIPTS, rules={ANSWERS: False}), [f"10 {INBOUND}"], None, "is disabled"),
        (replace(RECEIPTS, rules={ANSWERS: False}), [f"10 {INBOUND}"], NOW.date(), "too many"),
        (replace(RECEIPTS, may_write=False), [f"10 {INBOUND}"], None, "does not let SES store"),
    ],
)
def test_a_domain_that_receives(
    receipts: Receipts, records: list[str], stopped: date | None, problem: str
) -> None:
    """Its rule is in the active set, which may be of others, and its MX record leads to SES."""
    stack = HealthyStack()
    assert [one.message for one in stack.findings() if one.check == "receiving"] == [
        "No domain receives mail."
    ]
    stack.account_records.set_reply_domain(stack.shop, ANSWERS)
    domain = ReceivingDomain(ANSWERS, stack.shop)
    stack.receiving.put(domain)
    if stopped:
        stack.receiving.stop(domain, stopped)
    stack.receipts.state, stack.dns.records[ANSWERS, "MX"] = receipts, records
    found = [one for one in stack.findings() if one.remedy]
    assert [problem in one.message for one in found] == [True] * bool(problem), found


def test_a_domain_without_a_dmarc_record(stack: HealthyStack) -> None:
    del stack.dns.records[f"_dmarc.{SHOP}", "TXT"]
    assert stack.problems() == [("domains", "warn")]
    stack.dns.records["_dmarc.shop.example", "TXT"] = ["v=DMARC1; p=reject; sp=quarantine"]
    stack.senders.add(stack.shop, "ann@eu.shop.example", verified=True)
    assert stack.problems() == []
    messages = [f.message for f in stack.findings() if "DMARC" in f.message]
    assert messages == [
        "eu.shop.example: the DMARC policy is quarantine.",
        "shop.example: the DMARC policy is reject.",
    ]


def test_strict_alignment(stack: HealthyStack) -> None:
    """With adkim=s a subdomain needs its own signature; aspf=s ignores the MAIL FROM domain."""
    stack.dns.records[f"_dmarc.{SHOP}", "TXT"] = ["v=DMARC1; p=reject; adkim=s; aspf=s"]
    assert stack.problems() == [("domains", "warn")]
    stack.senders.add(stack.shop, "ann@eu.shop.example", verified=True)
    assert stack.problems() == [("domains", "fail"), ("domains", "warn"), ("domains", "warn")]


def test_a_name_server_without_an_answer_is_no_problem(stack: HealthyStack) -> None:
    stack.domain_identities.add("broken.example")
    stack.domain_identities.set_mail_from("broken.example", "mail.broken.example")
    stack.domain_identities.verify("broken.example")
    stack.senders.add(stack.shop, "ann@broken.example", verified=True)
    assert stack.problems() == []
    assert next(f.message for f in stack.findings() if f.verdict is Verdict.SKIPPED) == (
        "broken.example: DNS gave no answer about the DMARC record."
    )


@pytest.mark.parametrize(
    ("statuses", "polls", "message"),
    [(["bounced"], 1, "m1 is bounced"), (["sent"], 120, "After 120 seconds m1 is sent")],
)
def test_a_test_email_that_is_not_delivered(
    stack: HealthyStack, statuses: list[str], polls: int, message: str
) -> None:
    stack.api.statuses = statuses
    finding = stack.round_trip().run(stack.shop)
    assert finding.verdict is Verdict.FAIL
    assert message in finding.message
    assert len(stack.api.requests) == 1 + polls


def test_a_test_email_that_is_refused(stack: HealthyStack) -> None:
    stack.api.reply_to_send = (429, {"error": {"code": "daily_limit_exceeded", "message": "No."}})
    finding = stack.round_trip().run(stack.shop)
    assert (finding.verdict, "429 daily_limit_exceeded: No." in finding.message) == (
        Verdict.FAIL,
        True,
    )
    (record,) = stack.keys.of_account(stack.shop)
    assert record.revoked_at is not None


def test_the_sending_account_must_be_clear(stack: HealthyStack) -> None:
    other = stack.create_account()
    stack.senders.add(other, f"orders@{SHOP}", verified=True)
    with pytest.raises(ValidationFailed, match="2 accounts"):
        stack.round_trip().run(None)
    assert refusal(stack.round_trip().run, "000000000000").code == "account_not_found"
    assert [*stack.keys.of_account(stack.shop), *stack.keys.of_account(other)] == []
