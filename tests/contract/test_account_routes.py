"""Keys, suppressions, members and the account, as a member sees and changes them."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, get_ident
from typing import Any, Final
from unittest import mock
from urllib.parse import quote
from uuid import uuid4

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.application.sign_in.authentication import CallerRequest
from pillarbox.application.templates.authoring import TemplateSource
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.accounts.account import Isolation, Plan
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.accounts.key import MEMBERS_WRITE, KeyType
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import Role, parse_access_token
from pillarbox.wiring import services
from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.service import HOOK_URL, SENDER, Service, text_of
from tests.contract.sign_in import Browser
from tests.fakes.builders import UPGRADE_URL

MAX_ADDRESSES = 1_000

_ADA: Final = "ada@shop.example"
_BOB: Final = "bob@shop.example"
_LINK: Final = r"/app/sign-in#([0-9a-z]{32})"
#: What HTML, a spreadsheet or a header could misread.
_HOSTILE: Final = "<img src=x onerror=alert(1)>=cmd|' /C calc'!A0"


class Owner:
    """An owner of a new account."""

    def __init__(self, service: Service, plan: Plan = Plan.STANDARD) -> None:
        self.account = service.account(plan, senders={SENDER: True}, default=SENDER)
        self.api = Api(session=service.session(self.account))

    def post(self, path: str, body: object) -> ApiResponse:
        return self.api.raw("POST", path, body)

    def patch(self, path: str, body: object) -> ApiResponse:
        return self.api.raw("PATCH", path, body)

    def items(self, path: str, **query: str) -> list[Any]:
        items: list[Any] = self.api.raw("GET", path, query=query).json["items"]
        return items


@pytest.fixture
def owner(service: Service) -> Owner:
    return Owner(service)


def test_the_overview_shows_the_parts_of_an_account(service: Service) -> None:
    """It has no internal copies of templates, and for a viewer no keys."""
    owner, source = Owner(service), TemplateSource(name="A", subject="B", category="c", html="d")
    key = service.key(owner.account)
    Api(key).send(otp())
    older = service.template(owner.account, "<p>x</p>")
    _, newer = (
        services().template_authoring.create(owner.account, source, internal=internal).template_id
        for internal in (True, False)
    )
    service.webhook(owner.account)
    shown = owner.api.raw("GET", "/overview").json
    assert shown["account"]["id"] == owner.account
    assert {one["name"] for one in shown["account"]["limits"]} == {
        one["name"] for one in owner.api.raw("GET", "/account").json["limits"]
    }
    assert (shown["emails"], len(shown["starterTemplates"])) == (1, 10)
    assert [(one["id"], one["revokedAt"]) for one in shown["keys"]] == [
        (one["id"], None) for one in owner.items("/keys")
    ]
    assert [one["id"] for one in shown["templates"]] == [str(newer), older]
    assert shown["webhooks"] == owner.items("/webhooks") != []
    viewer = Api(session=service.session(owner.account, Role.VIEWER, _BOB))
    assert viewer.raw("GET", "/overview").json["keys"] == []


def test_a_key_is_shown_once_and_sends(owner: Owner) -> None:
    """The text is in the response to its creation alone; the key works until it is revoked."""
    created = owner.post("/keys", {"name": _HOSTILE, "preset": "send"})
    assert created.status == 201
    key = created.json["key"]
    assert Api(key).send(otp()).status == 200
    listed = owner.api.raw("GET", "/keys")
    assert key not in listed.text
    (item,) = listed.json["items"]
    shown = {name: value for name, value in created.json.items() if name != "key"}
    assert item == shown | {"createdBy": _ADA}
    assert item["ending"] == key[-4:]
    assert (item["name"], item["scopes"]) == (_HOSTILE, ["emails:read", "emails:send"])
    assert owner.api.raw("DELETE", f"/keys/{item['id']}").status == 204
    assert Api(key).send(otp()).code == "invalid_api_key"
    assert owner.items("/keys")[0]["revokedAt"] is not None
    assert owner.api.raw("DELETE", f"/keys/{item['id']}").status == 204  # the first time stays
    for malformed in ("nonsense", "key_", "..%2Fkeys"):
        assert owner.api.raw("DELETE", f"/keys/{malformed}").code == "key_not_found"


def test_presets_have_the_reason_why_a_plan_refuses_them(service: Service, owner: Owner) -> None:
    """A free plan refuses what needs campaigns: in the list, and when a key is created."""
    free = Owner(service, Plan.FREE)
    answer = free.api.raw("GET", "/keys").json
    presets = {one["preset"]: one for one in answer["presets"]}
    assert {name: one["allowed"] for name, one in presets.items()} == {
        "send": True,
        "marketing": False,
        "analytics": False,
        "custom": True,
    }
    assert (
        presets["analytics"]["reason"] == "The free plan does not allow marketing:campaigns:read."
    )
    assert presets["send"]["reason"] is None
    assert "webhooks:read" in presets["custom"]["scopes"]
    assert answer["upgradeUrl"] == UPGRADE_URL
    refused = free.post("/keys", {"name": "x", "preset": "analytics"})
    assert (refused.status, refused.code) == (403, "SCOPE_NOT_ALLOWED_FOR_TIER")
    assert free.items("/keys") == []
    assert all(one["allowed"] for one in owner.api.raw("GET", "/keys").json["presets"])


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a\r\nb", "preset": "send"},
        {"name": "x", "preset": "custom"},
        {"name": "x", "preset": "custom", "scopes": ["keys:manage"]},
        {"name": "x", "preset": "send", "scopes": ["emails:send"]},
    ],
)
def test_a_wrong_key_is_not_created(owner: Owner, body: object) -> None:
    """No key gets a permission of roles, and a preset has its own scopes."""
    refused = owner.post("/keys", body)
    assert (refused.status, refused.code) == (422, "validation_failed")
    assert owner.items("/keys") == []


def test_preview_keys_are_listed(service: Service, owner: Owner) -> None:
    service.key(owner.account, None, key_type=KeyType.PREVIEW)
    services().api_keys.issue_preview(owner.account, "first")
    assert {(one["type"], one["preset"]) for one in owner.items("/keys")} == {("preview", None)}


def test_suppressions_are_added_searched_and_removed(owner: Owner) -> None:
    added = owner.post("/suppressions", {"address": "Ann+x@Customer.example"})
    assert added.status == 201
    assert added.json["items"][0]["address"] == "ann+x@customer.example"
    assert added.json["items"][0]["reason"] == "manual"
    owner.post("/suppressions", {"addresses": ["abe@x.example", "ANNE@x.example"]})
    key = owner.post("/keys", {"name": "web", "preset": "send"}).json["key"]
    refused = Api(key).send(otp(to="ann+x@customer.example"))
    assert refused.code == "recipient_suppressed"
    found = [one["address"] for one in owner.items("/suppressions", search="ANN")]
    assert found == ["ann+x@customer.example", "anne@x.example"]
    path = f"/suppressions/{quote('ANN+x@customer.example', safe='')}"
    assert owner.api.raw("DELETE", path).status == 204
    assert owner.api.raw("DELETE", path).code == "suppression_not_found"
    assert Api(key).send(otp(to="ann+x@customer.example")).status == 200


def test_a_suppression_leaves_ses_first(service: Service, owner: Owner) -> None:
    """While SES is out of reach the suppression stays. Both of its lists lose the address."""
    owner.post("/suppressions", {"address": "ann@customer.example"})
    services().account_store.set_isolation(owner.account, Isolation.STRICT, "shop")
    path, ses = "/suppressions/Ann%40customer.example", service.ses.domains
    ses.freed.clear()
    with mock.patch.object(ses, "failure", (429, "TooManyRequestsException")):
        assert owner.api.raw("DELETE", path).code == "service_unavailable"
    assert [one["address"] for one in owner.items("/suppressions")] == ["ann@customer.example"]
    assert owner.api.raw("DELETE", path).status == 204
    assert ses.freed == [
        (of, address)
        for of in ("shop", None)
        for address in ("Ann@customer.example", "ann@customer.example")
    ]
    assert owner.api.raw("DELETE", path).code == "suppression_not_found"
    assert len(ses.freed) == 4


@pytest.mark.parametrize("local", ["a/b", "a%40b", "a?b", "a#b", "a&b", "o'neil", "a+b", "ü"])
def test_an_address_is_removed_whatever_its_local_part(owner: Owner, local: str) -> None:
    added = owner.post("/suppressions", {"address": f"{local}@x.example"})
    if local == "ü":
        assert added.status == 422
        return
    assert added.status == 201
    path = f"/suppressions/{quote(f'{local}@x.example', safe='')}"
    assert owner.api.raw("DELETE", path).status == 204
    assert owner.items("/suppressions") == []


def test_suppressions_are_read_in_pages(owner: Owner) -> None:
    """Each page begins where the one before ended; a changed cursor shows no other account."""
    addresses = [f"{number:03}@x.example" for number in range(25)]
    assert len(owner.post("/suppressions", {"addresses": addresses}).json["items"]) == 25
    pages = [page["items"] for page in owner.api.pages("/suppressions", limit="10")]
    assert [one["address"] for page in pages for one in page] == addresses
    assert [*map(len, pages)] == [10, 10, 5]
    assert owner.items("/suppressions", cursor="zzz") == []
    assert len(owner.items("/suppressions", limit="1000")) == 25
    assert owner.items("/suppressions", search="\U0010ffff" * 200) == []


def test_an_import_reports_what_it_left_out(service: Service, owner: Owner) -> None:
    """Invalid addresses are named by position; an earlier reason stays; a thousand are accepted."""
    store = DynamoSuppressions(services().table)
    store.put(owner.account, "old@x.example", "bounce", wiring.utc_now(), uuid4())
    body = {
        "addresses": [
            *("old@x.example", "no address", _HOSTILE, "Ann, New <new@x.example>"),
            *("New@x.example", "a" * 2000 + "@x.example", "<old@x.example> <new@x.example>"),
        ]
    }
    answer = owner.post("/suppressions", body).json
    assert [one["reason"] for one in answer["items"]] == ["bounce", "manual"]
    assert [one["idx"] for one in answer["refused"]] == [1, 2, 5, 6]
    many = [f"{number}@x.example" for number in range(MAX_ADDRESSES)]
    assert len(owner.post("/suppressions", {"addresses": many}).json["items"]) == MAX_ADDRESSES
    over = owner.post("/suppressions", {"addresses": [*many, "one@x.example"]})
    assert over.errors == {"addresses": "too_long"}
    both: dict[str, object] = {"address": "a@x.example", "addresses": ["b@x.example"]}
    none: dict[str, object] = {"addresses": []}
    for wrong in ({}, both, none):
        assert owner.post("/suppressions", wrong).code == "validation_failed"
    assert service


def test_an_erased_person_is_a_hash(owner: Owner) -> None:
    store = DynamoSuppressions(services().table)
    hashed = hashed_mailbox(owner.account, "gone@x.example")
    store.put(owner.account, hashed, "complaint", wiring.utc_now(), None)
    (item,) = owner.items("/suppressions")
    assert (item["address"], item["erased"]) == (hashed, True)
    assert owner.api.raw("DELETE", "/suppressions/gone@x.example").status == 204


def test_an_invited_member_signs_in_with_the_link(service: Service, owner: Owner) -> None:
    """The email has a link for one use within seven days, and the role counts from then on.

    The HTML has it in a button, below the name of the service. The link's page learns who invites.
    """
    service.mailed()  # what other tests have sent
    start = wiring.utc_now()
    address = f"new-{owner.account}@shop.example"
    with service.at(start):
        invited = owner.post("/members", {"email": address, "role": "developer"})
    assert (invited.status, invited.json["role"]) == (201, "developer")
    (mail,) = service.mailed()
    assert mail["to"] == address
    (link,) = re.findall(_LINK, text_of(mail))
    button = rf'>Pillarbox</td>.*<table class="button".*<a href="[^"]+#{link}"'
    assert re.search(button, text_of(mail, "html"), re.DOTALL)
    browser = Browser()
    boss = next(one for one in owner.items("/members") if one["current"])
    with service.at(start + timedelta(days=7)):
        assert browser.post("", {"link": link}).code == "invalid_code"
    with service.at(start + timedelta(days=6, hours=23)):
        looked = browser.post("/links", {"link": link}).json
        response = browser.post("", {"link": link})
        assert response.status == 200
        assert response.json["account"] is None
        (asked,) = response.json["invitations"]
        assert looked == {"email": address, "invitation": asked}
        assert (asked["id"], asked["invitedBy"]) == (owner.account, boss["email"])
        api = Api(session=response.json["token"])
        assert api.raw("POST", f"/invitations/{owner.account}").json["pending"] is False
        token = browser.token().json
    assert (token["account"]["id"], token["role"]) == (owner.account, "developer")
    assert token["invitations"] == []
    for path in ("", "/links"):
        assert Browser().post(path, {"link": link}).code == "invalid_code"


def test_a_member_changes_and_leaves_at_the_next_request(service: Service, owner: Owner) -> None:
    """With the same token a viewer becomes a developer and back; once removed, it gets 401."""
    api = Api(session=service.session(owner.account, Role.VIEWER, _BOB))
    bob = next(one for one in owner.items("/members") if one["email"] == _BOB)
    path = f"/members/{bob['id']}"
    assert api.raw("GET", "/keys").code == "scope_required"
    for role, status in (("developer", 200), ("viewer", 403)):
        assert owner.patch(path, {"role": role}).json == bob | {"role": role}
        assert api.raw("GET", "/keys").status == status
    assert owner.api.raw("DELETE", path).status == 204
    gone = api.raw("GET", "/members")
    assert (gone.status, gone.code) == (401, "invalid_session")
    assert owner.api.raw("DELETE", path).code == "member_not_found"


def test_an_account_keeps_an_owner(service: Service, owner: Owner) -> None:
    """The last owner can neither leave nor become something else; with a second one both can.

    A viewer is none, and neither is an owner who has not agreed.
    """
    (me,) = owner.items("/members")
    service.session(owner.account, Role.VIEWER, f"viewer-{owner.account}@shop.example")
    asked = {"email": f"asked-{owner.account}@shop.example", "role": "owner"}
    assert owner.post("/members", asked).status == 201
    assert me["current"] is True
    for attempt in (
        owner.api.raw("DELETE", f"/members/{me['id']}"),
        owner.patch(f"/members/{me['id']}", {"role": "viewer"}),
    ):
        assert (attempt.status, attempt.code) == (409, "last_owner")
    assert owner.patch(f"/members/{me['id']}", {"role": "owner"}).json == me
    service.session(owner.account, Role.OWNER, _BOB)
    assert owner.api.raw("DELETE", f"/members/{me['id']}").status == 204
    assert owner.api.raw("GET", "/members").code == "invalid_session"


def test_two_owners_cannot_remove_each_other_at_once(service: Service, owner: Owner) -> None:
    bobs = service.session(owner.account, Role.OWNER, _BOB)
    ids = {one["email"]: one["id"] for one in owner.items("/members")}
    members = services().account_members.members
    read, both_have_read, have_read = members.of_account, Barrier(2), set[int]()

    def read_together(account_id: str) -> Any:
        found = read(account_id)
        if get_ident() not in have_read:
            have_read.add(get_ident())
            both_have_read.wait(30)
        return found

    def remove(session: str | None, victim: str) -> str:
        # Not by the function: a process of it handles one request at a time.
        token = parse_access_token(session or "")
        request = CallerRequest(token, ClientOrigin("192.0.2.1"), None, "DELETE /v1/members")
        try:
            principal = services().caller_authentication.manage(request, MEMBERS_WRITE)
            services().account_members.remove(principal, ids[victim])
        except ServiceError as error:
            return error.code
        return "removed"

    with mock.patch.object(members, "of_account", read_together), ThreadPoolExecutor(2) as pool:
        outcomes = {*pool.map(remove, (owner.api.session, bobs), (_BOB, _ADA))}
    assert outcomes == {"removed", "last_owner"}
    (left,) = services().member_store.of_account(owner.account)
    assert left.role is Role.OWNER


def test_who_has_not_agreed_is_invited_again_within_the_limits(
    service: Service, owner: Owner
) -> None:
    """Once at once, then a week later, each time with a new link, role and time; else it is 429."""
    # On a Thursday, with which the weeks of a count begin.
    start, address = datetime(2026, 12, 3, tzinfo=UTC), f"again-{owner.account}@shop.example"
    with service.at(start):
        owner.api = Api(session=service.session(owner.account))
        assert owner.post("/members", {"email": address, "role": "owner"}).status == 201
        first = owner.post("/members", {"email": address, "role": "viewer"}).json
        early = owner.post("/members", {"email": address.upper(), "role": "owner"})
        assert (early.status, early.code) == (429, "rate_limit_exceeded")
        assert first in owner.items("/members")
    service.mailed()
    with service.at(start + timedelta(days=6.999)):
        owner.api = Api(session=service.session(owner.account))
        assert owner.post("/members", {"email": address, "role": "owner"}).status == 429
    with service.at(start + timedelta(days=7)):
        owner.api = Api(session=service.session(owner.account))
        again = owner.post("/members", {"email": address, "role": "author"})
        (link,) = re.findall(_LINK, text_of(*service.mailed()))
        assert [one for one in owner.items("/members") if one["pending"]] == [again.json]
        assert again.json["createdAt"] > first["createdAt"]
        assert again.json | {"createdAt": ""} == first | {"createdAt": "", "role": "author"}
        token = Browser().post("", {"link": link}).json["token"]
        joined = Api(session=token).raw("POST", f"/invitations/{owner.account}")
        assert (joined.status, joined.json["role"]) == (200, "author")
        known = owner.post("/members", {"email": address, "role": "owner"})
        assert (known.status, known.code) == (409, "member_exists")


@pytest.mark.parametrize(("senders", "most"), [({SENDER: True}, 15), ({}, 5)])
def test_an_account_invites_so_many_a_day(
    service: Service, senders: dict[str, bool], most: int
) -> None:
    """It is fewer without a verified sender. The count begins again with the day."""
    start = wiring.utc_now().replace(hour=0, minute=1)
    account = service.account(senders=senders)

    def invite(number: int, days: float) -> int:
        with service.at(start + timedelta(days=days)):
            owner = Api(session=service.session(account, Role.OWNER, f"{account}@shop.example"))
            body = {"email": f"invited-{number}-{account}@shop.example", "role": "viewer"}
            return owner.raw("POST", "/members", body).status

    assert [invite(number, 0) for number in range(most)] == [201] * most
    assert [invite(most, days) for days in (0, 0.998, 1)] == [429, 429, 201]


def test_the_account_shows_limits_and_changes_its_brand(service: Service, owner: Owner) -> None:
    """What is left out stays, an empty text removes, and what is used is counted."""
    key = owner.post("/keys", {"name": "web", "preset": "send"}).json["key"]
    Api(key).send(otp())
    account = owner.api.raw("GET", "/account").json
    assert (account["id"], account["plan"]) == (owner.account, "standard")
    assert {one["name"]: one["used"] for one in account["limits"]}["month"] == 1
    brand = {"brandName": _HOSTILE, "logoUrl": "https://x.example/l.png", "accent": "#0A7D5A"}
    company = {
        "supportEmail": "help@x.example",
        "companyAddress": "1 Quay Street",
        "actionUrl": "https://x.example",
    }
    changed = owner.patch("/account", brand | company | {"fromName": "Shop"}).json
    assert company.items() <= changed.items()
    assert (changed["brandName"], changed["accent"]) == (_HOSTILE, "#0a7d5a")
    with service.at(wiring.utc_now()):  # a minute that ends would change `resetsAt`
        changed = owner.patch("/account", {"logoUrl": "", "name": "Shop & Co"}).json
        assert owner.api.raw("GET", "/account").json == changed
    assert (changed["logoUrl"], changed["fromName"], changed["name"]) == (None, "Shop", "Shop & Co")


def test_a_starter_shows_the_company_of_its_account(service: Service, owner: Owner) -> None:
    changes = {
        "brandName": "Harbour",
        "supportEmail": "help@x.example",
        "companyAddress": "1 Quay Street",
        "actionUrl": "https://x.example/start",
    }
    assert owner.patch("/account", changes).status == 200
    receipt = {"amount": "9", "currency": "eur", "invoice_id": "7", "lines": ["Plan"]}
    key = Api(service.key(owner.account))
    service.mailed()
    for starter, variables in (("payment_receipt", receipt), ("welcome", {})):
        assert key.send(otp(starterTemplate=starter, variables=variables)).status == 200
    mails = {mail["Subject"]: mail for mail in service.mailed()}
    assert set(mails) == {"Your Harbour receipt for invoice 7", "Welcome to Harbour"}
    for mail in mails.values():
        assert mail["From"].addresses[0].display_name == "Harbour"
        assert "help@x.example" in text_of(mail)
        assert "1 Quay Street" in text_of(mail)
    receipt_text = text_of(mails["Your Harbour receipt for invoice 7"])
    assert "Plan\n" in receipt_text
    assert "https://x.example" not in receipt_text
    assert "Open Harbour: https://x.example/start\n" in text_of(mails["Welcome to Harbour"])


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a\nb"},
        {"accent": "#ffffff"},
        {"logoUrl": "javascript:alert(1)"},
        {"logoUrl": "http://x.example/l.png"},
        {"brandName": "x" * 129},
        {"brandName": " \u3000"},
        {"brandName": "a\u202eb"},
        {"fromName": "a\r\nBcc: x@example.com"},
        {"fromName": "x" * 1025},
        {"logoUrl": "https://a.example/" + "x" * 2048},
        {"accent": "#ffd500"},
        {"supportEmail": "help"},
        {"companyAddress": "a\nb"},
        {"actionUrl": "mailto:help@x.example"},
    ],
)
def test_a_wrong_change_of_the_account_changes_nothing(
    service: Service, owner: Owner, body: object
) -> None:
    """A brand that cannot be shown is refused."""
    with service.at(wiring.utc_now()):  # as above
        before = owner.api.raw("GET", "/account").json
        assert owner.patch("/account", body).code == "validation_failed"
        assert owner.api.raw("GET", "/account").json == before


def _stop_a_key(service: Service, owner: Owner) -> tuple[Api, str]:
    """Let 20 emails of a new key bounce; return its client and its id."""
    sender = Api(service.key(owner.account))
    with service.breaking():
        service.bounce(owner.account, sender)
    assert sender.send(raw_html()).code == "sending_paused"
    (pause,) = owner.api.raw("GET", "/account").json["pauses"]
    assert (pause["scope"], pause["level"], pause["resumable"]) == ("key", "stop", True)
    return sender, pause["id"]


def test_an_owner_ends_a_pause_once(service: Service, owner: Owner) -> None:
    """An owner names the cause, and the key sends again; a second pause is the operator's."""
    sender, key_id = _stop_a_key(service, owner)
    body = {"scope": "key", "id": key_id, "cause": "A bot used the form."}
    developer = Api(session=service.session(owner.account, Role.DEVELOPER, _BOB))
    assert developer.raw("POST", "/account/resume", body).code == "scope_required"
    assert owner.post("/account/resume", body | {"cause": ""}).status == 422
    assert owner.post("/account/resume", body | {"id": "other"}).code == "sending_paused"
    assert owner.post("/account/resume", body).json["pauses"] == []
    assert sender.send(raw_html()).status == 200
    (entry,) = owner.items("/account/log")
    assert (entry["action"], entry["by"], entry["subject"]) == (
        "sending.resumed",
        _ADA,
        f"key {key_id}",
    )
    assert entry["changes"] == [{"name": "cause", "before": None, "after": body["cause"]}]
    assert owner.post("/account/resume", body).code == "sending_paused"


