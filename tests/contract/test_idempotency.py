"""Idempotency-Key over HTTP: contract section 4.11 and the rows of section 3 about it.

Leases, takeovers and the 24 hours are tested beside `ports.Claims`, requests that run or failed
with the use case, the forms of a key and of a body beside `http`.
"""

import json

from pillarbox.domain.accounts.quota import Limits
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


def test_other_endpoints_ignore_the_header(api: Api) -> None:
    """4.11: the header is only for sends; other endpoints ignore it."""
    for _ in range(2):
        response = api.raw("GET", "/starter-templates", headers={"Idempotency-Key": KEY})
        assert (response.status, "idempotent-replay" in response.headers) == (200, False)
