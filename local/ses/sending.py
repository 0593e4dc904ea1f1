"""SendEmail: parses a request, makes the checks of SES, and creates the mail to keep."""

import base64
import binascii
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import getaddresses, parseaddr
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_pascal

from local.ses.addresses import check_address
from local.ses.behaviour import Mode
from local.ses.checks import check_message
from local.ses.errors import SesError, bad_request, not_found, not_imitated
from local.ses.headers import decoded, first, header_fields
from local.ses.mail import CapturedMail, Destination, Outcome
from local.ses.outcomes import outcomes_of
from local.ses.store import MailStore
from local.ses.suppression import is_simulated
from local.ses.wire import as_delivered

type Fields = tuple[tuple[str, str], ...]

_RECIPIENTS_LIMIT: Final = 50
_TAG: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")


def _from_base64(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("is not base64") from error


class SesModel(BaseModel):
    """A JSON object of the API with the members that the stand-in acts on."""

    model_config = ConfigDict(alias_generator=to_pascal, frozen=True, extra="forbid")


class RawMessage(SesModel):
    """Content.Raw."""

    data: Annotated[bytes, BeforeValidator(_from_base64)]


class EmailContent(SesModel):
    """Content. Simple and Template are not imitated, because the service sends Raw."""

    raw: RawMessage


class SesDestination(SesModel):
    """Destination."""

    to_addresses: tuple[str, ...] = ()
    cc_addresses: tuple[str, ...] = ()
    bcc_addresses: tuple[str, ...] = ()


class MessageTag(SesModel):
    """One of EmailTags."""

    name: str
    value: str


class SesSendEmailRequest(SesModel):
    """The body of POST /v2/email/outbound-emails."""

    content: EmailContent
    from_email_address: str | None = None
    destination: SesDestination = Field(default_factory=SesDestination)
    email_tags: tuple[MessageTag, ...] = ()
    configuration_set_name: str | None = None
    tenant_name: str | None = None


def parse(body: bytes) -> SesSendEmailRequest:
    """Read a SendEmail body."""
    try:
        return SesSendEmailRequest.model_validate_json(body)
    except ValidationError as error:
        detail = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in detail["loc"])
        if detail["type"] == "extra_forbidden":
            raise not_imitated(where) from error
        raise SesError("SerializationException", f"{where}: {detail['msg']}") from error


def check(mailbox: MailStore, request: SesSendEmailRequest) -> Destination:
    """Return the recipients of an email that SES would accept."""
    raw = request.content.raw.data
    fields = check_message(raw)
    header_from = first(fields, "from") or ""
    source = _source(request, header_from)
    destination = _destination(request.destination, fields)
    if not destination.addresses:
        raise bad_request("Missing required header 'To'.")
    if len(destination.addresses) > _RECIPIENTS_LIMIT:
        raise bad_request(f"Recipient count exceeds {_RECIPIENTS_LIMIT}.")
    for address in (source, *destination.addresses):
        check_address(address)
    name = request.configuration_set_name
    _check_sending(mailbox, name)
    authors = {source, parseaddr(header_from)[1]}
    if sender := first(fields, "sender"):
        authors.add(parseaddr(sender)[1])
    if mailbox.account.in_sandbox:
        authors |= {each for each in destination.addresses if not is_simulated(each)}
    _check_verified(mailbox, authors)
    if request.tenant_name is not None:
        identity = mailbox.identity_of(source) or source
        mailbox.tenants.check_send(request.tenant_name, identity, name)
    _check_tags(request.email_tags)
    after = mailbox.sent_last_24_hours() + len(destination.addresses)
    if after > mailbox.account.daily_quota:
        raise SesError("LimitExceededException", "Daily message quota exceeded.")
    return destination


