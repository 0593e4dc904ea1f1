"""The values of a starter template: checks, fallbacks, and how an email words them.

Accepting an email imports this module, so it needs no template engine.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.templates.template import (
    MISSING_VALUE,
    StarterTemplate,
    VariableKind,
)

_MINUTES_PER_HOUR: Final = 60
_MINUTES_PER_DAY: Final = 24 * _MINUTES_PER_HOUR
#: A longer number is shown as it is.
_MAX_DIGITS: Final = 9
#: In characters, of a name that is compared with those of the variables.
_MAX_NAME: Final = 64
#: How alike a name is to that of an optional variable that is meant: `company` stands for itself.
_ALMOST: Final = 0.85
#: Lines of one email. Each takes some 600 bytes with its markup.
_MAX_LINES: Final = 100

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
    brand: Brand,
    contact: str,
    now: datetime,
) -> dict[str, Json]:
    """Return the values for all variables of a starter: those of the request, and fallbacks.

    Treat null and blank text as missing. An optional variable without any value is left out.

    Args:
        contact: the address for replies: `replyTo`, or the sender's address.
    """
    fallbacks: dict[str, Json] = {
        **brand_values(starter, brand, contact),
        "app_name": brand.name,
        "name": "there",
        "expiry_minutes": starter.expiry_minutes,
        "event": "Unusual activity on your account",
        "ip": "Not recorded",
        "at": format_time(now),
    }
    return _complete(
        starter,
        variables,
        fallbacks,
        _misspelt(starter, variables),
    )


def brand_values(starter: StarterTemplate, brand: Brand, contact: str | None) -> dict[str, Json]:
    """Return what a starter shows of the company; `contact` is for a brand without support."""
    return {
        "support_email": brand.support_email or contact,
        "company_address": brand.company_address,
        # The button of a receipt leads to its invoice.
        "action_url": brand.action_url if starter.slug == "welcome" else None,
    }


def _misspelt(starter: StarterTemplate, variables: Mapping[str, Json]) -> list[FieldError]:
    """Return an error for each name that is almost that of a variable without a value.

    Other names are of a program that has more variables than the starter needs.
    """
    optional = [variable.name for variable in starter.optional]
    unknown = [name for name in variables if name not in (*starter.names, *optional)]
    missing = [name for name in starter.names if variables.get(name) in (None, "")]
    if not unknown:
        return []
    import difflib  # noqa: PLC0415  few requests need it

    errors = []
    for name in unknown:
        shown = name[:_MAX_NAME]
        close = difflib.get_close_matches(shown, missing, n=1) or difflib.get_close_matches(
            shown, optional, n=1, cutoff=_ALMOST
        )
        if close:
            message = f"is not a variable of {starter.slug}; did you mean {close[0]}?"
            errors.append(FieldError(f"variables.{name}", message, "unknown_variable"))
    return errors


def values_or_samples(
    starter: StarterTemplate,
    variables: Mapping[str, Json],
    company: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Return the values of a preview: those of the request, and samples (contract 4.7)."""
    samples = {variable.name: variable.sample for variable in starter.variables}
    return _complete(starter, variables, {**(company or {}), **samples}, [])


def check_link(field: str, kind: VariableKind, text: str) -> None:
    """Check that a text is a web address or a contact, as `kind` says."""
    if fault := _fault(kind, text):
        raise ValidationFailed(FieldError(field, *fault))


def check_logo_url(url: str) -> None:
    """Check that the URL of a logo is https: with a host. The service never fetches it."""
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
    for variable in (*starter.variables, *starter.optional):
        name, value = variable.name, variables.get(variable.name)
        if value is None or (isinstance(value, str) and not value.strip()):
            value = fallbacks.get(name)
            if value is None and variable.required:
                message = f"{MISSING_VALUE}; {_needs(starter)}"
                errors.append(FieldError(f"variables.{name}", message, "missing_variable"))
        elif fault := _fault(variable.kind, value):
            errors.append(FieldError(f"variables.{name}", *fault))
        elif variable.kind is VariableKind.LINES and isinstance(value, list):
            value = [_line(number, line) for number, line in enumerate(value, 1)]
        if value is not None:
            values[name] = value
    if errors:
        raise ValidationFailed(*errors)
    return values


def _needs(starter: StarterTemplate) -> str:
    """Return in words which variables a starter needs, and which it may have."""
    every = (*starter.variables, *starter.optional)
    needed = ", ".join(variable.name for variable in every if variable.required)
    others = ", ".join(variable.name for variable in every if not variable.required)
    return f"{starter.slug} needs {needed}, and may have {others}"


def _line(number: int, line: Json) -> Json:
    """Return a line as an email shows it, with its number."""
    given = line if isinstance(line, dict) else {"description": line}
    return {"number": number, "amount": "", **given}


def _fault(kind: VariableKind, value: Json) -> tuple[str, str] | None:
    """Return message and code if a value does not fit its kind."""
    match kind:
        case VariableKind.TEXT:
            if not _is_text(value):
                return "must be a string or a number", "invalid_type"
        case VariableKind.LINES:
            if not (isinstance(value, list) and len(value) <= _MAX_LINES):
                return f"must be a list of at most {_MAX_LINES} lines", "invalid_type"
            if not all(map(_is_line, value)):
                message = "must have strings, or objects with a description and perhaps an amount"
                return message, "invalid_type"
        case _ if not isinstance(value, str):
            return "must be a string", "invalid_type"
        case VariableKind.WEB_URL if not _is_url(value, _WEB):
            return "must be an http: or https: URL with a host", "invalid_url"
        case VariableKind.CONTACT if not _is_contact(value):
            return "must be an email address, or an https:, http: or mailto: URL", "invalid_url"
    return None


def _is_text(value: Json) -> bool:
    # In Python bool is an int, but no email should show "True".
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_line(line: Json) -> bool:
    """Whether a line is a text, or has a description and perhaps an amount."""
    if not isinstance(line, dict):
        return _is_text(line)
    return {"description"} <= line.keys() <= {"description", "amount"} and all(
        map(_is_text, line.values())
    )


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
