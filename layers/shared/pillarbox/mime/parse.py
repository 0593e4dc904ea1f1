"""Parse the structure of a submitted message (RFC 5322, RFC 2045, RFC 2046).

The service never rebuilds the message: it sends the octets as they were written.
The parser reads the header fields and, in a multipart message, where the parts
begin and end. It searches the bodies for delimiters and does not read them line
by line.

The parser is strict where two mail programs could see different messages. It
refuses everything ambiguous, such as two types of one part or a header line that
is not a field. So the recipient sees the message that was checked here.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: Octets of a header section, and its number of fields. RFC 5322 sets no limits, and real
#: email is far below these.
MAX_HEADER: Final = 128 * 1024
MAX_FIELDS: Final = 1_000
#: RFC 5321 section 6.3: more Received fields than these mean a loop.
MAX_RECEIVED: Final = 100
MAX_DEPTH: Final = 10
MAX_PARTS: Final = 250
#: Delimiters, and lines that only start like a delimiter.
_MAX_DELIMITERS: Final = 4 * MAX_PARTS

#: RFC 5322 section 2.2. The header of a part may end with the part, without a line end.
_FIELD: Final = re.compile(rb"([!-9;-~]{1,76}+)[ \t]*+:((?:[^\r\n]++|\r\n[ \t])*+)(?:\r\n|\Z)")
_UNFOLD: Final = re.compile(rb"\r\n(?=[ \t])")
_TOKEN: Final = rb"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+"
_TYPE: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb"/" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_DISPOSITION: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_PARAMETER: Final = re.compile(
    # An unquoted value may be more than a token: "=" and "/" are common in boundaries.
    rb";[ \t]*(" + _TOKEN + rb')[ \t]*=[ \t]*(?:([^\0- "(),;<>\\\x7f]+)|"((?:[^"\\]|\\.)*)")[ \t]*',
    re.DOTALL,
)
_PARAMETERS_END: Final = re.compile(rb"[; \t]*+\Z")
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
#: RFC 2046 section 5.1.1.
_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
#: What may follow a boundary on its line: "--" at the end of the multipart, and padding.
_DELIMITER_END: Final = re.compile(rb"(--)?[ \t]*(?:\r\n|\Z)")

#: Fields that a part may have only once. Mail programs disagree about which of two counts.
_SINGLE: Final = (b"content-type", b"content-transfer-encoding", b"content-disposition")
_ENCODINGS: Final = frozenset({b"7bit", b"8bit", b"binary", b"quoted-printable", b"base64"})


@dataclass(frozen=True, slots=True)
class Field:
    """A header field: its name in lower case, its unfolded value, and its position."""

    name: bytes
    value: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MimePart:
    """A part without parts: the body, one of its alternatives, or a file."""

    content_type: str
    disposition: str
    filename: str
    encoding: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStructure:
    """The structure of a message.

    `body` is the position of the body. `boundaries` are the positions at which the
    boundaries of the multiparts occur, in ascending order. They matter because a
    client invents new boundaries each time it writes a message.
    """

    fields: tuple[Field, ...]
    body: int
    parts: tuple[MimePart, ...]
    boundaries: tuple[tuple[int, int], ...]

    def all(self, name: bytes) -> list[Field]:
        """Return the fields with this name. The name is in lower case."""
        return [entry for entry in self.fields if entry.name == name]


def parse(octets: bytes | bytearray) -> MessageStructure:
    """Parse a message in which every line ends with CR LF.

    Raises:
        ValidationFailed: the header is invalid or too large (`bad_header`), the
            message is in a loop (`mail_loop`), or its structure is ambiguous, too
            deep or too wide (`bad_mime`).
    """
    fields, body = _read_header(octets, 0, len(octets))
    if sum(entry.name == b"received" for entry in fields) > MAX_RECEIVED:
        raise _error(
            "Received",
            f"the message passed through over {MAX_RECEIVED} hosts",
            "mail_loop",
        )
    parser = _PartParser(octets)
    parser.parse_part(fields, body, len(octets), 0)
    return MessageStructure(
        fields=tuple(fields),
        body=body,
        parts=tuple(parser.parts),
        boundaries=tuple(sorted(parser.boundaries)),
    )


def decoded_size(octets: bytes | bytearray, part: MimePart) -> int:
    """Return how many octets a part has after decoding (RFC 2045 section 6).

    In base64, count everything except line ends as data, so the size is never too
    small.
    """
    if part.encoding == b"base64":
        digits = part.end - part.start
        digits -= octets.count(b"\r", part.start, part.end)
        digits -= octets.count(b"\n", part.start, part.end)
        tail = bytes(memoryview(octets)[max(part.start, part.end - 8) : part.end])
        return max((digits - tail.count(b"=")) * 3 // 4, 0)
    if part.encoding == b"quoted-printable":
        return len(binascii.a2b_qp(memoryview(octets)[part.start : part.end]))
    return part.end - part.start


def first_octets(octets: bytes | bytearray, part: MimePart) -> bytes:
    """Return the first few decoded octets of a part, which identify a program."""
    head = bytes(memoryview(octets)[part.start : min(part.end, part.start + 64)])
    if part.encoding == b"base64":
        # Skip everything that is not a base64 digit, as lenient mail programs do.
        digits = re.sub(rb"[^A-Za-z0-9+/]", b"", head)
        complete = digits[: len(digits) - (len(digits) % 4 == 1)]
        return binascii.a2b_base64(complete + b"=" * (-len(complete) % 4))
    return binascii.a2b_qp(head) if part.encoding == b"quoted-printable" else head


@dataclass(slots=True)
class _PartParser:
    """Parses the parts recursively, and collects those that have no parts."""

    octets: bytes | bytearray
    parts: list[MimePart] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    delimiters: int = 0

    def parse_part(self, fields: list[Field], start: int, end: int, depth: int) -> None:
        _check_single(fields)
        values = {entry.name: entry.value for entry in fields if entry.name in _SINGLE}
        content_type, parameters = _structured(
            values.get(b"content-type", b"text/plain"), "Content-Type"
        )
        if content_type.startswith(b"multipart/"):
            (type_field,) = (entry for entry in fields if entry.name == b"content-type")
            self._parse_multipart(type_field, parameters, (start, end), depth)
            return
        disposition, file_parameters = _structured_disposition(values.get(b"content-disposition"))
        encoding = values.get(b"content-transfer-encoding", b"7bit").strip().lower()
        if encoding not in _ENCODINGS:
            raise _error("Content-Transfer-Encoding", "is not an encoding of RFC 2045", "bad_mime")
        self.parts.append(
            MimePart(
                content_type.decode("ascii"),
                disposition.decode("ascii"),
                _filename(file_parameters) or _filename(parameters, b"name"),
                encoding,
                start,
                end,
            )
        )
        if len(self.parts) > MAX_PARTS:
            raise _error("", f"the message has more than {MAX_PARTS} parts", "bad_mime")

    def _parse_multipart(
        self, type_field: Field, parameters: dict[bytes, bytes], body: tuple[int, int], depth: int
    ) -> None:
        if depth >= MAX_DEPTH:
            raise _error("", f"the parts are nested more than {MAX_DEPTH} levels deep", "bad_mime")
        boundary = parameters.get(b"boundary", b"")
        if not _BOUNDARY.fullmatch(boundary):
            raise _error("Content-Type", "a multipart type needs a valid boundary", "bad_mime")
        position = self.octets.rfind(boundary, type_field.start, type_field.end)
        if position >= 0:  # not found if the boundary is folded or escaped, which is rare
            self.boundaries.append((position, position + len(boundary)))
        for part_start, part_end in self._part_positions(boundary, *body):
            fields, part_body = _read_header(self.octets, part_start, part_end)
            self.parse_part(fields, part_body, part_end, depth + 1)

    def _part_positions(self, boundary: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each part. The last delimiter may be missing."""
        delimiter = b"\r\n--" + boundary
        part_start: int | None = None
        # A delimiter starts with a CR LF. That may also be the end of the line before it: the
        # empty line after the header, or another delimiter.
        position = self.octets.find(delimiter, max(start - 2, 0), end)
        while position >= 0:
            self.delimiters += 1
            if self.delimiters > _MAX_DELIMITERS:
                raise _error("", f"the message has more than {MAX_PARTS} parts", "bad_mime")
            search_from = position + len(delimiter)
            match = _DELIMITER_END.match(self.octets, search_from, end)
            if match:
                self.boundaries.append((position + len(b"\r\n--"), search_from))
                if part_start is not None:
                    yield part_start, max(position, part_start)
                if match[1]:
                    return
                part_start = match.end()
                search_from = part_start - 2
            position = self.octets.find(delimiter, search_from, end)
        if part_start is None:
            raise _error("Content-Type", "the boundary does not occur in the body", "bad_mime")
        yield part_start, end