def accept(
    mailbox: MailStore, request: SesSendEmailRequest, modes: Mapping[str, Mode] | None = None
) -> CapturedMail:
    """Return the mail that SES would accept, with its outcomes; the caller stores it.

    Args:
        mailbox: the state.
        request: what SendEmail got.
        modes: what a test asked for, by recipient.
    """
    destination = check(mailbox, request)
    raw = request.content.raw.data
    suppression = mailbox.suppression_rule(request.tenant_name, request.configuration_set_name)
    outcomes = outcomes_of(destination.addresses, raw, suppression, modes or {})
    mail = _captured(request, outcomes)
    return replace(mail, raw=as_delivered(raw, mail.id, mailbox.region, mail.received_at))


def refused(request: SesSendEmailRequest, reason: str) -> CapturedMail | None:
    """Return the mail that SES refused, for the inbox to show; None if it has no recipients."""
    fields = header_fields(request.content.raw.data)
    addresses = _destination(request.destination, fields).addresses
    if not addresses:
        return None
    return _captured(request, dict.fromkeys(addresses, "refused"), reason)


def _captured(
    request: SesSendEmailRequest, outcomes: Mapping[str, Outcome], refusal: str | None = None
) -> CapturedMail:
    raw = request.content.raw.data
    fields = header_fields(raw)
    header_from = first(fields, "from") or ""
    now = datetime.now(UTC)
    return CapturedMail(
        id=f"0100{int(now.timestamp() * 1000):012x}-{uuid.uuid4()}-000000",
        source=_source(request, header_from),
        destination=_destination(request.destination, fields),
        configuration_set=request.configuration_set_name,
        tenant=request.tenant_name,
        tags={tag.name: tag.value for tag in request.email_tags},
        headers=fields,
        from_header=decoded(header_from),
        subject=decoded(first(fields, "subject") or ""),
        raw=raw,
        outcomes=outcomes,
        received_at=now,
        refusal=refusal,
    )


def _source(request: SesSendEmailRequest, header_from: str) -> str:
    return parseaddr(request.from_email_address or header_from)[1]


def _destination(requested: SesDestination, fields: Fields) -> Destination:
    """Return the recipients of the request, or those of the headers if it has none."""
    destination = Destination(
        to=_addresses(requested.to_addresses),
        cc=_addresses(requested.cc_addresses),
        bcc=_addresses(requested.bcc_addresses),
    )
    if not destination.addresses:
        in_headers = {
            name: tuple(
                address for _, address in getaddresses([first(fields, name) or ""]) if address
            )
            for name in ("to", "cc", "bcc")
        }
        destination = Destination(**in_headers)
    return destination


def _addresses(mailboxes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(parseaddr(mailbox)[1] or mailbox for mailbox in mailboxes)


def _check_verified(mailbox: MailStore, senders: set[str]) -> None:
    if failed := sorted(sender for sender in senders if mailbox.identity_of(sender) is None):
        raise SesError(
            "MessageRejected",
            "Email address is not verified. The following identities failed the check in region "
            f"{mailbox.region.upper()}: {', '.join(failed)}",
        )


def _check_sending(mailbox: MailStore, name: str | None) -> None:
    """Check that neither the account nor the configuration set is paused."""
    configuration_set = mailbox.configuration_sets.get(name or "")
    if name is not None and configuration_set is None:
        raise not_found(f"Configuration set <{name}> does not exist.")
    what = None if mailbox.account.sending_enabled else "your account"
    if configuration_set is not None and not configuration_set.sending_enabled:
        what = f"configuration set <{name}>"
    if what:
        raise SesError("SendingPausedException", f"Email sending is disabled for {what}.")


def _check_tags(message_tags: tuple[MessageTag, ...]) -> None:
    tags = {tag.name: tag.value for tag in message_tags}
    if len(tags) < len(message_tags):
        raise bad_request("Duplicate message tag name.")
    for name, value in tags.items():
        if not _TAG.fullmatch(name):
            raise bad_request(f"Invalid message tag name <{name}>.")
        if not _TAG.fullmatch(value):
            raise bad_request(f"Invalid message tag value <{value}>.")
