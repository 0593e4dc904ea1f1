"""The sending rate of the SES account: `delivery.ports.SendingRate`."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.mailer import SesMailer
from pillarbox.application.delivery.ports import SendingRate
from tests.aws import Aws
from tests.contract.ses_domains import aws_response
from tests.fakes import stores
from tests.fakes.builders import ACCOUNT, NOW


@pytest.fixture(params=["fake", "adapter"])
def make(request: pytest.FixtureRequest) -> Callable[[], SendingRate]:
    """Return a maker of workers' rates at 2 recipients a second; the clock stands still."""
    if request.param == "fake":
        fake = stores.FakeSendingRate(2)
        return lambda: fake
    table = Table(request.getfixturevalue("aws").table, retries=False)
    return lambda: DynamoSendingRate(table, lambda: 2.0, lambda: NOW, lambda _: None)


@pytest.mark.parametrize("urgent", [False, True])
def test_tokens_are_taken_until_there_are_none(
    make: Callable[[], SendingRate], *, urgent: bool
) -> None:
    """At first there are tokens; after many emails the answer is a wait, for every worker."""
    one, other = make(), make()
    assert one.acquire(ACCOUNT, 1, urgent=urgent) is None
    waits = [one.acquire(ACCOUNT, 50, urgent=urgent) for _ in range(20)]
    assert isinstance(waits[-1], timedelta)
    wait = other.acquire(ACCOUNT, 1, urgent=urgent)
    assert wait is not None
    assert wait > timedelta(0)


def test_an_email_to_many_is_sent_with_a_full_bucket(make: Callable[[], SendingRate]) -> None:
    assert make().acquire(ACCOUNT, 50, urgent=False) is None


def test_urgent_mail_goes_when_ordinary_mail_has_to_wait(
    make: Callable[[], SendingRate],
) -> None:
    rate = make()
    for _ in range(20):
        waits = rate.acquire(ACCOUNT, 1, urgent=False)
    assert waits
    assert rate.acquire(ACCOUNT, 1, urgent=True) is None


def test_slowing_down_takes_no_token(make: Callable[[], SendingRate]) -> None:
    rate = make()
    rate.slow_down()
    assert rate.acquire(ACCOUNT, 1, urgent=False) is None
    rate.slow_down()


@pytest.mark.parametrize(
    ("status", "body", "share", "rate"),
    [
        (200, {"SendQuota": {"MaxSendRate": 14.0}}, 100, 14.0),
        (200, {"SendQuota": {"MaxSendRate": 14.0}}, 25, 3.5),
        (200, {"SendQuota": {"MaxSendRate": 1.0}}, 1, 0.01),
        (200, {"SendQuota": {"MaxSendRate": 0.0}}, 50, None),
        (200, {}, 100, None),
        (400, {"Error": {"Code": "TooManyRequestsException", "Message": ""}}, 100, None),
    ],
)
def test_the_rate_that_ses_reports(
    aws: Aws, status: int, body: dict[str, Any], share: int, rate: float | None
) -> None:
    """The rate is the share of what GetAccount reports; None if SES reports none or is silent."""
    del aws
    account = SesMailer("set", share)
    events: Any = account._ses.meta.events
    events.register("before-call.sesv2.GetAccount", lambda **_: aws_response(status, body))
    assert account.read_rate() == rate