def _notices(service: Service, owner: Owner) -> list[dict[str, Any]]:
    """Let the timer of the next minutes run; return the service's emails to the account.

    An earlier run moved the timer ahead of the real time, so it is set back.
    """
    services().table.put(keys.timer_note("TELL"))
    for minutes in (1, 2):
        with service.at(wiring.utc_now() + timedelta(minutes=minutes)):
            handler("enqueue_due")({}, Invocation())
            service.deliver()
    return [item for item in service.messages(owner.account) if item["via"] == "notice"]


def test_owners_are_told_of_a_pause(service: Service, owner: Owner) -> None:
    """Each owner gets one email about a stop, which the stop does not hold back."""
    _stop_a_key(service, owner)
    (notice,) = _notices(service, owner)
    assert (notice["to"], notice["subject"]) == ([_ADA], "Your emails are paused")
    assert notice.get("provider_id")


def test_owners_choose_what_they_hear_of(service: Service, owner: Owner) -> None:
    """A kind that is off is not told; the chat's URL is checked, logged and shown in part only."""
    alerts = "/account/alerts"
    assert owner.api.raw("GET", alerts).json == {
        "mail": True,
        "chat": None,
        "chatAllowed": True,
        "lastPost": None,
        "off": [],
    }
    developer = Api(session=service.session(owner.account, Role.DEVELOPER, _BOB))
    for method in ("GET", "PATCH"):
        assert developer.raw(method, alerts, "{}").code == "scope_required"
    private = owner.patch(alerts, {"chatUrl": "https://10.0.0.1/x"})
    assert private.errors == {"chatUrl": "invalid_url"}
    choices = {"chatUrl": f"{HOOK_URL}/s3cret", "off": ["sending"]}
    changed = owner.patch(alerts, choices).json
    assert owner.patch(alerts, choices).json == changed  # which the log does not have twice
    assert (changed["chat"], changed["off"]) == ("shop.example/…cret", ["sending"])
    assert "s3cret" not in owner.api.raw("GET", alerts).text
    (entry,) = owner.items("/account/log")
    assert (entry["action"], entry["by"]) == ("alerts.changed", _ADA)
    assert entry["subject"] == "email and shop.example/…cret; not sending"
    _stop_a_key(service, owner)
    assert _notices(service, owner) == []


def test_a_test_is_posted_and_mailed(service: Service, owner: Owner) -> None:
    """The owner sees why a post failed; the email takes the way of all alerts."""
    owner.patch("/account/alerts", {"chatUrl": HOOK_URL})
    result = PostResult(status_code=404, body="no_service")
    with mock.patch.object(services().webhook_poster, "post", return_value=result):
        tested = owner.post("/account/alerts/test", {}).json
    assert (tested["mail"], tested["post"]["error"]) == (True, "404 no_service")
    assert owner.api.raw("GET", "/account/alerts").json["lastPost"] == tested["post"]
    (notice,) = _notices(service, owner)
    assert notice["subject"].startswith("A test of the alerts")
    tasks = [task for task in service.webhook_tasks() if isinstance(task, AlertPost)]
    assert [task.account_id for task in tasks] == [owner.account]
    owner.patch("/account/alerts", {"chatUrl": ""})
    assert owner.post("/account/alerts/test", {}).json["post"] is None
