"""The JSON of each response about domains and senders, as `domain_replies.py` writes it.

As in `reply_types.py`, the OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.http.messages.reply_types import Timestamp


class RecordItem(TypedDict):
    """A DNS record that the domain needs."""

    purpose: Annotated[
        str,
        Field(
            description="`OWNERSHIP` lets this account use the domain, and `DKIM` lets it send."
            " The others make it more likely that mail arrives."
        ),
    ]
    type: Annotated[str, Field(description="`CNAME`, `MX` or `TXT`.")]
    host: Annotated[str, Field(description="The full name, without a dot at its end.")]
    value: Annotated[str, Field(description="An `MX` has its preference first.")]


class DnsAnswer(TypedDict):
    """What DNS says now."""

    state: Annotated[
        Literal["present", "missing", "differs", "unknown"],
        Field(description="`unknown`: DNS did not answer in time."),
    ]
    values: Annotated[list[str], Field(max_length=10, description="The values that DNS has.")]
    advice: Annotated[str, Field(description="What to do if DNS has another value; else empty.")]


class CheckedRecord(RecordItem):
    """A DNS record with what DNS says now."""

    dns: DnsAnswer


class _DomainFields(TypedDict):
    domain: str
    state: DomainState
    addedAt: Timestamp
    checkedAt: Annotated[Timestamp, Field(description="When the provider was asked about it.")]


class DomainItem(_DomainFields):
    """A domain of the account with the DNS records that it needs."""

    records: list[RecordItem]


class DomainDetail(_DomainFields):
    """A domain of the account with its DNS records, and what DNS says of each now."""

    records: list[CheckedRecord]


class DomainList(TypedDict):
    """All domains of the account, sorted by name."""

    items: Annotated[list[DomainItem], Field(max_length=20)]


class SenderItem(TypedDict):
    """An address that the account sends from."""

    address: str
    verified: bool
    default: Annotated[bool, Field(description="Whether emails without `from` have it.")]


class SenderList(TypedDict):
    """All senders of the account, sorted by address."""

    items: list[SenderItem]
