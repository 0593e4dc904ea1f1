"""Promise 9: schemathesis finds no 5xx and no response that differs from the document.

The functions run in this process on emulated AWS, behind the edge, which takes a third of the time
of the local stack.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from openapi.operations import OPERATIONS
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import SCOPES, Preset
from tests.contract.client import Api
from tests.contract.http_server import serving
from tests.contract.service import SENDER, Service
from tests.fuzzing import OF_AGENTS, OF_KEYS, OF_SESSIONS, SECONDS, Caller, assert_as_documented

pytestmark = pytest.mark.slow

_OF_OPERATORS: Final = [
    one.id for one in OPERATIONS if one.id in OF_SESSIONS and one.path.startswith("/v1/operator/")
]
#: Take from the caller what the other requests need.
_LEAVING: Final = ("end_session", "end_sessions", "change_member", "remove_member")
_OF_OWNERS: Final = [one for one in OF_SESSIONS if one not in {*_OF_OPERATORS, *_LEAVING}]
#: Each boundary and each kind of wrong value. `make fuzz` also combines them at random.
_PHASES: Final = "examples,coverage,fuzzing" if SECONDS else "coverage"
_WITH_LINKS: Final = f"{_PHASES},stateful" if SECONDS else _PHASES
_HTML: Final = "<p>Hello {{ name }}</p>"


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    assert service
    with serving() as url:
        yield url


@pytest.fixture(scope="module")
def enterprise(service: Service) -> str:
    """The id of an account without limits that has some templates."""
    account = service.account(Plan.ENTERPRISE)
    for _ in range(20):
        service.template(account, _HTML)
    return account


def test_a_key_gets_what_is_documented(
    service: Service, url: str, enterprise: str, tmp_path: Path
) -> None:
    """9: a key with every scope finds no 5xx and no difference; `make fuzz` follows links too."""
    key = service.key(enterprise, Preset.CUSTOM, scopes=SCOPES)
    ids = {"templateId": service.template(enterprise, "<p>Hello</p>"), "from": SENDER}
    callers = [Caller(f"X-API-Key: {key}", of, ids) for of in (OF_KEYS, OF_AGENTS)]
    assert_as_documented(url, callers, tmp_path, phases=_WITH_LINKS)


def test_sessions_get_what_is_documented(
    service: Service, url: str, enterprise: str, tmp_path: Path
) -> None:
    """9: sessions of an owner and an operator find none, and only what says so ends one."""
    owner, operator = service.session(enterprise), service.operator()
    leaving = {one: _leaving(service, one) for one in _LEAVING}
    callers = [
        Caller(f"Authorization: Bearer {owner}", _OF_OWNERS, _ids_of_owner(service, enterprise)),
        Caller(
            *(f"Authorization: Bearer {operator}", _OF_OPERATORS),
            {"account_id": enterprise, "queue": "jobs"},
        ),
        *leaving.values(),
    ]
    assert_as_documented(url, callers, tmp_path, phases=_PHASES)
    assert Api(session=owner).raw("GET", "/session").status == 200
    assert Api(session=operator).raw("GET", "/operator/accounts").status == 200
    for operation, caller in leaving.items():
        status = _api(caller).raw("GET", "/members").status
        assert operation == "change_member" or status in {401, 403}, operation


def _ids_of_owner(service: Service, account_id: str) -> dict[str, str]:
    service.suppress(account_id, "gone@example.com")
    owner = Api(session=service.session(account_id))
    key = owner.raw("POST", "/keys", '{"name": "Fuzz", "preset": "send"}').json
    return {
        "id": service.template(account_id, _HTML),
        "version": "1",
        "domain": service.domain(account_id, "shop.example"),
        "sender": SENDER,
        "key_id": key["id"],
        "address": "gone@example.com",
    }


def _leaving(service: Service, operation: str) -> Caller:
    """Return an owner of an account of their own, who may end what their requests need."""
    account_id = service.account()
    assert service.session(account_id)  # of another owner: the last one cannot leave
    token = service.session(account_id, address=f"{operation}@shop.example")
    owner = Api(session=token)
    sessions = owner.raw("GET", "/session").json["items"]
    members = owner.raw("GET", "/members").json["items"]
    ids = {
        "session_id": next(one["id"] for one in sessions if one["current"]),
        "member_id": next(one["id"] for one in members if one["current"]),
    }
    return Caller(f"Authorization: Bearer {token}", [operation], ids)


def _api(caller: Caller) -> Api:
    return Api(session=caller.credential.removeprefix("Authorization: Bearer "))