def _read_header(octets: bytes | bytearray, start: int, end: int) -> tuple[list[Field], int]:
    """Return the fields of a header section, and the position of the body."""
    fields: list[Field] = []
    position, limit = start, min(end, start + MAX_HEADER)
    while not octets.startswith(b"\r\n", position, end):
        if position >= end:
            return fields, end  # only a header, without the empty line
        match = _FIELD.match(octets, position, limit)
        if match is None:
            raise _error("", "the header has a line that is not a header field", "bad_header")
        fields.append(
            Field(match[1].lower(), _UNFOLD.sub(b"", match[2]).strip(b" \t"), *match.span())
        )
        position = match.end()
        if position >= limit < end or len(fields) > MAX_FIELDS:
            raise _error("", "the header is too large", "bad_header")
    return fields, position + 2


def _check_single(fields: list[Field]) -> None:
    names = [entry.name for entry in fields if entry.name in _SINGLE]
    if len(names) != len(set(names)):
        raise _error(names[0].decode("ascii"), "occurs twice in one part", "bad_mime")


def _structured(value: bytes, name: str) -> tuple[bytes, dict[bytes, bytes]]:
    """Parse a type and its parameters (RFC 2045 section 5.1). Refuse comments, which are rare."""
    match = _TYPE.match(value)
    if match is None:
        raise _error(name, "is not of the form type/subtype", "bad_mime")
    return match[1].lower(), _read_parameters(value, match.end(), name)


