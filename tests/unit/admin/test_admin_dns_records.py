"""The records that a domain needs, and how they compare with those that are there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.application.accounts.dns_records import (
    DMARC,
    SPF,
    RecordState,
    compare,
    dmarc_tags,
    required_records,
)
from pillarbox.application.accounts.ports import DnsRecord
from tests.unit.admin.domain_fakes import FakeDomains

GOOGLE = "v=spf1 include:_spf.google.com ~all"


def records(mail_from: str | None = "mail.shop.example") -> dict[str, DnsRecord]:
    fake = FakeDomains()
    fake.add("shop.example")
    if mail_from:
        fake.set_mail_from("shop.example", mail_from)
    return {record.purpose: record for record in required_records(fake.add("shop.example"))}


def test_what_is_wanted() -> None:
    """Three keys, the MAIL FROM domain with its SPF, the domain's SPF and DMARC."""
    fake = FakeDomains()
    fake.add("shop.example")
    fake.set_mail_from("shop.example", "mail.shop.example")
    assert [
        (record.type, record.name, record.value)
        for record in required_records(fake.add("shop.example"))
    ] == [
        ("CNAME", "token1._domainkey.shop.example", "token1.dkim.amazonses.com"),
        ("CNAME", "token2._domainkey.shop.example", "token2.dkim.amazonses.com"),
        ("CNAME", "token3._domainkey.shop.example", "token3.dkim.amazonses.com"),
        ("MX", "mail.shop.example", "10 feedback-smtp.eu-west-1.amazonses.com"),
        ("TXT", "mail.shop.example", "v=spf1 include:amazonses.com ~all"),
        ("TXT", "shop.example", "v=spf1 include:amazonses.com ~all"),
        ("TXT", "_dmarc.shop.example", "v=DMARC1; p=none"),
    ]
    assert "MAIL FROM" not in records(None)


@pytest.mark.parametrize(
    ("purpose", "found", "state", "advice"),
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
        ("SPF", ["token=1", "v=spf10 all"], RecordState.DIFFERS, "add this value beside"),
        ("SPF", [SPF, GOOGLE], RecordState.DIFFERS, "make one record"),
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
        ("DMARC", ["hello"], RecordState.DIFFERS, "no DMARC record"),
        ("DMARC", [DMARC, "v=DMARC1; p=reject"], RecordState.DIFFERS, "keep one"),
    ],
)
def test_each_record_is_held_against_what_is_there(
    purpose: str, found: list[str], state: RecordState, advice: str
) -> None:
    """Equal, lacking or different, with what to make of a different one."""
    compared = compare(records()[purpose], found)
    assert compared.state is state
    assert advice in compared.advice
    assert bool(compared.advice) == (state is RecordState.DIFFERS)


def test_the_tags_of_a_policy_are_read() -> None:
    """Names and values in lower case, white space aside."""
    assert dmarc_tags("v=DMARC1; P=Reject ;aspf = s;;") == {
        "v": "dmarc1",
        "p": "reject",
        "aspf": "s",
        "": "",
    }


@given(st.text(), st.lists(st.text()))
def test_whatever_is_in_the_dns_is_compared(text: str, texts: list[str]) -> None:
    """No text makes the comparison or the reading of tags fail."""
    assert isinstance(dmarc_tags(text), dict)
    for record in records().values():
        if record.type == "TXT":
            compare(record, [f"v=spf1 {text}", *texts])
            compare(record, [f"v=DMARC1;{text}", *texts])
