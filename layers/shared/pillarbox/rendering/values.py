"""The values of a starter template: checks, fallbacks, and how an email words them.

Accepting an email imports this module, so it needs no template engine.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.templates.template import (
    MISSING_VALUE,
    StarterTemplate,
    StarterVariable,
    VariableKind,
)

_MINUTES_PER_HOUR: Final = 60
_MINUTES_PER_DAY: Final = 24 * _MINUTES_PER_HOUR
#: A longer number is shown as it is.
_MAX_DIGITS: Final = 9
#: In characters, of a name that is compared with those of the variables.
_MAX_NAME: Final = 64

#: A number without groups, as JSON and programs write it. In some countries `1.234` has a group.
#: Therefore at least four digits come before the point.
_UNGROUPED: Final = re.compile(r"(-?)([0-9]{4,15})((?:\.[0-9]{1,4})?)")
_CURRENCY_CODE: Final = re.compile("[A-Za-z]{3}")

_WEB: Final = frozenset({"http", "https"})
_ADDRESS: Final = re.compile(r"[^@\s:;,<>()\[\]\"\\/?#]+@[^@\s:;,<>()\[\]\"\\/?#]+")


def starter_values(
    starter: StarterTemplate,
    variables: Mapping[str, Json],
    *,
    brand: str,
    contact: str,
    now: datetime,
) -> dict[str, Json]:
    """Return the values for all variables of a starter: those of the request, and fallbacks.

    Treat null and blank text as missing.

    Args:
        starter: the template to fill.
        variables: the request's `variables`.
        brand: the name of the brand, as the email shows it.
        contact: the address for replies: `replyTo`, or the sender's address.
        now: the time of the send.

    Raises:
        ValidationFailed: with every required variable that is missing
            (`missing_variable`), every value of the wrong kind (`invalid_type`,
            `invalid_url`), and every name that the starter does not have and that
            may mean a variable without a value (`unknown_variable`).
    """
    fallbacks: dict[str, Json] = {
        "app_name": brand,
        "name": "there",
        "expiry_minutes": starter.expiry_minutes,
        "support_email": contact,
        "event": "Unusual activity on your account",
        "ip": "Not recorded",
        "at": format_time(now),
    }
    return _complete(
        starter,
        variables,
        {
            variable.name: fallbacks[variable.name]
            for variable in starter.variables
            if not variable.required
        },
        _misspelt(starter, variables),
    )


def _misspelt(starter: StarterTemplate, variables: Mapping[str, Json]) -> list[FieldError]:
    """Return an error for each name that is almost that of a variable without a value.

    Other names are of a program that has more variables than the starter needs.
    """
    unknown = [name for name in variables if name not in starter.names]
    missing = [name for name in starter.names if variables.get(name) in (None, "")]
    if not unknown or not missing:
        return []
    import difflib  # noqa: PLC0415  few requests need it

    errors = []
    for name in unknown:
        if close := difflib.get_close_matches(name[:_MAX_NAME], missing, n=1):
            message = f"is not a variable of {starter.slug}; did you mean {close[0]}?"
            errors.append(FieldError(f"variables.{name}", message, "unknown_variable"))
    return errors


def values_or_samples(starter: StarterTemplate, variables: Mapping[str, Json]) -> dict[str, Json]:
    """Return the values of a preview: those of the request, and samples (contract 4.7).

    Raises:
        ValidationFailed: with every value of the wrong kind.
    """
    samples = {variable.name: variable.sample for variable in starter.variables}
    return _complete(starter, variables, samples, [])


def check_logo_url(url: str) -> None:
    """Check that the URL of a logo is https: with a host. The service never fetches it.

    Raises:
        ValidationFailed: on `logoUrl`.
    """
    if not _is_url(url, frozenset({"https"})):
        raise ValidationFailed(
            FieldError("logoUrl", "must be an https: URL with a host", "invalid_url")
        )


def duration(minutes: Json) -> str:
    """Return minutes in words: `10 minutes`, `1 hour`, `2 days`.

    A value that is not a whole number stays as it is.
    """
    text = str(minutes).strip()
    number = _whole_number(text)
    if number is None:
        return f"{text} minutes"
    if number >= 2 * _MINUTES_PER_DAY and number % _MINUTES_PER_DAY == 0:
        return f"{number // _MINUTES_PER_DAY} days"
    if number >= _MINUTES_PER_HOUR and number % _MINUTES_PER_HOUR == 0:
        return _count(number // _MINUTES_PER_HOUR, "hour")
    return _count(number, "minute")


def days_ahead(days: Json) -> str:
    """Return a number of days in words: `today`, `tomorrow`, `in 3 days`."""
    text = str(days).strip()
    number = _whole_number(text)
    near = {0: "today", 1: "tomorrow"}
    return f"in {text} days" if number is None else near.get(number, f"in {number} days")


def format_time(time: datetime) -> str:
    """Return a time in words, in UTC: `20 November 2026, 14:05 UTC`."""
    time = time.astimezone(UTC)
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def format_date(time: datetime) -> str:
    """Return a day in words, in UTC: `20 November 2026`."""
    time = time.astimezone(UTC)
    return f"{time.day} {time:%B %Y}"


def grouped(amount: Json) -> str:
    """Return an amount with its digits in groups: `12,500.00`. Other texts stay as they are.

    A number with a point has at least two decimals.
    """
    text = str(amount).strip()
    if isinstance(amount, float) and re.fullmatch(r"-?[0-9]+\.[0-9]", text):
        text += "0"
    number = _UNGROUPED.fullmatch(text)
    return f"{number[1]}{int(number[2]):,}{number[3]}" if number else text


def currency_code(currency: Json) -> str:
    """Return a code of ISO 4217 in capital letters. Other texts, such as `kr.`, stay."""
    text = str(currency).strip()
    return text.upper() if _CURRENCY_CODE.fullmatch(text) else text


def contact_url(contact: Json) -> str:
    """Return the link to a contact. A bare address becomes a mailto: URL (RFC 6068)."""
    text = str(contact)
    return text if ":" in text else f"mailto:{text}"


def _complete(
    starter: StarterTemplate,
    variables: Mapping[str, Json],
    fallbacks: Mapping[str, Json],
    errors: list[FieldError],
) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for variable in starter.variables:
        value = variables.get(variable.name)
        if value is None or (isinstance(value, str) and not value.strip()):
            value = fallbacks.get(variable.name)
            if value is None:
                errors.append(_error(variable, MISSING_VALUE, "missing_variable"))
        elif error := _error_of(variable, value):
            errors.append(error)
        values[variable.name] = value
    if errors:
        raise ValidationFailed(*errors)
    return values


def _error_of(variable: StarterVariable, value: Json) -> FieldError | None:
    """Return the error of a value that does not fit the kind of its variable, or None."""
    if variable.kind is VariableKind.TEXT:
        # In Python bool is an int, but no email should show "True".
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return _error(variable, "must be a string or a number", "invalid_type")
        return None
    if not isinstance(value, str):
        return _error(variable, "must be a string", "invalid_type")
    if variable.kind is VariableKind.WEB_URL:
        if not _is_url(value, _WEB):
            message = "must be an http: or https: URL with a host"
            return _error(variable, message, "invalid_url")
    elif not _is_contact(value):
        message = "must be an email address, or an https:, http: or mailto: URL"
        return _error(variable, message, "invalid_url")
    return None


def _error(variable: StarterVariable, message: str, code: str) -> FieldError:
    return FieldError(f"variables.{variable.name}", message, code)


def _is_url(text: str, schemes: frozenset[str]) -> bool:
    """Return whether text is an absolute URL with a host (RFC 3986 section 3).

    First refuse white space, control and bidirectional characters, because urlsplit
    silently drops some of them. Also refuse the backslash, because browsers read it
    as a slash.
    """
    if not text.isprintable() or " " in text or "\\" in text:
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in schemes and bool(parts.hostname)


def _is_contact(text: str) -> bool:
    if not text.isprintable():
        return False
    if text[:7].lower() == "mailto:":
        return _ADDRESS.fullmatch(text[7:].partition("?")[0]) is not None
    return _ADDRESS.fullmatch(text) is not None or _is_url(text, _WEB)


def _whole_number(text: str) -> int | None:
    """Return the number in the text, or None if it is not a number of at most nine digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else None


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
