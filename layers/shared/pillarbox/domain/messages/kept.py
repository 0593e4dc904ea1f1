"""What is kept: an email's content, if the account asks, and what an erasure leaves.

Nothing is kept unless the account has a number of days. A template and an email may ask for fewer
days, never for more. Codes and links by which people sign in are never kept.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from pillarbox.domain.accounts.account import MAX_KEEP, Account
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import ERASED_ADDRESS, EventKind, Message, MessageOrigin
from pillarbox.domain.templates.template import SavedTemplate, StarterTemplate

#: The numbers of days after which the bucket deletes by itself. A part of the key names one.
CLASSES: Final = (1, 7, 30, MAX_KEEP)
#: The starters with a code or a link by which people sign in.
CODES: Final = frozenset({"otp", "magic_link", "password_reset", "email_verify"})
#: The variables with their codes and links, which a copy of such a starter has too.
_SECRETS: Final = frozenset({"otp_code", "login_url", "reset_url", "verify_url"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptContent:
    """The place of a kept message: its days in the bucket, and the day of its acceptance."""

    account_id: str
    message_id: str
    days: int
    day: date

    @classmethod
    def of(cls, message: Message) -> "KeptContent":
        """Return the place of a message that is kept."""
        return cls(
            account_id=message.account_id,
            message_id=str(message.message_id),
            days=next(days for days in CLASSES if days >= message.keep),
            day=message.created_at.date(),
        )


def is_code(template: SavedTemplate | StarterTemplate | None) -> bool:
    """Return whether a template sends a code or a link by which people sign in.

    A saved template does if its category or its name is that of such a starter, or if it has the
    variable of one. Case, blanks and hyphens do not matter.
    """
    if isinstance(template, StarterTemplate):
        return template.slug in CODES
    if template is None:
        return False
    named = {_slug(template.category), _slug(template.name)}
    return not (CODES.isdisjoint(named) and _SECRETS.isdisjoint(template.variables))


def _slug(text: str) -> str:
    return "_".join(text.lower().replace("-", " ").replace("_", " ").split())


def days_to_keep(
    account: Account, asked: int | None, template: SavedTemplate | StarterTemplate | None
) -> int:
    """Return for how many days to keep an email of which its request asks for some; 0: not."""
    if is_code(template):
        return 0
    most = template.keep if isinstance(template, SavedTemplate) else MAX_KEEP
    return min(account.keep, most, MAX_KEEP if asked is None else asked)


def kept_until(message: Message) -> datetime | None:
    """Return until when the content of a message is there; None if it is not kept, or not yet.

    The content is written before each hand-over, which the lease counts. The time begins when the
    provider took the message. If it did not, or that is unknown, it begins when the message was
    due, which is not later than the content. An erased one is not there any more.
    """
    was_written = message.keep and message.attempt and not message.unkept
    if not was_written or message.pending or message.is_erased:
        return None
    due_at = message.schedule.due_at if message.schedule else message.created_at
    sent_at = min((one.at for one in message.events if one.kind is EventKind.SENT), default=due_at)
    return sent_at + timedelta(days=message.keep)


#: Stands for the subject of a message that has an erased recipient.
ERASED_SUBJECT: Final = "[erased]"
#: What stays of a message, because it says nothing about a recipient. All other fields go.
_STAYS: Final = (
    *("account_id", "message_id", "created_at", "sender", "from_name"),
    "body_hash",  # of the whole request, so no address can be guessed from it
    # What a worker needs, and SES knows the message by.
    *("provider_message_id", "lease", "attempt", "deaths", "revision", "schedule"),
    *("hashed_suppressions", "announced", "unkept"),
)
#: What stays of its origin: ids, times, switches, and the names of a template's variables.
_STAYS_OF_ORIGIN: Final = (
    *("route", "key_id", "starter_template", "template_id", "template_version", "shape"),
    *("request_id", "scheduled_at", "held", "resend_of", "for_owner"),
)


def erase_recipient(message: Message, mailbox: str) -> Message:
    """Return a message without a recipient, or the same object if it has no such recipient.

    Subject, tags and texts of the provider go too, because they may name the person. Events,
    and so the status and the counts, stay.
    """
    if mailbox not in map(mailbox_key, message.recipients):
        return message

    def without(addresses: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            ERASED_ADDRESS if mailbox_key(address) == mailbox else address for address in addresses
        )

    erased = _what_stays(
        message,
        to=without(message.to),
        cc=without(message.cc),
        bcc=without(message.bcc),
        keep=message.keep,
    )
    return erased.with_events(message.events)


def erase_copy(message: Message) -> Message:
    """Return a copy of an erased message without subject, tags and kept content.

    Its own recipients and their events stay. It is the same object if nothing else is there.
    """
    erased = _what_stays(
        message, to=message.to, cc=message.cc, bcc=message.bcc, events=message.events
    )
    return message if erased == message else erased


def _what_stays(message: Message, **more: Any) -> Message:  # noqa: ANN401  fields of any type
    origin = {name: getattr(message.origin, name) for name in _STAYS_OF_ORIGIN}
    stays = {name: getattr(message, name) for name in _STAYS}
    return Message(subject=ERASED_SUBJECT, origin=MessageOrigin(**origin), **stays, **more)
