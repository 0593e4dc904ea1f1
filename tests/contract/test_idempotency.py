"""Idempotency-Key over HTTP: contract section 4.11 and the rows of section 3 about it.

Leases, takeovers and the 24 hours are tested beside `ports.Claims`, the forms of a key and of a
body beside `http`.
"""

import json

from pillarbox import wiring
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.timing import milliseconds
from tests.contract.bodies import TO, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import Service

KEY = "order-1"


def test_a_retry_gets_the_first_response_again(service: Service) -> None:
    """4.11, notes: equal JSON with the key of its account is a replay, whatever else changed.

    It needs no quota, and the address may be suppressed by now. Another body is a mismatch.
    """
    account = service.account(limits=Limits(per_minute=1, per_day=1, per_month=1))
    body = otp(fromName="Zoë", cc=None)
    first = Api(service.key(account)).send(body, idempotency_key=KEY)
    assert (first.status, "idempotent-replay" in first.headers) == (200, False)
    service.suppress(account, TO)
    turned = json.dumps(dict(reversed(otp(fromName="Zoë").items())), indent=2, ensure_ascii=False)
    retry = Api(service.key(account))
    again = retry.raw("POST", "/emails", turned.encode(), {"Idempotency-Key": KEY})
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["idempotent-replay"] == "true"
    other = retry.send(raw_html(), idempotency_key=KEY)
    assert other.code == "idempotency_key_mismatch"
    assert "retry-after" not in other.headers
    assert len(service.messages(account)) == service.quota_used(account) == 1


def test_accounts_share_no_key(service: Service) -> None:
    """4.11: the same key of another account is another key."""
    ids = {service.live().send(otp(), idempotency_key=KEY).json["messageId"] for _ in range(2)}
    assert len(ids) == 2


def test_a_running_request_holds_its_key_until_its_lease_ends(
    service: Service, api: Api, account: str
) -> None:
    """3, 4.11: a retry is 409 idempotency_in_flight; once the owner died, it is accepted."""
    first = api.send(otp(), idempotency_key=KEY)
    (message,) = service.messages(account)
    wiring.services().table.delete({"pk": {"S": message["pk"]}, "sk": {"S": message["sk"]}})
    soon = milliseconds(wiring.utc_now()) + 30_000
    service.change_claim(account, lease=soon)
    waiting = api.send(otp(), idempotency_key=KEY)
    assert (waiting.status, waiting.code) == (409, "idempotency_in_flight")
    assert waiting.headers["retry-after"] == "5"
    service.change_claim(account, lease=1)
    again = api.send(otp(), idempotency_key=KEY)
    (message,) = service.messages(account)
    assert again.json["messageId"] == message["sk"] != first.json["messageId"]
    assert "idempotent-replay" not in again.headers


def test_a_failed_request_releases_its_key(service: Service, api: Api, account: str) -> None:
    """3: errors are not stored; the corrected request is a new attempt."""
    for refused in (otp(cc=["ada@gone.invalid"]), otp(variables={}), otp(to=5)):
        assert api.send(refused, idempotency_key=KEY).status in {400, 422}
        assert service.claim_items(account) == []
    response = api.send(otp(), idempotency_key=KEY)
    assert (response.status, "idempotent-replay" in response.headers) == (200, False)


def test_other_endpoints_ignore_the_header(api: Api) -> None:
    """4.11: the header is only for sends; other endpoints ignore it."""
    for _ in range(2):
        response = api.raw("GET", "/starter-templates", headers={"Idempotency-Key": KEY})
        assert (response.status, "idempotent-replay" in response.headers) == (200, False)
