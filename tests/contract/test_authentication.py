"""Who is calling: contract section 5, on every route."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from pillarbox.domain.key import Preset
from tests.contract.bodies import otp
from tests.contract.client import Api, Response
from tests.contract.service import Service

ROUTES: dict[str, Callable[[Api], Response]] = {
    "send": lambda api: api.send(otp()),
    "get": lambda api: api.get(str(uuid4())),
    "starters": lambda api: api.starters(),
    "preview": lambda api: api.preview("otp"),
}
every_route = pytest.mark.parametrize("call", ROUTES.values(), ids=ROUTES)


@every_route
def test_every_request_needs_the_header(service: Service, call: Callable[[Api], Response]) -> None:
    """5.1, 5.3: without X-API-Key the answer is 401 missing_api_key."""
    answer = call(Api(None))
    assert (answer.status, answer.code) == (401, "missing_api_key")
    assert answer.error["type"] == "authentication_error"
    assert service


@every_route
def test_an_empty_header_is_a_missing_one(
    service: Service, call: Callable[[Api], Response]
) -> None:
    """5.3: an X-API-Key without a value is 401 missing_api_key."""
    assert call(Api("")).code == "missing_api_key"
    assert service


def test_a_key_in_authorization_is_missing(service: Service, live: Api) -> None:
    """5.2: a key sent as Authorization: Bearer yields 401 missing_api_key."""
    headers = {"Authorization": f"Bearer {live.key}"}
    answer = Api().raw("GET", "/starter-templates", headers=headers)
    assert (answer.status, answer.code) == (401, "missing_api_key")
    assert service


@every_route
def test_an_unknown_key_is_invalid(service: Service, call: Callable[[Api], Response]) -> None:
    """5.3: a key that does not exist, and what is no key at all, is 401 invalid_api_key."""
    valid = service.key(service.account())
    never_stored = valid[:-1] + ("1" if valid.endswith("0") else "0")
    for key in ("nonsense", "bx_live_short", never_stored):
        answer = call(Api(key))
        assert (answer.status, answer.code) == (401, "invalid_api_key")


@every_route
def test_a_revoked_key_stops_working_at_once(
    service: Service, call: Callable[[Api], Response]
) -> None:
    """3, 5: revoking takes effect immediately: 401 invalid_api_key afterwards."""
    api = service.live()
    assert call(api).status != 401
    service.revoke(api.key or "")
    answer = call(api)
    assert (answer.status, answer.code) == (401, "invalid_api_key")


def test_rotation_leaves_the_other_key_alone(service: Service) -> None:
    """5: create a new key, switch, revoke the old one; the new one goes on."""
    account = service.account()
    old, new = service.key(account), service.key(account)
    service.revoke(old)
    assert Api(old).send(otp()).status == 401
    assert Api(new).send(otp()).status == 200


def test_a_header_name_has_no_case(live: Api) -> None:
    """5.1: X-API-Key is a header, and header names have no case."""
    answer = Api().raw("GET", "/starter-templates", headers={"x-api-KEY": live.key or ""})
    assert answer.status == 200


def test_the_prefix_tells_the_type_of_a_key(live: Api, preview: Api) -> None:
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
def test_sending_takes_a_preset_that_grants_it(
    service: Service, preset: Preset, status: int
) -> None:
    """4.1, 5: sending requires emails:send; details.required_permission names it."""
    answer = Api(service.key(service.account(), preset)).send(otp())
    assert answer.status == status
    if status == 403:
        assert answer.code == "scope_required"
        assert answer.error["type"] == "authorization_error"
        assert answer.error["details"] == {"required_permission": "emails:send"}


@pytest.mark.parametrize(
    ("preset", "readable"),
    [
        (Preset.SEND, True),
        (Preset.MARKETING, True),
        (Preset.ANALYTICS, True),
        (Preset.CUSTOM, False),
    ],
)
def test_history_takes_a_preset_that_grants_it(
    service: Service, preset: Preset, *, readable: bool
) -> None:
    """5, decisions: looking up needs emails:read; the send and read-only presets have it."""
    account = service.account()
    sent = Api(service.key(account)).send(otp()).json["messageId"]
    answer = Api(service.key(account, preset)).get(sent)
    if readable:
        assert answer.status == 200
    else:
        assert answer.code == "scope_required"
        assert answer.error["details"] == {"required_permission": "emails:read"}


def test_a_custom_key_has_exactly_its_scopes(service: Service) -> None:
    """5: the custom preset grants what was ticked and no more."""
    account = service.account()
    key = service.key(account, Preset.CUSTOM, scopes=frozenset({"emails:send"}))
    sent = Api(key).send(otp())
    assert sent.status == 200
    assert Api(key).get(sent.json["messageId"]).code == "scope_required"


def test_preview_keys_read_their_own_history(preview: Api) -> None:
    """decisions: preview keys have starter templates and their own history."""
    sent = preview.send(otp()).json["messageId"]
    assert preview.get(sent).json["messageId"] == sent
