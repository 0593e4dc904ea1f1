"""The routes of operators: who may call them, and what they show and change."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import pytest

from pillarbox import wiring
from pillarbox.application.accounts import account_list
from pillarbox.domain.accounts.account import NO_LIMITS, Plan
from pillarbox.domain.accounts.key import OPERATOR_SCOPES
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import OPERATE, Role
from pillarbox.domain.sign_in.sign_up import SignUpRequest, SignUpState
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.operations import OF_SESSIONS, Operation
from tests.contract.service import Service
from tests.contract.sign_in import signed_in

_ROOT: Final = "root@pillarbox.example"
_OPERATIONS: Final = [one for one in OF_SESSIONS if one.permission in {OPERATE, *OPERATOR_SCOPES}]
_NOBODY: Final = "0" * 12

every_operation = pytest.mark.parametrize("operation", _OPERATIONS, ids=lambda one: one.id)


@pytest.fixture(scope="module")
def members(service: Service) -> tuple[str, list[Api]]:
    """The id of an account, and sessions: of a member of each role, and of a user in no account."""
    account = services().accounts.create("Members", Plan.FREE).account_id
    sessions = (service.session(account, role, f"{role}@shop.example") for role in Role)
    stranger = signed_in(service, "nobody@shop.example").token().json["token"]
    return account, [Api(session=session) for session in (*sessions, stranger)]


@pytest.fixture
def account(service: Service) -> str:
    """The id of a new account that the list of all accounts has."""
    assert service
    return services().accounts.create("Shop", Plan.FREE).account_id


def send(api: Api, method: str, path: str, body: Any = None) -> ApiResponse:
    return api.raw(method, f"/operator{path}", body)


@pytest.fixture
def applicant(service: Service) -> str:
    """The address of a new user who asks for an account and waits."""
    assert service
    user = services().team.add_user(f"{new_token(8)}@shop.example")
    request = SignUpRequest(
        user_id=user.user_id,
        address=user.address,
        state=SignUpState.PENDING,
        at=wiring.utc_now(),
        name="Acme",
    )
    assert services().sign_up_approval.sign_ups.put(request, None)
    return user.address


def ids(account_id: str, address: str = "ada@shop.example") -> dict[str, str]:
    return {"account_id": account_id, "queue": "jobs", "address": address}


@contextmanager
def possible(service: Service, operation: Operation, account: str) -> Iterator[None]:
    """Let an operation succeed: an account is deleted some time after its suspension."""
    if operation.id != "delete_operated_account":
        yield
        return
    services().accounts.suspend(account, "gone")
    with service.at(wiring.utc_now() + timedelta(minutes=3)):
        yield


@every_operation
def test_nobody_else_may_call_it(
    members: tuple[str, list[Api]], account: str, operation: Operation
) -> None:
    """A user in no account, and each role for its own, a foreign and an unknown account."""
    own, apis = members
    answers = set[str]()
    for api in apis:
        for account_id in (own, account, _NOBODY):
            response = operation.request(api, ids(account_id))
            assert (response.status, response.code) == (403, "scope_required")
            answers.add(response.text)
    assert len(answers) == 1
    for account_id in (own, account):
        assert services().accounts.get(account_id).suspension is None
        assert services().accounts.log(account_id) == []


@every_operation
def test_a_former_operator_is_refused_at_once(
    service: Service, account: str, applicant: str, operation: Operation
) -> None:
    """An operator gets the documented success, and later 403 with a token that outlives the right.

    The user's record is read each time.
    """
    address = "former@pillarbox.example"
    token = service.operator(address)
    users, sessions = services().team.users, services().team.sessions
    with possible(service, operation, account):
        response = operation.request(Api(session=token), ids(account, applicant))
    assert str(response.status) == min(operation.described["responses"]), response.text
    users.set_operator(address, operator=False)
    response = operation.request(Api(session=token), ids(account))
    assert (response.status, response.code) == (403, "scope_required")
    users.set_operator(address, operator=True)
    user = users.get(address)
    assert user is not None
    sessions.remove_all(user.user_id)
    assert operation.request(Api(session=token), ids(account)).code == "invalid_session"


def test_a_member_who_becomes_an_operator_signs_in_again(service: Service, account: str) -> None:
    """A token issued before has no more rights than it had; the next one has them."""
    address = "grows@pillarbox.example"
    browser = signed_in(service, address, account)
    before = Api(session=browser.token(account).json["token"])
    services().team.set_operator(address, operator=True)
    assert send(before, "GET", "/accounts").code == "scope_required"
    assert send(Api(session=browser.token(account).json["token"]), "GET", "/accounts").status == 200


def test_an_operator_of_a_suspended_account_still_operates(service: Service, account: str) -> None:
    address = "both@pillarbox.example"
    services().team.set_operator(address, operator=True)
    api = Api(session=service.session(account, address=address))
    services().accounts.suspend(account, "bounces")
    assert api.raw("GET", "/account").code == "account_suspended"
    assert send(api, "DELETE", f"/accounts/{account}/suspension").status == 200
    assert api.raw("GET", "/account").status == 200


@pytest.mark.parametrize("account_id", [_NOBODY, "x", "A" * 12, "%2F", "a" * 300, "🦜"])
def test_an_unknown_account_is_not_found(operator: Api, account_id: str) -> None:
    """An id of any form is 404 on each route of an account."""
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "", {"plan": "standard"}),
        ("POST", "/suspension", {"reason": "bounces"}),
        ("DELETE", "/suspension", None),
    ):
        response = send(operator, method, f"/accounts/{account_id}{path}", body)
        assert (response.status, response.code) == (404, "account_not_found")


def month(account: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (one for one in account["limits"] if one["name"] == "month")
    return found


def test_a_plan_and_limits_are_changed(service: Service, operator: Api, account: str) -> None:
    """They count from the next request on; limits that are left out are the plan's again."""
    changed = send(operator, "PATCH", f"/accounts/{account}", {"plan": "standard"}).json
    assert (changed["plan"], month(changed)["limit"]) == ("standard", 15_000)
    limits = {"perDay": 0, "recipientsPerDay": 7}
    changed = send(operator, "PATCH", f"/accounts/{account}", {"ownLimits": limits}).json
    none = {"perMinute": None, "perDay": None, "perMonth": None, "recipientsPerDay": None}
    assert changed["ownLimits"] == none | limits
    assert {one["name"]: one["limit"] for one in changed["limits"]}["day"] == 0
    assert Api(service.key(account)).send(otp()).code == "no_verified_sender"
    changed = send(operator, "PATCH", f"/accounts/{account}", {"ownLimits": {"perMinute": 5}}).json
    assert changed["ownLimits"] == none | {"perMinute": 5}
    assert (
        send(operator, "PATCH", f"/accounts/{account}", {"ownLimits": {}}).json["ownLimits"] == none
    )
    assert services().accounts.get(account).overrides == NO_LIMITS
    assert send(operator, "GET", f"/accounts/{account}").json["plan"] == "standard"


