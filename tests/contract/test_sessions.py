"""Sessions: where they are accepted, and what each role may do."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.key import DRAFTS_READ, EMAILS_SEND, OPERATOR_SCOPES, Preset
from pillarbox.domain.accounts.key_policy import SUSPENDED
from pillarbox.domain.sign_in.session import OPERATE, ROLE_SCOPES, Role
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.operations import (
    ALL_OPERATIONS,
    CHANGES,
    OF_ALL,
    OF_AN_ACCOUNT,
    OF_SESSIONS,
)
from tests.contract.service import Service
from tests.contract.sign_in import Browser, signed_in
from tests.contract.test_tenants import Tenant, unknown_ids

_ADDRESS: Final = "ada@shop.example"
_SUPPRESSED: Final = "ada@customer.example"
_OTHER: Final = ("other@shop.example", Role.DEVELOPER)
_ABSENT: Final = {
    "session_id": "0" * 12,
    "passkey_id": "0" * 64,
    "key_id": f"key_{'0' * 20}",
    "member_id": "0" * 12,
    "address": "nobody@customer.example",
    "domain": "gone.example",
    "sender": "gone@news.example",
    "account_id": "0" * 12,
    "queue": "jobs",
}
#: What begins a session takes no session.
_NOT_BEGINNING: Final = [
    one
    for one in ALL_OPERATIONS
    if one.id not in {"request_code", "sign_in", "look_at_link", "create_access_token"}
    and one.id not in {"begin_passkey_sign_in", "sign_in_with_passkey"}
    and not one.path.startswith(("/v1/preview-keys", "/v1/domain-records"))  # of visitors
]
#: Reads of the contract and routes of webhooks, which take keys as well.
_SHARED: Final = [one for one in OF_SESSIONS if "ApiKey" in one.credentials]
_SESSION_ONLY: Final = [one for one in OF_SESSIONS if "ApiKey" not in one.credentials]
_OF_NO_ACCOUNT: Final = {OPERATE, *OPERATOR_SCOPES}
#: Those of one account. The others are about the user's own sessions, or for operators.
_OF_ACCOUNTS: Final = [
    one
    for one in OF_SESSIONS
    if one.permission not in _OF_NO_ACCOUNT and (one.permission or one in _SHARED)
]
#: The routes of the template editor.
_EDITOR: Final = [one for one in OF_SESSIONS if one.path.startswith("/v1/templates")]
_KEY_ONLY: Final = [one for one in ALL_OPERATIONS if one.credentials == {"ApiKey"}]


@pytest.fixture(scope="module")
def tenant(service: Service) -> Tenant:
    account = service.account()
    services().team.add_member(
        account, _ADDRESS, Role.DEVELOPER
    )  # to whom the test of a template goes
    sent = Api(service.key(account)).send(otp())
    return Tenant(service, account, sent.json["messageId"])


@pytest.fixture(scope="module")
def tokens(tenant: Tenant) -> dict[Role, str]:
    """An access token of a member of each role, whose sessions no test ends."""
    session = tenant.service.session
    return {role: session(tenant.account, role, f"{role}@shop.example") for role in Role}


@pytest.fixture(scope="module")
def cookie(tenant: Tenant) -> str:
    browser = signed_in(tenant.service, _ADDRESS, tenant.account)
    assert browser.cookie is not None
    return browser.cookie


def absent_ids() -> dict[str, str]:
    return unknown_ids() | _ABSENT


def full_ids(tenant: Tenant, names: Iterable[str], operation: str = "") -> dict[str, str]:
    """Return ids of the account, those with these names of things that exist."""
    account, use_cases, service = tenant.account, services(), tenant.service
    service.domain(account, "shop.example")
    # It may be the default sender, which a test of a template needs.
    ids = (
        _ABSENT
        | tenant.ids(names, operation)
        | {"sender": service.sender(account, "secret@news.example")}
    )
    for name in names:
        match name:
            case "key_id":
                ids[name] = use_cases.api_keys.issue_live(account, "web", Preset.SEND).record.key_id
            case "member_id":
                ids[name] = use_cases.team.add_member(account, *_OTHER).user_id
            case "domain":
                ids[name] = service.domain(account, "secret.example")
                if use_cases.account_domains.get(account, ids[name]).receives:
                    # An earlier operation has switched it on, and no such domain is removed.
                    use_cases.receiving_setup.change(account, ids[name], "", None, by="test")
            case "address":
                ids[name] = use_cases.suppression_list.add(account, _SUPPRESSED).address
    return ids


def test_the_routes_of_sessions_are_those_of_the_design() -> None:
    """Sessions read what the contract's reads show, and answer; they neither send nor show keys."""
    may = {*CHANGES, "answer_received"}
    sends = {one.id for one in ALL_OPERATIONS if one.permission == EMAILS_SEND} - may
    assert sends | {"mcp", "get_me"} <= {one.id for one in _KEY_ONLY}
    own = {one.id for one in _SESSION_ONLY if one.permission is None}
    assert own == {
        *("list_sessions", "end_sessions", "end_session", "get_sign_up", "sign_up"),
        *("accept_invitation", "decline_invitation"),
        *("list_passkeys", "begin_passkey", "add_passkey", "remove_passkey"),
    }
    reads = {one.id for one in _EDITOR if one.permission == DRAFTS_READ}
    assert reads == {
        *("render_template", "list_drafts", "get_draft"),
        *("list_versions", "get_version"),
    }
    in_person = {one.id for one in _SESSION_ONLY if one.permission not in {None, OPERATE}}
    assert in_person == {
        *("get_held_content", "get_overview", "resume_sending", "test_template", "test_alerts"),
    }


