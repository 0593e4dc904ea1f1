"""Management keys: which routes each scope opens, and that a key gives no right that it lacks."""

import json
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final
from unittest import mock

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.accounts.keys import KeyLimits
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Plan, Suspension
from pillarbox.domain.accounts.key import (
    ACCOUNTS_READ,
    ACCOUNTS_WRITE,
    EMAILS_SEND,
    KEYS_READ,
    KEYS_WRITE,
    MANAGEMENT_SCOPES,
    OPERATOR_SCOPES,
    PAID_SCOPES,
    PRESET_SCOPES,
    SCOPES,
    AgentSettings,
    Preset,
)
from pillarbox.domain.accounts.key_terms import SCOPE_WORDS, words_of
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import Role
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.operations import MANAGED, OF_AN_ACCOUNT, OF_KEYS, OPERATED, OPERATIONS
from tests.contract.service import Service
from tests.contract.test_sessions import absent_ids, full_ids
from tests.contract.test_tenants import Tenant, without_request_id

_CUSTOM: Final = {"name": "child", "preset": "custom"}
_IN_SOURCES: Final = "192.0.2.7"


@pytest.fixture(scope="module")
def tenant(service: Service) -> Tenant:
    account = service.account()
    services().team.add_member(account, "owner@shop.example", Role.OWNER)
    sent = Api(service.key(account)).send(otp())
    return Tenant(service, account, sent.json["messageId"])


def key_with(account: str, *scopes: str, **limits: Any) -> Api:
    """Return a client with a key that the operator's command creates."""
    issued = services().api_keys.issue_live(
        account, "ci", Preset.CUSTOM, scopes, limits=KeyLimits(**limits)
    )
    return Api(issued.text)


def create(
    api: Api, *scopes: str, client: str = "127.0.0.1", of: str = "", **body: Any
) -> ApiResponse:
    """Create a key; `of` is the account for which an operator's key acts."""
    sent = _CUSTOM | {"scopes": list(scopes)} | body
    return api.raw("POST", "/keys", sent, {"X-Account": of} if of else {}, client=client)


def revoke(api: Api) -> None:
    services().api_keys.revoke(services().api_keys.find(api.key or "").key_id)


def _end() -> datetime:
    """Return the end of a key that works for now."""
    return services().accounts.clock() + timedelta(hours=1)


def works(api: Api, client: str = "127.0.0.1") -> bool:
    """Return whether a key is accepted."""
    return api.raw("GET", "/me", client=client).status == 200


