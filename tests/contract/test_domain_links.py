"""Links to the DNS records of one domain: who sees what, until when, and how often."""

import json
from datetime import timedelta
from typing import Any

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Role
from pillarbox.wiring import services
from tests.contract.client import Api, ApiResponse
from tests.contract.service import APP_URL, Service
from tests.contract.test_domains import add, member, publish

PER_MINUTE = 10

_NOBODY = Api()


def look(url: str) -> ApiResponse:
    """Open a link as its page does, without a credential."""
    page, _, token = url.partition("#")
    assert page == f"{APP_URL}/app/dns"
    return _NOBODY.raw("POST", "/domain-records", {"token": token})


def shared(api: Api, domain: str) -> Any:
    add(api, domain)
    created = api.raw("POST", f"/domains/{domain}/link")
    assert created.status == 201
    return created.json["url"]


@pytest.fixture
def domain() -> str:
    return f"d{new_token(8)}.example"


def test_a_link_shows_the_records_and_what_dns_says(service: Service, domain: str) -> None:
    """First the proof alone, then all records; nothing else of the account is in it."""
    account = service.account(senders={}, default=None)
    api = member(service, account)
    url = shared(api, domain)
    first = look(url).json
    assert first.keys() == {"domain", "status", "expiresAt", "records"}
    assert [(one["purpose"], one["dns"]["status"]) for one in first["records"]] == [
        ("OWNERSHIP", "missing")
    ]
    publish(first["records"])
    assert len(look(url).json["records"]) == 8
    assert look(url).json["domain"] == domain
    listed = api.raw("GET", f"/domains/{domain}").json
    assert listed["linkExpiresAt"] == first["expiresAt"]
    entry = services().accounts.log(account)[0]
    assert (entry.action, entry.subject) == (AccountAction.DOMAIN_SHARED, domain)
    assert "pbd_" not in json.dumps([listed, str(entry)])


def test_a_link_ends(service: Service, domain: str) -> None:
    """After 14 days, by a new one, when it is revoked, and with the domain."""
    account = service.account(senders={}, default=None)
    api = member(service, account)
    url = shared(api, domain)
    with service.at(wiring.utc_now() + timedelta(days=13, hours=23)):
        assert look(url).status == 200
    with service.at(wiring.utc_now() + timedelta(days=14, seconds=1)):
        assert look(url).status == 404
    second = api.raw("POST", f"/domains/{domain}/link").json["url"]
    assert [look(one).status for one in (url, second)] == [404, 200]
    assert api.raw("DELETE", f"/domains/{domain}/link").status == 204
    assert look(second).status == 404
    assert api.raw("GET", f"/domains/{domain}").json["linkExpiresAt"] is None
    assert api.raw("DELETE", f"/domains/{domain}/link").status == 204
    third = api.raw("POST", f"/domains/{domain}/link").json["url"]
    assert api.raw("DELETE", f"/domains/{domain}").status == 204
    add(api, domain)
    assert look(third).status == 404


def test_a_link_opens_its_own_domain_only(service: Service, domain: str) -> None:
    """Each other text gets one answer: another domain, account or secret, and no token at all."""
    account = service.account(senders={}, default=None)
    other = service.account(senders={}, default=None)
    url, foreign = shared(member(service, account), domain), shared(member(service, other), domain)
    mine, theirs = url.partition("#")[2], foreign.partition("#")[2]
    second = f"x{domain}"
    add(member(service, account), second)
    answers = {
        _NOBODY.raw("POST", "/domain-records", {"token": token}).text
        for token in (
            mine.replace(account, other),
            theirs.replace(other, account),
            mine.replace(domain, second),
            mine.replace(domain, domain.upper()),
            f"{mine[:-1]}x",
            mine[:10],
            f"{mine}\0",
            "pbd_",
            "🦜",
        )
    }
    assert len(answers) == 1
    assert "does not work" in answers.pop()
    assert look(url).json["domain"] == look(foreign).json["domain"] == domain


def test_who_shares_a_domain(service: Service, domain: str) -> None:
    """A role or a key that manages domains does; a viewer and a key that reads them do not."""
    account = service.account(senders={}, default=None)
    owner = Api(session=service.session(account))
    add(owner, domain)
    path = f"/domains/{domain}/link"
    viewer = Api(session=service.session(account, Role.VIEWER, "view@shop.example"))
    reader = Api(service.key(account, scopes=frozenset({"domains:read"})))
    for api in (viewer, reader):
        for method in ("POST", "DELETE"):
            assert api.raw(method, path).code == "scope_required"
    writer = Api(service.key(account, scopes=frozenset({"domains:write"})))
    assert writer.raw("POST", path).status == 201
    assert writer.raw("POST", "/domains/none.example/link").code == "domain_not_found"


def test_links_are_opened_so_often(service: Service, domain: str) -> None:
    """Whoever has a link uses up a budget of its own, and not that of the account's members."""
    account = service.account(senders={}, default=None)
    api = member(service, account)
    url = shared(api, domain)
    with service.at(wiring.utc_now()):
        statuses = [look(url).status for _ in range(PER_MINUTE + 1)]
        assert statuses == [200] * PER_MINUTE + [429]
        assert api.raw("GET", f"/domains/{domain}").status == 200
