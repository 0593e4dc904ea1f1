"""GET /v1/me, which the contract does not have: the key of the request and what it may send."""

from datetime import UTC, datetime

import pytest

from pillarbox.adapters.dynamodb.table import to_item
from pillarbox.domain.accounts.account import NO_LIMITS, Plan
from pillarbox.domain.accounts.key import AgentSettings, Confirmation, Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse, Invocation, handler
from tests.contract.counting import counting
from tests.contract.service import Service

NOW = datetime(2026, 11, 20, 14, 9, 45, tzinfo=UTC)
LIMITS = Limits(per_minute=5, per_day=9, per_month=100, recipients_per_day=20)


def me(api: Api) -> ApiResponse:
    return api.raw("GET", "/me")


def test_a_key_shows_itself_its_account_and_what_is_left(service: Service) -> None:
    """Name, id, type, permissions and plan; of each limit what is used, left and when it ends."""
    account = service.account(Plan.STANDARD, limits=LIMITS)
    api = Api(service.key(account))
    with service.at(NOW):
        assert api.send(otp(cc=["bob@example.com"])).status == 200
        shown = me(api)
    assert shown.status == 200
    body = shown.json
    assert body.pop("ending") == str(api.key)[-4:]
    assert body.pop("id").startswith(f"key_{account}")
    assert datetime.fromisoformat(body.pop("createdAt")).tzinfo is not None
    assert body == {
        "name": "Test",
        "type": "live",
        "preset": "send",
        "scopes": ["emails:read", "emails:send"],
        "agent": None,
        "lastUsedAt": None,
        "expiresAt": None,
        "sources": [],
        "revokedAt": None,
        "accountId": account,
        "plan": "standard",
        "limits": [
            _limit("minute", 5, 1, "2026-11-20T14:10:00"),
            _limit("day", 9, 1, "2026-11-21T00:00:00"),
            _limit("recipients", 20, 2, "2026-11-21T00:00:00"),
            _limit("month", 100, 1, "2026-12-01T00:00:00"),
        ],
    }


def _limit(name: str, limit: int, used: int, ends: str) -> dict[str, object]:
    return {
        "name": name,
        "limit": limit,
        "used": used,
        "remaining": limit - used,
        "resetsAt": f"{ends}.000+00:00",
    }


def test_an_agents_key_shows_its_own_limit(service: Service) -> None:
    """Of two limits, that with less left is shown, here and in RateLimit, also of a replay."""
    account = service.account(limits=LIMITS)
    agent = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF, per_day=3)
    api, other = Api(service.key(account, agent=agent)), Api(service.key(account))
    with service.at(NOW):
        for _ in range(2):
            sent = api.send(otp(), idempotency_key="once")
        batch = api.raw("POST", "/emails/batch", {"messages": [otp(), otp(to="x")]})
        own = me(api).json
        accounts = me(other).json["limits"]
    assert own["agent"] == {"recipients": ["*"], "confirmation": "off", "perDay": 3}
    shown = own["limits"]
    assert '"day";r=2;' in sent.headers["ratelimit"]
    assert '"day";r=1;' in batch.headers["ratelimit"]
    assert '"day";q=3;' in batch.headers["ratelimit-policy"]
    assert shown[0] == accounts[0] == _limit("minute", 5, 2, "2026-11-20T14:10:00")
    assert shown[1] == _limit("day", 3, 2, "2026-11-21T00:00:00")
    assert accounts[1] == _limit("day", 9, 2, "2026-11-21T00:00:00")
    # The key may send to 50 people a day, the account to 20.
    assert shown[2] == accounts[2] == _limit("recipients", 20, 2, "2026-11-21T00:00:00")


def test_an_account_without_limits_shows_what_it_used(service: Service) -> None:
    api = service.live(plan=Plan.ENTERPRISE, limits=NO_LIMITS)
    api.send(otp())
    for limit in me(api).json["limits"]:
        assert (limit["limit"], limit["used"], limit["remaining"]) == (None, 1, None)


def test_the_last_use_comes_from_the_stream(account: str, service: Service) -> None:
    """Once the stream has brought a message of the key, lastUsedAt is when it was accepted."""
    api = Api(services().api_keys.issue_live(account, "web", Preset.SEND).text)
    created = api.get(api.send(otp()).json["messageId"]).json["createdAt"]
    assert me(api).json["lastUsedAt"] is None
    changes = [{"dynamodb": {"NewImage": to_item(item)}} for item in service.messages(account)]
    handler("aggregate_stats")({"Records": changes}, Invocation())
    assert me(api).json["lastUsedAt"] == created
    (listed,) = Api(session=service.session(account)).raw("GET", "/keys").json["items"]
    assert listed["lastUsedAt"] == created


@pytest.mark.parametrize("requests", [1, 3])
def test_it_costs_four_items_a_request(service: Service, requests: int) -> None:
    """Key (in a table of its own), account and quota are one call, and the last use is another."""
    api = service.live()
    me(api)
    with counting() as cost:
        for _ in range(requests):
            assert me(api).status == 200
    assert cost.reads == [1, 2, 1] * requests
    assert (cost.writes, cost.queries) == ([], [])
