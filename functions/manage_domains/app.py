"""/v1/domains…, /v1/senders… and /v1/domain-records: what an account sends from."""

from typing import Any
from urllib.parse import unquote

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
from pillarbox.http.accounts.wire import (
    AddDomainRequest,
    AddSenderRequest,
    ChangeDomainRequest,
    DomainLinkRequest,
)
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import ANYONE, Manager, managing
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/domains", managing(DOMAINS_READ), response=DomainList)
def list_domains(principal: Manager) -> dict[str, Any]:
    """List domains.

    All domains of the account, at most twenty, with the DNS records that each needs.
    """
    account_id = principal.account.account_id
    return DomainList.of(items=services().account_domains.of_account(account_id))


@route(
    "POST /v1/domains",
    managing(DOMAINS_WRITE),
    body=AddDomainRequest,
    response=DomainItem,
    status=201,
)
def add_domain(principal: Manager, body: AddDomainRequest) -> dict[str, Any]:
    """Add a domain.

    The first of its DNS records, `OWNERSHIP`, shows that the domain is yours. When DNS has it, the
    next look at the domain returns the others. The account can send from the domain when DNS has
    `DKIM` too. A domain that the account has is returned. An account can add twenty domains a day.
    Domains that many owners share, such as `co.uk`, are refused.

    Errors: `domain_limit_exceeded`, `rate_limit_exceeded`.
    """
    domain = services().account_domains.add(
        principal.account.account_id, body.domain, body.mail_from, by=principal.actor
    )
    return DomainItem.of(domain)


@route("GET /v1/domains/{domain}", managing(DOMAINS_READ), response=DomainDetail)
def get_domain(principal: Manager, domain: str) -> dict[str, Any]:
    """Get a domain.

    The domain with what DNS says of each record now. DNS has two seconds to answer. A proof counts
    for 90 days after DNS last had the record `OWNERSHIP`, and ends at once if another account
    proves the domain and the record is gone. Then the account's senders of the domain are no longer
    verified.

    Errors: `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    return DomainDetail.of(services().account_domains.show(account_id, unquote(domain)))


@route("POST /v1/domains/{domain}", managing(DOMAINS_WRITE), response=DomainDetail)
def restart_domain(principal: Manager, domain: str) -> dict[str, Any]:
    """Check a failed domain again.

    SES looks for the DKIM records for 72 hours. If it has given up, it begins again, and the
    records may be others than before. A domain that has not failed does not change. The account
    needs the record `OWNERSHIP` first.

    Errors: `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    return DomainDetail.of(services().account_domains.restart(account_id, unquote(domain)))


@route(
    "PATCH /v1/domains/{domain}",
    managing(DOMAINS_WRITE),
    body=ChangeDomainRequest,
    response=DomainDetail,
)
def change_domain(principal: Manager, domain: str, body: ChangeDomainRequest) -> dict[str, Any]:
    """Receive mail at a domain.

    A name below a verified domain, such as `in.shop.example`, receives the answers to emails that
    were sent with `replies`, and mail to the names that you choose. Add the MX record `ANSWERS`
    that the response has. One domain of an account receives. A name that receives mail elsewhere
    is refused.

    Errors: `rate_limit_exceeded`.
    """
    return DomainDetail.of(
        services().receiving_setup.change(
            principal.account.account_id,
            unquote(domain),
            body.receive,
            body.receive_names,
            by=principal.actor,
        )
    )


@route("DELETE /v1/domains/{domain}", managing(DOMAINS_WRITE))
def remove_domain(principal: Manager, domain: str) -> None:
    """Remove a domain.

    The account can no longer have senders of the domain.

    Errors: `domain_in_use`.
    """
    account_id, name = principal.account.account_id, unquote(domain)
    services().account_domains.remove(account_id, name, by=principal.actor)


@route(
    "POST /v1/domains/{domain}/link", managing(DOMAINS_WRITE), response=DomainLinkItem, status=201
)
def share_domain(principal: Manager, domain: str) -> dict[str, Any]:
    """Create a link to the DNS records.

    Anyone who has the link sees the DNS records of this domain, what DNS says of them and nothing
    else, without signing in. It works for 14 days. A new one ends the old one.
    """
    account_id, name = principal.account.account_id, unquote(domain)
    link = services().domain_links.create(account_id, name, by=principal.actor)
    return DomainLinkItem.of(link)


@route("DELETE /v1/domains/{domain}/link", managing(DOMAINS_WRITE))
def end_domain_link(principal: Manager, domain: str) -> None:
    """End the link to the DNS records.

    The link works no longer. A domain without a link stays as it is.
    """
    services().domain_links.revoke(principal.account.account_id, unquote(domain))


@route("POST /v1/domain-records", ANYONE, body=DomainLinkRequest, response=SharedDomain)
def open_domain_link(body: DomainLinkRequest) -> dict[str, Any]:
    """Open a link to DNS records.

    The DNS records of one domain with what DNS says of each now, by the token that follows `#` in a
    link. It needs no other credential. All links of an account are opened ten times a minute at
    most.

    Errors: `domain_not_found`, `rate_limit_exceeded`.
    """
    return SharedDomain.of(services().domain_links.open(body.token))


@route("GET /v1/senders", managing(DOMAINS_READ), response=SenderList)
def list_senders(principal: Manager) -> dict[str, Any]:
    """List senders.

    All addresses that the account sends from.
    """
    account_id = principal.account.account_id
    return SenderList.of(items=services().senders.of_account(account_id))


@route(
    "POST /v1/senders",
    managing(SENDERS_WRITE),
    body=AddSenderRequest,
    response=SenderItem,
    status=201,
)
def add_sender(principal: Manager, body: AddSenderRequest) -> dict[str, Any]:
    """Add a sender.

    Without a default sender the new one becomes the default.

    Errors: `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    sender = services().member_senders.add(account_id, body.address, by=principal.actor)
    return SenderItem.of(sender)


@route("PUT /v1/senders/{sender}/default", managing(SENDERS_WRITE), response=SenderItem)
def set_default_sender(principal: Manager, sender: str) -> dict[str, Any]:
    """Set the default sender.

    Emails without `from` have it, and on a free plan every email.

    Errors: `no_verified_sender`.
    """
    account_id = principal.account.account_id
    return SenderItem.of(services().senders.make_default(account_id, unquote(sender)))


@route("DELETE /v1/senders/{sender}", managing(SENDERS_WRITE))
def remove_sender(principal: Manager, sender: str) -> None:
    """Remove a sender.

    If it was the default sender, the account has none until you set another one.
    """
    account_id = principal.account.account_id
    services().member_senders.remove(account_id, unquote(sender), by=principal.actor)


load(lambda it: (it.caller_authentication, it.account_domains, it.senders))
lambda_handler = entrypoint(app, services, resend="resend.domains:domain_routes")
