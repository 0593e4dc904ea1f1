"""SES: handing mail over (API v2), and reading what it reports."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

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
from pillarbox.adapters.ses_rate import Pace
from pillarbox.application.ports import Notice, Refused, Throttled, Uncertain
from pillarbox.domain.message import Event, EventKind, Message

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
_MAX_REASON: Final = 500


class SesMailer:
    """Fulfils `ports.Mailer`."""

    def __init__(self, configuration_set: str, pace: Pace | None = None) -> None:
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
            raise Refused("not_accepted", "The mail cannot be put to SES.") from error
        except (
            ReadTimeoutError,
            ConnectionClosedError,
            ResponseStreamingError,
            ResponseParserError,
            SSLError,  # may come in the middle of an answer
        ) as error:
            raise Uncertain from error
        except NotConnected as error:
            raise Throttled from error
        except HTTPClientError as error:
            raise Uncertain from error
        except BotoCoreError as error:  # credentials, settings: before anything was sent
            raise Throttled from error
        if "MessageId" not in answer:  # it was answered, but what came is unreadable
            raise Uncertain
        return answer["MessageId"]

    def _keep_rate(self, recipients: int) -> None:
        if self._pace is not None and not self._pace.keep(recipients, self._granted):
            raise Throttled

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
        return Uncertain()
    if code in _LATER or status in _NOT_NOW:
        return Throttled()
    return Refused(_snake(code), error.response["Error"].get("Message", "")[:_MAX_REASON])


def _snake(code: str) -> str:
    name = code.removesuffix("Exception")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def read_notice(text: str) -> Notice | None:
    """Read an event record of SES's event publishing; None for kinds that change nothing.

    Raises:
        ValueError: the text is no such record.
    """
    try:
        record = json.loads(text)
        read = _READERS.get(record["eventType"])
        tags = record["mail"].get("tags", {})
        if _takes_back(record):
            return None
        if read is None or "message" not in tags or "account" not in tags:
            return None
        events, suppress = read(record)
        return Notice(
            account_id=tags["account"][0],
            message_id=UUID(tags["message"][0]),
            at=max(event.at for event in events),
            events=tuple(events),
            suppress=tuple(suppress),
            provider_message_id=record["mail"]["messageId"],
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError("no event record of SES") from error


type _Read = tuple[list[Event], list[tuple[str, str]]]


def _send(record: Mapping[str, Any]) -> _Read:
    return [Event(kind=EventKind.SENT, at=_time(record["mail"]))], []


def _delivery(record: Mapping[str, Any]) -> _Read:
    delivery = record["delivery"]
    return [
        Event(kind=EventKind.DELIVERED, at=_time(delivery), recipient=address)
        for address in map(_bare, delivery["recipients"])
    ], []


def _bounce(record: Mapping[str, Any]) -> _Read:
    bounce = record["bounce"]
    permanent = bounce["bounceType"] == "Permanent"
    subtype = bounce.get("bounceSubType", "")
    events = [
        Event(
            kind=EventKind.BOUNCED if permanent else EventKind.BOUNCED_TRANSIENT,
            at=_time(bounce),
            recipient=_bare(bounced["emailAddress"]),
            code=_snake(subtype) or "bounced",
            reason=_reason(bounced.get("diagnosticCode")) or f"Bounce: {subtype}",
        )
        for bounced in bounce["bouncedRecipients"]
    ]
    # What SES itself refuses for its own list says nothing new about the address.
    suppresses = permanent and subtype != "OnAccountSuppressionList"
    return events, [(event.recipient or "", "bounced") for event in events if suppresses]


def _complaint(record: Mapping[str, Any]) -> _Read:
    complaint = record["complaint"]
    kind = complaint.get("complaintFeedbackType") or "complaint"
    events = [
        Event(
            kind=EventKind.COMPLAINED,
            at=_time(complaint),
            recipient=_bare(complained["emailAddress"]),
            code=_snake(kind.replace("-", "_")),
            reason="The recipient reported the mail as unwanted.",
        )
        for complained in complaint["complainedRecipients"]
    ]
    suppresses = complaint.get("complaintSubType") != "OnAccountSuppressionList"
    return events, [(event.recipient or "", "complained") for event in events if suppresses]


def _takes_back(record: Mapping[str, Any]) -> bool:
    """A report that a mail is no spam, whatever a filter said (RFC 5965 section 7.3)."""
    return bool(record.get("complaint", {}).get("complaintFeedbackType") == "not-spam")


def _reject(record: Mapping[str, Any]) -> _Read:
    reason = _reason(record["reject"].get("reason")) or "SES refused the mail."
    at = _time(record["mail"])
    return [Event(kind=EventKind.FAILED, at=at, code="rejected", reason=reason)], []


def _rendering_failure(record: Mapping[str, Any]) -> _Read:
    reason = _reason(record["failure"].get("errorMessage")) or "SES could not render the mail."
    at = _time(record["mail"])
    return [Event(kind=EventKind.FAILED, at=at, code="rendering_failed", reason=reason)], []


def _delay(record: Mapping[str, Any]) -> _Read:
    delay = record["deliveryDelay"]
    return [
        Event(
            kind=EventKind.DELAYED,
            at=_time(delay),
            recipient=_bare(delayed["emailAddress"]),
            code=_snake(delay.get("delayType", "delayed")),
            reason=_reason(delayed.get("diagnosticCode")),
        )
        for delayed in delay["delayedRecipients"]
    ], []


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], _Read]]] = {
    "Send": _send,
    "Delivery": _delivery,
    "Bounce": _bounce,
    "Complaint": _complaint,
    "Reject": _reject,
    "Rendering Failure": _rendering_failure,
    "RenderingFailure": _rendering_failure,  # as the API names it
    "DeliveryDelay": _delay,
}


def _time(part: Mapping[str, Any]) -> datetime:
    moment = datetime.fromisoformat(part["timestamp"])
    if moment.tzinfo is None:
        raise ValueError("a time without an offset")
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _bare(address: str) -> str:
    """The address in `Name <address>`, as SES repeats what a header field had."""
    return address.rpartition("<")[2].rstrip(">").strip()


def _reason(text: str | None) -> str | None:
    return text[:_MAX_REASON] if text else None
