"""/v1/domains…, /v1/senders… and /v1/domain-records: what an account sends from."""

from urllib.parse import unquote

from pillarbox.domain.accounts.key import DOMAINS_READ, DOMAINS_WRITE, SENDERS_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
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
from pillarbox.http.app import App, build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.requests import read_caller
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/domains")
def list_domains() -> Reply:
    account_id = _account_id(DOMAINS_READ)
    return reply(DomainList.of(items=services().account_domains.of_account(account_id)))


@app.post("/v1/domains")
def add_domain() -> Reply:
    principal = _principal(DOMAINS_WRITE)
    body = read_body(app.current_event, AddDomainRequest)
    domain = services().account_domains.add(
        principal.account.account_id, body.domain, body.mail_from, by=principal.actor
    )
    return reply(DomainItem.of(domain), 201)


@app.get("/v1/domains/<domain>")
def get_domain(domain: str) -> Reply:
    account_id = _account_id(DOMAINS_READ)
    return reply(DomainDetail.of(services().account_domains.show(account_id, unquote(domain))))


@app.post("/v1/domains/<domain>")
def restart_domain(domain: str) -> Reply:
    account_id = _account_id(DOMAINS_WRITE)
    return reply(DomainDetail.of(services().account_domains.restart(account_id, unquote(domain))))


@app.delete("/v1/domains/<domain>")
def remove_domain(domain: str) -> Reply:
    principal = _principal(DOMAINS_WRITE)
    account_id, name = principal.account.account_id, unquote(domain)
    services().account_domains.remove(account_id, name, by=principal.actor)
    return reply_nothing()


@app.post("/v1/domains/<domain>/link")
def share_domain(domain: str) -> Reply:
    principal = _principal(DOMAINS_WRITE)
    account_id, name = principal.account.account_id, unquote(domain)
    link = services().domain_links.create(account_id, name, by=principal.actor)
    return reply(DomainLinkItem.of(link), 201)


@app.delete("/v1/domains/<domain>/link")
def end_link(domain: str) -> Reply:
    services().domain_links.revoke(_account_id(DOMAINS_WRITE), unquote(domain))
    return reply_nothing()


@app.post("/v1/domain-records")
def open_link() -> Reply:
    token = read_body(app.current_event, DomainLinkRequest).token
    return reply(SharedDomain.of(services().domain_links.open(token)))


@app.get("/v1/senders")
def list_senders() -> Reply:
    account_id = _account_id(DOMAINS_READ)
    return reply(SenderList.of(items=services().senders.of_account(account_id)))


@app.post("/v1/senders")
def add_sender() -> Reply:
    principal = _principal(SENDERS_WRITE)
    account_id = principal.account.account_id
    address = read_body(app.current_event, AddSenderRequest).address
    sender = services().member_senders.add(account_id, address, by=principal.actor)
    return reply(SenderItem.of(sender), 201)


@app.put("/v1/senders/<sender>/default")
def set_default_sender(sender: str) -> Reply:
    account_id = _account_id(SENDERS_WRITE)
    return reply(SenderItem.of(services().senders.make_default(account_id, unquote(sender))))


@app.delete("/v1/senders/<sender>")
def remove_sender(sender: str) -> Reply:
    principal = _principal(SENDERS_WRITE)
    account_id = principal.account.account_id
    services().member_senders.remove(account_id, unquote(sender), by=principal.actor)
    return reply_nothing()


def _account_id(scope: str) -> str:
    return _principal(scope).account.account_id


def _principal(scope: str) -> Principal | MemberPrincipal:
    return services().caller_authentication.manage(read_caller(app.current_event), scope)


def _resend() -> App:
    from pillarbox.http.resend.domains import domain_routes  # noqa: PLC0415  few requests

    return domain_routes(services)


load(lambda it: (it.caller_authentication, it.account_domains, it.senders))
lambda_handler = entrypoint(app, {"/resend/": _resend})
