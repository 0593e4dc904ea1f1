"""Read the event records that SES publishes."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from pillarbox.application.delivery.ports import (
    ProviderEvent,
    TaggedMessage,
    TenantChange,
    UnreadableEvent,
)
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.bounce_codes import bounce_code
from pillarbox.domain.messages.message import (
    SUPPRESSED_BY_SES,
    Event,
    EventKind,
    Message,
    plain_reason,
)

_TAGGED_ACCOUNT: Final = re.compile(r'"account"\s*:\s*\[\s*"([^"\\]+)"')
_TAGGED_MESSAGE: Final = re.compile(r'"message"\s*:\s*\[\s*"([^"\\]+)"')
_SENDING_STATUSES: Final = frozenset({"Sending Status Disabled", "Sending Status Enabled"})
_TENANT_CHANGE: Final = re.compile(r'"detail-type"\s*:\s*"Sending Status (Dis|En)abled"')
_TENANT: Final = re.compile(r":tenant/([^/]+)/")
#: Subtypes of bounces that SES decides without asking the recipient's server, beside its lists.
_SES_DECIDES: Final = frozenset({"UnsubscribedRecipient", "CustomTimeoutExceeded"})
#: Subtypes of bounces and complaints by which SES says that it sent nothing, because the address is
#: on its list of the AWS account, of the tenant, or of all its customers (developer guide,
#: "Contents of event data").
_LISTS: Final = {
    **dict.fromkeys(
        ("OnAccountSuppressionList", "OnTenantSuppressionList"),
        "Amazon SES did not send the email because the address was on its own suppression list. The"
        " address is free now: send the email again. If that fails too, the operator finds the"
        " address with `pillarbox suppression ses list`.",
    ),
    "Suppressed": "Amazon SES did not send the email because the address is on its list of all"
    " customers. Only Amazon SES clears that list, at most 14 days after the last bounce. The"
    " operator can make it not count: `pillarbox doctor` says how.",
}
_PROVIDER_ID: Final = re.compile(r'"messageId"\s*:\s*"([^"\\]+)"')
#: Types of events that say nothing about delivery. The configuration set publishes none of them.
_DROPPED: Final = frozenset({"Click", "Open", "Subscription"})
_LOGGABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{0,49}")
#: What reading a text of another form raises.
_ODD: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
#: The members of a record and of its parts, and the subtypes that SES chooses ("Contents of event
#: data" in the SES developer guide). What is not here is logged, so that somebody reads about it.
_DOCUMENTED: Final = """
    eventType mail send delivery bounce complaint reject failure deliveryDelay
    timestamp messageId source sourceArn sourceIp sendingAccountId callerIdentity destination
    headersTruncated headers commonHeaders tags processingTimeMillis recipients smtpResponse
    reportingMTA remoteMtaIp bounceType bounceSubType bouncedRecipients feedbackId
    complainedRecipients complaintSubType userAgent complaintFeedbackType arrivalDate
    reason errorMessage templateName delayType delayedRecipients expirationTime
    Permanent Transient Undetermined General NoEmail Suppressed OnAccountSuppressionList
    OnTenantSuppressionList UnsubscribedRecipient MailboxFull MessageTooLarge ContentRejected
    AttachmentRejected CustomTimeoutExceeded InternalFailure SpamDetected RecipientServerError
    IPFailure TransientCommunicationFailure BYOIPHostNameLookupUnavailable SendingDeferral
