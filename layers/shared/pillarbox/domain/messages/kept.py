"""Kept content: the message that was handed over, for an account that asked for it.

Nothing is kept unless the account has a number of days. A template and an email may ask for fewer
days, never for more. Codes and links by which people sign in are never kept.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from pillarbox.domain.accounts.account import MAX_KEEP, Account
from pillarbox.domain.messages.message import EventKind, Message
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
    provider took the message. If it did not, or nobody knows, it begins when the message was due,
    which is not later than the content. An erased one is not there any more.
    """
    was_written = message.keep and message.attempt and not message.unkept
    if not was_written or message.pending or message.is_erased:
        return None
    due_at = message.schedule.due_at if message.schedule else message.created_at
    sent_at = min((one.at for one in message.events if one.kind is EventKind.SENT), default=due_at)
    return sent_at + timedelta(days=message.keep)
