"""Decides the outcome of an accepted mail and writes the event records of SES.

The records have the shape of SES event publishing ("Contents of event data" and "Examples of event
data" in the SES developer guide), as they are in `detail` of an EventBridge event.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import getaddresses
from typing import Any, Final

from local.ses.behaviour import Mode
from local.ses.feedback import feedback_id
from local.ses.headers import decoded, first
from local.ses.mail import CapturedMail, timestamp
from local.ses.odd_events import Event, odd
from local.ses.store import MailStore
from pillarbox.domain.errors import Json

_HEADERS_LIMIT: Final = 10_240  # bytes of headers in a record; with more, headersTruncated is true
_RETRIED_FOR: Final = timedelta(hours=14)  # "attempts delivery for up to 14 hours"

#: The member with the details, and the name in the API, of each type of event.
_TYPES: Final[Mapping[str, tuple[str, str]]] = {
    "Send": ("send", "SEND"),
    "Delivery": ("delivery", "DELIVERY"),
    "Bounce": ("bounce", "BOUNCE"),
    "Complaint": ("complaint", "COMPLAINT"),
    "Reject": ("reject", "REJECT"),
    "Open": ("open", "OPEN"),
    "Click": ("click", "CLICK"),
    "Rendering Failure": ("failure", "RENDERING_FAILURE"),
    "DeliveryDelay": ("deliveryDelay", "DELIVERY_DELAY"),
    "Subscription": ("subscription", "SUBSCRIPTION"),
}


def records(
    mail: CapturedMail, mailbox: MailStore, modes: Iterable[Mode] = ()
) -> Iterator[dict[str, Json]]:
    """Yield the event records of an email in order, if its configuration set publishes them.

    SES publishes nothing for an email without a configuration set.

    Args:
        mail: the email, with its outcomes.
        mailbox: the state.
        modes: those that the email met. An odd one changes its events.
    """
    configuration_set = mailbox.configuration_sets.get(mail.configuration_set or "")
    if configuration_set is None:
        return
    mail_object = _mail_object(mail, mailbox)
    owner = mailbox.suppression_rule(mail.tenant, mail.configuration_set).owner
    events = [*_events(mail, f"On{owner}SuppressionList")]
    for mode in dict.fromkeys(modes):
        events = odd(mode, events)
    for event_type, details in events:
        member, api_name = _TYPES.get(event_type, (event_type.lower(), None))
        if configuration_set.publishes(api_name):
            yield {"eventType": event_type, "mail": mail_object, member: details}


def _events(mail: CapturedMail, listed: str) -> Iterator[Event]:
    if "not rendered" in mail.outcomes.values():
        message = "Attribute 'name' is not present in the rendering data."
        yield "Rendering Failure", {"templateName": "none", "errorMessage": message}
        return
    yield "Send", {}
    if "rejected" in mail.outcomes.values():
        yield "Reject", {"reason": "Bad content"}
        return
    for recipient in dict.fromkeys(mail.destination.addresses):
        yield from _events_of(mail, recipient, listed)


def _events_of(mail: CapturedMail, recipient: str, listed: str) -> Iterator[Event]:  # noqa: C901  one case for each outcome
    outcome = mail.outcomes[recipient]
    if outcome in _ARRIVED:
        yield _delivery(mail, recipient)
    match outcome:
        case "bounced":
            yield _bounce(mail, recipient, "General", "smtp; 550 5.1.1 user unknown")
        case "bounced for now":
            yield _soft_bounce(mail, recipient)
        case "delayed":
            yield _delay(recipient)
        case "complained":
            yield _complaint(mail, recipient, None)
        case "auto-replied":
            yield _auto_reply(mail, recipient)
        case "opened":
            yield "Open", _reader()
        case "clicked":
            yield "Click", _reader() | {"link": "https://shop.example/", "linkTags": None}
        case "subscription changed":
            yield _subscription()
        case "globally suppressed":
            yield _bounce(mail, recipient, "Suppressed", "Amazon SES suppressed the address")
        case "suppressed":
            yield _bounce(mail, recipient, listed, "Amazon SES did not send the message")
        case "suppressed after complaint":
            yield _complaint(mail, recipient, listed)


#: Outcomes of an email that the recipient's server took.
_ARRIVED: Final = frozenset(
    {"delivered", "complained", "auto-replied", "opened", "clicked", "subscription changed"}
)


def _delivery(mail: CapturedMail, recipient: str) -> Event:
    now = datetime.now(UTC)
    return "Delivery", {
        "timestamp": timestamp(now),
        "processingTimeMillis": int((now - mail.received_at).total_seconds() * 1000),
        "recipients": [recipient],
        "smtpResponse": "250 2.0.0 Ok: kept in the local inbox",
        "remoteMtaIp": "127.0.0.1",
        "reportingMTA": "a8-1.smtp-out.amazonses.com",
    }


def _bounce(mail: CapturedMail, recipient: str, subtype: str, diagnostic: str) -> Event:
    return "Bounce", {
        "feedbackId": feedback_id(mail),
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


def _soft_bounce(mail: CapturedMail, recipient: str) -> Event:
    full = {"action": "failed", "status": "4.2.2", "diagnosticCode": "smtp; 452 4.2.2 mailbox full"}
    return "Bounce", {
        "feedbackId": feedback_id(mail),
        "bounceType": "Transient",
        "bounceSubType": "MailboxFull",
        "bouncedRecipients": [{"emailAddress": recipient} | full],
        "timestamp": timestamp(datetime.now(UTC)),
        "reportingMTA": "dns; mta.example.com",
    }


def _delay(recipient: str) -> Event:
    now = datetime.now(UTC)
    code = {"status": "4.4.1", "diagnosticCode": "smtp; 421 4.4.1 Unable to connect to remote host"}
    return "DeliveryDelay", {
        "delayType": "TransientCommunicationFailure",
        "delayedRecipients": [{"emailAddress": recipient} | code],
        "expirationTime": timestamp(now + _RETRIED_FOR),
        "reportingMTA": "a8-1.smtp-out.amazonses.com",
        "timestamp": timestamp(now),
    }


def _reader() -> dict[str, Any]:
    """Return who opened an email or followed a link, for whom SES names no recipient."""
    agent = "Mozilla/5.0 (Linux; Android 15) Mobile"
    return {"ipAddress": "192.0.2.1", "timestamp": timestamp(datetime.now(UTC)), "userAgent": agent}


def _subscription() -> Event:
    def status(word: str, *, everything: bool) -> dict[str, Any]:
        topics = [{"topicName": "news", "subscriptionStatus": word}]
        return {"unsubscribeAll": everything, "topicSubscriptionStatus": topics}

    return "Subscription", {
        "contactList": "customers",
        "timestamp": timestamp(datetime.now(UTC)),
        "source": "UnsubscribeHeader",
        "newTopicPreferences": status("OptOut", everything=True),
        "oldTopicPreferences": status("OptIn", everything=False),
    }


def _auto_reply(mail: CapturedMail, recipient: str) -> Event:
    """An out-of-office reply has no delivery status, so the record names only the recipient."""
    return "Bounce", {
        "feedbackId": feedback_id(mail),
        "bounceType": "Transient",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": recipient}],
        "timestamp": timestamp(datetime.now(UTC)),
    }


def _complaint(mail: CapturedMail, recipient: str, subtype: str | None) -> Event:
    now = timestamp(datetime.now(UTC))
    complaint: dict[str, Any] = {
        "feedbackId": feedback_id(mail),
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
        # The id that the sender wrote, if there is one (event-publishing-retrieving-sns-contents).
        "messageId": first(mail.headers, "message-id") or mail.id,
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