"""
_KNOWN: Final = frozenset(_DOCUMENTED.split())
_SUBTYPES: Final = ("bounceType", "bounceSubType", "complaintSubType", "delayType")


def read_provider_event(text: str) -> ProviderEvent | TenantChange | None:
    """Read a record of SES's event publishing; return None for one that changes nothing.

    An event that EventBridge could not queue is in the dead-letter queue with its envelope. An
    event about a tenant always has it.
    """
    kind = "no record"
    try:
        record = json.loads(text)
        if record.get("detail-type") in _SENDING_STATUSES:
            return _tenant_change(record)
        record = record.get("detail", record)
        kind = _loggable(record["eventType"])
        message = find_message(text)
        if message is None or kind in _DROPPED or _is_not_spam_report(record):
            return None
        events, suppress = _READERS.get(kind, _of_unknown_type)(record)
        return ProviderEvent(
            account_id=message.account_id,
            message_id=message.message_id,
            at=max(event.at for event in events),
            events=tuple(events),
            suppress=tuple(_of_recipients(suppress, record["mail"].get("destination"))),
            provider_message_id=_text(record["mail"]["messageId"]),
            unknown=tuple(_unknown(record)),
        )
    except UnreadableEvent:
        raise
    except _ODD as error:
        # Only the name of a missing member is no text of others.
        missing = f" {error}" if isinstance(error, KeyError) else ""
        raise UnreadableEvent(f"{kind}: {type(error).__name__}{missing}") from error


def find_message(text: str) -> TaggedMessage | None:
    """Return the message whose tags are in a record, or in a text that is not JSON at all.

    No other text of a record looks like a tag, because JSON escapes the quotes inside a string.
    """
    account, message = _TAGGED_ACCOUNT.search(text), _TAGGED_MESSAGE.search(text)
    if account is None or message is None or not is_uuid(message[1]):
        return None
    provider_id = _PROVIDER_ID.search(text)
    return TaggedMessage(account[1], UUID(message[1]), provider_id and provider_id[1])


def may_concern(text: str, message: Message) -> bool:
    """Return whether a record may be an event of a message: it names it, or names none at all."""
    named = find_message(text)
    if named is None:
        return _TENANT_CHANGE.search(text) is None
    return (named.account_id, named.message_id) == (message.account_id, message.message_id)


def _tenant_change(envelope: Mapping[str, Any]) -> TenantChange | None:
    """Read an event of SES about a tenant; None if it is about something else.

    The form is that of docs.aws.amazon.com/ses/latest/dg/tenants.html, "Setting up EventBridge
    notifications" (read on 2026-11-26).
    """
    named = (_TENANT.search(arn) for arn in envelope["resources"])
    found = next(filter(None, named), None)
    return TenantChange(found[1]) if found else None


#: Events, and the addresses to suppress with their reasons.
type _Events = tuple[list[Event], list[tuple[str, str]]]


def _of_recipients(
    suppress: Iterable[tuple[str, str]], destination: Sequence[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield whom to suppress: recipients as SES knows them, also if a report names others.

    The recipient's server writes the addresses of a report, and SES those of `destination`. The
    message's own record no longer has a recipient who was erased.
    """
    recipients = {mailbox_key(one): one for one in map(_address_of, destination or ())}
    for address, reason in suppress:
        if not recipients or mailbox_key(address) in recipients:
            yield recipients.get(mailbox_key(address), address), reason
        elif len(recipients) == 1:
            yield from ((recipient, reason) for recipient in recipients.values())


def _only(record: Mapping[str, Any]) -> str | None:
    """Return the only recipient of a mail, whom a report that lists none is about.

    With several such a report is about the mail as a whole.
    """
    destination = record["mail"].get("destination") or []
    return destination[0] if len(destination) == 1 else None


def _send(record: Mapping[str, Any]) -> _Events:
    return [Event(kind=EventKind.SENT, at=_time(record["mail"]))], []


def _delivery(record: Mapping[str, Any]) -> _Events:
    delivery = record["delivery"]
    return [
        Event(kind=EventKind.DELIVERED, at=_time(delivery), recipient=_address_of(address) or None)
        for address in delivery.get("recipients") or [_only(record)]
    ], []


def _bounce(record: Mapping[str, Any]) -> _Events:
    bounce = record["bounce"]
    permanent = bounce["bounceType"] == "Permanent"
    subtype = bounce.get("bounceSubType") or ""
    recipients = bounce.get("bouncedRecipients") or [{"emailAddress": _only(record)}]
    if subtype in _LISTS:
        return _unsent(bounce, subtype, recipients)
    events = [
        Event(
            kind=EventKind.BOUNCED if permanent else EventKind.BOUNCED_TRANSIENT,
            at=_time(bounce),
            recipient=_address_of(recipient["emailAddress"]) or None,
            code=_bounce_code(subtype, recipient),
            reason=_reason(recipient.get("diagnosticCode")) or f"Bounce: {subtype}",
        )
        for recipient in recipients
    ]
    return events, [(event.recipient or "", "bounced") for event in events if permanent]


def _bounce_code(subtype: str, recipient: Mapping[str, Any]) -> str:
    code = bounce_code(recipient.get("status"), recipient.get("diagnosticCode"))
    own = snake_case(subtype) or "bounced"
    return own if subtype in _SES_DECIDES else code or own


