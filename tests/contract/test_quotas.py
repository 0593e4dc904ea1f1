"""Send quotas: contract section 8.1 and the rows of section 7 about them."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from pillarbox.domain.accounts.account import NO_LIMITS, PLAN_LIMITS, Plan
from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import TO, otp
from tests.contract.client import Api, ApiResponse
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


def first_refused(api: Api, maximum: int) -> tuple[int, ApiResponse]:
    """Send until a message is refused; return the number of accepted ones and the refusal."""
    for accepted in range(maximum + 1):
        response = api.send(otp())
        if response.status != 200:
            return accepted, response
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("window", WINDOWS)
def test_the_last_message_of_a_window_is_accepted_and_one_more_is_not(
    service: Service, window: str
) -> None:
    """7, 8.1: a full window is 429 with its own code, and the details have the limit."""
    code, limits, reset = WINDOWS[window]
    with service.at(NOW):
        accepted, refused = first_refused(service.live(limits=limits), 1)
    assert (accepted, refused.status, refused.code) == (1, 429, code)
    assert refused.error["type"] == "rate_limit_error"
    assert refused.error["details"] == {f"limit_per_{window}": 1}
    assert refused.headers["ratelimit-limit"] == "1"
    assert refused.headers["ratelimit-remaining"] == "0"
    assert int(refused.headers["ratelimit-reset"]) == reset


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
            api.raw("POST", "/emails/batch", json.dumps({"messages": [to_two, otp(to="nobody")]})),
            api.raw("POST", "/emails/batch", json.dumps({"messages": [otp()] * 9})),
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


def test_an_account_without_limits_has_no_rate_limit_fields(service: Service) -> None:
    """Nothing is limited, so nothing is said."""
    response = service.live(plan=Plan.ENTERPRISE, limits=NO_LIMITS).send(otp())
    assert response.status == 200
    assert not {"ratelimit", "ratelimit-policy"} & set(response.headers)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_full_window_has_no_retry_after(service: Service, window: str) -> None:
    """8.1: no 429 for a quota has a Retry-After header."""
    with service.at(NOW):
        _, refused = first_refused(service.live(limits=WINDOWS[window][1]), 1)
    assert "retry-after" not in refused.headers


def test_a_preview_key_sends_ten_a_minute(service: Service, preview: Api) -> None:
    """8.1: a preview key may send 10 messages a minute."""
    with service.at(NOW):
        accepted, refused = first_refused(preview, 10)
    assert accepted == 10
    assert refused.error["details"] == {"limit_per_minute": 10}
    with service.at(NOW + timedelta(minutes=1)):
        assert preview.send(otp()).status == 200


@pytest.mark.parametrize(
    ("spent", "code", "limit"),
    [
        ({"day": 50, "month": 50}, "daily_limit_exceeded", {"limit_per_day": 50}),
        ({"day": 0, "month": 1_500}, "monthly_limit_exceeded", {"limit_per_month": 1_500}),
    ],
)
def test_a_preview_key_sends_50_a_day_and_1500_a_month(
    service: Service, spent: dict[str, int], code: str, limit: dict[str, int]
) -> None:
    """8.1: a preview key may send 50 messages a day and 1,500 a month."""
    api = service.preview()
    service.spend(api, **spent)
    response = api.send(otp())
    assert (response.code, response.error["details"]) == (code, limit)
    other = service.preview()
    service.spend(other, **{window: count - 1 for window, count in spent.items() if count})
    assert other.send(otp()).status == 200


@pytest.mark.parametrize(
    ("plan", "limits"),
    [
        (Plan.FREE, Limits(per_minute=60, per_day=300, per_month=9_000)),
        (Plan.STANDARD, Limits(per_minute=600, per_day=1_500, per_month=15_000)),
    ],
)
def test_a_plan_sets_the_limits_of_a_live_key(service: Service, plan: Plan, limits: Limits) -> None:
    """8.1, notes: Free has 60, 300 and 9,000; Standard from 600, 1,500 and 15,000."""
    assert PLAN_LIMITS[plan] == limits
    own = Limits(per_minute=None, per_day=None, per_month=None)
    api = service.live(plan, limits=own)
    service.spend(api, day=limits.per_day or 0, month=limits.per_day or 0)
    assert api.send(otp()).error["details"] == {"limit_per_day": limits.per_day}
    service.spend(api, day=0, month=limits.per_month or 0)
    assert api.send(otp()).error["details"] == {"limit_per_month": limits.per_month}


def test_the_daily_limit_of_a_tier_is_a_tenth_of_the_monthly_one(service: Service) -> None:
    """8.1, notes: tiers have 15,000 to 250,000 a month, and a tenth of that a day."""
    tier = Limits(per_minute=None, per_day=None, per_month=250_000)
    api = service.live(Plan.STANDARD, limits=tier)
    service.spend(api, day=25_000, month=25_000)
    assert api.send(otp()).error["details"] == {"limit_per_day": 25_000}


def test_a_message_counts_once_for_any_number_of_recipients(service: Service) -> None:
    """8.1, notes: one accepted message counts as 1."""
    account = service.account()
    Api(service.key(account)).send(otp(to=[TO, "b@customer.example"], cc=["c@customer.example"]))
    assert service.quota_used(account) == 1


def test_a_day_has_a_limit_of_recipients(service: Service) -> None:
    """Notes: recipients beyond the day's limit are 429 with the limit of recipients."""
    limits = Limits(per_minute=MANY, per_day=MANY, per_month=MANY, recipients_per_day=4)
    api = service.live(limits=limits)
    with service.at(NOW):
        assert api.send(otp(to=[TO, TO.upper(), "b@customer.example"])).status == 200
        refused = api.send(otp(to=[f"{n}@customer.example" for n in range(3)]))
        assert api.send(otp(to=["c@customer.example", "d@customer.example"])).status == 200
    assert (refused.status, refused.code) == (429, "daily_limit_exceeded")
    assert refused.error["type"] == "rate_limit_error"
    assert refused.error["details"] == {"limit_recipients_per_day": 4}
    assert refused.headers["ratelimit-limit"] == "4"
    assert refused.headers["ratelimit-remaining"] == "2"
    assert int(refused.headers["ratelimit-reset"]) == WINDOWS["day"][2]
    assert "retry-after" not in refused.headers


