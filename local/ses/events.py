"""Decides the outcome of an accepted mail and writes the event records of SES.

The records have the shape of SES event publishing ("Contents of event data" and "Examples of event
data" in the SES developer guide), as they are in `detail` of an EventBridge event.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from email.utils import getaddresses
from typing import Final

from local.ses.headers import decoded, first
from local.ses.store import CapturedMail, MailStore, Outcome, SuppressedDestination
from pillarbox.domain.errors import Json

type Emit = Callable[[dict[str, Json]], Awaitable[None]]

_SIMULATOR: Final = "simulator.amazonses.com"
#: The addresses of the mailbox simulator; each accepts any +label.
_SIMULATED: Final[dict[str, Outcome]] = {
    "success": "delivered",
    "bounce": "bounced",
    "complaint": "complained",
    "ooto": "auto-replied",
    "suppressionlist": "globally suppressed",
}
#: The start of the EICAR test file in base64: SES accepts such an email and then rejects it.
_EICAR: Final = b"WDVPIVAlQEFQWzRcUFpYNTQoUF4pN0NDKTd9JEVJQ0FS"
_HEADERS_LIMIT: Final = 10_240  # bytes of headers in a record; with more, headersTruncated is true

_API_NAMES: Final = {
    "Send": "SEND",
    "Delivery": "DELIVERY",
    "Bounce": "BOUNCE",
    "Complaint": "COMPLAINT",
    "Reject": "REJECT",
}


def outcome_of(recipient: str, raw: bytes, suppression: SuppressedDestination | None) -> Outcome:
    """Return the outcome of an email for one recipient."""
    if _EICAR in raw:
        return "rejected"
    if suppression:
        return "suppressed" if suppression.reason == "BOUNCE" else "suppressed after complaint"
    local, _, domain = recipient.lower().rpartition("@")
    if domain == _SIMULATOR:
        return _SIMULATED.get(local.partition("+")[0], "delivered")
    return "delivered"


def records(mail: CapturedMail, mailbox: MailStore) -> Iterator[dict[str, Json]]:
    """Yield the event records of an email in order, if its configuration set publishes them.

    SES publishes nothing for an email without a configuration set.
    """
    configuration_set = mailbox.configuration_sets.get(mail.configuration_set or "")
    if configuration_set is None:
        return
    mail_object = _mail_object(mail, mailbox)
    owner = "Tenant" if mailbox.tenants.suppressing(mail.tenant) else "Account"
    for event_type, details in _events(mail, f"On{owner}SuppressionList"):
        if configuration_set.publishes(_API_NAMES[event_type]):
            key = event_type[0].lower() + event_type[1:]
            yield {"eventType": event_type, "mail": mail_object, key: details}


def _events(mail: CapturedMail, listed: str) -> Iterator[tuple[str, dict[str, Json]]]:
    yield "Send", {}
    if "rejected" in mail.outcomes.values():
        yield "Reject", {"reason": "Bad content"}
        return
    for recipient in dict.fromkeys(mail.destination.addresses):
        match mail.outcomes[recipient]:
            case "delivered":
                yield _delivery(mail, recipient)
            case "bounced":
                yield _bounce(mail, recipient, "General", "smtp; 550 5.1.1 user unknown")
            case "complained":
                yield _delivery(mail, recipient)
                yield _complaint(mail, recipient, None)
            case "auto-replied":
                yield _delivery(mail, recipient)
                yield _auto_reply(mail, recipient)
            case "globally suppressed":
                yield _bounce(mail, recipient, "Suppressed", "Amazon SES suppressed the address")
            case "suppressed":
                yield _bounce(mail, recipient, listed, "Amazon SES did not send the message")
            case "suppressed after complaint":
                yield _complaint(mail, recipient, listed)


def _delivery(mail: CapturedMail, recipient: str) -> tuple[str, dict[str, Json]]:
    now = datetime.now(UTC)
    return "Delivery", {
        "timestamp": timestamp(now),
        "processingTimeMillis": int((now - mail.received_at).total_seconds() * 1000),
        "recipients": [recipient],
        "smtpResponse": "250 2.0.0 Ok: kept in the local inbox",
        "remoteMtaIp": "127.0.0.1",
        "reportingMTA": "a8-1.smtp-out.amazonses.com",
    }


def _bounce(
    mail: CapturedMail, recipient: str, subtype: str, diagnostic: str
) -> tuple[str, dict[str, Json]]:
    return "Bounce", {
        "feedbackId": _feedback_id(mail),
        "bounceType": "Permanent",
        "bounceSubType": subtype,
        "bouncedRecipients": [
            {
                "emailAddress": recipient,
                "action": "failed",
                "status": "5.1.1",
                "diagnosticCode": diagnostic,
            }
        ],
        "timestamp": timestamp(datetime.now(UTC)),
        "reportingMTA": "dns; amazonses.com" if subtype != "General" else "dns; mta.example.com",
    }


def _auto_reply(mail: CapturedMail, recipient: str) -> tuple[str, dict[str, Json]]:
    """An out-of-office reply has no delivery status, so the record names only the recipient."""
    return "Bounce", {
        "feedbackId": _feedback_id(mail),
        "bounceType": "Transient",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": recipient}],
        "timestamp": timestamp(datetime.now(UTC)),
    }


def _complaint(
    mail: CapturedMail, recipient: str, subtype: str | None
) -> tuple[str, dict[str, Json]]:
    now = timestamp(datetime.now(UTC))
    complaint: dict[str, Json] = {
        "feedbackId": _feedback_id(mail),
        "complaintSubType": subtype,
        "complainedRecipients": [{"emailAddress": recipient}],
        "timestamp": now,
    }
    if subtype is None:  # the mailbox provider's report contains these
        complaint |= {
            "userAgent": "Amazon SES Mailbox Simulator",
            "complaintFeedbackType": "abuse",
            "arrivalDate": now,
        }
    return "Complaint", complaint


def _mail_object(mail: CapturedMail, mailbox: MailStore) -> dict[str, Json]:
    identity = f"arn:aws:ses:{mailbox.region}:{mailbox.account_id}:identity/{mail.source}"
    headers: list[Json] = []
    size = 0
    for name, value in mail.headers:
        size += len(name) + len(value.encode()) + 4  # the colon, the space and the line end
        if size > _HEADERS_LIMIT:
            break
        headers.append({"name": name, "value": value})
    common: dict[str, Json] = {
        "from": [mail.from_header],
        "messageId": mail.id,
        "subject": mail.subject,
    }
    for name in ("to", "cc"):
        if field := first(mail.headers, name):
            common[name] = [
                f"{decoded(person)} <{address}>" if person else address
                for person, address in getaddresses([field])
            ]
    if date := first(mail.headers, "date"):
        common["date"] = date
    tags: dict[str, Json] = {
        "ses:operation": ["SendEmail"],
        "ses:configuration-set": [mail.configuration_set],
        "ses:source-ip": ["127.0.0.1"],
        "ses:from-domain": [mail.source.rpartition("@")[2]],
        "ses:caller-identity": ["local"],
    }
    return {
        "timestamp": timestamp(mail.received_at),
        "source": mail.source,
        "sourceArn": identity,
        "sendingAccountId": mailbox.account_id,
        "messageId": mail.id,
        "destination": list(mail.destination.addresses),
        "headersTruncated": size > _HEADERS_LIMIT,
        "headers": headers,
        "commonHeaders": common,
        "tags": tags | {name: [value] for name, value in mail.tags.items()},
    }


def _feedback_id(mail: CapturedMail) -> str:
    return f"{mail.id.removesuffix('-000000')}-feedback-000000"


def timestamp(at: datetime) -> str:
    """Return a time in the format of SES: ISO 8601 with milliseconds and a Z."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class EventEmitter:
    """Emits event records in the background, in order per mail.

    Args:
        emit: publishes one record.
        pauses: seconds before each retry. After the last retry the record is dropped and
            reported on stderr.
    """

    def __init__(self, emit: Emit, pauses: tuple[float, ...] = (0.1, 0.5, 2.0)) -> None:
        self._emit = emit
        self._pauses = pauses
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, event_records: Iterable[dict[str, Json]]) -> None:
        """Start to emit records in their order, and return at once."""
        task = asyncio.create_task(self._emit_all([*event_records]))
        self._tasks.add(task)  # the event loop keeps only weak references to tasks
        task.add_done_callback(self._tasks.discard)

    async def finish(self, seconds: float = 5.0) -> None:
        """Wait until the running tasks end; cancel those that take longer."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _emit_all(self, event_records: list[dict[str, Json]]) -> None:
        for record in event_records:
            await self._emit_one(record)

    async def _emit_one(self, record: dict[str, Json]) -> None:
        for pause in (*self._pauses, None):
            try:
                await self._emit(record)
            except Exception as error:  # noqa: BLE001  after any error the other records must follow
                if pause is None:
                    mail = record.get("mail")
                    mail_id = mail["messageId"] if isinstance(mail, dict) else record["resources"]
                    kind = record.get("eventType", record.get("detail-type"))
                    print(  # noqa: T201  stderr is the log of a foreground program
                        f"SES event {kind} of {mail_id} is lost: {error!r}", file=sys.stderr
                    )
                else:
                    await asyncio.sleep(pause)
            else:
                return
