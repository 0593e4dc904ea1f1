"""The doctor over a stack of fakes, and a mail through the whole service."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from admin.operations.doctor import Doctor
from admin.operations.findings import Finding, Verdict
from admin.operations.queues import QueueOperations, QueueUrls
from admin.operations.round_trip import RoundTrip
from pillarbox.application.accounts.dns_records import wanted_records
from pillarbox.application.accounts.domains import Domains
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.unit.admin.doctor_fakes import (
    FakeCare,
    FakeCertificates,
    FakeDoor,
    FakeProvider,
    FakeQueues,
    FakeWatch,
)
from tests.unit.admin.domain_fakes import FakeDns, FakeDomains, FakeZones
from tests.unit.admin.fakes import NOW
from tests.unit.admin.world import World

SHOP = "shop.example"


class Patient(World):
    """A stack that is well: its one domain has every record, its one account sends."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.provider, self.care, self.watch = FakeProvider(), FakeCare(), FakeWatch()
        self.queues, self.door = FakeQueues(), FakeDoor()
        self.certificates: FakeCertificates | None = FakeCertificates()
        self.domain_fakes, self.dns = FakeDomains(), FakeDns()
        self.watch.ages = {"jobs": 1.0, "events": 1.0}
        self.domain_fakes.add(SHOP)
        self.domain_fakes.set_mail_from(SHOP, f"mail.{SHOP}")
        self.domain_fakes.settle(SHOP)
        self.dns.hold(*wanted_records(self.domain_fakes.add(SHOP)))
        self.shop = self.account()
        self.senders.add(self.shop, f"hello@{SHOP}", verified=True)

    def clock(self) -> datetime:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def examine(self, **more: str) -> list[Finding]:
        doctor = Doctor(
            provider=self.provider,
            accounts=self.accounts,
            domains=Domains(
                identities=self.domain_fakes,
                dns=self.dns,
                zones=FakeZones(),
                clock=self.clock,
                pause=self.pause,
            ),
            queues=QueueOperations(
                queues=self.queues,
                urls={name: QueueUrls(name, f"{name}-dead") for name in ("jobs", "events")},
            ),
            table=self.care,
            watch=self.watch,
            door=self.door,
            certificates=self.certificates,
            clock=self.clock,
            configuration_set="set",
            preview_sender=f"preview@{SHOP}",
            workers=2,
        )
        return list(doctor.examine(more))

    def troubles(self) -> list[tuple[str, str]]:
        """Whatever is neither well nor skipped."""
        well = (Verdict.PASS, Verdict.SKIPPED)
        return [
            (each.check, each.verdict.value) for each in self.examine() if each.verdict not in well
        ]

    def round_trip(self) -> RoundTrip:
        return RoundTrip(
            accounts=self.accounts,
            keys=self.issuing,
            door=self.door,
            clock=self.clock,
            pause=self.pause,
        )


@pytest.fixture
def patient() -> Patient:
    return Patient()


def test_a_stack_that_is_well(patient: Patient) -> None:
    """Every check passes, save for the mail, which was not asked for."""
    found = patient.examine()
    assert {each.check for each in found} == {
        *("address", "clock", "sending", "quota", "rate", "functions", "events", "domains"),
        *("queues", "waiting", "table", "alarms", "relay", "mail"),
    }
    assert patient.troubles() == []
    assert [each.check for each in found if each.verdict is Verdict.SKIPPED] == ["mail"]


def test_what_cannot_be_asked_is_skipped_with_its_reason(patient: Patient) -> None:
    """A check that makes no sense here is not made."""
    patient.care.now = replace(patient.care.now, recovery=False)
    (table,) = [each for each in patient.examine(table="Not here.") if each.check == "table"]
    assert table == Finding("table", Verdict.SKIPPED, "Not here.")


def test_one_check_that_fails_keeps_no_other_back(patient: Patient) -> None:
    """What AWS refuses fails its own checks, in AWS's words, and the rest are made."""
    patient.provider.failing = True
    assert patient.troubles() == [(name, "fail") for name in ("clock", "sending", "rate")]
    assert any("AccessDenied" in each.said for each in patient.examine())


@pytest.mark.parametrize(
    "answer", [(401, {"error": {"code": "other"}}), (200, {"items": []}), (403, None)]
)
def test_another_answer_than_the_apis_fails(patient: Patient, answer: tuple[int, None]) -> None:
    """Without a key only the API itself answers with `missing_api_key`."""
    patient.door.keyless = answer
    assert patient.troubles() == [("address", "fail")]


def test_a_stack_without_a_relay(patient: Patient) -> None:
    """The relay is skipped when there is none."""
    patient.certificates = None
    assert ("relay", Verdict.SKIPPED) in [(e.check, e.verdict) for e in patient.examine()]
    assert patient.troubles() == []


def test_a_sender_of_a_domain_that_ses_does_not_know(patient: Patient) -> None:
    """An address that was verified by itself is not signed by its own domain."""
    patient.senders.add(patient.shop, "ann@mailbox.test", verified=True)
    patient.senders.add(patient.shop, "bob@pending.test")
    (finding,) = [each for each in patient.examine() if each.verdict is Verdict.WARN]
    assert finding.remedy == "pillarbox domain add mailbox.test"