@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_its_scopes_allow(
    tenant: Tenant, tokens: dict[Role, str], role: Role, subtests: pytest.Subtests
) -> None:
    """Each route with each role: a success with the scope, else 403 scope_required."""
    api = Api(session=tokens[role])
    # Not a suppression, of whom an answer is to.
    known = full_ids(tenant, [*OF_AN_ACCOUNT, *(_ABSENT.keys() - {"address"})])
    for operation in _OF_ACCOUNTS:
        with subtests.test(operation.id):
            allowed = operation.permission in {None, *ROLE_SCOPES[role]}
            ids = full_ids(tenant, operation.parameters, operation.id) if allowed else known
            response = operation.request(api, ids)
            if not allowed:
                assert (response.status, response.code) == (403, "scope_required")
                assert response.error["details"] == {"required_permission": operation.permission}
            elif operation.id == "resume_sending":  # nothing is paused
                assert response.code == "sending_paused"
            else:
                assert str(response.status) == min(operation.described["responses"])


def test_an_id_of_another_account_does_not_exist_for_a_session(
    service: Service, tenant: Tenant, subtests: pytest.Subtests
) -> None:
    """An id of another account gets the same bytes as an unknown id, and nothing of it shows."""
    # A list must not show what exists, so everything does.
    ids = full_ids(tenant, [*OF_AN_ACCOUNT, *_ABSENT])
    api = Api(session=service.session(service.account(), address="ada@other.example"))
    # An example adds the address that is removed.
    for operation in sorted(_OF_ACCOUNTS, key=lambda one: one.method != "DELETE"):
        with subtests.test(operation.id):
            foreign = operation.request(api, ids)
            missing = operation.request(api, absent_ids())
            assert "Secret" not in foreign.text
            if set(operation.parameters) & set(ids):
                assert foreign.status == 404
                text = foreign.text.replace(ids["sender"], _ABSENT["sender"])
                assert (foreign.status, text) == (missing.status, missing.text)
            assert tenant.account not in foreign.text


def test_each_route_takes_its_own_credentials_only(
    service: Service, tenant: Tenant, tokens: dict[Role, str], subtests: pytest.Subtests
) -> None:
    """A key is no session and a session no key; an ended, made-up or cut off token is neither."""
    ids, token = _ABSENT | tenant.ids(), tokens[Role.OWNER]
    ended, key = service.session(tenant.account), service.key(tenant.account, Preset.MARKETING)
    assert Api(session=ended).raw("DELETE", "/session").status == 204
    changed = token[:-1] + ("1" if token[-1] != "1" else "2")
    for operation in ALL_OPERATIONS:
        cases: list[tuple[Api, int, str]] = []
        if operation in OF_SESSIONS:
            of_none = (ended, changed, token[:-1], "pbs_", f"{token}x")
            cases += [(Api(session=text), 401, "invalid_session") for text in of_none]
            of_key = "missing_api_key" if operation in _SHARED else "invalid_session"
            cases.append((Api(session=key), 401, of_key))
        if operation in _SESSION_ONLY:
            keys = (key, service.preview().key, "nonsense")
            cases += [(Api(one), 403, "session_required") for one in keys]
        if operation in _KEY_ONLY:
            cases.append((Api(session=token), 401, "missing_api_key"))
            cases.append((Api(token), 401, "invalid_api_key"))
        with subtests.test(operation.id):
            for api, status, code in cases:
                response = operation.request(api, ids)
                assert (response.status, response.code) == (status, code)
                assert response.text == operation.request(api, absent_ids()).text


