"""Keys that stop working, on every route: contract section 5.

Other invalid keys and missing permissions are in test_tenants.py, malformed headers in
test_attacks_http.py.
"""

from collections.abc import Callable
from typing import Final
from uuid import uuid4

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.key import SCOPES, Preset
from pillarbox.wiring import services, utc_now
from tests.contract.client import Api, ApiResponse
from tests.contract.operations import MANAGED, OF_AN_ACCOUNT, OPERATIONS, Operation
from tests.contract.service import Service

_IDS: Final = dict.fromkeys(OF_AN_ACCOUNT, str(uuid4())) | {
    "key_id": f"key_{'0' * 20}",
    "member_id": "0" * 12,
    "address": "nobody@customer.example",
    "domain": "gone.example",
    "sender": "gone@news.example",
}


def request(operation: Operation) -> Callable[[Api], ApiResponse]:
    return lambda api: operation.request(api, _IDS)


_ALL: Final = [*OPERATIONS, *MANAGED]
every_route = pytest.mark.parametrize(
    "call", [request(one) for one in _ALL], ids=[one.id for one in _ALL]
)


@every_route
def test_a_revoked_key_stops_working_at_once(
    account: str, service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """3, 5: a revoked key is 401 invalid_api_key immediately; a new one of its account works."""
    old, new = Api(service.key(account)), Api(service.key(account))
    assert call(old).status != 401
    service.revoke(old.key or "")
    response = call(old)
    assert (response.status, response.code) == (401, "invalid_api_key")
    assert call(new).status != 401


@every_route
def test_the_keys_of_a_suspended_account_stop_at_once(
    account: str, service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """Notes: while an account is suspended, each key of it is 403 account_suspended."""
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    records = DynamoAccounts(services().table)
    before = call(api)
    records.suspend(account, Suspension(utc_now(), "bounces"))
    response = call(api)
    assert (response.status, response.code) == (403, "account_suspended")
    assert "bounces" not in str(response.error)
    records.resume(account)
    again = call(api).code
    assert again == before.code or (before.status < 300 and again == "rate_limit_exceeded")
