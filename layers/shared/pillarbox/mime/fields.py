"""Read header sections (RFC 5322 section 2.2), and check which fields occur."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: Octets of a header section, and its number of fields. RFC 5322 sets no limits, and real
#: email is far below these.
MAX_HEADER: Final = 128 * 1024
MAX_FIELDS: Final = 1_000

#: In octets, of a line that an error repeats.
_SHOWN: Final = 40

#: The colon follows the name at once, and a folded line is not blank: some programs read either
#: as the end of the header. The header of a part may end with the part, without a line end.
_FIELD: Final = re.compile(
    rb"([!-9;-~]{1,76}+):((?:[^\r\n]++|\r\n(?=[ \t]++[^ \t\r\n])[ \t])*+)(?:\r\n|\Z)"
)
_UNFOLD: Final = re.compile(rb"\r\n(?=[ \t])")


@dataclass(frozen=True, slots=True)
class Field:
    """A header field: its name in lower case, its unfolded value, and its position."""

    name: bytes
    value: bytes
    start: int
    end: int

    @property
    def usual_name(self) -> str:
        """The usual spelling of the name, such as Content-Type."""
        return self.name.decode("ascii").title().replace("-Id", "-ID").replace("Mime-", "MIME-")


def read_header(octets: bytes | bytearray, start: int, end: int) -> tuple[list[Field], int]:
    """Return the fields of a header section, and the position of the body.

    Raises:
        ValidationFailed: `bad_header`.
    """
    fields: list[Field] = []
    position, limit = start, min(end, start + MAX_HEADER)
    while not octets.startswith(b"\r\n", position, end):
        if position >= end:
            return fields, end  # only a header, without the empty line
        match = _FIELD.match(octets, position, limit)
        if match is None:
            line = bytes(octets[position : min(position + _SHOWN, limit)]).partition(b"\r\n")[0]
            shown = json.dumps(line.decode("utf-8", "replace"))
            text = f"the header has a line that is not a header field: {shown}"
            raise bad_message("", text, "bad_header")
        fields.append(
            Field(match[1].lower(), _UNFOLD.sub(b"", match[2]).strip(b" \t"), *match.span())
        )
        position = match.end()
        if position >= limit < end or len(fields) > MAX_FIELDS:
            raise bad_message("", "the header is too large", "bad_header")
    return fields, position + 2


def check_repeats(fields: Iterable[Field], single: frozenset[bytes], code: str) -> None:
    """Raise if one of these fields occurs twice.

    Raises:
        ValidationFailed: with the name of the first such field and the code.
    """
    by_name = {entry.name: entry for entry in fields if entry.name in single}
    counts = Counter(entry.name for entry in fields if entry.name in single)
    for name, count in counts.items():
        if count > 1:
            text = f"occurs {count} times, but may occur only once"
            raise bad_message(by_name[name].usual_name, text, code)


def bad_message(name: str, text: str, code: str) -> ValidationFailed:
    """Return the error for a message, or for one of its fields."""
    return ValidationFailed(FieldError(name, text, code))
