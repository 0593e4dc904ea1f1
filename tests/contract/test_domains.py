"""Domains and senders: what members do, and what no account can take from another."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from time import monotonic
from typing import Any, Final
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.account import Isolation
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.name_server import RECORDS
from tests.contract.service import Service

PER_MINUTE = 60

_numbers: Final = count()


@pytest.fixture
def domain() -> str:
    return f"acme{next(_numbers)}.example"


def member(service: Service, account: str, role: Role = Role.OWNER) -> Api:
    return Api(session=service.session(account, role, f"ada@{account}.example"))


def add(api: Api, domain: str) -> ApiResponse:
    return api.raw("POST", "/domains", {"domain": domain})


def add_sender(api: Api, address: str) -> ApiResponse:
    return api.raw("POST", "/senders", {"address": address})


def publish(records: list[Any], *, but: str = "") -> None:
    """Create records in DNS as their owner does, without those of one purpose."""
    for record in records:
        ends = "" if record["type"] == "TXT" else "."
        quote = '"' if record["type"] == "TXT" else ""
        values = [] if record["purpose"] == but else [f"{quote}{record['value']}{ends}{quote}"]
        RECORDS[record["host"].lower(), record["type"]] = values


def proved(api: Api, domain: str) -> Any:
    """Add a domain, publish its proof, and return all records that it needs then."""
    publish(add(api, domain).json["records"])
    return api.raw("GET", f"/domains/{domain}").json["records"]


def states(detail: Any) -> dict[str, set[str]]:
    """Return what DNS says of the records of each purpose."""
    found: dict[str, set[str]] = {}
    for record in detail["records"]:
        found.setdefault(record["purpose"], set()).add(record["dns"]["status"])
    return found


def verified(service: Service, api: Api, domain: str) -> None:
    publish(add(api, domain).json["records"])
    service.ses.domains.known[domain] = True
    with service.at(wiring.utc_now() + timedelta(seconds=10)):
        assert api.raw("GET", f"/domains/{domain}").json["status"] == "verified"


def test_a_mail_from_label_counts_for_a_new_domain(service: Service, domain: str) -> None:
    """SES gets the chosen label when it gets to know the domain; later the label stays."""
    api = member(service, service.account(senders={}, default=None))
    for wrong in ("", "a b", "-", "x" * 64):
        body = {"domain": domain, "mailFrom": wrong}
        assert api.raw("POST", "/domains", body).errors.keys() == {"mailFrom"}, wrong
    body = {"domain": domain, "mailFrom": "Bounce"}
    added = api.raw("POST", "/domains", body).json
    assert added["mailFrom"] == "bounce"
    publish(added["records"])
    assert api.raw("GET", f"/domains/{domain}").json["mailFrom"] == "bounce"
    assert service.ses.domains.mail_from[domain] == f"bounce.{domain}"
    assert add(api, domain).json["mailFrom"] == "bounce"


def test_a_domain_is_set_up_step_by_step(service: Service, domain: str) -> None:
    """Added, its records are missing, then present; when SES agrees, its addresses send."""
    account = service.account(senders={}, default=None)
    api = member(service, account)
    added = add(api, domain.upper())
    assert (added.status, added.json["domain"], added.json["status"]) == (201, domain, "pending")
    assert [record["purpose"] for record in added.json["records"]] == ["OWNERSHIP"]
    assert add(api, domain).json == added.json
    RECORDS[f"mail.{domain}", "MX"] = []
    missing = api.raw("GET", f"/domains/{domain}").json
    assert (states(missing), domain in service.ses.domains.known) == (
        {"OWNERSHIP": {"missing"}},
        False,
    )
    assert add_sender(api, f"hello@{domain}").errors == {"address": "unverified_domain"}

    publish(missing["records"])
    owned = api.raw("GET", f"/domains/{domain}").json
    purposes = [record["purpose"] for record in owned["records"]]
    assert purposes == ["OWNERSHIP", *["DKIM"] * 3, "MAIL FROM", "MAIL FROM SPF", "SPF", "DMARC"]
    expected = {one: {"missing"} for one in purposes} | {"OWNERSHIP": {"present"}}
    assert (owned["status"], states(owned)) == ("pending", expected)

    publish(owned["records"], but="DMARC")
    present = api.raw("GET", f"/domains/{domain}").json
    expected = {one: {"present"} for one in purposes} | {"DMARC": {"missing"}}
    assert (present["status"], states(present)) == ("pending", expected)

    service.ses.domains.known[domain] = True
    with service.at(wiring.utc_now() + timedelta(seconds=10)):
        assert api.raw("GET", f"/domains/{domain}").json["status"] == "verified"
    (listed,) = api.raw("GET", "/domains").json["items"]
    records = [{**one, "dns": None} for one in owned["records"]]
    assert (listed["status"], [{**one, "dns": None} for one in listed["records"]]) == (
        "verified",
        records,
    )

    first, second = f"hello@{domain}", f"news@sub.{domain}"
    assert add_sender(api, first).json == {"address": first, "verified": True, "default": True}
    assert add_sender(api, second).json["default"] is False
    assert Api(service.key(account)).send(otp()).status == 200
    assert api.raw("PUT", f"/senders/{second}/default").json["default"] is True
    senders = {one["address"]: one["default"] for one in api.raw("GET", "/senders").json["items"]}
    assert senders == {first: False, second: True}
    refused = api.raw("DELETE", f"/domains/{domain}")
    assert (refused.code, refused.error["details"]) == ("domain_in_use", {"senders": [*senders]})
    assert [api.raw("DELETE", f"/senders/{one}").status for one in senders] == [204, 204]
    assert api.raw("DELETE", f"/domains/{domain}").status == 204
    assert api.raw("GET", f"/domains/{domain}").code == "domain_not_found"
    assert api.raw("GET", "/domains").json == {"items": []}


@pytest.mark.parametrize("by", ["another account", "the operator"])
def test_a_domain_of_others_needs_the_owners_consent(
    service: Service, domain: str, by: str
) -> None:
    """Whoever adds it, before or after, can use it only with a record that names the account."""
    thief = member(service, service.account())
    early = add(thief, f"early.{domain}").json
    if by == "another account":
        owner = member(service, service.account())
        verified(service, owner, domain)
        verified(service, owner, f"early.{domain}")
    else:
        service.ses.domains.known |= {domain: True, f"early.{domain}": True}
    late = add(thief, domain)
    assert (late.status, late.json["status"]) == (201, "pending")
    with service.at(wiring.utc_now() + timedelta(minutes=1)):
        for name in (domain, f"early.{domain}"):
            detail = thief.raw("GET", f"/domains/{name}").json
            assert (detail["status"], states(detail)["OWNERSHIP"]) == ("pending", {"missing"})
            assert add_sender(thief, f"hello@{name}").errors == {"address": "unverified_domain"}
        publish(early["records"][:1])
        consent = thief.raw("GET", f"/domains/early.{domain}").json
        assert consent["status"] == "verified"
    assert add_sender(thief, f"hello@early.{domain}").status == 201
    assert add_sender(thief, f"hello@{domain}").errors == {"address": "unverified_domain"}


def test_a_domain_of_others_looks_new(service: Service, domain: str) -> None:
    """The answers for a domain of another account and for an absent one differ in the name only.

    SES is not asked to begin another account's domain again.
    """
    owner, stranger = (member(service, service.account()) for _ in range(2))
    verified(service, owner, domain)
    other, ses = f"z{domain}", service.ses.domains
    foreign, absent = (add_sender(stranger, f"hello@{name}") for name in (domain, other))
    assert (foreign.status, foreign.text) == (422, absent.text.replace(other, domain))

    ses.dkim[domain] = "FAILED"
    ses.calls.clear()
    foreign, absent = (stranger.raw("POST", f"/domains/{name}") for name in (domain, other))
    assert (foreign.code, foreign.text) == ("domain_not_found", absent.text)
    assert ses.calls == []

    ses.dkim.pop(domain)
    mine, free = add(stranger, domain).json, add(stranger, other).json
    assert [mine[name] for name in ("status", "domain")] == ["pending", domain]
    assert [r["purpose"] for r in mine["records"]] == [r["purpose"] for r in free["records"]]


def test_nobody_changes_what_others_set_up_at_ses(service: Service, domain: str) -> None:
    ses = service.ses.domains
    for name, known in ((domain, True), (f"b.{domain}", False)):
        ses.known[name], ses.mail_from[name] = known, f"bounce.{name}"
    ses.known[f"c.{domain}"] = True
    for name in (domain, f"b.{domain}", f"c.{domain}"):
        before, ses.calls[:] = ses.mail_from.get(name), []
        proved(member(service, service.account()), name)
        assert ses.mail_from.get(name) == before
        assert ses.calls == ["get"]


def test_dns_may_say_anything(service: Service, domain: str) -> None:
    """Other values are shown, at most ten and not too long; no answer is `unknown`, in time."""
    account = service.account()
    api = member(service, account)
    records = proved(api, domain)
    hostile = "<img src=x onerror=alert(1)>"
    RECORDS[records[0]["host"], "TXT"] = [f'"{hostile}"', *(f'"{n}"' for n in range(20))]
    RECORDS[records[1]["host"], "CNAME"] = ["elsewhere.example."]
    detail = api.raw("GET", f"/domains/{domain}").json
    first, second = (record["dns"] for record in detail["records"][:2])
    assert (first["status"], len(first["values"])) == ("differs", 10)
    RECORDS[records[0]["host"], "TXT"] = [f'"{hostile}"']
    shown = api.raw("GET", f"/domains/{domain}").json["records"][0]["dns"]
    assert shown["values"] == [hostile]
    assert (second["status"], second["values"]) == ("differs", ["elsewhere.example"])
    assert second["advice"] == "replace elsewhere.example"
    slow = f"{domain.partition('.')[0]}.slow.example"
    service.domain(account, slow, verified=False)
    start = monotonic()
    detail = api.raw("GET", f"/domains/{slow}").json
    assert set.union(*states(detail).values()) == {"unknown"}
    # The records together have two seconds; one after the other they would take sixteen.
    assert monotonic() - start < 12


def test_ses_is_asked_rarely(service: Service, domain: str) -> None:
    """A list asks about one domain, an open page every 8 s, and of a verified one every 10 min."""
    api, ses = member(service, service.account()), service.ses.domains
    ses.calls.clear()
    for name in (domain, f"b.{domain}", f"c.{domain}"):
        add(api, name)
    assert ses.calls == []
    proved(api, f"b.{domain}")
    start = wiring.utc_now()
    verified(service, api, domain)

    def asked(path: str, seconds: float) -> int:
        ses.calls.clear()
        with service.at(start + timedelta(seconds=seconds)):
            assert api.raw("GET", path).status == 200
        return len(ses.calls)

    assert asked(f"/domains/{domain}", 300) == 0
    assert asked(f"/domains/c.{domain}", 300) == 0  # without a proof SES does not know it
    assert [asked(f"/domains/b.{domain}", at) for at in (301, 302, 310)] == [1, 0, 1]
    assert [asked("/domains", at) for at in (700, 701)] == [1, 1]


def test_the_pages_work_without_ses(service: Service, domain: str) -> None:
    """The last known state is shown, with its time, also of a domain that was just proved."""
    api, ses = member(service, service.account()), service.ses.domains
    verified(service, api, domain)
    later = wiring.utc_now() + timedelta(minutes=11)
    throttled = mock.patch.object(ses, "failure", (400, "TooManyRequestsException"))
    with throttled, service.at(later):
        known = api.raw("GET", f"/domains/{domain}")
    with mock.patch.object(ses, "failure", (503, "ServiceUnavailable")):
        waiting = proved(api, f"b.{domain}")
    assert (known.status, known.json["status"]) == (200, "verified")
    assert known.json["checkedAt"] < later.isoformat()
    assert [one["purpose"] for one in waiting] == ["OWNERSHIP"]
    assert len(api.raw("GET", f"/domains/b.{domain}").json["records"]) == 8


def test_a_domain_that_fails_says_so(service: Service, domain: str) -> None:
    """When SES no longer finds the keys, the state is `failed` and no sender can be added."""
    api, ses = member(service, service.account()), service.ses.domains
    verified(service, api, domain)
    ses.dkim[domain] = "TEMPORARY_FAILURE"
    with service.at(wiring.utc_now() + timedelta(minutes=11)):
        assert api.raw("GET", "/domains").json["items"][0]["status"] == "failed"
    assert add_sender(api, f"hello@{domain}").errors == {"address": "unverified_domain"}


def test_a_domain_that_ses_gave_up_begins_again(
    account: str, service: Service, domain: str
) -> None:
    """With the proof, SES gets a new identity with the same MAIL FROM domain; senders stay."""
    api, ses = member(service, account), service.ses.domains
    ses.known[domain] = False
    path, records = f"/domains/{domain}", add(api, domain).json["records"]
    ses.mail_from[domain] = f"bounce.{domain}"
    ses.dkim[domain] = "FAILED"
    ses.calls.clear()
    with service.at(wiring.utc_now() + timedelta(seconds=10)):
        assert api.raw("POST", path).errors == {"domain": "unproved_domain"}
        assert ses.calls == []
        publish(records)
        again = api.raw("POST", path)
    assert (again.status, again.json["status"]) == (200, "pending")
    changes = [call for call in ses.calls if call != "get"]
    assert (changes, ses.mail_from[domain]) == (
        ["delete", "create", "feedback", "mail-from"],
        f"bounce.{domain}",
    )
    service.ses.domains.known[domain] = True
    with service.at(wiring.utc_now() + timedelta(seconds=30)):
        assert api.raw("GET", path).json["status"] == "verified"


@pytest.mark.parametrize("by", ["the account", "the operator"])
def test_senders_of_a_proved_domain_get_no_bounces_by_mail(
    service: Service, domain: str, by: str
) -> None:
    """SES forwards them for each new identity. Before the proof nothing changes."""
    api, ses = member(service, service.account()), service.ses.domains
    if by == "the operator":
        ses.known[domain] = True
        ses.mailing.add(domain)
    records = add(api, domain).json["records"]
    api.raw("GET", f"/domains/{domain}")
    assert (domain in ses.mailing) == (domain in ses.known)
    publish(records)
    api.raw("GET", f"/domains/{domain}")
    assert domain in ses.known
    assert domain not in ses.mailing


@pytest.mark.parametrize("code", ["TooManyRequestsException", "AccessDeniedException"])
def test_a_domain_works_though_ses_forwards_bounces(
    service: Service, domain: str, code: str
) -> None:
    """If SES does not switch that off, the domain sends all the same; a later look tries again."""
    api, ses = member(service, service.account()), service.ses.domains
    ses.mailing.add(domain)
    with mock.patch.object(ses, "kept_mailing", code):
        verified(service, api, domain)
        assert add_sender(api, f"hello@{domain}").status == 201
    assert domain in ses.mailing
    with service.at(wiring.utc_now() + timedelta(minutes=11)):
        assert api.raw("GET", "/domains").json["items"][0]["status"] == "verified"
    assert domain not in ses.mailing


@pytest.mark.parametrize("dkim", ["SUCCESS", "PENDING", "TEMPORARY_FAILURE"])
def test_a_domain_that_ses_still_looks_at_keeps_its_identity(
    service: Service, domain: str, dkim: str
) -> None:
    """Nothing is deleted, also if the domain is verified by other means than DKIM."""
    api, ses = member(service, service.account()), service.ses.domains
    verified(service, api, domain)
    ses.known[domain] = dkim == "SUCCESS"
    ses.dkim[domain] = dkim
    ses.calls.clear()
    assert api.raw("POST", f"/domains/{domain}").status == 200
    ses.known[domain], ses.dkim[domain] = True, "FAILED"
    assert api.raw("POST", f"/domains/{domain}").status == 200
    assert {*ses.calls} == {"get"}


def test_a_domain_that_the_operator_deleted_begins_again(service: Service, domain: str) -> None:
    api, ses = member(service, service.account()), service.ses.domains
    verified(service, api, domain)
    del ses.known[domain]
    with service.at(wiring.utc_now() + timedelta(minutes=11)):
        assert api.raw("GET", f"/domains/{domain}").json["status"] == "pending"
    assert ses.known[domain] is False


@pytest.mark.parametrize(
    "name", ["shop", "shop..example", "a b.example", "ada@shop.example", "x.invalid\n", "b" * 300]
)
def test_a_malformed_domain_is_refused(service: Service, name: str) -> None:
    """It is 422 on `domain` in a body, and no domain of the account in a path."""
    api = member(service, service.account())
    refused = add(api, name)
    assert (refused.status, [*refused.errors]) == (422, ["domain"])
    assert api.raw("GET", "/domains/shop..example").code == "domain_not_found"


def test_ses_refuses_a_domain(service: Service, domain: str) -> None:
    """What SES does not accept is 422 as well, without SES's own words."""
    api, ses = member(service, service.account()), service.ses.domains
    publish(add(api, domain).json["records"])
    with mock.patch.object(ses, "refused", "BadRequestException"):
        shown = api.raw("GET", f"/domains/{domain}").json
        refused = api.raw("POST", f"/domains/{domain}")
    assert (shown["status"], len(shown["records"])) == ("failed", 1)
    assert (refused.status, refused.errors) == (422, {"domain": "invalid_domain"})
    assert "of SES" not in refused.text
    assert api.raw("POST", f"/domains/{domain}").json["status"] == "pending"


