"""/resend/domains…: an account's domains in Resend's shape. The id of a domain is its name."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from pillarbox.application.accounts.domains import RecordCheck, RecordState, records_of
from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.key import DOMAINS_READ, DOMAINS_WRITE
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.http.accounts.wire import AddDomainRequest
from pillarbox.http.app import App, build_app
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import Reply, reply, timestamp
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import Services, page_of
from pillarbox.http.resend.replies import deleted, read_bearer_caller, reply_resend_error
from pillarbox.http.wire import validate

_SETTLED: Final[dict[str, tuple[Json, str]]] = {
    "open_tracking": (False, "opens are not tracked"),
    "click_tracking": (False, "clicks are not tracked"),
    "tls": ("opportunistic", "receivers that have no TLS get emails without it"),
    "capabilities": (
        {"sending": "enabled", "receiving": "disabled"},
        "receiving is set up by Pillarbox's own API",
    ),
}
_REFUSED: Final = {"tracking_subdomain": "opens and clicks are not tracked"}
#: What Resend calls the records that we call otherwise.
_RECORDS: Final = {"OWNERSHIP": "Ownership", "MAIL FROM": "SPF", "MAIL FROM SPF": "SPF"}
_RECORD_STATES: Final = {
    RecordState.PRESENT: "verified",
    RecordState.MISSING: "not_started",
    RecordState.DIFFERS: "failed",
}


def new_domain_fields(region: str) -> Fields:
    """Return the fields of a new domain, for a service in a region of AWS."""
    settled = _SETTLED | {"region": (region, f"the service runs in {region}")}
    return Fields({"name": "domain", "custom_return_path": "mailFrom"}, settled, _REFUSED)


#: The SDK for Python writes the id into the body too.
CHANGES: Final = Fields({"id": "id"}, _SETTLED, _REFUSED)


def domain_routes(services: Callable[[], Services]) -> App:
    """Return the resolver of these routes."""
    app = build_app(reply_resend_error)

    def caller(scope: str) -> tuple[str, str]:
        request = read_bearer_caller(app.current_event)
        principal = services().caller_authentication.manage(request, scope)
        return principal.account.account_id, principal.actor

    @app.get("/resend/domains")
    def list_domains() -> Reply:
        account_id, _ = caller(DOMAINS_READ)
        domains, region = services().account_domains.of_account(account_id), services().region
        items = [_item(domain, region) for domain in domains]
        return reply(page_of(app.current_event, items))

    @app.post("/resend/domains")
    def add_domain() -> Reply:
        account_id, by = caller(DOMAINS_WRITE)
        fields = new_domain_fields(services().region).translate(read_json(app.current_event))
        body = validate(AddDomainRequest, fields)
        domain = services().account_domains.add(account_id, body.domain, body.mail_from, by=by)
        checks = (RecordCheck(one, RecordState.MISSING) for one in records_of(domain))
        return reply(_item(domain, services().region) | records(domain, checks), 201)

    @app.get("/resend/domains/<domain>")
    def get_domain(domain: str) -> Reply:
        account_id, _ = caller(DOMAINS_READ)
        shown = services().account_domains.show(account_id, unquote(domain))
        item = _item(shown.domain, services().region)
        return reply({"object": "domain"} | item | records(shown.domain, shown.records))

    @app.patch("/resend/domains/<domain>")
    def change_domain(domain: str) -> Reply:
        account_id, _ = caller(DOMAINS_WRITE)
        CHANGES.translate(read_json(app.current_event))
        shown = services().account_domains.show(account_id, unquote(domain))
        return reply({"object": "domain", "id": shown.domain.name})

    @app.post("/resend/domains/<domain>/verify")
    def verify_domain(domain: str) -> Reply:
        account_id, _ = caller(DOMAINS_WRITE)
        name = unquote(domain)
        with suppress(ValidationFailed):  # not proved yet: the status of its records says so
            services().account_domains.restart(account_id, name)
        return reply({"object": "domain", "id": name.lower()})

    @app.delete("/resend/domains/<domain>")
    def remove_domain(domain: str) -> Reply:
        account_id, by = caller(DOMAINS_WRITE)
        services().account_domains.remove(account_id, unquote(domain), by=by)
        return reply(deleted("domain", unquote(domain)))

    def records(domain: AccountDomain, checks: Iterable[RecordCheck]) -> dict[str, object]:
        zone = services().account_domains.registrable_domain(domain.name) or domain.name
        return {"records": [_record(check.record, check.state, zone) for check in checks]}

    return app


def _item(domain: AccountDomain, region: str) -> dict[str, object]:
    is_new = domain.state is DomainState.PENDING and domain.proved_at is None
    return {
        "id": domain.name,
        "name": domain.name,
        "status": "not_started" if is_new else domain.state.value,
        "created_at": timestamp(domain.added_at),
        "region": region,
    } | {name: value for name, (value, _) in _SETTLED.items()}


def _record(record: DnsRecord, state: RecordState, zone: str) -> dict[str, object]:
    """Return a record as Resend writes it: its name is relative to the registered domain."""
    preference, value = record.value.split() if record.type == "MX" else ("", record.value)
    return {
        "record": _RECORDS.get(record.purpose, record.purpose),
        "name": record.name.removesuffix(zone).removesuffix(".") or "@",
        "type": record.type,
        "ttl": "Auto",
        "status": _RECORD_STATES.get(state, "pending"),
        "value": value,
    } | ({"priority": int(preference)} if preference else {})
