"""What fills a starter template: the caller's values, checked, and fallbacks for the rest.

Accepting a mail imports this, so it needs no template engine.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pillarbox.domain.errors import FieldFault, Json, ValidationFailed
from pillarbox.domain.template import StarterTemplate, StarterVariable, VariableKind
from pillarbox.rendering.words import moment

#: Contract 8.2: characters of a brandName.
_LONGEST_BRAND: Final = 128

_WEB: Final = frozenset({"http", "https"})
_ADDRESS: Final = re.compile(r"[^@\s:;,<>()\[\]\"\\/?#]+@[^@\s:;,<>()\[\]\"\\/?#]+")


def starter_values(  # noqa: PLR0913  a send is known by no less; all are named
    starter: StarterTemplate,
    given: Mapping[str, Json],
    *,
    brand: str | None,
    sender_name: str | None,
    contact: str,
    now: datetime,
) -> dict[str, Json]:
    """The complete values of a send: those given for the starter's variables, and fallbacks.

    Values for other names are ignored; null and blank text count as left out.

    Args:
        starter: the template to fill.
        given: the request's `variables`.
        brand: the request's or the account's brand name.
        sender_name: the display name of the sender.
        contact: where answers go: `replyTo`, or else the sender's address.
        now: the time of the send.

    Raises:
        ValidationFailed: naming every required variable that is lacking
            (`missing_variable`) and every value of a wrong kind
            (`invalid_type`, `invalid_url`).
    """
    fallbacks: dict[str, Json] = {
        # An address says least badly who writes when neither name is known. A sender's
        # name may be longer than a subject; as a brand's it is cut to what those may have.
        "app_name": brand or (sender_name or "")[:_LONGEST_BRAND] or contact.rpartition("@")[2],
        "name": "there",
        "expiry_minutes": starter.expiry_minutes,
        "support_email": contact,
        "event": "Unusual activity on your account",
        "ip": "Not recorded",
        "at": moment(now),
    }
    return _complete(
        starter,
        given,
        {v.name: fallbacks[v.name] for v in starter.variables if not v.required},
    )


def preview_values(starter: StarterTemplate, given: Mapping[str, Json]) -> dict[str, Json]:
    """The values of a preview: the samples with those given merged over (contract 4.7).

    Raises:
        ValidationFailed: naming every value of a wrong kind.
    """
    return _complete(starter, given, {v.name: v.sample for v in starter.variables})


def check_logo_url(url: str) -> None:
    """Hold a logo's address against the rule: https: with a host. It is never fetched.

    Raises:
        ValidationFailed: on `logoUrl`.
    """
    if not _is_url(url, frozenset({"https"})):
        raise ValidationFailed(
            FieldFault("logoUrl", "Must be an https: URL with a host.", "invalid_url")
        )


def _complete(
    starter: StarterTemplate, given: Mapping[str, Json], fallbacks: Mapping[str, Json]
) -> dict[str, Json]:
    values: dict[str, Json] = {}
    faults: list[FieldFault] = []
    for variable in starter.variables:
        value = given.get(variable.name)
        if value is None or (isinstance(value, str) and not value.strip()):
            value = fallbacks.get(variable.name)
            if value is None:
                faults.append(_fault(variable, "Is required by this template.", "missing_variable"))
        elif fault := _fault_of(variable, value):
            faults.append(fault)
        values[variable.name] = value
    if faults:
        raise ValidationFailed(*faults)
    return values


def _fault_of(variable: StarterVariable, value: Json) -> FieldFault | None:
    """What is wrong with a value, by the kind of its variable."""
    if variable.kind is VariableKind.TEXT:
        # bool is an int to Python, and "True" is nothing that a mail says.
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return _fault(variable, "Must be a string or a number.", "invalid_type")
        return None
    if not isinstance(value, str):
        return _fault(variable, "Must be a string.", "invalid_type")
    if variable.kind is VariableKind.WEB_URL:
        if not _is_url(value, _WEB):
            message = "Must be an http: or https: URL with a host."
            return _fault(variable, message, "invalid_url")
    elif not _is_contact(value):
        message = "Must be an email address, or an https:, http: or mailto: URL."
        return _fault(variable, message, "invalid_url")
    return None


def _fault(variable: StarterVariable, message: str, code: str) -> FieldFault:
    return FieldFault(f"variables.{variable.name}", message, code)


def _is_url(text: str, schemes: frozenset[str]) -> bool:
    """Whether text is an absolute URL with a host (RFC 3986 section 3).

    White space, control and bidirectional characters are refused first, since
    urlsplit drops some of them silently; so is the backslash, which browsers
    read as a slash.
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