@pytest.mark.parametrize("name", ["co.uk", "github.io", "amazonses.com", "a.amazonses.com"])
def test_a_domain_of_many_owners_is_refused(service: Service, name: str) -> None:
    assert add(member(service, service.account()), name).errors == {"domain": "invalid_domain"}


def test_an_account_adds_so_many_domains_a_day(service: Service, domain: str) -> None:
    """Removed ones count; a day later it may add again."""
    account = service.account()
    api = member(service, account)
    with service.at(wiring.utc_now()):
        for number in range(20):
            assert add(api, f"d{number}.{domain}").status == 201
            assert api.raw("DELETE", f"/domains/d{number}.{domain}").status == 204
        refused = add(api, domain)
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    with service.at(wiring.utc_now() + timedelta(days=1)):
        assert add(member(service, account), domain).status == 201


def test_an_identity_goes_with_its_last_owner(service: Service, domain: str) -> None:
    """SES forgets an unverified domain that no account has proved, and keeps every other one."""
    ses, (first, second, third) = (
        service.ses.domains,
        [member(service, service.account()) for _ in range(3)],
    )
    for api in (first, second):
        proved(api, domain)
    add(third, domain)
    for api, is_known in ((third, True), (first, True), (second, False)):
        assert api.raw("DELETE", f"/domains/{domain}").status == 204
        assert (domain in ses.known) is is_known
    verified(service, first, domain)
    assert first.raw("DELETE", f"/domains/{domain}").status == 204
    assert ses.known[domain]


