"""Hand messages to SES (API v2)."""

from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    HTTPClientError,
    ParamValidationError,
    ReadTimeoutError,
    ResponseStreamingError,
    SSLError,
)
from botocore.exceptions import ConnectionError as NotConnected
from botocore.parsers import ResponseParserError

from pillarbox.adapters.aws import code_of, make_client
from pillarbox.adapters.ses.events import MAX_REASON, snake_case
from pillarbox.adapters.ses.rate import SendRateLimiter
from pillarbox.application.ports import SendRejected, SendThrottled, SendUncertain
from pillarbox.domain.message import Message

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

#: SendEmail has no idempotency token, so the SDK must not try it twice: a try
#: whose answer was lost may have sent the mail.
_ONCE: Final = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"total_max_attempts": 1},
    tcp_keepalive=True,
)
_SERVER_ERROR: Final = 500

#: Not taken, and worth another try: limits, pauses, and what an operator can mend.
_LATER: Final = frozenset(
    {
        "AccountSuspendedException",
        "ExpiredTokenException",
        "LimitExceededException",
        "SendingPausedException",
        "Throttling",
        "ThrottlingException",
    }
)
#: The same, for all that is about the caller's rights and rate, by whatever name.
_NOT_NOW: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})


class SesMailer:
    """Fulfils `ports.Mailer`."""

    def __init__(self, configuration_set: str, pace: SendRateLimiter | None = None) -> None:
        """Send under a configuration set, at a pace if there is one to keep."""
        self._configuration_set = configuration_set
        self._pace = pace

    @cached_property
    def _ses(self) -> "SESV2Client":
        client: SESV2Client = make_client("sesv2", _ONCE)
        return client

    def send(self, message: Message, recipients: tuple[str, ...], raw: bytes) -> str:
        """Call SendEmail once, with the tags by which its events are found again."""
        self._keep_rate(len(recipients))
        try:
            answer = self._ses.send_email(
                FromEmailAddress=message.sender,
                Destination={"ToAddresses": recipients},
                Content={"Raw": {"Data": raw}},
                ConfigurationSetName=self._configuration_set,
                EmailTags=[
                    {"Name": "account", "Value": message.account_id},
                    {"Name": "message", "Value": str(message.message_id)},
                    {"Name": "attempt", "Value": str(message.attempt)},
                ],
            )
        except ClientError as error:
            raise _failure(error) from error
        except ParamValidationError as error:
            raise SendRejected("not_accepted", "The mail cannot be put to SES.") from error
        except (
            ReadTimeoutError,
            ConnectionClosedError,
            ResponseStreamingError,
            ResponseParserError,
            SSLError,  # may come in the middle of an answer
        ) as error:
            raise SendUncertain from error
        except NotConnected as error:
            raise SendThrottled from error
        except HTTPClientError as error:
            raise SendUncertain from error
        except BotoCoreError as error:  # credentials, settings: before anything was sent
            raise SendThrottled from error
        if "MessageId" not in answer:  # it was answered, but what came is unreadable
            raise SendUncertain
        return answer["MessageId"]

    def _keep_rate(self, recipients: int) -> None:
        if self._pace is not None and not self._pace.acquire(recipients, self._granted):
            raise SendThrottled

    def _granted(self) -> float | None:
        """Recipients a second, by GetAccount; None when SES does not say."""
        try:
            quota = self._ses.get_account().get("SendQuota", {})
        except (ClientError, BotoCoreError):
            return None
        rate = quota.get("MaxSendRate", 0.0)
        return rate if rate > 0 else None


def _failure(error: ClientError) -> Exception:
    code = code_of(error)
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    if status >= _SERVER_ERROR:
        return SendUncertain()
    if code in _LATER or status in _NOT_NOW:
        return SendThrottled()
    return SendRejected(snake_case(code), error.response["Error"].get("Message", "")[:MAX_REASON])