def _structured_disposition(value: bytes | None) -> tuple[bytes, dict[bytes, bytes]]:
    """Parse a Content-Disposition and its parameters (RFC 2183)."""
    if value is None:
        return b"", {}
    match = _DISPOSITION.match(value)
    if match is None:
        raise _error("Content-Disposition", "is not a valid disposition", "bad_mime")
    return match[1].lower(), _read_parameters(value, match.end(), "Content-Disposition")


def _read_parameters(value: bytes, position: int, name: str) -> dict[bytes, bytes]:
    parameters: dict[bytes, bytes] = {}
    while not _PARAMETERS_END.match(value, position):
        match = _PARAMETER.match(value, position)
        if match is None or match[1].lower() in parameters:
            raise _error(name, "has invalid parameters", "bad_mime")
        quoted = match[3]
        text = match[2] if quoted is None else _ESCAPE.sub(rb"\1", quoted)
        parameters[match[1].lower()] = text
        position = match.end()
    return parameters


def _filename(parameters: dict[bytes, bytes], name: bytes = b"filename") -> str:
    """Return a file name for error messages, from any form of the parameter (RFC 2183, 2231)."""
    for key in (name, name + b"*", name + b"*0", name + b"*0*"):
        if key in parameters:
            return parameters[key].decode("utf-8", "replace")[:255] or "unnamed"
    return ""


def _error(name: str, text: str, code: str) -> ValidationFailed:
    return ValidationFailed(FieldError(name, text, code))
