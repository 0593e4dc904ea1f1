"""The DNS records that a domain needs, and how existing records compare with them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from admin.use_cases.domain_checks import dmarc_tags
from pillarbox.application.accounts.domains import (
    DMARC,
    SPF,
    Domain,
    RecordState,
    compare,
    required_records,
)
from pillarbox.application.accounts.ports import DnsRecord
from tests.loops import for_each
from tests.unit.admin.domain_fakes import FakeDomains

GOOGLE = "v=spf1 include:_spf.google.com ~all"


def records(mail_from: str | None = "mail.shop.example") -> dict[str, DnsRecord]:
    identities = FakeDomains()
    identities.add("shop.example")
    if mail_from:
        identities.set_mail_from("shop.example", mail_from)
    return {record.purpose: record for record in required_records(identities.add("shop.example"))}


@for_each(
    ("purpose", "values", "state", "advice"),
    [
        ("DKIM", [], RecordState.MISSING, ""),
        ("DKIM", ["Token3.DKIM.amazonses.com."], RecordState.PRESENT, ""),
        ("DKIM", ["other.example"], RecordState.DIFFERS, "replace other.example"),
        ("MAIL FROM", ["10 feedback-smtp.eu-west-1.amazonses.com"], RecordState.PRESENT, ""),
        ("MAIL FROM", ["20 mx.shop.example"], RecordState.DIFFERS, "--mail-from"),
        (
            "MAIL FROM",
            ["10 feedback-smtp.eu-west-1.amazonses.com", "20 mx.shop.example"],
            RecordState.DIFFERS,
            "--mail-from",
        ),
        ("SPF", ["token=1", SPF], RecordState.PRESENT, ""),
        ("SPF", ["V=SPF1 mx Include:AmazonSES.com -all"], RecordState.PRESENT, ""),
        ("SPF", ["token=1", "v=spf10 all"], RecordState.DIFFERS, "add this value next to"),
        ("SPF", [SPF, GOOGLE], RecordState.DIFFERS, "merge the SPF records into one"),
        (
            "SPF",
            [GOOGLE],
            RecordState.DIFFERS,
            "change it to: v=spf1 include:_spf.google.com include:amazonses.com ~all",
        ),
        (
            "SPF",
            ["v=spf1 mx redirect=_spf.shop.example"],
            RecordState.DIFFERS,
            "v=spf1 mx include:amazonses.com redirect=_spf.shop.example",
        ),
        ("SPF", ["v=spf1 a"], RecordState.DIFFERS, "change it to: v=spf1 a include:amazonses.com"),
        ("DMARC", [DMARC], RecordState.PRESENT, ""),
        ("DMARC", ["v=DMARC1;p=reject; rua=mailto:d@shop.example"], RecordState.PRESENT, ""),
        ("DMARC", ["hello"], RecordState.DIFFERS, "not a DMARC record"),
        ("DMARC", [DMARC, "v=DMARC1; p=reject"], RecordState.DIFFERS, "keep one"),
    ],
)
def test_records_are_compared_with_existing_values(
    purpose: str, values: list[str], state: RecordState, advice: str
) -> None:
    check = compare(records()[purpose], values)
    assert check.state is state
    assert advice in check.advice
    assert bool(check.advice) == (state is RecordState.DIFFERS)


def test_a_domain_is_verified_with_its_keys_and_its_mail_from() -> None:
    identities = FakeDomains()
    identities.add("shop.example")
    identities.verify("shop.example")
    identity = identities.add("shop.example")
    assert Domain(identity, ()).verified
    assert not Domain(replace(identity, verified=False), ()).verified
    assert not Domain(replace(identity, dkim="TEMPORARY_FAILURE"), ()).verified
    assert not Domain(replace(identity, mail_from_status="FAILED"), ()).verified


def test_a_domain_without_mail_from_needs_no_record_for_it() -> None:
    assert [*records(None)] == ["DKIM", "SPF", "DMARC"]


def test_dmarc_tags_are_parsed() -> None:
    assert dmarc_tags("v=DMARC1; P=Reject ;aspf = s;;") == {
        "v": "dmarc1",
        "p": "reject",
        "aspf": "s",
        "": "",
    }


@given(st.text(), st.lists(st.text()))
def test_any_text_can_be_compared(text: str, texts: list[str]) -> None:
    assert isinstance(dmarc_tags(text), dict)
    for record in records().values():
        if record.type == "TXT":
            compare(record, [f"v=spf1 {text}", *texts])
            compare(record, [f"v=DMARC1;{text}", *texts])
