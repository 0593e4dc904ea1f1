"""Hand emails to SES, and read the rate at which it takes them (API v2)."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Final, TypedDict
from uuid import uuid4

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
from pillarbox.adapters.ses.events import snake_case
from pillarbox.application.delivery.ports import SendRejected, SendThrottled, SendUncertain
from pillarbox.domain.messages.message import Message

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

#: SendEmail has no idempotency token, so the SDK must not retry it: a try whose
#: response was lost may have sent the email.
_WITHOUT_RETRIES: Final = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"total_max_attempts": 1},
    tcp_keepalive=True,
)
_SERVER_ERROR: Final = 500
#: A connection that was idle for longer is not used. SES may have closed it, and a function that
#: was frozen meanwhile has not heard of it: the email would get no answer, and would wait for its
#: event. In seconds; servers close idle connections after 5 or more.
_IDLE: Final = 3.0
#: SES's own mailbox, which accepts every email. It works in the sandbox, and does not count
#: towards the quota of a day or the rates of bounces.
SIMULATOR: Final = "success@simulator.amazonses.com"
_PROBE: Final = (
    "Subject: Do events arrive?\r\n\r\n"
    "The events of this email show that those of earlier emails are not on their way.\r\n"
)

#: SES did not take the email, and a later try may succeed: limits, pauses, and what an
#: operator can repair, such as a configuration set that does not exist.
_RETRYABLE: Final = frozenset(
    {
        "AccountSuspendedException",
        "ExpiredTokenException",
        "LimitExceededException",
        "NotAuthorized",
        "NotFoundException",
        "RequestExpired",
        "SendingPausedException",
        "Throttling",
        "ThrottlingException",
    }
)
#: The ones among them that say that emails are sent too fast.
_TOO_FAST: Final = frozenset({"Throttling", "ThrottlingException", "TooManyRequestsException"})
#: The same applies to every error about the caller's permissions or rate, or a slow request, with
#: any code.
_RETRYABLE_STATUSES: Final = frozenset(
    {HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
)
#: What SES says of an email that it never takes: its size, its header, its addresses, a blocked
#: attachment. With a tenant every other error may be about the tenant.
_ABOUT_THE_MAIL: Final = re.compile(
    r"message length is more than|illegal filename|(duplicate|missing required|illegal) header"
    r"|missing final '@domain'|(domain|local address) (starts|ends|contains)",
    re.IGNORECASE | re.ASCII,
)


class _OfTenant(TypedDict, total=False):
    TenantName: str


class SesMailer:
    """Implements `delivery.ports.Mailer`, and reads the account's rate with the same connections.

    Args:
        rate_share: the percentage of the account's rate that this stack uses; others use the rest.
    """

    def __init__(
        self,
        configuration_set: str,
        rate_share: int = 100,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ses: SESV2Client = make_client("sesv2", _WITHOUT_RETRIES)
        self._configuration_set = configuration_set
        self._rate_share = rate_share
        self._clock = clock
        self._lock = Lock()
        #: The emails under way; the most since there are connections, and when that was last so.
        self._running = self._most = 0
        self._most_at = clock()

    def send(
        self, message: Message, recipients: tuple[str, ...], raw: bytes, tenant: str | None
    ) -> str:
        """Call SendEmail once. Its events repeat the tags, which identify the message."""
        tags = {
            "account": message.account_id,
            "message": str(message.message_id),
            "attempt": str(message.attempt),
        }
        return self._send(message.sender, recipients, raw, tags, tenant)

    def send_probe(self, message: Message) -> None:
        """Send to the mailbox simulator. Its events name a message that does not exist."""
        raw = f"From: <{message.sender}>\r\nTo: <{SIMULATOR}>\r\n{_PROBE}".encode()
        tags = {"account": message.account_id, "message": str(uuid4())}
        with suppress(SendRejected, SendThrottled, SendUncertain):
            self._send(message.sender, (SIMULATOR,), raw, tags)

    def read_rate(self) -> float | None:
        """Return the stack's share of the recipients per second that GetAccount reports.

        None if it reports none. SES counts recipients.
        """
        try:
            with self._connected() as ses:
                quota = ses.get_account().get("SendQuota", {})
        except (ClientError, BotoCoreError):
            return None
        rate = quota.get("MaxSendRate", 0.0)
        return rate * self._rate_share / 100 if rate > 0 else None

    def _send(
        self,
        sender: str,
        recipients: tuple[str, ...],
        raw: bytes,
        tags: Mapping[str, str],
        tenant: str | None = None,
    ) -> str:
        of_tenant: _OfTenant = {"TenantName": tenant} if tenant else {}
        try:
            with self._connected() as ses:
                response = ses.send_email(
                    FromEmailAddress=sender,
                    Destination={"ToAddresses": recipients},
                    Content={"Raw": {"Data": raw}},
                    ConfigurationSetName=self._configuration_set,
                    EmailTags=[{"Name": name, "Value": value} for name, value in tags.items()],
                    **of_tenant,
                )
        except ClientError as error:
            raise _failure(error, tenant) from error
        except ParamValidationError as error:
            raise SendRejected("not_accepted", "SES cannot take an email of this form.") from error
        except (
            ReadTimeoutError,
            ConnectionClosedError,
            ResponseStreamingError,
            ResponseParserError,
            SSLError,  # may occur in the middle of a response
        ) as error:
            raise SendUncertain(type(error).__name__) from error
        except NotConnected as error:
            raise SendThrottled from error
        except HTTPClientError as error:
            raise SendUncertain(type(error).__name__) from error
        except BotoCoreError as error:  # credentials or settings: nothing was sent
            raise SendThrottled from error
        if "MessageId" not in response:  # SES responded, but unreadably
            raise SendUncertain("UnreadableResponse")
        return response["MessageId"]

    @contextmanager
    def _connected(self) -> Iterator["SESV2Client"]:
        """Lend the client for one call, without connections that were idle for too long.

        There are as many connections as emails were under way together. So all of them were in use
        when that was last so.
        """
        with self._lock:
            now = self._clock()
            if not self._running and now - self._most_at > _IDLE:
                self._ses.close()
                self._most = 0
            self._running += 1
            if self._running >= self._most:
                self._most, self._most_at = self._running, now
        try:
            yield self._ses
        finally:
            with self._lock:
                self._running -= 1


def _failure(error: ClientError, tenant: str | None) -> Exception:
    code = code_of(error)
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    if status >= _SERVER_ERROR:
        return SendUncertain(code)
    if code in _RETRYABLE or status in _RETRYABLE_STATUSES:
        too_fast = code in _TOO_FAST or status == HTTPStatus.TOO_MANY_REQUESTS
        return SendThrottled(code, too_fast=too_fast)
    reason = error.response["Error"].get("Message", "")
    # SES does not document its errors of a tenant. The next try names the tenant that the account
    # has by then.
    if tenant and not _ABOUT_THE_MAIL.match(reason):
        return SendThrottled(code)
    return SendRejected(snake_case(code), reason)
