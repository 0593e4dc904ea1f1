"""What the operator's words are held against before anything is kept."""

import unicodedata
from typing import Final

from pillarbox.domain.address import AddressSyntaxError, domain_of, parse_address
from pillarbox.domain.errors import FieldFault, ValidationFailed
from pillarbox.domain.header_text import is_header_safe
from pillarbox.domain.quota import Limits

MAX_NAME: Final = 128
#: Far above any quota of SES, and within what JSON readers hold exactly.
MAX_LIMIT: Final = 10**12

#: Scripts that are written together: the Highly Restrictive level of UTS 39, section 5.2.
_WRITTEN_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"}),
)


def to_a_label(domain: str) -> str:
    """Turn a domain into A-labels (IDNA 2008 with the mapping of UTS 46).

    The older IDNA of the standard library would send mail for one domain to
    another: it turns the German sharp s into ss.

    Raises:
        ValueError: it is no valid name.
    """
    import idna  # noqa: PLC0415  its tables are needed for few addresses

    return idna.encode(domain, uts46=True).decode()


def check_text(field: str, text: str, longest: int = MAX_NAME) -> None:
    """Refuse a text that is blank or too long, or that no header field could show.

    Raises:
        ValidationFailed: on the field.
    """
    if not text.strip():
        raise ValidationFailed(FieldFault(field, "must not be empty", "too_short"))
    if len(text) > longest:
        raise ValidationFailed(
            FieldFault(field, f"must have at most {longest} characters", "too_long")
        )
    if not is_header_safe(text) or not _is_unicode(text):
        raise ValidationFailed(
            FieldFault(field, "must not contain control characters", "control_character")
        )


def check_limits(limits: Limits) -> None:
    """Refuse limits that cannot be counted up to; 0 is one: nothing can be sent.

    Raises:
        ValidationFailed: with every fault.
    """
    figures = {
        "perMinute": limits.per_minute,
        "perDay": limits.per_day,
        "perMonth": limits.per_month,
    }
    faults = [
        FieldFault(field, f"must be from 0 to {MAX_LIMIT}", "out_of_range")
        for field, figure in figures.items()
        if figure is not None and not 0 <= figure <= MAX_LIMIT
    ]
    if faults:
        raise ValidationFailed(*faults)


def normalize_address(text: str) -> str:
    """Give an address its one spelling.

    Raises:
        ValidationFailed: on `address`.
    """
    try:
        return parse_address(text, to_a_label)
    except AddressSyntaxError as error:
        raise ValidationFailed(FieldFault("address", str(error), "invalid_address")) from error


def normalize_sender(text: str) -> str:
    """Give an address its one spelling, if its domain cannot be taken for another one.

    Raises:
        ValidationFailed: on `address`.
    """
    address = normalize_address(text)
    _check_scripts("address", domain_of(address))
    return address


def normalize_domain(text: str, field: str = "domain") -> str:
    """Give a domain its one spelling, in A-labels, if it cannot be taken for another one.

    Raises:
        ValidationFailed: on the field.
    """
    try:
        domain = domain_of(parse_address(f"postmaster@{text}", to_a_label))
    except AddressSyntaxError as error:
        raise ValidationFailed(FieldFault(field, str(error), "invalid_domain")) from error
    _check_scripts(field, domain)
    return domain


def _check_scripts(field: str, domain: str) -> None:
    """A label of several scripts, such as Latin with a Cyrillic a, is made to be misread."""
    for label in _to_u_label(domain).split("."):
        scripts = {_script(character) for character in label if character.isalpha()}
        if len(scripts) > 1 and not any(scripts <= allowed for allowed in _WRITTEN_TOGETHER):
            message = "the domain mixes scripts and could be taken for another one"
            raise ValidationFailed(FieldFault(field, message, "mixed_scripts"))


def _to_u_label(domain: str) -> str:
    """Turn A-labels back into what people read; a name that is no valid one stays as it is."""
    if "xn--" not in domain:
        return domain
    import idna  # noqa: PLC0415  its tables are needed for few addresses

    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _script(letter: str) -> str:
    """The script of a letter, which its name in the Unicode standard begins with."""
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]


def _is_unicode(text: str) -> bool:
    """Octets of a command line that are no UTF-8 reach Python as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
