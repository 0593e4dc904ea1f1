"""Authentication on every route: contract section 5."""

from collections.abc import Callable
from typing import Final
from uuid import uuid4

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.domain.accounts.account import Suspension
from pillarbox.domain.accounts.key import SCOPES, Preset
from pillarbox.wiring import services, utc_now
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.operations import OPERATIONS, Operation
from tests.contract.service import Service

_IDS: Final = dict.fromkeys(("message_id", "id", "endpoint_id", "delivery_id"), str(uuid4()))


def request(operation: Operation) -> Callable[[Api], ApiResponse]:
    """Return what sends a request of an operation."""
    return lambda api: operation.request(api, _IDS)


every_route = pytest.mark.parametrize(
    "call", [request(one) for one in OPERATIONS], ids=[one.id for one in OPERATIONS]
)


@every_route
def test_every_request_needs_the_header(
    service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """5.1, 5.3: without X-API-Key the response is 401 missing_api_key."""
    response = call(Api(None))
    assert (response.status, response.code) == (401, "missing_api_key")
    assert response.error["type"] == "authentication_error"
    assert service


@every_route
def test_an_empty_header_is_a_missing_one(
    service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """5.3: an X-API-Key without a value is 401 missing_api_key."""
    assert call(Api("")).code == "missing_api_key"
    assert service


def test_a_key_in_authorization_is_missing(service: Service, live: Api) -> None:
    """5.2: a key in Authorization: Bearer is 401 missing_api_key."""
    headers = {"Authorization": f"Bearer {live.key}"}
    response = Api().raw("GET", "/starter-templates", headers=headers)
    assert (response.status, response.code) == (401, "missing_api_key")
    assert service


@every_route
def test_an_unknown_key_is_invalid(service: Service, call: Callable[[Api], ApiResponse]) -> None:
    """5.3: an unknown or malformed key is 401 invalid_api_key."""
    valid = service.key(service.account())
    never_stored = valid[:-1] + ("1" if valid.endswith("0") else "0")
    for key in ("nonsense", "bx_live_short", never_stored):
        response = call(Api(key))
        assert (response.status, response.code) == (401, "invalid_api_key")


@every_route
def test_a_revoked_key_stops_working_at_once(
    service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """3, 5: a revoked key is 401 invalid_api_key immediately."""
    api = service.live()
    assert call(api).status != 401
    service.revoke(api.key or "")
    response = call(api)
    assert (response.status, response.code) == (401, "invalid_api_key")


@every_route
def test_the_keys_of_a_suspended_account_stop_at_once(
    service: Service, call: Callable[[Api], ApiResponse]
) -> None:
    """Notes: while an account is suspended, each key of it is 403 account_suspended."""
    account = service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    records = DynamoAccounts(services().table)
    before = call(api)
    records.suspend(account, Suspension(utc_now(), "bounces"))
    response = call(api)
    assert (response.status, response.code) == (403, "account_suspended")
    assert response.error["type"] == "authorization_error"
    assert "bounces" not in str(response.error)
    records.resume(account)
    assert call(api).code == before.code
    assert service


def test_after_a_rotation_the_new_key_works(service: Service) -> None:
    """5: if the old key of an account is revoked, its new key still works."""
    account = service.account()
    old, new = service.key(account), service.key(account)
    service.revoke(old)
    assert Api(old).send(otp()).status == 401
    assert Api(new).send(otp()).status == 200


def test_the_header_name_is_case_insensitive(live: Api) -> None:
    """5.1: X-API-Key is a header, and header names are case-insensitive."""
    response = Api().raw("GET", "/starter-templates", headers={"x-api-KEY": live.key or ""})
    assert response.status == 200


def test_the_prefix_shows_the_type_of_a_key(live: Api, preview: Api) -> None:
    """5: preview keys begin with bx_preview_, live keys with bx_live_."""
    assert (live.key or "").startswith("bx_live_")
    assert (preview.key or "").startswith("bx_preview_")


@pytest.mark.parametrize(
    ("preset", "status"),
    [
        (Preset.SEND, 200),
        (Preset.MARKETING, 200),
        (Preset.ANALYTICS, 403),
        (Preset.CUSTOM, 403),
    ],
)
def test_sending_requires_a_preset_with_the_permission(
    service: Service, preset: Preset, status: int
) -> None:
    """4.1, 5: sending requires emails:send, which details.required_permission names."""
    response = Api(service.key(service.account(), preset)).send(otp())
    assert response.status == status
    if status == 403:
        assert response.code == "scope_required"
        assert response.error["type"] == "authorization_error"
        assert response.error["details"] == {"required_permission": "emails:send"}


@pytest.mark.parametrize(
    ("preset", "readable"),
    [
        (Preset.SEND, True),
        (Preset.MARKETING, True),
        (Preset.ANALYTICS, True),
        (Preset.CUSTOM, False),
    ],
)
def test_history_requires_a_preset_with_the_permission(
    service: Service, preset: Preset, *, readable: bool
) -> None:
    """5, notes: a lookup requires emails:read, which the send and read-only presets have."""
    account = service.account()
    sent = Api(service.key(account)).send(otp()).json["messageId"]
    response = Api(service.key(account, preset)).get(sent)
    if readable:
        assert response.status == 200
    else:
        assert response.code == "scope_required"
        assert response.error["details"] == {"required_permission": "emails:read"}


def test_a_custom_key_has_exactly_its_scopes(service: Service) -> None:
    """5: a key with the custom preset has exactly the chosen scopes."""
    account = service.account()
    key = service.key(account, Preset.CUSTOM, scopes=frozenset({"emails:send"}))
    sent = Api(key).send(otp())
    assert sent.status == 200
    assert Api(key).get(sent.json["messageId"]).code == "scope_required"


def test_preview_keys_read_their_own_history(preview: Api) -> None:
    """Notes: a preview key can look up its own messages."""
    sent = preview.send(otp()).json["messageId"]
    assert preview.get(sent).json["messageId"] == sent
