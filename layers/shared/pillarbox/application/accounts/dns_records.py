"""The DNS records that a sending domain needs, and how existing records compare with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.accounts.account_domain import DomainIdentity

_INCLUDE: Final = "include:amazonses.com"
SPF: Final = f"v=spf1 {_INCLUDE} ~all"
#: Asks receivers for nothing. The owner of the domain makes it stricter.
DMARC: Final = "v=DMARC1; p=none"
OWNERSHIP_LABEL: Final = "_pillarbox"


class RecordState(StrEnum):
    """How DNS compares with a required record."""

    PRESENT = "present"
    CREATED = "created"
    MISSING = "missing"
    DIFFERS = "differs"
    #: DNS gave no answer.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """A required record and its state. `advice` says what to do if another value exists."""

    record: DnsRecord
    state: RecordState
    advice: str = ""
    #: What DNS has at the name, of the record's type.
    values: tuple[str, ...] = ()


def required_records(identity: DomainIdentity) -> tuple[DnsRecord, ...]:
    """Return the records that a domain needs: DKIM, MAIL FROM, SPF and DMARC.

    Sources: SES, "Easy DKIM" and "Custom MAIL FROM". Receivers check SPF at the MAIL FROM
    domain (RFC 7208 section 2.4). The domain's own SPF record is for receivers that look
    there.
    """
    dkim = (
        DnsRecord(
            "DKIM",
            "CNAME",
            f"{token}._domainkey.{identity.name}",
            f"{token}.{identity.dkim_zone}",
        )
        for token in identity.dkim_tokens
    )
    mail_from = (
        (
            DnsRecord("MAIL FROM", "MX", identity.mail_from, f"10 {identity.feedback_host}"),
            DnsRecord("MAIL FROM SPF", "TXT", identity.mail_from, SPF),
        )
        if identity.mail_from
        else ()
    )
    own = (
        DnsRecord("SPF", "TXT", identity.name, SPF),
        DnsRecord("DMARC", "TXT", f"_dmarc.{identity.name}", DMARC),
    )
    return (*dkim, *mail_from, *own)


def ownership_record(account_id: str, domain: str) -> DnsRecord:
    """Return the record by which a domain's owner lets an account use it.

    Its name has the account's id, so that several accounts can have one each.
    """
    name = f"{account_id}.{OWNERSHIP_LABEL}.{domain}"
    return DnsRecord("OWNERSHIP", "TXT", name, f"pillarbox-account={account_id}")


def compare(record: DnsRecord, values: Sequence[str]) -> RecordCheck:
    """Compare a required record with the existing values of its type at its name."""
    if not values:
        return RecordCheck(record, RecordState.MISSING)
    match record.type, record.purpose:
        case "TXT", "OWNERSHIP":
            advice = "" if record.value in values else "add this value next to the existing ones"
        case "TXT", "DMARC":
            advice = _dmarc_advice(values)
        case "TXT", _:
            advice = _spf_advice(values)
        case "MX", _:
            advice = _mx_advice(record, values)
        case _:
            same = {_name(value) for value in values} == {_name(record.value)}
            advice = "" if same else f"replace {', '.join(values)}"
    state = RecordState.DIFFERS if advice else RecordState.PRESENT
    return RecordCheck(record, state, advice, tuple(values))


def spf_records(texts: Sequence[str]) -> list[str]:
    """Return the texts that are SPF records (RFC 7208 section 4.5)."""
    return [text for text in texts if text.lower().split(" ")[0] == "v=spf1"]


def dmarc_records(texts: Sequence[str]) -> list[str]:
    """Return the texts that are DMARC records (RFC 7489 section 6.6.3)."""
    return [text for text in texts if text.replace(" ", "").partition(";")[0] == "v=DMARC1"]


def _spf_advice(texts: Sequence[str]) -> str:
    records = spf_records(texts)
    if not records:
        return "add this value next to the existing TXT values"
    if len(records) > 1:
        return "merge the SPF records into one: with two, SPF fails (RFC 7208)"
    terms = records[0].split()
    if _INCLUDE in (term.lower().lstrip("+") for term in terms):
        return ""
    # Receivers ignore everything after `all` or `redirect` (RFC 7208 section 5.1).
    end = next(
        (
            index
            for index, term in enumerate(terms)
            if term.lower().lstrip("+-~?") == "all" or term.lower().startswith("redirect=")
        ),
        len(terms),
    )
    return f"change it to: {' '.join([*terms[:end], _INCLUDE, *terms[end:]])}"


def _dmarc_advice(texts: Sequence[str]) -> str:
    match len(dmarc_records(texts)):
        case 0:
            return "replace the existing value: it is not a DMARC record"
        case 1:  # Its policy is the owner's choice.
            return ""
    return "keep one of the DMARC records: with two, receivers ignore both (RFC 7489)"


def _mx_advice(record: DnsRecord, values: Sequence[str]) -> str:
    hosts = {_name(value.split()[-1]) for value in values}
    if hosts == {_name(record.value.split()[-1])}:
        return ""
    # SES requires that its own MX is the only one.
    return "this name already receives mail: choose another MAIL FROM domain (--mail-from)"


def _name(name: str) -> str:
    return name.lower().rstrip(".")
