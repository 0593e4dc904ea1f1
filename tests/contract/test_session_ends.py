"""Sessions: how their user sees them, and how they end."""

from datetime import timedelta
from typing import Final

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.sign_in.users import DynamoSessions
from pillarbox.domain.sign_in.session import user_digest
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.sign_in import SAME_ORIGIN, Browser, signed_in

IDLE_TIME = timedelta(days=30)

_ADDRESS: Final = "ada@shop.example"


def test_sessions_are_listed_and_ended_one_by_one(service: Service) -> None:
    """The user sees each browser; ending one leaves the others, and another user's is unknown."""
    address = f"list@{'shop'}.example"
    here, there = signed_in(service, address), signed_in(service, address)
    stranger = Api(session=signed_in(service, "stranger@shop.example").token().json["token"])
    api = Api(session=here.token().json["token"])
    items = api.raw("GET", "/session").json["items"]
    assert len(items) == 2
    assert {item["userAgent"] for item in items} == {SAME_ORIGIN["User-Agent"]}
    assert [item["current"] for item in items].count(True) == 1
    (other,) = (item["id"] for item in items if not item["current"])
    assert stranger.raw("DELETE", f"/session/{other}").code == "session_not_found"
    ended = api.raw("DELETE", f"/session/{other}")
    assert (ended.status, "set-cookie" in ended.headers) == (204, False)
    assert api.raw("DELETE", f"/session/{other}").code == "session_not_found"
    assert there.token().code == "invalid_session"
    assert len(api.raw("GET", "/session").json["items"]) == 1


def test_signing_out_deletes_the_cookie(service: Service) -> None:
    """The response deletes the cookie, which no longer works anyway; other sessions stay."""
    address = "out@shop.example"
    here, there = signed_in(service, address), signed_in(service, address)
    response = Api(session=here.token().json["token"]).raw("DELETE", "/session")
    deleted = "__Host-pillarbox=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict"
    assert (response.status, response.headers["set-cookie"]) == (204, deleted)
    assert here.token().code == "invalid_session"
    assert there.token().status == 200


def test_an_access_token_lives_15_minutes(service: Service) -> None:
    """After that it is 401, although its session goes on."""
    now = wiring.utc_now()
    with service.at(now):
        browser = signed_in(service, _ADDRESS)
        api = Api(session=browser.token().json["token"])
    with service.at(now + timedelta(minutes=14, seconds=59)):
        assert api.raw("GET", "/session").status == 200
    with service.at(now + timedelta(minutes=15)):
        assert api.raw("GET", "/session").code == "invalid_session"
        assert browser.token().status == 200


def test_a_session_lives_30_days_without_use_and_90_at_most(service: Service) -> None:
    start = wiring.utc_now()

    def status(browser: Browser, days: float) -> int:
        with service.at(start + timedelta(days=days)):
            return browser.token().status

    with service.at(start):
        idle, used = signed_in(service, _ADDRESS), signed_in(service, _ADDRESS)
    assert [status(used, day) for day in (29, 58, 87, 89.9, 90)] == [200, 200, 200, 200, 401]
    assert [status(idle, day) for day in (30, 31)] == [401, 401]


def test_a_cookie_is_of_a_user_and_not_of_an_address(service: Service) -> None:
    address = "again@shop.example"
    browser = signed_in(service, address)
    services().credentials.delete(keys.user(user_digest(address)))
    assert browser.token().code == "invalid_session"
    assert signed_in(service, address).token().status == 200
    assert browser.token().code == "invalid_session"


def test_expired_sessions_are_not_listed(service: Service) -> None:
    start, address = wiring.utc_now(), "old@shop.example"
    with service.at(start):
        signed_in(service, address)

    def listed(after: timedelta) -> int:
        with service.at(start + after):
            api = Api(session=signed_in(service, address).token().json["token"])
            return len(api.raw("GET", "/session").json["items"])

    assert listed(IDLE_TIME - timedelta(seconds=1)) == 2
    assert listed(IDLE_TIME) == 2  # the one of the line above, and the one that asks


def test_a_session_that_ends_during_an_exchange_stays_ended(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = signed_in(service, "between@shop.example")
    read = DynamoSessions.get

    def read_before_the_end(store: DynamoSessions, user_id: str, session_id: str) -> object:
        session = read(store, user_id, session_id)
        store.remove(user_id, session_id)
        return session

    with monkeypatch.context() as patch:
        patch.setattr(DynamoSessions, "get", read_before_the_end)
        assert browser.token().code == "invalid_session"
    assert browser.token().code == "invalid_session"
