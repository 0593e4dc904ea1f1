"""Check the settings of an agent's key."""

from collections.abc import Iterable
from typing import Final

from pillarbox.application.validation import MAX_LIMIT, normalize_address, normalize_domain
from pillarbox.domain.accounts.key import (
    ANYONE,
    DEFAULT_PER_DAY,
    MAX_ENTRIES,
    AgentSettings,
    Confirmation,
)
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ValidationFailed

_FIELD: Final = "agent-recipient"


def agent_settings(
    recipients: Iterable[str],
    confirmation: Confirmation | None = None,
    per_day: int | None = None,
) -> AgentSettings:
    """Return the settings of an agent's key.

    Args:
        recipients: addresses, domains, or `ANYONE`. There must be one: a key for everybody is a
            decision, not a default.
        confirmation: whether somebody must confirm each send; by default somebody must.
        per_day: the most messages that the key sends in a day; by default `DEFAULT_PER_DAY`.
    """
    entries = tuple(dict.fromkeys(map(_entry, recipients)))
    if not 0 < len(entries) <= MAX_ENTRIES:
        message = f"give 1 to {MAX_ENTRIES} addresses or domains; {ANYONE} allows every address"
        raise ValidationFailed(FieldError(_FIELD, message, "required"))
    if per_day is None:
        per_day = DEFAULT_PER_DAY
    if not 0 < per_day <= MAX_LIMIT:
        message = f"must be from 1 to {MAX_LIMIT}"
        raise ValidationFailed(FieldError("agent-per-day", message, "out_of_range"))
    return AgentSettings(
        recipients=entries, confirmation=confirmation or Confirmation.ASK, per_day=per_day
    )


def _entry(text: str) -> str:
    if text == ANYONE:
        return text
    if "@" not in text:
        return normalize_domain(text, _FIELD)
    try:
        return mailbox_key(normalize_address(text))
    except ValidationFailed as failed:
        error = failed.errors[0]
        raise ValidationFailed(FieldError(_FIELD, error.message, error.code)) from None
