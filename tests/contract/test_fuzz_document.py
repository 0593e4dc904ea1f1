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
from tests.fuzzing import OF_KEYS, OF_SESSIONS, SECONDS, assert_as_documented

pytestmark = pytest.mark.slow

_OF_OPERATORS: Final = [
    one.id for one in OPERATIONS if one.id in OF_SESSIONS and one.path.startswith("/v1/operator/")
]
#: Take from the caller what the other requests need.
_LEAVING: Final = ("end_session", "end_sessions", "change_member", "remove_member")
_OF_OWNERS: Final = [one for one in OF_SESSIONS if one not in {*_OF_OPERATORS, *_LEAVING}]
_WITHOUT_LINKS: Final = "examples,coverage,fuzzing"
#: `make fuzz` tries all. Else tests/e2e/test_fuzz_document.py has the examples and random requests.
_OF_KEYS_HERE: Final = f"{_WITHOUT_LINKS},stateful" if SECONDS else "coverage,stateful"
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
    """9: a key with every scope finds no 5xx and no difference, also along links."""
    key = service.key(enterprise, Preset.CUSTOM, scopes=SCOPES)
    assert_as_documented(url, f"X-API-Key: {key}", OF_KEYS, tmp_path, phases=_OF_KEYS_HERE)


def test_an_owner_gets_what_is_documented(
    service: Service, url: str, enterprise: str, tmp_path: Path
) -> None:
    """9: the session of an owner finds none on routes for sessions, and is not ended by them."""
    token = service.session(enterprise)
    service.suppress(enterprise, "gone@example.com")
    owner = Api(session=token)
    key = owner.raw("POST", "/keys", '{"name": "Fuzz", "preset": "send"}').json
    ids = {
        "id": service.template(enterprise, _HTML),
        "version": "1",
        "domain": service.domain(enterprise, "shop.example"),
        "sender": SENDER,
        "key_id": key["id"],
        "address": "gone@example.com",
    }
    assert_as_documented(
        *(url, f"Authorization: Bearer {token}", _OF_OWNERS, tmp_path),
        ids=ids,
        phases=_WITHOUT_LINKS,
    )
    assert owner.raw("GET", "/session").status == 200


def test_an_operator_gets_what_is_documented(
    service: Service, url: str, enterprise: str, tmp_path: Path
) -> None:
    """9: the session of an operator finds none on the operator's routes."""
    token = service.operator()
    assert_as_documented(
        *(url, f"Authorization: Bearer {token}", _OF_OPERATORS, tmp_path),
        ids={"account_id": enterprise, "queue": "jobs"},
        phases=_WITHOUT_LINKS,
    )
    assert Api(session=token).raw("GET", "/operator/accounts").status == 200


@pytest.mark.parametrize("operation", _LEAVING)
def test_leaving_does_what_is_documented(
    service: Service, url: str, enterprise: str, tmp_path: Path, operation: str
) -> None:
    """9: no request that may end the caller's rights gets a 5xx or a difference."""
    owner = Api(session=service.session(enterprise, address=f"{operation}@shop.example"))
    sessions = owner.raw("GET", "/session").json["items"]
    members = owner.raw("GET", "/members").json["items"]
    ids = {
        "session_id": next(one["id"] for one in sessions if one["current"]),
        "member_id": next(one["id"] for one in members if one["current"]),
    }
    assert_as_documented(
        *(url, f"Authorization: Bearer {owner.session}", [operation], tmp_path),
        ids=ids,
        phases=_WITHOUT_LINKS,
    )
    assert operation == "change_member" or owner.raw("GET", "/members").status in {401, 403}
