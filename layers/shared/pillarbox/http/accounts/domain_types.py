"""The JSON of each response about domains and senders, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.
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

    status: Annotated[
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
    status: DomainState
    mailFrom: Annotated[str, Field(description="The label of its MAIL FROM domain.")]
    createdAt: Timestamp
    checkedAt: Annotated[Timestamp, Field(description="When the provider was asked about it.")]
    linkExpiresAt: Annotated[
        Timestamp | None,
        Field(description="Until when a link to its DNS records works; null if there is none."),
    ]


class DomainLinkItem(TypedDict):
    """A new link to the DNS records of a domain. Only this response has it."""

    url: Annotated[str, Field(description="It shows the records without signing in.")]
    expiresAt: Timestamp


class SharedDomain(TypedDict):
    """The DNS records of a domain, and what DNS says of each now, for its DNS administrator."""

    domain: str
    status: DomainState
    expiresAt: Annotated[Timestamp, Field(description="From when on the link does not work.")]
    records: list[CheckedRecord]


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