def test_a_domain_that_changes_hands_ends_for_its_old_owner(service: Service, domain: str) -> None:
    """With a new owner's proof and without the old one, the former account no longer sends."""
    former = service.account(senders={}, default=None)
    old, new = member(service, former), member(service, service.account())
    shared = member(service, service.account())
    for api in (old, shared):
        verified(service, api, domain)
    assert add_sender(old, f"hello@{domain}").status == 201
    key = Api(service.key(former))
    assert key.send(otp()).status == 200
    RECORDS[f"{former}._pillarbox.{domain}", "TXT"] = []
    proved(new, domain)
    assert key.send(otp()).code == "no_verified_sender"
    assert old.raw("GET", f"/domains/{domain}").json["status"] == "pending"
    assert shared.raw("GET", f"/domains/{domain}").json["status"] == "verified"
    # Its owner may let it send again.
    verified(service, old, domain)
    assert add_sender(old, f"hello@{domain}").status == 201
    assert key.send(otp()).status == 200


@pytest.mark.parametrize("look", ["page", "list", "sender"])
def test_a_proof_ages(service: Service, domain: str, look: str) -> None:
    """It counts for 90 days after somebody saw it; then a look without the record ends it."""
    account = service.account(senders={}, default=None)
    api, start = member(service, account), wiring.utc_now()
    verified(service, api, domain)
    record = RECORDS.pop((f"{account}._pillarbox.{domain}", "TXT"))

    def state() -> str:
        if look == "sender":
            return "verified" if add_sender(api, f"a@{domain}").status == 201 else "pending"
        found = api.raw("GET", "/domains" + f"/{domain}" * (look == "page")).json
        return str((found if look == "page" else found["items"][0])["status"])

    with service.at(start + timedelta(days=89)):
        api = member(service, account)
        assert state() == "verified"
        RECORDS[f"{account}._pillarbox.{domain}", "TXT"] = record
        assert api.raw("GET", f"/domains/{domain}").json["status"] == "verified"
        RECORDS.pop((f"{account}._pillarbox.{domain}", "TXT"))
    for days, expected in ((170, "verified"), (180, "pending")):
        with service.at(start + timedelta(days=days)):
            api = member(service, account)
            assert state() == expected


