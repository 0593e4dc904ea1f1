"""The doctor's checks of a sender's domain: DKIM, SPF, DMARC and feedback."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from admin.use_cases.ports import Receipts
from pillarbox.application.accounts.domains import Domain, RecordState, dmarc_records
from pillarbox.application.accounts.ports import DnsLookup
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.address import domain_and_parents

#: UNKNOWN is not among them: DNS may have the record although it did not answer.
_BROKEN_STATES: Final = frozenset({RecordState.MISSING, RecordState.DIFFERS})


def unknown_domain(name: str) -> Finding:
    """Return the finding for a sender's domain that SES does not know."""
    return Finding(
        "domains",
        Verdict.WARN,
        f"{name}: SES does not know the domain. It signs emails with its own domain or refuses"
        " them.",
        f"pillarbox domain add {name}",
    )


def feedback_mail(identity: str, remedy: str) -> Finding:
    """Return the finding for a domain or an address whose senders get each bounce by mail too."""
    message = f"{identity}: SES also mails each bounce and complaint to the sender."
    return Finding("domains", Verdict.WARN, message, remedy)


def check_receiving(
    domain: ReceivingDomain, receipts: Receipts, values: Sequence[str] | None
) -> Finding:
    """Check whether mail for a domain gets to SES, and from there to the stack.

    `values` are its MX records; None if DNS gave no answer.
    """
    name, enabled = domain.domain, receipts.rules.get(domain.domain)
    label, _, parent = name.partition(".")
    receive = f"pillarbox domain receive {parent} {label} --account {domain.account_id}"
    if domain.stopped_on:
        message = f"{name}: it got too many mails today, so SES refuses further ones."
        return Finding("receiving", Verdict.WARN, message, "It receives again after midnight.")
    if not enabled:
        lack = "is not" if enabled is None else "is disabled"
        message = (
            f"{name}: SES refuses its mail, because its rule {lack} in the active set of receipt"
            f" rules ({receipts.active or 'none is active'})."
        )
        return Finding("receiving", Verdict.FAIL, message, f"Add it: {receive}")
    if values is not None and receipts.host not in {one.split()[-1].lower() for one in values}:
        message = f"{name}: DNS has no MX record that leads to {receipts.host}."
        remedy = f"Create the record, which this shows: {receive}"
        return Finding("receiving", Verdict.FAIL, message, remedy)
    return Finding("receiving", Verdict.PASS, f"{name}: SES receives its mail.")


def dmarc_tags(text: str) -> dict[str, str]:
    """Return the tags of a DMARC record in lower case (RFC 7489 section 6.3)."""
    pairs = (pair.partition("=") for pair in text.split(";"))
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def dmarc_in_force(dns: DnsLookup, name: str) -> Mapping[str, str] | None:
    """Return the tags of the DMARC record in force: the domain's own or a parent's.

    Empty without a record; None if DNS gives no answer.
    """
    for domain in domain_and_parents(name):
        texts = dns.look_up(f"_dmarc.{domain}", "TXT")
        if texts is None:
            return None
        if records := dmarc_records(texts):
            tags = dmarc_tags(records[0])
            return tags if domain == name else {**tags, "p": tags.get("sp", tags.get("p", ""))}
    return {}


def check_domain(name: str, domain: Domain, dmarc: Mapping[str, str] | None) -> Iterator[Finding]:
    """Check whether receivers can authenticate emails from a domain (RFC 7489 section 3.1).

    SES signs for `domain`: the same as `name` or a parent of it. `dmarc` is as of `dmarc_in_force`.
    """
    tags = dmarc or {}
    yield _check_dkim(name, domain, tags)
    yield _check_spf(name, domain, tags)
    yield _check_dmarc(name, domain, dmarc)
    if domain.identity.mails_feedback:
        remedy = f"pillarbox domain verify {domain.identity.name}"
        yield feedback_mail(domain.identity.name, remedy)


def _check_dkim(name: str, domain: Domain, tags: Mapping[str, str]) -> Finding:
    identity = domain.identity
    if identity.dkim != "SUCCESS" or "DKIM" in _broken_records(domain):
        message = f"{name}: emails are not signed with the domain's keys (DKIM: {identity.dkim})."
        remedy = f"Create the CNAME records: {_show_command(domain)}"
        return Finding("domains", Verdict.FAIL, message, remedy)
    if tags.get("adkim") == "s" and identity.name != name:
        message = (
            f"{name}: emails are signed by {identity.name}, but the DMARC record requires"
            f" a signature of {name} (adkim=s)."
        )
        return Finding("domains", Verdict.FAIL, message, f"pillarbox domain add {name}")
    return Finding("domains", Verdict.PASS, f"{name}: signed by {identity.name} (DKIM).")


def _check_spf(name: str, domain: Domain, tags: Mapping[str, str]) -> Finding:
    identity = domain.identity
    broken = _broken_records(domain)
    if identity.mail_from_status != "SUCCESS" or broken & {"MAIL FROM", "MAIL FROM SPF"}:
        message = f"{name}: bounces go to SES's own domain, so SPF does not cover this domain."
        remedy = f"Create the MX record and its TXT record: {_show_command(domain)}"
        return Finding("domains", Verdict.WARN, message, remedy)
    if tags.get("aspf") == "s" and identity.mail_from != name:
        message = f"{name}: the DMARC record (aspf=s) ignores the SPF of {identity.mail_from}."
        return Finding("domains", Verdict.WARN, message, "Nothing, if DKIM passes.")
    return Finding("domains", Verdict.PASS, f"{name}: SPF covers {identity.mail_from}.")


def _check_dmarc(name: str, domain: Domain, tags: Mapping[str, str] | None) -> Finding:
    if tags is None:
        message = f"{name}: DNS gave no answer about the DMARC record."
        return Finding("domains", Verdict.SKIPPED, message)
    if not tags:
        message = f"{name}: no DMARC record; large receivers require one."
        remedy = f"Create the TXT record: {_show_command(domain)}"
        return Finding("domains", Verdict.WARN, message, remedy)
    message = f"{name}: the DMARC policy is {tags.get('p', 'not set')}."
    return Finding("domains", Verdict.PASS, message)


def _broken_records(domain: Domain) -> frozenset[str]:
    """Return the purposes of the records that are missing or differ in DNS."""
    return frozenset(
        check.record.purpose for check in domain.records if check.state in _BROKEN_STATES
    )


def _show_command(domain: Domain) -> str:
    return f"pillarbox domain show {domain.identity.name}"
