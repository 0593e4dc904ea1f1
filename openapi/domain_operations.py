"""The operations on the domains and the senders of an account."""

from functools import partial
from typing import Final

from openapi.operation import example, managing_operation
from pillarbox.domain.accounts.key import DOMAINS_READ, DOMAINS_WRITE, SENDERS_WRITE
from pillarbox.http.accounts.replies import (
    DomainDetail,
    DomainItem,
    DomainLinkItem,
    DomainList,
    SenderItem,
    SenderList,
    SharedDomain,
)
from pillarbox.http.accounts.wire import AddDomainRequest, AddSenderRequest, DomainLinkRequest

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_RECORDS: Final = (
    {
        "purpose": "OWNERSHIP",
        "type": "TXT",
        "host": "qh4ybvcvbqzk._pillarbox.shop.example",
        "value": "pillarbox-account=qh4ybvcvbqzk",
    },
    {
        "purpose": "DKIM",
        "type": "CNAME",
        "host": f"{'a' * 32}._domainkey.shop.example",
        "value": f"{'a' * 32}.dkim.amazonses.com",
    },
)
_DOMAIN: Final = {
    "domain": "shop.example",
    "status": "pending",
    "mailFrom": "mail",
    "createdAt": _AT,
    "checkedAt": _AT,
    "linkExpiresAt": None,
    "records": [*_RECORDS],
}
_CHECKED: Final = _DOMAIN | {
    "records": [
        _RECORDS[0]
        | {"dns": {"status": "present", "values": [_RECORDS[0]["value"]], "advice": ""}},
        _RECORDS[1] | {"dns": {"status": "missing", "values": [], "advice": ""}},
    ]
}
_TOKEN: Final = f"pbd_qh4ybvcvbqzk{'0' * 32}_shop.example"
_SENDER: Final = {"address": "hello@shop.example", "verified": True, "default": True}


_operation: Final = partial(managing_operation, tag="Domains", shared_function="manage_domains")
_read: Final = partial(_operation, scope=DOMAINS_READ)
_write: Final = partial(_operation, scope=DOMAINS_WRITE)
_write_sender: Final = partial(_operation, scope=SENDERS_WRITE)

DOMAINS: Final = (
    _read(
        id="list_domains",
        route="GET /v1/domains",
        summary="List domains",
        description="All domains of the account, at most twenty, with the DNS records that each"
        " needs.",
        response=DomainList,
        response_example={"items": [_DOMAIN]},
    ),
    _write(
        id="add_domain",
        route="POST /v1/domains",
        summary="Add a domain",
        description="The first of its DNS records, `OWNERSHIP`, shows that the domain is yours."
        " When DNS has it, the next look at the domain returns the others. The account can send"
        " from the domain when DNS has `DKIM` too. A domain that the account has is returned. An"
        " account can add twenty domains a day. Domains that many owners share, such as `co.uk`,"
        " are refused.",
        body=AddDomainRequest,
        body_examples=example("domain", "A domain", {"domain": "shop.example"}),
        response=DomainItem,
        status=201,
        response_example=_DOMAIN | {"records": [_RECORDS[0]]},
        errors=("domain_limit_exceeded", "rate_limit_exceeded"),
    ),
    _read(
        id="get_domain",
        route="GET /v1/domains/{domain}",
        summary="Get a domain",
        description="The domain with what DNS says of each record now. DNS has two seconds to"
        " answer. A proof counts for 90 days after DNS last had the record `OWNERSHIP`, and ends at"
        " once if another account proves the domain and the record is gone. Then the account's"
        " senders of the domain are no longer verified.",
        response=DomainDetail,
        response_example=_CHECKED,
        errors=("rate_limit_exceeded",),
    ),
    _write(
        id="restart_domain",
        route="POST /v1/domains/{domain}",
        summary="Check a failed domain again",
        description="SES looks for the DKIM records for 72 hours. If it has given up, it begins"
        " again, and the records may be others than before. A domain that has not failed does not"
        " change. The account needs the record `OWNERSHIP` first.",
        response=DomainDetail,
        response_example=_CHECKED,
        errors=("rate_limit_exceeded",),
    ),
    _write(
        id="remove_domain",
        route="DELETE /v1/domains/{domain}",
        summary="Remove a domain",
        description="The account can no longer have senders of the domain.",
        errors=("domain_in_use",),
    ),
    _write(
        id="share_domain",
        route="POST /v1/domains/{domain}/link",
        summary="Create a link to the DNS records",
        description="Anyone who has the link sees the DNS records of this domain, what DNS says of"
        " them and nothing else, without signing in. It works for 14 days. A new one ends the old"
        " one.",
        response=DomainLinkItem,
        status=201,
        response_example={
            "url": f"https://pillarbox.example/app/dns#{_TOKEN}",
            "expiresAt": "2026-01-15T12:00:00.000+00:00",
        },
    ),
    _write(
        id="end_domain_link",
        route="DELETE /v1/domains/{domain}/link",
        summary="End the link to the DNS records",
        description="The link works no longer. A domain without a link stays as it is.",
    ),
    _operation(
        id="open_domain_link",
        route="POST /v1/domain-records",
        summary="Open a link to DNS records",
        description="The DNS records of one domain with what DNS says of each now, by the token"
        " that follows `#` in a link. It needs no other credential. All links of an account are"
        " opened ten times a minute at most.",
        security=(),
        takes_account=False,
        body=DomainLinkRequest,
        body_examples=example("link", "A link", {"token": _TOKEN}),
        response=SharedDomain,
        response_example={
            "domain": "shop.example",
            "status": "pending",
            "expiresAt": "2026-01-15T12:00:00.000+00:00",
            "records": _CHECKED["records"],
        },
        errors=("domain_not_found", "rate_limit_exceeded"),
    ),
    _read(
        id="list_senders",
        route="GET /v1/senders",
        summary="List senders",
        description="All addresses that the account sends from.",
        response=SenderList,
        response_example={"items": [_SENDER]},
    ),
    _write_sender(
        id="add_sender",
        route="POST /v1/senders",
        summary="Add a sender",
        description="Without a default sender the new one becomes the default.",
        body=AddSenderRequest,
        body_examples=example("address", "An address", {"address": "hello@shop.example"}),
        response=SenderItem,
        status=201,
        response_example=_SENDER,
        errors=("rate_limit_exceeded",),
    ),
    _write_sender(
        id="set_default_sender",
        route="PUT /v1/senders/{sender}/default",
        summary="Set the default sender",
        description="Emails without `from` have it, and on a free plan every email.",
        response=SenderItem,
        response_example=_SENDER,
        errors=("no_verified_sender",),
    ),
    _write_sender(
        id="remove_sender",
        route="DELETE /v1/senders/{sender}",
        summary="Remove a sender",
        description="If it was the default sender, the account has none until you set another one.",
    ),
)