def test_a_proof_that_another_request_saw_meanwhile_stays(service: Service) -> None:
    account, now = service.account(), wiring.utc_now()
    store, name = wiring.services().account_domain_store, service.domain(account, "x.example")
    before = store.get(account, name)
    for seen_at in (now, now + timedelta(days=1)):
        assert before
        seen = store.update(replace(before, proof_seen_at=seen_at))
        assert seen
        assert store.end_proof(replace(seen, proof_seen_at=before.proof_seen_at)) is None
        before = seen
    assert before
    assert store.end_proof(before)


def test_a_proof_that_dns_does_not_answer_stays(service: Service) -> None:
    account = service.account()
    api = member(service, account)
    slow = service.domain(account, f"{account}.slow.example")
    with service.at(wiring.utc_now() + timedelta(days=100)):
        api = member(service, account)
        assert api.raw("GET", f"/domains/{slow}").json["status"] == "verified"


def test_a_sender_that_waits_for_verification_is_no_default(service: Service) -> None:
    """A sender that the operator added and nobody verified cannot become the default."""
    address = "later@sender.example"
    api = member(service, service.account(senders={address: False}, default=None))
    refused = api.raw("PUT", f"/senders/{address}/default")
    assert (refused.status, refused.code) == (403, "no_verified_sender")