def test_keys_that_left_the_dns(patient: Patient) -> None:
    """SES still says SUCCESS, but receivers find no key."""
    del patient.dns.kept[f"token2._domainkey.{SHOP}", "CNAME"]
    assert patient.troubles() == [("domains", "fail")]


def test_keys_that_ses_has_not_found(patient: Patient) -> None:
    """Mail that is not signed has nothing for DMARC to rest on."""
    patient.domain_fakes.kept[SHOP] = replace(patient.domain_fakes.kept[SHOP], dkim="PENDING")
    assert patient.troubles() == [("domains", "fail")]


def test_a_mail_from_domain_that_does_not_work(patient: Patient) -> None:
    """Without it SPF speaks for SES alone: a warning, since DKIM still passes."""
    del patient.dns.kept[f"mail.{SHOP}", "TXT"]
    assert patient.troubles() == [("domains", "warn")]
    patient.domain_fakes.set_mail_from(SHOP, f"mail.{SHOP}")
    assert patient.troubles() == [("domains", "warn")]


def test_a_domain_without_a_policy(patient: Patient) -> None:
    """A missing DMARC record warns; one of the domain above counts, with its `sp`."""
    del patient.dns.kept[f"_dmarc.{SHOP}", "TXT"]
    assert patient.troubles() == [("domains", "warn")]
    patient.dns.kept["_dmarc.shop.example", "TXT"] = ["v=DMARC1; p=reject; sp=quarantine"]
    patient.senders.add(patient.shop, "ann@eu.shop.example", verified=True)
    assert patient.troubles() == []
    said = [each.said for each in patient.examine() if "DMARC" in each.said]
    assert said == [
        "eu.shop.example: DMARC asks receivers for quarantine.",
        "shop.example: DMARC asks receivers for reject.",
    ]


def test_strict_alignment(patient: Patient) -> None:
    """A subdomain is not signed by itself (adkim=s); the MAIL FROM is another name (aspf=s)."""
    patient.dns.kept[f"_dmarc.{SHOP}", "TXT"] = ["v=DMARC1; p=reject; adkim=s; aspf=s"]
    assert patient.troubles() == [("domains", "warn")]
    patient.senders.add(patient.shop, "ann@eu.shop.example", verified=True)
    assert patient.troubles() == [("domains", "fail"), ("domains", "warn"), ("domains", "warn")]


def test_a_name_server_that_is_silent_is_no_fault(patient: Patient) -> None:
    """What SES has found and the DNS does not tell now is not called missing."""
    patient.domain_fakes.add("broken.example")
    patient.domain_fakes.set_mail_from("broken.example", "mail.broken.example")
    patient.domain_fakes.settle("broken.example")
    patient.senders.add(patient.shop, "ann@broken.example", verified=True)
    assert patient.troubles() == []
    assert next(each.said for each in patient.examine() if each.verdict is Verdict.SKIPPED) == (
        "broken.example: the DNS does not tell its DMARC record now."
    )


def test_a_mail_goes_round(patient: Patient) -> None:
    """It is sent with a key that is revoked after it, to the simulator, until it is delivered."""
    found = patient.round_trip().make(None)
    assert (found.check, found.verdict) == ("mail", Verdict.PASS)
    (method, path, key, body), *looks = patient.door.asked
    assert (method, path) == ("POST", "/v1/emails")
    assert isinstance(body, dict)
    assert body["to"] == "success@simulator.amazonses.com"
    assert looks == [("GET", "/v1/emails/m1", key, None)] * 3
    (record,) = patient.keys.kept.values()
    assert record.revoked_at is not None


@pytest.mark.parametrize(
    ("states", "looks", "said"),
    [(["bounced"], 1, "m1 is bounced"), (["sent"], 120, "After 120 seconds m1 is sent")],
)
def test_a_mail_that_does_not_come_round(
    patient: Patient, states: list[str], looks: int, said: str
) -> None:
    """Another end fails at once, none after two minutes."""
    patient.door.states = states
    found = patient.round_trip().make(patient.shop)
    assert found.verdict is Verdict.FAIL
    assert said in found.said
    assert len(patient.door.asked) == 1 + looks


def test_a_mail_that_is_refused(patient: Patient) -> None:
    """The API's own words are told, and the key is revoked all the same."""
    patient.door.accepted = (429, {"error": {"code": "daily_limit_exceeded", "message": "No."}})
    found = patient.round_trip().make(patient.shop)
    assert (found.verdict, "429 daily_limit_exceeded: No." in found.said) == (Verdict.FAIL, True)
    assert [record.revoked_at is None for record in patient.keys.kept.values()] == [False]


def test_it_must_be_clear_who_sends(patient: Patient) -> None:
    """With several accounts that can send, or none, one must be named, and be there."""
    other = patient.account()
    patient.senders.add(other, f"orders@{SHOP}", verified=True)
    with pytest.raises(ValidationFailed, match="2 accounts"):
        patient.round_trip().make(None)
    with pytest.raises(ServiceError) as absent:
        patient.round_trip().make("000000000000")
    assert absent.value.code == "account_not_found"
    assert patient.keys.kept == {}
