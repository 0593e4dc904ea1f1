"""The AWS account at SES (API v2): quotas, status and configuration sets."""

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, operator_errors
from pillarbox.application.operator.ports import ConfigurationSet, SendingStatus

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

_NAME: Final = "SES API"


class SesAccount:
    """Implements `operator.ports.ProviderAccount`."""

    _ses: "SESV2Client" = client_of("sesv2")

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock

    def sending_status(self) -> SendingStatus:
        with operator_errors(_NAME):
            response = self._ses.get_account()
        quota = response.get("SendQuota", {})
        date = response["ResponseMetadata"].get("HTTPHeaders", {}).get("date")
        return SendingStatus(
            sandbox=not response.get("ProductionAccessEnabled", False),
            review=response.get("Details", {}).get("ReviewDetails", {}).get("Status", ""),
            sending=response.get("SendingEnabled", False),
            enforcement=response.get("EnforcementStatus", "HEALTHY"),
            daily_quota=quota.get("Max24HourSend", 0.0),
            sent_last_24_hours=quota.get("SentLast24Hours", 0.0),
            max_rate=quota.get("MaxSendRate", 0.0),
            provider_time=parsedate_to_datetime(date) if date else None,
            local_time=self._clock(),
            suppresses=frozenset(
                response.get("SuppressionAttributes", {}).get("SuppressedReasons", ())
            ),
        )

    def configuration_set(self, name: str) -> ConfigurationSet | None:
        """Read a configuration set and the event types that it publishes to EventBridge."""
        with operator_errors(_NAME):
            try:
                options = self._ses.get_configuration_set(ConfigurationSetName=name)
                response = self._ses.get_configuration_set_event_destinations(
                    ConfigurationSetName=name
                )
            except ClientError as error:
                if code_of(error) == "NotFoundException":
                    return None
                raise
        published = {
            event_type
            for destination in response.get("EventDestinations", ())
            if destination.get("Enabled") and destination.get("EventBridgeDestination")
            for event_type in destination["MatchingEventTypes"]
        }
        reasons = options.get("SuppressionOptions", {}).get("SuppressedReasons")
        return ConfigurationSet(
            sending=options.get("SendingOptions", {}).get("SendingEnabled", True),
            published=frozenset(map(str, published)),
            suppresses=None if reasons is None else frozenset(reasons),
        )