def test_a_sender_of_a_tenant_is_associated_first(
    account: str, service: Service, domain: str
) -> None:
    api = member(service, account)
    verified(service, api, domain)
    wiring.services().account_store.set_isolation(account, Isolation.STRICT, "shop")
    assert add_sender(api, f"hello@{domain}").status == 201
    start = "arn:aws:ses:eu-west-1:123456789012"
    assert {f"{start}:identity/{domain}"} <= {*service.ses.domains.associated}
    assert any(":configuration-set/" in arn for arn in service.ses.domains.associated)


@pytest.mark.slow
def test_a_fast_viewer_of_a_slow_domain_costs_others_nothing(service: Service) -> None:
    """A silent name server is waited for once, and an account has a budget of looks a minute."""
    account = service.account()
    domain = service.domain(account, f"{account}.slow.example", verified=False)
    viewer = Api(session=service.session(account, Role.VIEWER, f"v-{account}@shop.example"))

    def look(_: int) -> tuple[str, float]:
        """Do without the function: Powertools' resolver has one request at a time."""
        began = monotonic()
        try:
            wiring.services().account_domains.show(account, domain)
        except ServiceError as error:
            return error.code, monotonic() - began
        return "", monotonic() - began

    with service.at(datetime.now(UTC).replace(second=1)):
        with ThreadPoolExecutor(8) as pool:
            looks = [*pool.map(look, range(PER_MINUTE + 10))]
        assert viewer.raw("GET", f"/domains/{domain}").status == 429
        assert Api(service.key(service.account())).send(otp()).status == 200
    assert Counter(code for code, _ in looks) == {"": PER_MINUTE, "rate_limit_exceeded": 10}
    # Each thread may wait twice: the first look may end before all questions were asked.
    assert sum(seconds > 1 for _, seconds in looks) <= 16


