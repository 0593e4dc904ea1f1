"""Recipients with names, which other services take and the contract does not."""

from collections.abc import Sequence

from pillarbox.application.validation import normalize_address, parse_sender
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.messages.header_text import INVISIBLE, UNSAFE, is_header_safe, is_visible
from pillarbox.domain.messages.mail import MAX_RECIPIENTS


def split_names(field: str, entries: Sequence[Json]) -> tuple[list[Json], dict[str, str]]:
    """Return recipients as bare addresses, and the names by address that some of them have.

    More entries than an email may have are returned as they are, and refused later.

    Raises:
        ValidationFailed: on the field: an entry is no name and one address, or the name is not safe
            in a header field or shows nothing, which encoded-words can hide.
    """
    bare, names = list[Json](), dict[str, str]()
    for position, entry in enumerate(entries):
        is_named = isinstance(entry, str) and entry.rstrip().endswith(">")
        if not isinstance(entry, str) or not is_named or position >= MAX_RECIPIENTS:
            bare.append(entry)
            continue
        try:
            name, address = parse_sender(entry)
        except AddressSyntaxError as error:
            raise ValidationFailed(
                FieldError(f"{field}.{position}", str(error), "invalid_address")
            ) from error
        if name and not is_header_safe(name):
            raise ValidationFailed(FieldError(f"{field}.{position}", UNSAFE, "control_character"))
        if name and not is_visible(name):
            raise ValidationFailed(FieldError(f"{field}.{position}", INVISIBLE, "invisible"))
        bare.append(address)
        if name:
            names[address] = name
    return bare, names


def reply_mailboxes(field: str, entries: Sequence[Json]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return who gets replies as normalized addresses, and the names by address.

    Raises:
        ValidationFailed: on the field: there are too many, or an entry is not a mailbox.
    """
    if len(entries) > MAX_RECIPIENTS:
        message = f"must not have more than {MAX_RECIPIENTS} addresses"
        raise ValidationFailed(FieldError(field, message, "too_long"))
    bare, names = split_names(field, entries)
    addresses = []
    for position, address in enumerate(bare):
        where = f"{field}.{position}"
        if not isinstance(address, str):
            raise ValidationFailed(FieldError(where, "must be a string", "wrong_type"))
        addresses.append(normalize_address(address, where))
    return tuple(addresses), names
