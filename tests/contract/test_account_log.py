"""The log of an account: who made, changed and removed what it has."""

from collections import Counter
from datetime import timedelta

from pillarbox import wiring
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import PAID_SCOPES, SCOPES
from pillarbox.domain.sign_in.session import Role
from tests.contract.client import Api
from tests.contract.service import HOOK_URL, SENDER, Service

_ADA, _BOB = "ada@shop.example", "bob@shop.example"


def test_members_see_who_changed_what(service: Service) -> None:
    account = service.account(Plan.STANDARD, senders={SENDER: True}, default=SENDER)
    api = Api(session=service.session(account, address=_ADA))
    domain = f"{account[:8].lower()}.example"

    def post(path: str, body: object) -> str:
        made = api.raw("POST", path, body)
        assert made.status == 201, made.text
        return str(made.json.get("id"))

    key = post("/keys", {"name": "Production", "preset": "send"})
    bob = post("/members", {"email": _BOB, "role": "developer"})
    hook = post("/webhooks", {"url": HOOK_URL, "types": ["*"]})
    post("/domains", {"domain": domain})
    bobs = Api(session=service.session(account, Role.DEVELOPER, _BOB))
    changes = [
        api.raw("PATCH", f"/members/{bob}", {"role": "developer"}),  # no change
        bobs.raw("PATCH", f"/webhooks/{hook}", {"types": ["email.bounced"]}),
        bobs.raw("DELETE", f"/webhooks/{hook}"),
        bobs.raw("DELETE", f"/keys/{key}"),
        api.raw("PATCH", f"/members/{bob}", {"role": "viewer"}),
        api.raw("DELETE", f"/members/{bob}"),
        api.raw("DELETE", f"/domains/{domain}"),
    ]
    assert {one.status for one in changes} <= {200, 204}
    log = api.raw("GET", "/account/log").json["items"]
    assert [(one["action"], one["by"]) for one in reversed(log)] == [
        ("key.created", _ADA),
        ("member.invited", _ADA),
        ("webhook.created", _ADA),
        ("domain.added", _ADA),
        ("webhook.changed", _BOB),
        ("webhook.deleted", _BOB),
        ("key.revoked", _BOB),
        ("member.changed", _ADA),
        ("member.removed", _ADA),
        ("domain.removed", _ADA),
    ]
    subjects = {one["action"]: one["subject"] for one in log}
    assert "Production" in subjects["key.revoked"]
    assert (subjects["member.removed"], subjects["domain.removed"]) == (_BOB, domain)
    assert next(one["changes"] for one in log if one["action"] == "member.changed") == [
        {"name": "role", "before": "developer", "after": "viewer"}
    ]


def _made(key: str, account: str) -> tuple[Api, str]:
    """Return a client with a full key that another one created, with its id."""
    body = {"name": "ci", "preset": "custom", "scopes": sorted(SCOPES - PAID_SCOPES)}
    made = Api(key).raw("POST", "/keys", body).json
    assert account in made["id"]
    return Api(made["key"]), made["id"]


def test_refused_calls_crowd_out_no_change(service: Service) -> None:
    """After 60 refused calls and 60 equal ones all changes are there, and each call is counted."""
    account = service.account()
    root = service.key(account, scopes=SCOPES - PAID_SCOPES)
    child, _ = _made(root, account)
    domain = f"{account[:8].lower()}.example"
    assert child.raw("POST", "/domains", {"domain": domain}).status == 201
    start = wiring.utc_now().replace(second=7) + timedelta(minutes=2)
    with service.at(start):
        for number in range(60):
            child.raw("DELETE", f"/members/{number:012}")
            child.raw("PUT", "/senders/zz@customer.example/default")
    with service.at(start + timedelta(minutes=1)):
        child.raw("PUT", "/senders/zz@customer.example/default")
    changes = child.raw("GET", "/account/log").json
    assert [one["action"] for one in changes["items"]] == ["domain.added", "key.created"]
    assert changes["nextCursor"] is None
    pages = [page["items"] for page in child.pages("/account/log", part="calls", limit="25")]
    assert max(map(len, pages)) <= 25
    calls = [one for page in pages for one in page]
    counts = Counter({one["id"]: one["count"] for one in calls})
    assert len(counts) == len(calls)
    equal = [one["count"] for one in calls if "default" in one["subject"]]
    assert sorted(equal) == [1, 60]
    assert counts.total() == 1 + 1 + 60 + 60 + 1


def test_what_a_key_made_is_listed_under_it(service: Service) -> None:
    account = service.account()
    root = service.key(account, scopes=SCOPES - PAID_SCOPES)
    parent, parent_id = _made(root, account)
    child, child_id = _made(parent.key or "", account)
    domain = f"made{account[:8].lower()}.example"
    service.domain(account, domain)
    for name, api in (("guest", child), ("other", Api(root))):
        body = {"email": f"{name}@shop.example", "role": "viewer"}
        assert api.raw("POST", "/members", body).status == 201
    for path, sent in (
        ("/senders", {"address": f"post@{domain}"}),
        ("/webhooks", {"url": HOOK_URL, "types": ["*"]}),
        (f"/domains/{domain}/link", {}),
    ):
        assert child.raw("POST", path, sent).status == 201, path
    expected = ["domain.shared", "webhook.created", "sender.added", "member.invited", "key.created"]
    reader = Api(session=service.session(account))
    for _ in range(2):
        found = reader.raw("GET", "/account/log", query={"key": parent_id}).json["items"]
        assert [one["action"] for one in found if one["action"] in expected] == expected
        assert {one["by"] for one in found} == {parent_id, child_id}
        wiring.services().api_keys.revoke(parent_id)
    missing = reader.raw("GET", "/account/log", query={"key": "key_" + "0" * 20})
    assert missing.code == "key_not_found"
