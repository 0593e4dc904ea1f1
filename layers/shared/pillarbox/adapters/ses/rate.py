"""The part of the account's sending rate at SES that the stack uses (API v2)."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from pillarbox.adapters.aws import client_of

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


class SesAccountRate:
    """Reads the account's rate. SES counts recipients.

    Args:
        share: the percentage of it that this stack uses; other stacks use the rest.
    """

    _ses: "SESV2Client" = client_of("sesv2")

    def __init__(self, share: int = 100) -> None:
        self._share = share

    def read(self) -> float | None:
        """Return the stack's share of the recipients per second that GetAccount reports.

        None if it reports none.
        """
        try:
            quota = self._ses.get_account().get("SendQuota", {})
        except (ClientError, BotoCoreError):
            return None
        rate = quota.get("MaxSendRate", 0.0)
        return rate * self._share / 100 if rate > 0 else None