def test_a_preview_key_sends_to_250_recipients_a_day(service: Service) -> None:
    """Notes: a preview key's day has five recipients for each of its 50 messages."""
    api = service.preview()
    service.spend(api, recipients=250)
    assert api.send(otp()).error["details"] == {"limit_recipients_per_day": 250}


@pytest.mark.parametrize(
    "refused",
    [
        otp(to=5),
        otp(starterTemplate=...),
        otp(starterTemplate="nope"),
        otp(to="nobody"),
        otp(variables={}),
        otp(to=["n@customer.example"] * 51),
    ],
)
def test_a_refused_message_costs_nothing(service: Service, refused: dict[str, object]) -> None:
    """8.1, notes: a refused message counts as 0."""
    account = service.account()
    assert Api(service.key(account)).send(refused).status >= 400
    assert service.quota_used(account) == 0


def test_a_refusal_by_one_window_does_not_count_in_the_others(service: Service) -> None:
    """8.1: a message over the limit of a minute does not count for the day or month."""
    account = service.account(limits=WINDOWS["minute"][1])
    with service.at(NOW):
        first_refused(Api(service.key(account)), 1)
    assert service.quota_used(account) == 1


def test_a_quota_belongs_to_the_account(service: Service) -> None:
    """Notes: two keys of one account share its quota; another account has its own."""
    account = service.account(limits=WINDOWS["month"][1])
    assert Api(service.key(account)).send(otp()).status == 200
    assert Api(service.key(account)).send(otp()).code == "monthly_limit_exceeded"
    assert service.live(limits=WINDOWS["month"][1]).send(otp()).status == 200


def test_reading_and_previewing_cost_nothing(service: Service) -> None:
    """8.1: only sends use quota."""
    account = service.account(limits=Limits(per_minute=0, per_day=0, per_month=0))
    api = Api(service.key(account))
    assert [api.starters().status, api.preview("otp").status] == [200, 200]
    assert service.quota_used(account) == 0


@pytest.mark.parametrize(
    ("window", "next_one"),
    [
        ("minute", datetime(2026, 11, 20, 14, 10, tzinfo=UTC)),
        ("day", datetime(2026, 11, 21, tzinfo=UTC)),
        ("month", datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_a_window_ends_with_its_utc_calendar_unit(
    service: Service, window: str, next_one: datetime
) -> None:
    """8.1, notes: after the next UTC minute, midnight or month, sends are accepted again."""
    api = service.live(limits=WINDOWS[window][1])
    with service.at(NOW):
        assert api.send(otp()).status == 200
    with service.at(next_one - timedelta(milliseconds=1)):
        assert api.send(otp()).code == WINDOWS[window][0]
    with service.at(next_one):
        assert api.send(otp()).status == 200