def _unsent(
    report: Mapping[str, Any], subtype: str, recipients: Iterable[Mapping[str, Any]]
) -> _Events:
    """Read that SES sent nothing to recipients on a list of its own: no bounce, no complaint."""
    return [
        Event(
            kind=EventKind.FAILED,
            at=_time(report),
            recipient=_address_of(recipient["emailAddress"]) or None,
            code=SUPPRESSED_BY_SES,
            reason=_LISTS[subtype],
        )
        for recipient in recipients
    ], []


def _complaint(record: Mapping[str, Any]) -> _Events:
    complaint = record["complaint"]
    subtype = complaint.get("complaintSubType")
    recipients = complaint.get("complainedRecipients") or [{"emailAddress": _only(record)}]
    if subtype in _LISTS:
        return _unsent(complaint, subtype, recipients)
    kind = complaint.get("complaintFeedbackType") or "complaint"
    events = [
        Event(
            kind=EventKind.COMPLAINED,
            at=_time(complaint),
            recipient=_address_of(recipient["emailAddress"]) or None,
            code=snake_case(kind.replace("-", "_")),
            reason="The recipient reported the mail as unwanted.",
        )
        for recipient in recipients
    ]
    return events, [(event.recipient or "", "complained") for event in events]


def _is_not_spam_report(record: Mapping[str, Any]) -> bool:
    """Return whether a report says that an email is not spam (RFC 5965 section 7.3)."""
    return bool(record.get("complaint", {}).get("complaintFeedbackType") == "not-spam")


def _reject(record: Mapping[str, Any]) -> _Events:
    reason = _reason(record["reject"].get("reason")) or "SES refused the mail."
    at = _time(record["mail"])
    return [Event(kind=EventKind.FAILED, at=at, code="rejected", reason=reason)], []


def _rendering_failure(record: Mapping[str, Any]) -> _Events:
    reason = _reason(record["failure"].get("errorMessage")) or "SES could not render the mail."
    at = _time(record["mail"])
    return [Event(kind=EventKind.FAILED, at=at, code="rendering_failed", reason=reason)], []


def _of_unknown_type(record: Mapping[str, Any]) -> _Events:
    raise UnreadableEvent(f"eventType {_loggable(record['eventType'])}")


def _delay(record: Mapping[str, Any]) -> _Events:
    delay = record["deliveryDelay"]
    return [
        Event(
            kind=EventKind.DELAYED,
            at=_time(delay),
            recipient=_address_of(recipient["emailAddress"]) or None,
            code=snake_case(delay.get("delayType", "delayed")),
            reason=_reason(recipient.get("diagnosticCode")),
        )
        for recipient in delay.get("delayedRecipients") or [{"emailAddress": _only(record)}]
    ], []


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], _Events]]] = {
    "Send": _send,
    "Delivery": _delivery,
    "Bounce": _bounce,
    "Complaint": _complaint,
    "Reject": _reject,
    "Rendering Failure": _rendering_failure,
    "RenderingFailure": _rendering_failure,  # the name in the API
    "DeliveryDelay": _delay,
}


def _time(part: Mapping[str, Any]) -> datetime:
    moment = datetime.fromisoformat(part["timestamp"])
    if moment.tzinfo is None:
        raise ValueError("a time without an offset from UTC")
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)


def _address_of(address: str | None) -> str:
    """Return the address of `Name <address>`: SES repeats the content of a header field."""
    return (address or "").rpartition("<")[2].rstrip(">").strip()


def _text(value: str) -> str:
    """Return a text that can be stored."""
    value.encode()
    return value


def _loggable(name: object) -> str:
    """Return a name that SES chose, or `other` for what may be a text of somebody else."""
    return name if isinstance(name, str) and _LOGGABLE.fullmatch(name) else "other"


def _unknown(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of members and subtypes that are not documented."""
    for name, part in record.items():
        members = part if isinstance(part, dict) else {}
        subtypes = (members[member] for member in _SUBTYPES if members.get(member))
        yield from (_loggable(each) for each in (name, *members, *subtypes) if each not in _KNOWN)


def _reason(text: str | None) -> str | None:
    return plain_reason(text) if text else None


def snake_case(code: str) -> str:
    """Return an SES error code in snake case, without a final `Exception`."""
    name = code.removesuffix("Exception")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