def test_slow_requests_count_in_the_same_budget(service: Service) -> None:
    """Beyond it nobody asks for a host, SES is asked for nothing, and no list is added."""
    account = service.account()
    api = member(service, account)
    suppressions = {"addresses": [f"a{n}@example.com" for n in range(1000)]}
    with service.at(datetime.now(UTC).replace(second=1)):
        for _ in range(PER_MINUTE):
            wiring.services().slow_requests.take(account)
        body = {"url": "https://hooks.slow.example/", "types": ["*"]}
        for path, slow in (
            ("/webhooks", body),
            ("/senders", '{"address": "hello@slow.example"}'),
            ("/suppressions", suppressions),
            ("/account/alerts/test", "{}"),
        ):
            assert api.raw("POST", path, slow).code == "rate_limit_exceeded"
        chat = api.raw("PATCH", "/account/alerts", '{"chatUrl": "https://hooks.slow.example/"}')
        assert chat.code == "rate_limit_exceeded"
        assert api.raw("POST", "/suppressions", '{"address": "a@example.com"}').status == 201
        removal = api.raw("DELETE", "/suppressions/a@example.com")
        assert removal.code == "rate_limit_exceeded"
        assert service.ses.domains.freed == []
        other = member(service, service.account())
        assert other.raw("POST", "/suppressions", suppressions).status == 201