@pytest.mark.parametrize("reason", [None, "", " ", "a\nb", "x" * 129, 5])
def test_a_suspension_needs_a_reason(operator: Api, account: str, reason: object) -> None:
    response = send(operator, "POST", f"/accounts/{account}/suspension", {"reason": reason})
    assert (response.status, [*response.errors]) == (422, ["reason"])
    assert services().accounts.get(account).suspension is None


def test_an_account_is_suspended_and_resumed(service: Service, operator: Api, account: str) -> None:
    """Keys and sessions get 403 at once; they never see the reason, and work again afterwards."""
    key, member = Api(service.key(account)), Api(session=service.session(account))
    path = f"/accounts/{account}/suspension"
    suspended = send(operator, "POST", path, {"reason": "spam complaints"}).json
    assert suspended["suspensionReason"] == "spam complaints"
    assert suspended["suspendedAt"] is not None
    for refused in (key.raw("GET", "/emails"), member.raw("GET", "/account")):
        assert refused.code == "account_suspended"
        assert "spam" not in refused.text
    assert send(operator, "DELETE", path).json["suspendedAt"] is None
    assert key.raw("GET", "/emails").status == 200
    assert send(operator, "DELETE", path).status == 200


def test_each_action_is_in_the_log(service: Service, operator: Api, account: str) -> None:
    """Operators see who did what and why; members see what, and neither names nor reasons."""
    path = f"/accounts/{account}"
    send(operator, "PATCH", path, {"plan": "enterprise", "ownLimits": {"perDay": 9}})
    send(operator, "PATCH", path, {"plan": "enterprise"})  # changes nothing
    send(operator, "POST", f"{path}/suspension", {"reason": "Secret reason"})
    send(operator, "POST", f"{path}/suspension", {"reason": "Secret reason"})
    send(operator, "DELETE", f"{path}/suspension")
    services().accounts.raise_shards(account, 2)
    log = send(operator, "GET", path).json["log"]
    assert [(one["action"], one["by"], one["reason"]) for one in log] == [
        ("changed", "operator", None),
        ("resumed", _ROOT, None),
        ("suspended", _ROOT, "Secret reason"),
        ("changed", _ROOT, None),
    ]
    assert log[0]["changes"] == [{"name": "shards", "before": 1, "after": 2}]
    assert log[3]["changes"] == [
        {"name": "plan", "before": "free", "after": "enterprise"},
        {"name": "perDay", "before": None, "after": 9},
    ]
    shown = Api(session=service.session(account, Role.VIEWER)).raw("GET", "/account/log")
    assert shown.json["items"] == [
        {name: one[name] for name in ("id", "at", "action", "subject", "count", "changes")}
        | {"by": None}
        for one in log
    ]
    assert not any(text in shown.text for text in ("Secret", _ROOT))


