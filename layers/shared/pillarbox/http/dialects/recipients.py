"""Recipients with names, which other services take and the contract does not."""

from collections.abc import Sequence

from pillarbox.application.validation import parse_sender
from pillarbox.domain.address import AddressSyntaxError
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.messages.header_text import UNSAFE, is_header_safe
from pillarbox.domain.messages.mail import MAX_RECIPIENTS


def split_names(field: str, entries: Sequence[Json]) -> tuple[list[Json], dict[str, str]]:
    """Return recipients as bare addresses, and the names by address that some of them have.

    More entries than an email may have are returned as they are, and refused later.

    Raises:
        ValidationFailed: on the field: an entry is no name and one address, or the name is not safe
            in a header field, which encoded-words can hide.
    """
    bare, names = list[Json](), dict[str, str]()
    for position, entry in enumerate(entries):
        if not isinstance(entry, str) or not entry.endswith(">") or position >= MAX_RECIPIENTS:
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
        bare.append(address)
        if name:
            names[address] = name
    return bare, names
