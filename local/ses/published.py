"""The DNS records of the sending domains in the SES stand-in, as their owners create them."""

from collections.abc import Sequence
from typing import Final

from local.ses.app import dkim_tokens
from local.ses.store import MailStore
from pillarbox.application.accounts.dns_records import (
    OWNERSHIP_LABEL,
    ownership_record,
    required_records,
)
from pillarbox.application.accounts.ports import DnsRecord, DomainIdentity

_DKIM_ZONE: Final = "dkim.amazonses.com"


def published(mailbox: MailStore, name: str, kind: str) -> Sequence[str] | None:
    """Return the values at a name, for `local.dns`; None if it is not a name of such a record.

    A domain gets its records some time after it was added. Until then these names have no values.
    """
    for domain in mailbox.identities():
        if "@" in domain or not name.endswith(domain):
            continue
        if name == domain and kind != "TXT":
            return None  # the domain also has hosts and receives mail
        records = [one for one in _records(mailbox, domain, name) if one.name.lower() == name]
        if records:
            has_values = mailbox.published(domain)
            return [_text(one) for one in records if one.type == kind] if has_values else []
    return None


def _records(mailbox: MailStore, domain: str, name: str) -> list[DnsRecord]:
    """Return the records of a domain, with the proof of the account that a name names."""
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
    account_id, _, rest = name.partition(".")
    is_proof = rest == f"{OWNERSHIP_LABEL}.{domain}"
    proofs = [ownership_record(account_id, domain)] if is_proof else []
    return [*required_records(identity), *proofs]


def _text(record: DnsRecord) -> str:
    """Write a record's data as a zone file has it."""
    if record.type == "TXT":
        return f'"{record.value}"'
    return f"{record.value}."