def test_the_cookie_alone_is_refused(
    tenant: Tenant, cookie: str, subtests: pytest.Subtests
) -> None:
    """Only one route reads the cookie: on every other one it is 401."""
    headers = {"Cookie": f"__Host-pillarbox={cookie}"}
    ids = OF_ALL | _ABSENT | tenant.ids()
    for operation in _NOT_BEGINNING:
        with subtests.test(operation.id):
            path = operation.path.removeprefix("/v1").format_map(ids)
            assert Api().raw(operation.method, path, "{}", headers).status == 401


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Origin", None),
        ("Origin", "null"),
        ("Origin", "https://evil.example"),
        ("Origin", "http://app.example"),
        ("Origin", "https://app.example.evil.example"),
        ("Sec_Fetch_Site", None),
        ("Sec_Fetch_Site", "cross-site"),
        ("Sec_Fetch_Site", "same-site"),
        ("Sec_Fetch_Site", "none"),
        ("Content_Type", None),
        ("Content_Type", "text/plain"),
        ("Content_Type", "application/x-www-form-urlencoded"),
        ("x_pillarbox_host", "other.example"),
    ],
)
def test_only_pages_of_the_dashboard_use_the_cookie(
    service: Service, name: str, value: str | None
) -> None:
    """A cross-site or same-site request, or one that is not JSON, is 403 cross_site_request."""
    browser = signed_in(service, _ADDRESS)
    for path, body in (("/token", {}), ("", {"link": services().team.new_link(_ADDRESS)})):
        headers: dict[str, Any] = {name: value}
        response = browser.post(path, body, **headers)
        assert (response.status, response.code) == (403, "cross_site_request")
        assert "set-cookie" not in response.headers


def test_the_edge_says_which_host_was_called(service: Service) -> None:
    """Behind the edge, Host is the gateway's name, so the origin is compared with the edge's."""
    browser = signed_in(service, _ADDRESS)
    headers = {"Host": "abc.execute-api.example", "x-pillarbox-host": "app.example"}
    assert browser.post("/token", {}, **headers).status == 200
    local = {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080"}
    assert browser.post("/token", {}, **local).status == 200


@pytest.mark.parametrize("cookie", ["", "x", "0" * 56, "a; __Host-pillarbox=b"])
def test_a_wrong_cookie_is_refused(service: Service, cookie: str) -> None:
    """An empty, malformed, unknown or repeated cookie is 401 invalid_session."""
    assert service
    response = Browser(cookie).token()
    assert (response.status, response.code) == (401, "invalid_session")


def test_a_token_is_for_one_account(service: Service) -> None:
    """Two tabs, two accounts: each token reads its own, with the role of the user there."""
    first, second = service.account(), service.account()
    address = "two@shop.example"
    messages = {one: Api(service.key(one)).send(otp()).json["messageId"] for one in (first, second)}
    with service.at(wiring.utc_now() - timedelta(minutes=1)):
        services().team.add_member(first, address, Role.OWNER)
    services().team.add_member(second, address, Role.VIEWER)
    browser = signed_in(service, address)
    tokens = {one: browser.token(one).json for one in (first, second)}
    assert [tokens[one]["role"] for one in (first, second)] == ["owner", "viewer"]
    assert browser.token().json["account"]["id"] == first
    for own, other in ((first, second), (second, first)):
        api = Api(session=tokens[own]["token"])
        assert api.get(messages[own]).status == 200
        assert api.get(messages[other]).code == "message_not_found"
    refused = browser.token(service.account())
    assert (refused.status, refused.errors) == (422, {"accountId": "unknown_account"})
    assert browser.token("nonsense").text == refused.text


def test_an_operator_loses_the_sessions_with_the_right(service: Service) -> None:
    address = "root@shop.example"
    services().team.set_operator(address, operator=True)
    browser = signed_in(service, address)
    token = browser.token().json
    assert token["user"]["operator"] is True
    services().team.set_operator(address, operator=False)
    assert Api(session=token["token"]).raw("GET", "/session").code == "invalid_session"
    assert browser.token().code == "invalid_session"


def test_no_route_of_a_suspended_account_works(
    account: str, service: Service, tenant: Tenant
) -> None:
    """Each answers a member with the same bytes, also those of domains, and asks SES nothing."""
    api = Api(session=service.session(account))
    ids = full_ids(Tenant(service, account, tenant.message_id), [*OF_AN_ACCOUNT, *_ABSENT])
    services().accounts.suspend(account, "bounces")
    service.ses.domains.calls.clear()
    answers = {one.id: one.request(api, ids) for one in _OF_ACCOUNTS}
    assert {"list_domains", "restart_domain", "add_sender"} <= answers.keys()
    shown = {(one.status, one.code, one.error["message"]) for one in answers.values()}
    assert shown == {(403, "account_suspended", SUSPENDED)}
    assert service.ses.domains.calls == []
    assert api.raw("GET", "/session").status == 200  # of the user, not of the account