def test_an_account_cannot_have_the_service_write_without_end(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each management key is an email to owners; a revoked one counts, and other keys do not."""
    monkeypatch.setattr("pillarbox.application.accounts.keys.MAX_ADDED_MANAGEMENT_KEYS", 2)
    api = key_with(account, KEYS_WRITE, EMAILS_SEND)
    for _ in range(2):
        made = create(api, KEYS_WRITE)
        assert api.raw("DELETE", f"/keys/{made.json['id']}").status == 204
    assert create(api, KEYS_WRITE).code == "rate_limit_exceeded"
    assert create(api, EMAILS_SEND).status == 201


def test_no_preset_has_a_management_scope() -> None:
    """Old keys have the scopes of the contract and of webhooks, so an upgrade gives them none."""
    assert {one.permission for one in (*MANAGED, *OPERATED)} >= MANAGEMENT_SCOPES | OPERATOR_SCOPES
    for scopes in PRESET_SCOPES.values():
        assert scopes.isdisjoint(MANAGEMENT_SCOPES | OPERATOR_SCOPES)


def test_each_permission_has_words(account: str) -> None:
    assert SCOPE_WORDS.keys() == SCOPES | OPERATOR_SCOPES
    listed = key_with(account, KEYS_READ).raw("GET", "/keys").json["permissions"]
    assert {one["scope"]: one["allows"] for one in listed} == {
        scope: words for scope, words in SCOPE_WORDS.items() if scope in SCOPES
    }


def test_a_revoked_key_stops_working_at_once(service: Service, subtests: pytest.Subtests) -> None:
    """3, 5: it is 401 invalid_api_key immediately; a new one of its account works."""
    account = service.account()
    for operation in (*OPERATIONS, *MANAGED):
        with subtests.test(operation.id):
            old, new = Api(service.key(account)), Api(service.key(account))
            assert operation.request(old, absent_ids()).status != 401
            service.revoke(old.key or "")
            response = operation.request(old, absent_ids())
            assert (response.status, response.code) == (401, "invalid_api_key")
            assert operation.request(new, absent_ids()).status != 401


def test_the_keys_of_a_suspended_account_stop_at_once(
    service: Service, subtests: pytest.Subtests
) -> None:
    """Notes: while an account is suspended, each key of it is 403 account_suspended."""
    records, account = DynamoAccounts(services().table), service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    for operation in (*OPERATIONS, *MANAGED):
        with subtests.test(operation.id):
            before = operation.request(api, absent_ids())
            records.suspend(account, Suspension(wiring.utc_now(), "bounces"))
            response = operation.request(api, absent_ids())
            assert (response.status, response.code) == (403, "account_suspended")
            assert "bounces" not in str(response.error)
            records.resume(account)
            again = operation.request(api, absent_ids()).code
            assert again == before.code or (before.status < 300 and again == "rate_limit_exceeded")


def test_a_key_with_sources_works_on_every_route(
    service: Service, tenant: Tenant, subtests: pytest.Subtests
) -> None:
    ids, account = full_ids(tenant, [*OF_AN_ACCOUNT, *absent_ids()]), service.account()
    here, elsewhere = (
        key_with(account, *SCOPES, sources=(one,)) for one in ("127.0.0.0/8", "192.0.2.0/24")
    )
    for operation in OF_KEYS:
        with subtests.test(operation.id):
            assert operation.request(here, ids).code != "invalid_api_key"
            assert operation.request(elsewhere, ids).code == "invalid_api_key"


def test_each_route_takes_the_key_of_its_scope(
    service: Service, tenant: Tenant, subtests: pytest.Subtests
) -> None:
    """Scope by route: a key with the scope alone succeeds, and one with all others is 403."""
    for operation in MANAGED:
        with subtests.test(operation.id):
            scope = operation.permission or ""
            ids = full_ids(tenant, operation.parameters)
            lacking = Api(service.key(tenant.account, scopes=SCOPES - {scope}))
            refused = operation.request(lacking, ids)
            assert (refused.status, refused.code) == (403, "scope_required")
            assert refused.error["details"] == {"required_permission": scope}
            # What a key gives to others it must have itself.
            scopes = SCOPES if operation.id in GIVING else frozenset({scope})
            response = operation.request(Api(service.key(tenant.account, scopes=scopes)), ids)
            assert str(response.status) == min(operation.described["responses"]), response.text


#: They give rights or take them: a key, or a role.
GIVING: Final = {"create_key", "revoke_key", "invite_member", "change_member", "remove_member"}


def test_an_id_of_another_account_does_not_exist_for_a_key(
    service: Service, tenant: Tenant, subtests: pytest.Subtests
) -> None:
    """Tenant by route: a foreign id gets the same bytes and headers as an unknown id."""
    ids = full_ids(tenant, [*OF_AN_ACCOUNT, *absent_ids()])
    api = Api(service.key(service.account(), scopes=SCOPES))
    # An example adds the address that is removed.
    for operation in sorted(MANAGED, key=lambda one: one.method != "DELETE"):
        with subtests.test(operation.id):
            foreign = operation.request(api, ids)
            assert "Secret" not in foreign.text
            assert tenant.account not in foreign.text
            if set(operation.parameters) & set(ids):
                missing = operation.request(api, absent_ids())
                assert foreign.status == 404
                text = foreign.text.replace(ids["sender"], absent_ids()["sender"])
                assert (foreign.status, text) == (missing.status, missing.text)


def test_a_key_of_operators_scopes_elsewhere_does_nothing(
    account: str, service: Service, subtests: pytest.Subtests
) -> None:
    """A record with the scopes in an account that is no operator's gets 403, and no X-Account."""
    api = Api(service.key(account, scopes=SCOPES | OPERATOR_SCOPES))
    for operation in OPERATED:
        with subtests.test(operation.id):
            for account_id in (account, "0" * 12):
                ids = {"account_id": account_id, "address": "ada@shop.example"}
                response = operation.request(api, ids)
                assert (response.status, response.code) == (403, "scope_required")
    for other in (account, service.account(), "0" * 12, "x", ""):
        response = api.raw("GET", "/domains", headers={"X-Account": other})
        assert (response.status, response.code) == (403, "scope_required")


def test_a_key_gives_no_scope_that_it_lacks(account: str) -> None:
    api = key_with(account, KEYS_WRITE, KEYS_READ)
    for scopes in ((EMAILS_SEND,), (KEYS_READ, "domains:write"), (ACCOUNTS_WRITE,)):
        assert create(api, *scopes).status in {403, 422}
    preset = api.raw("POST", "/keys", {"name": "x", "preset": "send"})
    assert (preset.status, preset.code) == (403, "scope_required")
    child = create(api, KEYS_READ)
    assert (child.status, child.json["scopes"]) == (201, [KEYS_READ])


def test_a_child_lives_no_longer_and_nowhere_else(account: str) -> None:
    """Expiry and sources that are left out are the parent's, and others must be within them."""
    end = wiring.utc_now() + timedelta(days=1)
    api = key_with(account, KEYS_WRITE, expires_at=end, sources=("192.0.2.0/24",))
    later = (end + timedelta(days=1)).isoformat()
    near = {"client": _IN_SOURCES}
    assert create(api, KEYS_WRITE, **near, expiresAt=later).errors == {"expiresAt": "out_of_range"}
    for blocks in (["0.0.0.0/0"], ["192.0.2.0/23"], ["192.0.2.1/32", "2001:db8::/32"]):
        assert create(api, KEYS_WRITE, **near, sources=blocks).errors == {"sources": "out_of_range"}
    zoned = create(api, KEYS_WRITE, **near, sources=["fe80::1%eth0"])
    assert zoned.errors == {"sources": "invalid"}
    child = create(api, KEYS_WRITE, **near)
    assert child.json["sources"] == ["192.0.2.0/24"]
    assert child.json["expiresAt"] == end.isoformat(timespec="milliseconds")
    narrow = create(api, KEYS_WRITE, **near, sources=["192.0.2.7"])
    assert narrow.json["sources"] == ["192.0.2.7/32"]


def test_a_revoked_key_takes_its_descendants_with_it(account: str) -> None:
    """Children and grandchildren stop at once, and a key that is revoked creates none."""
    scopes = (KEYS_WRITE, KEYS_READ)
    parent, bystander = key_with(account, *scopes), key_with(account, *scopes)
    child = Api(create(parent, *scopes).json["key"])
    grandchild = Api(create(child, *scopes).json["key"])
    assert all(map(works, (parent, child, grandchild)))
    principal = services().authentication.authenticate(child.key or "")
    revoke(parent)
    assert [*map(works, (parent, child, grandchild, bystander))] == [False, False, False, True]
    # A request that was authenticated before the revocation ends in no key.
    with pytest.raises(Exception, match="not valid"):
        services().api_keys.issue_live(
            account, "late", Preset.CUSTOM, [KEYS_READ], creator=principal
        )
    names = {key.name for key in services().api_keys.of_account(account) if not key.revoked_at}
    assert names == {"ci"}


@pytest.mark.parametrize(("call", "number"), [("children_of", 1), ("revoke", 2), ("revoke", 3)])
def test_an_interrupted_revocation_goes_on(
    account: str, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """If the store fails after the parent or between two children, a repetition ends the rest."""
    parent = key_with(account, KEYS_WRITE)
    children = [Api(create(parent, KEYS_WRITE).json["key"]) for _ in range(2)]
    records = services().api_keys.records
    original, calls = getattr(type(records), call), count(1)

    def fail(*arguments: Any) -> Any:
        assert next(calls) < number, "planted"
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(type(records), call, fail)
        with pytest.raises(AssertionError, match="planted"):
            revoke(parent)
    assert not works(parent)
    revoke(parent)
    assert not any(map(works, children))


def test_an_expired_key_stops_also_where_it_is_remembered(service: Service, account: str) -> None:
    """A process that has seen the key valid refuses it from its expiry on, on sends too."""
    end = wiring.utc_now() + timedelta(minutes=5)
    api = key_with(account, EMAILS_SEND, KEYS_READ, expires_at=end)
    assert api.send(otp()).status == 200
    assert api.send(otp()).status == 200
    with service.at(end):
        for method, path, body in (
            ("POST", "/emails", otp()),
            ("POST", "/emails/batch", {"messages": [otp()]}),
            ("GET", "/keys", None),
            ("GET", "/me", None),
            ("POST", "/mcp", "{}"),
        ):
            assert api.raw(method, path, body).code == "invalid_api_key", path
    assert api.send(otp()).status == 200


def test_a_key_works_from_its_sources_only(account: str) -> None:
    """The address is the connection's: no header of the client replaces it."""
    api = key_with(account, EMAILS_SEND, KEYS_READ, sources=("192.0.2.0/24", "2001:db8::/32"))
    paths = (("POST", "/emails", otp()), ("GET", "/keys", None), ("GET", "/me", None))
    for method, path, body in paths:
        for client in (_IN_SOURCES, "2001:db8::1", "::ffff:192.0.2.9"):
            assert api.raw(method, path, body, client=client).status == 200
        for client in ("192.0.3.1", "2001:db9::1", "", "x"):
            assert api.raw(method, path, body, client=client).code == "invalid_api_key"
        for header in ("X-Forwarded-For", "X-Pillarbox-Client", "X-Real-IP", "Forwarded"):
            forged = {header: _IN_SOURCES, "X-Pillarbox-Edge": "guess"}
            response = api.raw(method, path, body, forged, client="192.0.3.1")
            assert response.code == "invalid_api_key", header


def test_the_edges_secret_vouches_for_an_address(
    account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the edge the client's address is in X-Pillarbox-Client, beside the secret."""
    api = key_with(account, KEYS_READ, sources=("192.0.2.0/24",))
    monkeypatch.setattr(services().key_check, "_is_of_edge", lambda text: text == "secret")
    headers = {"X-Pillarbox-Client": _IN_SOURCES, "X-Pillarbox-Edge": "secret"}
    assert api.raw("GET", "/keys", headers=headers, client="198.51.100.1").status == 200
    away = headers | {"X-Pillarbox-Client": "192.0.3.1"}
    assert api.raw("GET", "/keys", headers=away, client=_IN_SOURCES).status == 401


def test_owners_create_management_keys_and_get_an_email(service: Service, account: str) -> None:
    """A developer's session gets 403; an owner's succeeds, and each owner is told."""
    developer = Api(session=service.session(account, Role.DEVELOPER, "dev@shop.example"))
    owner = Api(session=service.session(account, Role.OWNER, "own@shop.example"))
    assert create(developer, KEYS_WRITE).code == "scope_required"
    assert create(developer, EMAILS_SEND).status == 201
    assert create(owner, ACCOUNTS_READ).errors == {"scopes": "not_allowed"}
    service.jobs()
    assert create(owner, KEYS_WRITE, EMAILS_SEND).status == 201
    (job,) = [json.loads(one["body"]) for one in service.jobs()]
    assert "own@shop.example" in json.dumps(job)
    assert words_of([KEYS_WRITE])[0] in json.dumps(job)
    before = owner.raw("GET", "/keys").json
    with mock.patch.object(SqsJobs, "put", side_effect=ServiceError("service_unavailable", "p")):
        assert create(owner, KEYS_WRITE).code == "service_unavailable"
    assert owner.raw("GET", "/keys").json == before, "no key exists of which nobody was told"


def invite(api: Api, address: str, role: str = "viewer") -> ApiResponse:
    return api.raw("POST", "/members", {"email": address, "role": role})


def test_a_key_makes_no_owner_and_a_limited_one_no_member(account: str) -> None:
    """Nor does one that has the scopes of members only, or removes an owner with these."""
    boss = services().team.add_member(account, "boss@shop.example", Role.OWNER)
    whole = key_with(account, *SCOPES)
    assert invite(whole, "own@shop.example", "owner").code == "scope_required"
    member = invite(whole, "dev@shop.example", "developer").json["id"]
    narrow = key_with(account, "members:write", "members:read")
    for role in Role:
        assert invite(narrow, "new@shop.example", role).code == "scope_required"
    assert narrow.raw("DELETE", f"/members/{boss.user_id}").code == "scope_required"
    for limits in ({"expires_at": _end()}, {"sources": ("127.0.0.0/8",)}):
        api = key_with(account, *SCOPES, **limits)
        assert invite(api, "new@shop.example").code == "scope_required"
        change = api.raw("PATCH", f"/members/{member}", {"role": "viewer"})
        assert change.code == "scope_required"
    assert whole.raw("PATCH", f"/members/{member}", {"role": "owner"}).code == "scope_required"
    assert whole.raw("PATCH", f"/members/{member}", {"role": "viewer"}).status == 200


def test_a_revocation_ends_invitations(service: Service, account: str) -> None:
    """Those of the key and its children that wait end; who has joined and others' guests stay."""
    root = key_with(account, *SCOPES)
    child = Api(create(root, *SCOPES).json["key"])
    invite(root, "one@shop.example")
    invite(child, "two@shop.example")
    invite(key_with(account, *SCOPES), "three@shop.example")
    joined = invite(root, "four@shop.example").json["id"]
    members = services().account_members.members
    members.join(next(one for one in members.of_account(account) if one.user_id == joined))
    revoke(root)
    left = {one.address for one in members.of_account(account)}
    assert left == {"three@shop.example", "four@shop.example"}
    removed = [one for one in services().accounts.log(account) if one.action == "member.removed"]
    assert {one.subject for one in removed} == {"one@shop.example", "two@shop.example"}
    assert service


def test_a_key_revokes_what_comes_from_it(account: str) -> None:
    root = key_with(account, KEYS_WRITE)
    child = create(root, KEYS_WRITE).json
    grandchild = create(Api(child["key"]), KEYS_WRITE).json
    whole = services().api_keys.find(key_with(account, *SCOPES - PAID_SCOPES).key or "").key_id
    almost = key_with(account, *SCOPES - PAID_SCOPES - {"emails:read"})
    for one in (root, almost):
        assert one.raw("DELETE", f"/keys/{whole}").code == "scope_required"
    root_id = services().api_keys.find(root.key or "").key_id
    assert Api(child["key"]).raw("DELETE", f"/keys/{root_id}").code == "scope_required"
    assert root.raw("DELETE", f"/keys/{grandchild['id']}").status == 204
    assert root.raw("DELETE", f"/keys/{root_id}").status == 204
    assert not works(Api(child["key"]))
    other = services().api_keys.find(key_with(account, EMAILS_SEND).key or "").key_id
    assert key_with(account, *SCOPES - PAID_SCOPES).raw("DELETE", f"/keys/{other}").status == 204


def test_mapped_sources_are_those_of_ipv4(account: str) -> None:
    """A block of IPv4 addresses that is written as IPv6 works from these addresses."""
    for block in ("::ffff:192.0.2.7/128", "::ffff:192.0.2.0/120", "0:0:0:0:0:ffff:c000:207/128"):
        api = key_with(account, KEYS_READ, sources=(block,))
        assert works(api, client=_IN_SOURCES), block
        assert not works(api, client="192.0.3.7"), block


def test_agents_get_no_management_scope(account: str, service: Service) -> None:
    """A key for an agent cannot have one, and the MCP server has no tool that manages."""
    with pytest.raises(Exception, match="agent"):
        services().api_keys.issue_live(
            account, "agent", Preset.CUSTOM, [KEYS_WRITE], AgentSettings(recipients=("*",))
        )
    api = Api(service.key(account, scopes=MANAGEMENT_SCOPES))
    assert api.send(otp()).code == "scope_required"


def test_an_operators_key_acts_for_an_account(service: Service) -> None:
    """It creates accounts, lists and suspends them, and manages one that X-Account names."""
    assert service
    own = services().accounts.create("Operator", Plan.ENTERPRISE).account_id
    with pytest.raises(Exception, match="operator"):
        key_with(own, ACCOUNTS_WRITE)
    services().accounts.update(own, AccountChanges(operates=True))
    api = key_with(own, *SCOPES, *OPERATOR_SCOPES)
    made = api.raw("POST", "/operator/accounts", {"name": "Shop", "plan": "free"})
    account = made.json["id"]
    headers = {"X-Account": account}
    assert api.raw("GET", f"/operator/accounts/{account}").json["name"] == "Shop"
    assert api.raw("GET", "/account", headers=headers).json["id"] == account
    body = {"address": "ada@customer.example"}
    assert api.raw("POST", "/suppressions", body, headers).status == 201
    assert api.raw("GET", "/account", headers={"X-Account": "0" * 12}).code == "account_not_found"
    for scope in ("emails:send", "emails:read", "emails:content"):
        assert create(api, "templates:read", scope, of=account).code == "scope_required", scope
    first = {"email": "owner@shop.example", "role": "owner"}
    assert api.raw("POST", "/members", first, headers).status == 201  # it has no mail yet
    had = create(api, "templates:read", of=account).json["id"]
    assert api.raw("DELETE", f"/keys/{had}", None, headers).status == 204
    for role in ("owner", "developer", "author", "viewer"):
        body = {"email": "new@shop.example", "role": role}
        assert api.raw("POST", "/members", body, headers).code == "scope_required", role
    key = create(api, "templates:read", of=account)
    assert key.json["id"].startswith(f"key_{account}")
    assert create(api, ACCOUNTS_READ, of=account).status in {403, 422}
    entries = services().accounts.log(account)
    assert {one.by for one in entries} == {"operator"}
    noted = services().accounts.log(own, calls=True)
    assert f"POST /api/v1/suppressions for {account}" in {one.subject for one in noted}
    suspended = {"reason": "bounces"}
    assert api.raw("POST", f"/operator/accounts/{account}/suspension", suspended).status == 200
    assert api.raw("GET", "/domains", headers=headers).status == 200
    assert api.raw("DELETE", f"/operator/accounts/{account}/suspension").status == 200
    for method, path in (("GET", "/emails"), ("POST", "/emails"), ("GET", "/me")):
        response = api.raw(method, path, otp(), headers)
        assert response.errors == {"X-Account": "invalid_header"}, path
    assert api.raw("POST", "/mcp", "{}", headers).status == 422
    child = Api(key.json["key"])
    assert works(child)
    revoke(api)
    assert not works(child)


def test_a_key_that_does_not_work_here_looks_like_an_unknown_one(account: str) -> None:
    past = key_with(account, KEYS_READ, sources=("192.0.2.0/24",))
    unknown = Api(past.key[:-8] if past.key else None)
    answers = [one.raw("GET", "/keys") for one in (past, unknown)]
    assert without_request_id(answers[0]) == without_request_id(answers[1])
