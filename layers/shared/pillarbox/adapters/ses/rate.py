"""The sending rate that SES grants the account (API v2)."""

from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from pillarbox.adapters.aws import make_client

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


class SesAccountRate:
    """Reads the account's rate. SES counts recipients."""

    @cached_property
    def _ses(self) -> "SESV2Client":
        client: SESV2Client = make_client("sesv2")
        return client

    def read(self) -> float | None:
        """Return the recipients per second that GetAccount reports; None if it reports none."""
        try:
            quota = self._ses.get_account().get("SendQuota", {})
        except (ClientError, BotoCoreError):
            return None
        rate = quota.get("MaxSendRate", 0.0)
        return rate if rate > 0 else None
