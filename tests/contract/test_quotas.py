"""Send quotas: contract section 8.1 and the rows of section 7 about them."""

import re
from datetime import UTC, datetime

import pytest

from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import otp
from tests.contract.service import Service

MANY = 10**6
HOUR = 3600
NOW = datetime(2026, 11, 20, 14, 9, 45, tzinfo=UTC)
#: Window -> code, limits that only this window reaches, seconds from NOW to its end.
WINDOWS = {
    "minute": ("rate_limit_exceeded", Limits(per_minute=1, per_day=MANY, per_month=MANY), 15),
    "day": (
        "daily_limit_exceeded",
        Limits(per_minute=MANY, per_day=1, per_month=MANY),
        9 * HOUR + 50 * 60 + 15,
    ),
    "month": (
        "monthly_limit_exceeded",
        Limits(per_minute=MANY, per_day=MANY, per_month=1),
        10 * 24 * HOUR + 9 * HOUR + 50 * 60 + 15,
    ),
}


@pytest.mark.parametrize("window", WINDOWS)
def test_the_last_message_of_a_window_is_accepted_and_one_more_is_not(
    service: Service, window: str
) -> None:
    """7, 8.1: a full window is 429 with its own code, and the details have the limit."""
    code, limits, reset = WINDOWS[window]
    with service.at(NOW):
        api = service.live(limits=limits)
        accepted, refused = api.send(otp()), api.send(otp())
    assert (accepted.status, refused.status, refused.code) == (200, 429, code)
    assert refused.error["type"] == "rate_limit_error"
    assert refused.error["details"] == {f"limit_per_{window}": 1}
    assert refused.headers["ratelimit-limit"] == "1"
    assert refused.headers["ratelimit-remaining"] == "0"
    assert int(refused.headers["ratelimit-reset"]) == reset
    assert "retry-after" not in refused.headers


def test_every_accepted_send_says_what_is_left(service: Service) -> None:
    """A 200 of a send and of a batch has RateLimit and RateLimit-Policy; a replay costs nothing."""
    limits = Limits(per_minute=5, per_day=9, per_month=MANY, recipients_per_day=20)
    policy = '"minute";q=5;w=60, "day";q=9;w=86400, "recipients";q=20;w=86400,'
    policy += f' "month";q={MANY};w=2592000'
    to_two = otp(cc=["bob@example.com"])
    with service.at(NOW):
        api = service.live(limits=limits)
        responses = [
            api.send(otp(), idempotency_key="one"),
            api.send(otp(), idempotency_key="one"),
            api.raw("POST", "/emails/batch", {"messages": [to_two, otp(to="nobody")]}),
            api.raw("POST", "/emails/batch", {"messages": [otp()] * 9}),
            api.send(otp()),
        ]
    assert [response.status for response in responses] == [200, 200, 200, 200, 429]
    assert {response.headers["ratelimit-policy"] for response in responses} == {policy}
    left = [
        tuple(map(int, re.findall(r";r=(\d+)", response.headers["ratelimit"])))
        for response in responses
    ]
    assert left[0] == left[1] == (4, 8, 19, MANY - 1)
    assert left[2] == (3, 7, 17, MANY - 2)
    assert left[3] == left[4] == (0, 4, 14, MANY - 5)
    assert re.findall(r";t=(\d+)", responses[0].headers["ratelimit"]) == [
        str(reset) for _, _, reset in (WINDOWS[name] for name in ("minute", "day", "day", "month"))
    ]
