"""DELETE /v1/operator/accounts/{account_id}: what it refuses, what goes, and what stays."""

from datetime import timedelta

from pillarbox import wiring
from pillarbox.domain.accounts.account import Plan
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service


def delete(operator: Api, account: str, **query: str) -> ApiResponse:
    return operator.raw("DELETE", f"/operator/accounts/{account}", query=query)


def test_an_account_is_deleted_after_its_suspension(service: Service, operator: Api) -> None:
    kept, account = service.account(), service.account()
    key, other = Api(service.key(account)), Api(service.key(kept))
    assert other.send(otp()).status == 200
    assert key.raw("POST", "/webhooks", {"url": "https://a.example/h", "types": ["*"]})
    assert delete(operator, account).errors == {"account_id": "not_allowed"}
    services().accounts.suspend(account, "gone")
    assert delete(operator, account).errors == {"account_id": "not_allowed"}
    with service.at(wiring.utc_now() + timedelta(minutes=3)):
        gone = delete(operator, account)
        assert gone.json | {"items": 0} == {"id": account, "done": True, "items": 0}
        assert gone.json["items"] > 0
        again = delete(operator, account)
        assert (again.status, again.code) == (404, "account_not_found")
    assert key.raw("GET", "/me").code == "invalid_api_key"
    assert other.raw("GET", "/emails").json["total"] == 1


def test_emails_that_wait_keep_an_account(service: Service, operator: Api) -> None:
    """They were promised. Only a request that says so drops them."""
    account = service.account()
    assert Api(service.key(account)).send(otp()).status == 200
    services().accounts.suspend(account, "gone")
    with service.at(wiring.utc_now() + timedelta(minutes=3)):
        assert "still wait" in delete(operator, account).text
        assert delete(operator, account, dropPending="x").status == 422
        assert delete(operator, account, dropPending="true").json["done"]


def test_a_request_stops_in_time_and_the_next_one_goes_on(service: Service, operator: Api) -> None:
    """After 20 seconds it answers that it is not done, and the account is still there."""
    account = services().accounts.create("Large", Plan.FREE).account_id
    services().suppression_list.add(account, "ada@customer.example")
    services().accounts.suspend(account, "gone")
    start = wiring.utc_now() + timedelta(minutes=3)
    deletion = services().account_deletion
    with service.at(start):
        part = deletion.delete(account, drop_pending=False, until=start)
        assert (part.done, part.items) == (False, 1)
        assert services().accounts.get(account).suspension is not None
        assert delete(operator, account).json["done"]
