"""Validate names, limits, addresses and domains before they are stored."""

import re
import unicodedata
from typing import Final

from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import (
    AddressSyntaxError,
    domain_of,
    parse_address,
)
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.header_text import UNSAFE, is_header_safe
from pillarbox.mime.fields import read_mailbox

MAX_NAME: Final = 128
#: Contract 2.1, in characters.
MAX_SENDER_NAME: Final = 1024
#: Far above any SES quota, and small enough for JSON parsers that read numbers as doubles.
MAX_LIMIT: Final = 10**12

#: Programs write names with commas or brackets without the quotes that RFC 5322 asks for. In a text
#: that is one mailbox they cannot be misread.
UNQUOTED_NAME: Final = r"([^<>]*)<([^<>]*)>\s*"

#: Scripts that may be mixed: the Highly Restrictive level of UTS 39, section 5.2.
_MIXABLE_SCRIPTS: Final = (
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"}),
)


def to_a_label(domain: str) -> str:
    """Convert a domain to A-labels (IDNA 2008 with the mapping of UTS 46).

    The standard library has the older IDNA 2003, which turns the German sharp s into ss and
    so sends mail to another domain.
    """
    import idna  # noqa: PLC0415  few addresses need its large tables

    return idna.encode(domain, uts46=True).decode()


def check_text(field: str, text: str, max_length: int = MAX_NAME) -> None:
    """Raise if a text is blank, too long, or not safe in a header field."""
    if not text.strip():
        raise ValidationFailed(FieldError(field, "must not be empty", "too_short"))
    if len(text) > max_length:
        raise ValidationFailed(
            FieldError(field, f"must have at most {max_length} characters", "too_long")
        )
    if not is_header_safe(text) or not _is_unicode(text):
        raise ValidationFailed(FieldError(field, UNSAFE, "control_character"))


def check_limits(limits: Limits) -> None:
    """Raise if a limit is out of range. 0 is valid: the account cannot send."""
    fields = {
        "perMinute": limits.per_minute,
        "perDay": limits.per_day,
        "perMonth": limits.per_month,
        "recipientsPerDay": limits.recipients_per_day,
    }
    errors = [
        FieldError(field, f"must be from 0 to {MAX_LIMIT}", "out_of_range")
        for field, limit in fields.items()
        if limit is not None and not 0 <= limit <= MAX_LIMIT
    ]
    if errors:
        raise ValidationFailed(*errors)


def normalize_address(text: str, field: str = "address") -> str:
    """Return the normalized form of an address, with its domain in lower-case A-labels."""
    try:
        return parse_address(text, to_a_label)
    except AddressSyntaxError as error:
        raise ValidationFailed(FieldError(field, str(error), "invalid_address")) from error


def parse_sender(text: str) -> tuple[str | None, str]:
    """Split `Name <address>` or a bare address (RFC 5322 section 3.4); normalize the address.

    The name needs no quotes.
    """
    if not text.rstrip().endswith(">"):
        return None, parse_address(text, to_a_label)
    if mailbox := read_mailbox(text.encode()):
        name, address = mailbox.name, mailbox.address
    elif match := re.fullmatch(UNQUOTED_NAME, text):
        name, address = match[1].strip() or None, match[2].strip()
    else:
        raise AddressSyntaxError("not a name and one address in angle brackets")
    if len(name or "") > MAX_SENDER_NAME:
        raise AddressSyntaxError(f"the name is longer than {MAX_SENDER_NAME} characters")
    return name, parse_address(address, to_a_label)


def normalize_sender(text: str) -> str:
    """Return the normalized form of a sender address; refuse a misleading domain."""
    address = normalize_address(text)
    _check_scripts("address", domain_of(address))
    return address


def normalize_domain(text: str, field: str = "domain") -> str:
    """Return the normalized form of a domain, in lower-case A-labels; refuse a misleading one."""
    try:
        domain = domain_of(parse_address(f"postmaster@{text}", to_a_label))
    except AddressSyntaxError as error:
        raise ValidationFailed(FieldError(field, str(error), "invalid_domain")) from error
    _check_scripts(field, domain)
    return domain


def _check_scripts(field: str, domain: str) -> None:
    """Raise if a label mixes scripts, such as Latin with a Cyrillic a: people misread it."""
    for label in _to_u_label(domain).split("."):
        scripts = {_script(character) for character in label if character.isalpha()}
        if len(scripts) > 1 and not any(scripts <= allowed for allowed in _MIXABLE_SCRIPTS):
            message = "the domain mixes scripts, so people could mistake it for another one"
            raise ValidationFailed(FieldError(field, message, "mixed_scripts"))


def _to_u_label(domain: str) -> str:
    """Convert A-labels to Unicode; an invalid name stays unchanged."""
    if "xn--" not in domain:
        return domain
    import idna  # noqa: PLC0415  few addresses need its large tables

    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its Unicode name."""
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]


def _is_unicode(text: str) -> bool:
    """Return whether a text has no lone surrogates, which Python uses for invalid UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
