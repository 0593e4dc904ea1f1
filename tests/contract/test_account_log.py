"""The log of an account: who made, changed and removed what it has."""

import json

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.role import Role
from tests.contract.client import Api
from tests.contract.service import HOOK_URL, SENDER, Service

_ADA, _BOB = "ada@shop.example", "bob@shop.example"


def test_members_see_who_changed_what(service: Service) -> None:
    """Each change of a key, member, endpoint or domain names who made it, and what it was."""
    account = service.account(Plan.STANDARD, senders={SENDER: True}, default=SENDER)
    api = Api(session=service.session(account, address=_ADA))
    domain = f"{account[:8].lower()}.example"

    def post(path: str, body: object) -> str:
        made = api.raw("POST", path, json.dumps(body))
        assert made.status == 201, made.text
        return str(made.json.get("id"))

    key = post("/keys", {"name": "Production", "preset": "send"})
    bob = post("/members", {"email": _BOB, "role": "developer"})
    hook = post("/webhooks", {"url": HOOK_URL, "types": ["*"]})
    post("/domains", {"domain": domain})
    bobs = Api(session=service.session(account, Role.DEVELOPER, _BOB))
    changes = [
        api.raw("PATCH", f"/members/{bob}", json.dumps({"role": "developer"})),  # no change
        bobs.raw("PATCH", f"/webhooks/{hook}", json.dumps({"types": ["email.bounced"]})),
        bobs.raw("DELETE", f"/webhooks/{hook}"),
        bobs.raw("DELETE", f"/keys/{key}"),
        api.raw("PATCH", f"/members/{bob}", json.dumps({"role": "viewer"})),
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
