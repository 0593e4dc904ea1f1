"""What SES says of the account (API v2)."""

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from admin.operations.ports import ConfigurationSet, SendingStatus
from pillarbox.adapters.aws import code_of, make_client, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

_NAME: Final = "provider of mail delivery"


class SesAccount:
    """Fulfils `administration.ports.ProviderAccount`."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    @cached_property
    def _ses(self) -> "SESV2Client":
        client: SESV2Client = make_client("sesv2")
        return client

    def sending_status(self) -> SendingStatus:
        """Read GetAccount, with the time that its answer carries."""
        with operator_errors(_NAME):
            answer = self._ses.get_account()
        quota = answer.get("SendQuota", {})
        date = answer["ResponseMetadata"].get("HTTPHeaders", {}).get("date")
        return SendingStatus(
            sandbox=not answer.get("ProductionAccessEnabled", False),
            sending=answer.get("SendingEnabled", False),
            enforcement=answer.get("EnforcementStatus", "HEALTHY"),
            per_day=quota.get("Max24HourSend", 0.0),
            sent_of_day=quota.get("SentLast24Hours", 0.0),
            per_second=quota.get("MaxSendRate", 0.0),
            their_time=parsedate_to_datetime(date) if date else None,
            our_time=self._clock(),
        )

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        """Read a configuration set with what it publishes to EventBridge."""
        with operator_errors(_NAME):
            try:
                options = self._ses.get_configuration_set(ConfigurationSetName=name)
                answer = self._ses.get_configuration_set_event_destinations(
                    ConfigurationSetName=name
                )
            except ClientError as error:
                if code_of(error) == "NotFoundException":
                    return None
                raise
        published = {
            kind
            for destination in answer.get("EventDestinations", ())
            if destination.get("Enabled") and destination.get("EventBridgeDestination")
            for kind in destination["MatchingEventTypes"]
        }
        return ConfigurationSet(
            sending=options.get("SendingOptions", {}).get("SendingEnabled", True),
            published=frozenset(map(str, published)),
        )
