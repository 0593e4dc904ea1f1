"""The sending rate of the SES account: `delivery.ports.SendingRate`."""

from typing import Any

import pytest

from pillarbox.adapters.ses.mailer import SesMailer
from tests.aws import Aws
from tests.contract.ses_domains import aws_response


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
