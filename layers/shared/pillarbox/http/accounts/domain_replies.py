"""Write the responses about domains and senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from pillarbox.application.accounts.account_domains import records_of
from pillarbox.domain.errors import cut
from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pillarbox.application.accounts.account_domains import CheckedDomain
    from pillarbox.application.accounts.dns_records import RecordCheck
    from pillarbox.application.accounts.ports import AccountDomain, DnsRecord
    from pillarbox.application.accounts.senders import AccountSender
    from pillarbox.http.accounts import domain_types

#: Strangers may have written the records, so a response shows this many values and bytes of each.
_MAX_VALUES: Final = 10
_MAX_VALUE: Final = 512


def domain_item(domain: AccountDomain) -> domain_types.DomainItem:
    """Return a domain with the records that it needs."""
    return {
        "domain": domain.name,
        "state": domain.state,
        "addedAt": timestamp(domain.added_at),
        "checkedAt": timestamp(domain.checked_at),
        "records": [_record_item(record) for record in records_of(domain)],
    }


def domain_list(domains: Sequence[AccountDomain]) -> domain_types.DomainList:
    """Return an account's domains."""
    return {"items": [domain_item(domain) for domain in domains]}


def domain_detail(checked: CheckedDomain) -> domain_types.DomainDetail:
    """Return a domain with what DNS says of each record."""
    return {
        **domain_item(checked.domain),
        "records": [_checked_record(check) for check in checked.records],
    }


def sender_item(sender: AccountSender) -> domain_types.SenderItem:
    """Return a sender."""
    return {"address": sender.address, "verified": sender.verified, "default": sender.default}


def sender_list(senders: Sequence[AccountSender]) -> domain_types.SenderList:
    """Return an account's senders."""
    return {"items": [sender_item(sender) for sender in senders]}


def _record_item(record: DnsRecord) -> domain_types.RecordItem:
    return {
        "purpose": record.purpose,
        "type": record.type,
        "host": record.name,
        "value": record.value,
    }


def _checked_record(check: RecordCheck) -> domain_types.CheckedRecord:
    answer = {
        "state": check.state.value,
        "values": [cut(value, _MAX_VALUE) for value in check.values[:_MAX_VALUES]],
        "advice": cut(check.advice, _MAX_VALUE),
    }
    return {**_record_item(check.record), "dns": cast("domain_types.DnsAnswer", answer)}
