"""The records of the DNS that a domain's mail needs, and how those that are there compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.application.accounts.ports import DnsRecord, DomainIdentity

_INCLUDE: Final = "include:amazonses.com"
SPF: Final = f"v=spf1 {_INCLUDE} ~all"
#: Says nothing to receivers but that reports are of interest; the domain's owner tightens it.
DMARC: Final = "v=DMARC1; p=none"


class State(StrEnum):
    """How a record stands."""

    PRESENT = "present"
    CREATED = "created"
    MISSING = "missing"
    DIFFERS = "differs"
    #: The DNS gave no answer.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordState:
    """A wanted record, how it stands, and what to do when something else is there."""

    record: DnsRecord
    state: State
    advice: str = ""


def wanted_records(identity: DomainIdentity) -> tuple[DnsRecord, ...]:
    """What SES wants of a domain (SES, "Easy DKIM" and "Custom MAIL FROM"), SPF and DMARC.

    SPF is checked at the MAIL FROM domain (RFC 7208 section 2.4); the domain's own
    is for what receivers make of a domain that has none.
    """
    keys = (
        DnsRecord(
            "DKIM",
            "CNAME",
            f"{token}._domainkey.{identity.name}",
            f"{token}.{identity.dkim_zone}",
        )
        for token in identity.dkim_tokens
    )
    envelope = (
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
    return (*keys, *envelope, *own)


def compare(record: DnsRecord, found: Sequence[str]) -> RecordState:
    """Hold what is there, of the record's type, against what is wanted."""
    if not found:
        return RecordState(record, State.MISSING)
    match record.type, record.purpose:
        case "TXT", "DMARC":
            advice = _against_dmarc(found)
        case "TXT", _:
            advice = _against_spf(found)
        case "MX", _:
            advice = _against_exchanger(record, found)
        case _:
            same = {_name(value) for value in found} == {_name(record.value)}
            advice = "" if same else f"replace {', '.join(found)}"
    return RecordState(record, State.DIFFERS if advice else State.PRESENT, advice)


def spf_records(texts: Sequence[str]) -> list[str]:
    """Those of the texts that are SPF records (RFC 7208 section 4.5)."""
    return [text for text in texts if text.lower().split(" ")[0] == "v=spf1"]


def dmarc_records(texts: Sequence[str]) -> list[str]:
    """Those of the texts that are DMARC records (RFC 7489 section 6.6.3)."""
    return [text for text in texts if text.replace(" ", "").partition(";")[0] == "v=DMARC1"]


def dmarc_tags(text: str) -> dict[str, str]:
    """The tags of a DMARC record (RFC 7489 section 6.3), in lower case."""
    pairs = (pair.partition("=") for pair in text.split(";"))
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _against_spf(texts: Sequence[str]) -> str:
    found = spf_records(texts)
    if not found:
        return "add this value beside the texts that are there"
    if len(found) > 1:
        return "make one record of them: a domain with two SPF records has none (RFC 7208)"
    terms = found[0].split()
    if _INCLUDE in (term.lower().lstrip("+") for term in terms):
        return ""
    # Whatever stands behind `all` or `redirect` is not read (RFC 7208 section 5.1).
    last = next(
        (
            place
            for place, term in enumerate(terms)
            if term.lower().lstrip("+-~?") == "all" or term.lower().startswith("redirect=")
        ),
        len(terms),
    )
    return f"change it to: {' '.join([*terms[:last], _INCLUDE, *terms[last:]])}"


def _against_dmarc(texts: Sequence[str]) -> str:
    match len(dmarc_records(texts)):
        case 0:
            return "replace what is there: it is no DMARC record"
        case 1:  # whatever it asks for is the owner's business
            return ""
    return "keep one of them: a domain with two DMARC records has none (RFC 7489)"


def _against_exchanger(record: DnsRecord, found: Sequence[str]) -> str:
    hosts = {_name(value.split()[-1]) for value in found}
    if hosts == {_name(record.value.split()[-1])}:
        return ""
    # SES wants its own to be the only one.
    return "mail is taken here already: choose another MAIL FROM domain (--mail-from)"


def _name(name: str) -> str:
    return name.lower().rstrip(".")
