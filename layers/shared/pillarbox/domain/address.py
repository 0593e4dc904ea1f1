"""Email addresses: each is one bare addr-spec (RFC 5321 section 4.1.2)."""

import re
from collections.abc import Callable, Iterable
from typing import Final

#: RFC 5321 section 4.5.3.1, in octets: local part, domain, and path without its angle brackets.
MAX_LOCAL: Final = 64
MAX_DOMAIN: Final = 255
MAX_ADDRESS: Final = 254
#: In characters, before the domain becomes A-labels: these are longer, apart from what they ignore.
_MAX_TEXT: Final = 4 * MAX_ADDRESS

#: Amazon's domain for trials of deliveries, bounces and complaints.
SIMULATOR_DOMAIN: Final = "simulator.amazonses.com"

_GMAIL: Final = frozenset({"gmail.com", "googlemail.com"})

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_DOT_STRING: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_START: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+(?:@[A-Za-z0-9.-]*)?")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class AddressSyntaxError(ValueError):
    """The service does not accept this text as an address; the exception's text says why."""


class NotBareError(AddressSyntaxError):
    """The text has an address between angle brackets, and perhaps a name."""


def parse_address(text: str, to_a_label: Callable[[str], str]) -> str:
    """Return the normal form of an address: local part as written, domain as lower-case A-labels.

    Refuse quoted local parts, address literals, display names and lists. A
    transactional email goes to a mailbox that somebody typed into a form, and
    people do not type these.

    Args:
        to_a_label: converts an internationalised domain to A-labels (IDNA), or
            raises ValueError.
    """
    try:
        return _parse(text, to_a_label)
    except AddressSyntaxError as error:
        raise _fault_of_form(text) or error from None


def _parse(text: str, to_a_label: Callable[[str], str]) -> str:
    if len(text) > _MAX_TEXT:
        raise AddressSyntaxError(f"longer than {MAX_ADDRESS} characters")
    local, at, domain = text.rpartition("@")
    if not at or not local or not domain:
        raise AddressSyntaxError("not an address of the form name@domain")
    if not local.isascii():
        raise AddressSyntaxError("the part before the @ must be ASCII")
    if not _DOT_STRING.fullmatch(local):
        raise AddressSyntaxError("the part before the @ has characters that are not allowed")
    if len(local) > MAX_LOCAL:
        raise AddressSyntaxError(f"the part before the @ is longer than {MAX_LOCAL} characters")
    address = f"{local}@{_parse_domain(domain, to_a_label)}"
    if len(address) > MAX_ADDRESS:
        raise AddressSyntaxError(f"longer than {MAX_ADDRESS} characters")
    return address


def is_address_start(text: str) -> bool:
    """Return whether addresses can begin with a text, which is not empty."""
    return len(text) <= MAX_ADDRESS and _START.fullmatch(text) is not None


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def domain_and_parents(name: str) -> list[str]:
    """Return a domain and its parent domains, without the top-level domain.

    The provider sends for a domain if it has verified any of them, whose owners control it.
    """
    labels = name.split(".")
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def mailbox_key(address: str) -> str:
    """Return one key for all forms of a mailbox's address.

    Suppressions are stored under it, and an email goes to each key once.

    RFC 5321 allows local parts that differ only by case, but mailbox providers
    ignore case. So a complaint from Ann@ also stops email to ann@.
    """
    return address.lower()


def fold_address(address: str) -> str:
    """Return one text for all forms of an address that reach the same person.

    What follows a `+` is removed. Gmail ignores dots too, and its two domains are one.
    """
    local, _, domain = mailbox_key(address).rpartition("@")
    local = local.partition("+")[0] or local
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


def distinct_mailboxes(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return each mailbox once, in the form and at the place of its first address."""
    mailboxes: dict[str, str] = {}
    for address in addresses:
        mailboxes.setdefault(mailbox_key(address), address)
    return tuple(mailboxes.values())


def _fault_of_form(text: str) -> AddressSyntaxError | None:
    """Return the error of a text that has an address and more than that."""
    if text.count("@") > 1 and ("," in text or ";" in text):
        return AddressSyntaxError("several addresses in one text: give each of them separately")
    if text.rstrip().endswith(">") and "<" in text:
        return NotBareError("give the bare address, which is between < and >")
    if text != text.strip():
        return AddressSyntaxError("has a blank at its start or its end")
    if text[:7].lower() == "mailto:":
        return AddressSyntaxError("give the bare address, without mailto:")
    return None


def _parse_domain(domain: str, to_a_label: Callable[[str], str]) -> str:
    if not domain.isascii():
        try:
            domain = to_a_label(domain)
        except ValueError as error:
            raise AddressSyntaxError("the domain is not a valid international name") from error
    domain = domain.lower()
    labels = domain.split(".")
    if len(domain) > MAX_DOMAIN or not all(map(_LABEL.fullmatch, labels)):
        raise AddressSyntaxError("the domain is not a valid name")
    if len(labels) == 1 or labels[-1].isdigit() or labels[-1] == "localhost":
        raise AddressSyntaxError("the domain is not a public name")
    return domain