def test_a_sign_up_is_approved_with_a_plan(service: Service, operator: Api, applicant: str) -> None:
    """It is in the list until then; the user owns the account, and gets an email once."""
    listed = send(operator, "GET", "/sign-ups").json["items"]
    (found,) = (one for one in listed if one["email"] == applicant)
    assert found["name"] == "Acme"
    service.mailed()
    path = f"/sign-ups/{quote(applicant.upper(), safe='')}"
    created = send(operator, "POST", path, {"plan": "standard"})
    assert (created.status, created.json["plan"]) == (201, "standard")
    assert [mail["To"] for mail in service.mailed()] == [applicant]
    user = services().team.users.get(applicant)
    assert user
    (member,) = services().team.members.of_user(user.user_id)
    assert (member.account_id, member.role) == (created.json["id"], Role.OWNER)
    assert applicant not in send(operator, "GET", "/sign-ups").text
    again = send(operator, "POST", path, {})
    assert (again.status, again.errors) == (422, {"address": "not_allowed"})


@pytest.mark.parametrize("address", ["nobody@shop.example", "x", "%00", "%ff@x", "a@b@c"])
def test_a_sign_up_of_nobody_is_refused(operator: Api, address: str) -> None:
    """An address that asks for nothing, or is none, is 422."""
    for method, body in (("DELETE", None), ("POST", {})):
        response = send(operator, method, f"/sign-ups/{address}", body)
        assert (response.status, [*response.errors]) == (422, ["address"])


def test_what_members_change_is_not_in_the_log(service: Service, account: str) -> None:
    api = Api(session=service.session(account))
    assert api.raw("PATCH", "/account", {"name": "Store"}).status == 200
    assert api.raw("GET", "/account/log").json["items"] == []


def test_accounts_are_listed_page_by_page(service: Service, operator: Api) -> None:
    made = {services().accounts.create(f"Shop {n}", Plan.STANDARD).account_id for n in range(5)}
    (used, suspended, *_) = sorted(made)
    services().senders.accounts.put_sender(used, "a@sender.example", verified=True, default=True)
    assert Api(service.key(used)).send(otp()).status == 200
    services().accounts.suspend(suspended, "bounces")
    listed = dict[str, Any]()
    for page in operator.pages("/operator/accounts", limit="3"):
        assert len(page["items"]) <= 3
        assert not listed.keys() & {one["id"] for one in page["items"]}
        listed |= {one["id"]: one for one in page["items"]}
    assert made <= listed.keys()
    assert [*listed] == sorted(listed)
    assert month(listed[used])["used"] == 1
    assert listed[used]["suspendedAt"] is None
    assert listed[suspended]["suspendedAt"] is not None
    assert month(listed[suspended])["used"] == 0


def test_accounts_are_found_by_name_and_id(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the name in any letter case, or the start of the id; a search reads in batches."""
    monkeypatch.setattr(account_list, "_BATCH", 5)
    ids = {services().accounts.create(f"ÄRGER & Co {n}", Plan.FREE).account_id for n in range(3)}

    def found(**query: str) -> tuple[set[str], str | None]:
        page = operator.raw("GET", "/operator/accounts", query=query).json
        return {one["id"] for one in page["items"]}, page["nextCursor"]

    assert found(search="ärger &") == (ids, None)
    for account_id in ids:
        assert found(search=account_id[:10])[0] == {account_id}
    assert found(search="no such name") == (set(), None)
    first, cursor = found(search="ärger", limit="2")
    assert cursor is not None
    rest, end = found(search="ärger", limit="2", cursor=cursor)
    assert (first | rest, len(first), end) == (ids, 2, None)


def test_a_search_reads_a_limited_number_of_accounts(
    operator: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may be empty and have a next one, which goes on where it stopped."""
    monkeypatch.setattr(account_list, "_BATCH", 1)
    monkeypatch.setattr(account_list, "_MAX_BATCHES", 2)
    made = sorted(services().accounts.create("Needle", Plan.FREE).account_id for _ in range(4))
    pages = [page["items"] for page in operator.pages("/operator/accounts", search="needle")]
    assert max(map(len, pages)) <= 2
    found = [one["id"] for page in pages for one in page]
    assert found == made
    assert [] in pages


@pytest.mark.parametrize("cursor", ["", "zzz", "#", "ACCTS", "\U0010ffff" * 2, "ú" * 12])
def test_a_made_up_cursor_is_refused(operator: Api, cursor: str) -> None:
    """A cursor is the id of an account; nothing else reaches the table."""
    response = operator.raw("GET", "/operator/accounts", query={"cursor": cursor})
    assert (response.status, response.errors) == (422, {"cursor": "invalid_cursor"})
