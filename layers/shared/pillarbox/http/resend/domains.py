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
from pillarbox.http.app import App, build_app, routes
from pillarbox.http.callers import Manager
from pillarbox.http.dialects import Fields
from pillarbox.http.messages.replies import timestamp
from pillarbox.http.requests import read_json
from pillarbox.http.resend.pages import Services, bearers, page_of
from pillarbox.http.resend.replies import Shown, deleted, reply_resend_error
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
    app = build_app(reply_resend_error)
    route = routes(app, services)

    @route("GET /resend/domains", bearers(DOMAINS_READ))
    def list_domains(caller: Manager) -> Shown:
        domains = services().account_domains.of_account(caller.account.account_id)
        items = [_item(domain, services().region) for domain in domains]
        return page_of(app.current_event, items)

    @route("POST /resend/domains", bearers(DOMAINS_WRITE), status=201)
    def add_domain(caller: Manager) -> Shown:
        fields = new_domain_fields(services().region).translate(read_json(app.current_event))
        body = validate(AddDomainRequest, fields)
        domain = services().account_domains.add(
            caller.account.account_id, body.domain, body.mail_from, by=caller.actor
        )
        checks = (RecordCheck(one, RecordState.MISSING) for one in records_of(domain))
        return _item(domain, services().region) | records(domain, checks)

    @route("GET /resend/domains/{domain}", bearers(DOMAINS_READ))
    def get_domain(caller: Manager, domain: str) -> Shown:
        shown = services().account_domains.show(caller.account.account_id, unquote(domain))
        item = _item(shown.domain, services().region)
        return {"object": "domain"} | item | records(shown.domain, shown.records)

    @route("PATCH /resend/domains/{domain}", bearers(DOMAINS_WRITE))
    def change_domain(caller: Manager, domain: str) -> Shown:
        CHANGES.translate(read_json(app.current_event))
        shown = services().account_domains.show(caller.account.account_id, unquote(domain))
        return {"object": "domain", "id": shown.domain.name}

    @route("POST /resend/domains/{domain}/verify", bearers(DOMAINS_WRITE))
    def verify_domain(caller: Manager, domain: str) -> Shown:
        name = unquote(domain)
        with suppress(ValidationFailed):  # not proved yet: the status of its records says so
            services().account_domains.restart(caller.account.account_id, name)
        return {"object": "domain", "id": name.lower()}

    @route("DELETE /resend/domains/{domain}", bearers(DOMAINS_WRITE))
    def remove_domain(caller: Manager, domain: str) -> Shown:
        account_id, name = caller.account.account_id, unquote(domain)
        services().account_domains.remove(account_id, name, by=caller.actor)
        return deleted("domain", name)

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
