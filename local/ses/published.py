"""The DNS records of the sending domains in the SES stand-in, as their owners create them."""

from collections.abc import Sequence
from typing import Final

from local.ses.identity_routes import dkim_tokens
from local.ses.store import MailStore
from pillarbox.application.accounts.domains import (
    OWNERSHIP_LABEL,
    ownership_record,
    required_records,
)
from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.accounts.account_domain import DomainIdentity

_DKIM_ZONE: Final = "dkim.amazonses.com"


def published(mailbox: MailStore, name: str, kind: str) -> Sequence[str] | None:
    """Return the values at a name, for `local.dns`; None if it is not a name of such a record.

    A domain gets its records some time after it was added. Until then these names have no values.
    The proof of an account comes first: SES gets to know the domain only afterwards.
    """
    account_id, label, domain = name.partition(f".{OWNERSHIP_LABEL}.")
    if label:
        has_value = kind == "TXT" and mailbox.published(domain)
        return [_text(ownership_record(account_id, domain))] if has_value else []
    for domain in mailbox.identities():
        if "@" in domain or not name.endswith(domain):
            continue
        if name == domain and kind != "TXT":
            return None  # the domain also has hosts and receives mail
        records = [one for one in _records(mailbox, domain) if one.name.lower() == name]
        if records:
            has_values = mailbox.published(domain)
            return [_text(one) for one in records if one.type == kind] if has_values else []
        if kind == "MX" and name.endswith(f".{domain}"):
            return _receiving(mailbox, name)
    return None


def _receiving(mailbox: MailStore, name: str) -> Sequence[str]:
    """Return the MX record of a name below a domain, if a rule names it: no other receives."""
    host = f"10 inbound-smtp.{mailbox.region}.amazonaws.com."
    return [host] if mailbox.receipts.matching(f"postmaster@{name}") else []


def _records(mailbox: MailStore, domain: str) -> tuple[DnsRecord, ...]:
    """Return the records of a domain that SES knows."""
    identity = DomainIdentity(
        name=domain,
        verified=True,
        dkim="SUCCESS",
        dkim_tokens=tuple(dkim_tokens(domain)),
        dkim_zone=_DKIM_ZONE,
        mail_from=mailbox.mail_from.get(domain),
        mail_from_status=None,
        feedback_host=f"feedback-smtp.{mailbox.region}.amazonses.com",
    )
    return required_records(identity)


def _text(record: DnsRecord) -> str:
    """Write a record's data as a zone file has it."""
    if record.type == "TXT":
        return f'"{record.value}"'
    return f"{record.value}."
