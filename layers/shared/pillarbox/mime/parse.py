"""Reading a submitted message (RFC 5322, RFC 2045, RFC 2046) as far as the service must.

The message itself is never rebuilt: it goes out as it was written. What is read
are its header fields and, of a multipart message, where the parts begin and end.
The bodies are searched for delimiters and never gone through line by line.

Reading is strict where two readers could see different messages: whatever is
ambiguous (two From fields, two types of one part, a header line that is none)
is refused, so that what was checked here is what the recipient sees.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import FieldFault, ValidationFailed

#: Octets of a header section and how many fields it has; RFC 5322 has no limits, real
#: mail is far below these.
MAX_HEADER: Final = 128 * 1024
MAX_FIELDS: Final = 1_000
#: RFC 5321 section 6.3: more hops than these are a loop.
MAX_RECEIVED: Final = 100
MAX_DEPTH: Final = 10
MAX_PARTS: Final = 250
#: Delimiters, and lines that only begin like one.
_MAX_DELIMITERS: Final = 4 * MAX_PARTS

#: RFC 5322 section 2.2; the header of a part may end with the part, without a line end.
_FIELD: Final = re.compile(rb"([!-9;-~]{1,76}+)[ \t]*+:((?:[^\r\n]++|\r\n[ \t])*+)(?:\r\n|\Z)")
_UNFOLD: Final = re.compile(rb"\r\n(?=[ \t])")
_TOKEN: Final = rb"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+"
_TYPE: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb"/" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_DISPOSITION: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_PARAMETER: Final = re.compile(
    # Without quotes more than a token is let pass: "=" and "/" in boundaries are common.
    rb";[ \t]*(" + _TOKEN + rb')[ \t]*=[ \t]*(?:([^\0- "(),;<>\\\x7f]+)|"((?:[^"\\]|\\.)*)")[ \t]*',
    re.DOTALL,
)
_NOTHING_MORE: Final = re.compile(rb"[; \t]*+\Z")
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
#: RFC 2046 section 5.1.1.
_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
#: What may follow a boundary on its line: the end of the multipart, padding.
_DELIMITER_END: Final = re.compile(rb"(--)?[ \t]*(?:\r\n|\Z)")

#: Fields that may stand once in a part; with two of them readers disagree.
_SINGLE: Final = (b"content-type", b"content-transfer-encoding", b"content-disposition")
_ENCODINGS: Final = frozenset({b"7bit", b"8bit", b"binary", b"quoted-printable", b"base64"})


@dataclass(frozen=True, slots=True)
class Field:
    """A header field: its name in lower case, its unfolded value, and where it stands."""

    name: bytes
    value: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MimePart:
    """A leaf of a message: the body, one of its alternatives, or a file."""

    content_type: str
    disposition: str
    filename: str
    encoding: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStructure:
    """What was read of a message.

    `boundaries` are where those of the multiparts are written, in the order of the
    octets: a client makes them up anew each time.
    """

    fields: tuple[Field, ...]
    body: int
    parts: tuple[MimePart, ...]
    boundaries: tuple[tuple[int, int], ...]

    def all(self, name: bytes) -> list[Field]:
        """The fields of a name, given in lower case."""
        return [each for each in self.fields if each.name == name]


def parse(octets: bytes | bytearray) -> MessageStructure:
    """Read a message whose lines all end with CR LF.

    Raises:
        ValidationFailed: it is no message, it has gone round in circles
            (`mail_loop`), or its structure is deeper, wider or less clear than
            any mail's.
    """
    fields, body = _read_header(octets, 0, len(octets))
    if sum(each.name == b"received" for each in fields) > MAX_RECEIVED:
        raise _fault("Received", f"the message has passed over {MAX_RECEIVED} hosts", "mail_loop")
    walk = _Walk(octets)
    walk.part(fields, body, len(octets), 0)
    return MessageStructure(
        fields=tuple(fields),
        body=body,
        parts=tuple(walk.parts),
        boundaries=tuple(sorted(walk.boundaries)),
    )


def decoded_size(octets: bytes | bytearray, part: MimePart) -> int:
    """How many octets a part has when it is decoded (RFC 2045 section 6).

    Of base64 everything but line ends counts as data: never too few.
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
    """The first few octets of a part, decoded: what a program is known by."""
    head = bytes(memoryview(octets)[part.start : min(part.end, part.start + 64)])
    if part.encoding == b"base64":
        # As lenient readers do: whatever is no digit is skipped.
        digits = re.sub(rb"[^A-Za-z0-9+/]", b"", head)
        whole = digits[: len(digits) - (len(digits) % 4 == 1)]
        return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
    return binascii.a2b_qp(head) if part.encoding == b"quoted-printable" else head


@dataclass(slots=True)
class _Walk:
    """Goes through the parts, deepest last, and collects the leaves."""

    octets: bytes | bytearray
    parts: list[MimePart] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    delimiters: int = 0

    def part(self, fields: list[Field], start: int, end: int, depth: int) -> None:
        _check_single(fields)
        values = {each.name: each.value for each in fields if each.name in _SINGLE}
        content_type, parameters = _structured(
            values.get(b"content-type", b"text/plain"), "Content-Type"
        )
        if content_type.startswith(b"multipart/"):
            (written,) = (each for each in fields if each.name == b"content-type")
            self._multipart(written, parameters, (start, end), depth)
            return
        disposition, of_disposition = _structured_disposition(values.get(b"content-disposition"))
        encoding = values.get(b"content-transfer-encoding", b"7bit").strip().lower()
        if encoding not in _ENCODINGS:
            raise _fault("Content-Transfer-Encoding", "not an encoding of RFC 2045", "bad_mime")
        self.parts.append(
            MimePart(
                content_type.decode("ascii"),
                disposition.decode("ascii"),
                _filename(of_disposition) or _filename(parameters, b"name"),
                encoding,
                start,
                end,
            )
        )
        if len(self.parts) > MAX_PARTS:
            raise _fault("", f"the message has more than {MAX_PARTS} parts", "bad_mime")

    def _multipart(
        self, written: Field, parameters: dict[bytes, bytes], body: tuple[int, int], depth: int
    ) -> None:
        if depth >= MAX_DEPTH:
            raise _fault("", f"its parts are nested more than {MAX_DEPTH} deep", "bad_mime")
        boundary = parameters.get(b"boundary", b"")
        if not _BOUNDARY.fullmatch(boundary):
            raise _fault("Content-Type", "a multipart without a proper boundary", "bad_mime")
        at = self.octets.rfind(boundary, written.start, written.end)
        if at >= 0:  # it is not where it is folded or escaped within, as nobody does
            self.boundaries.append((at, at + len(boundary)))
        for part_start, part_end in self._between(boundary, *body):
            fields, part_body = _read_header(self.octets, part_start, part_end)
            self.part(fields, part_body, part_end, depth + 1)

    def _between(self, boundary: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where the parts of a multipart lie; the last may lack its end, as readers allow."""
        line = b"\r\n--" + boundary
        begun: int | None = None
        # The CR LF before a delimiter belongs to it, so the empty line that ends a header, or
        # the delimiter before, may lend its own.
        at = self.octets.find(line, max(start - 2, 0), end)
        while at >= 0:
            self.delimiters += 1
            if self.delimiters > _MAX_DELIMITERS:
                raise _fault("", f"the message has more than {MAX_PARTS} parts", "bad_mime")
            after = at + len(line)
            match = _DELIMITER_END.match(self.octets, after, end)
            if match:
                self.boundaries.append((at + len(b"\r\n--"), after))
                if begun is not None:
                    yield begun, max(at, begun)
                if match[1]:
                    return
                begun = match.end()
                after = begun - 2
            at = self.octets.find(line, after, end)
        if begun is None:
            raise _fault("Content-Type", "a multipart without its boundary", "bad_mime")
        yield begun, end


def _read_header(octets: bytes | bytearray, start: int, end: int) -> tuple[list[Field], int]:
    """The fields of a header section, and where the body begins."""
    fields: list[Field] = []
    position, latest = start, min(end, start + MAX_HEADER)
    while not octets.startswith(b"\r\n", position, end):
        if position >= end:
            return fields, end  # a header alone, without the empty line
        match = _FIELD.match(octets, position, latest)
        if match is None:
            raise _fault("", "a line of the header is no header field", "bad_header")
        fields.append(
            Field(match[1].lower(), _UNFOLD.sub(b"", match[2]).strip(b" \t"), *match.span())
        )
        position = match.end()
        if position >= latest < end or len(fields) > MAX_FIELDS:
            raise _fault("", "the header is too large", "bad_header")
    return fields, position + 2


def _check_single(fields: list[Field]) -> None:
    names = [each.name for each in fields if each.name in _SINGLE]
    if len(names) != len(set(names)):
        raise _fault(names[0].decode("ascii"), "stands twice in one part", "bad_mime")


def _structured(value: bytes, name: str) -> tuple[bytes, dict[bytes, bytes]]:
    """A type and its parameters (RFC 2045 section 5.1), without comments, which nobody writes."""
    match = _TYPE.match(value)
    if match is None:
        raise _fault(name, "not of the form type/subtype", "bad_mime")
    return match[1].lower(), _read_parameters(value, match.end(), name)


def _structured_disposition(value: bytes | None) -> tuple[bytes, dict[bytes, bytes]]:
    """RFC 2183."""
    if value is None:
        return b"", {}
    match = _DISPOSITION.match(value)
    if match is None:
        raise _fault("Content-Disposition", "not a disposition", "bad_mime")
    return match[1].lower(), _read_parameters(value, match.end(), "Content-Disposition")


def _read_parameters(value: bytes, position: int, name: str) -> dict[bytes, bytes]:
    parameters: dict[bytes, bytes] = {}
    while not _NOTHING_MORE.match(value, position):
        match = _PARAMETER.match(value, position)
        if match is None or match[1].lower() in parameters:
            raise _fault(name, "its parameters cannot be read", "bad_mime")
        quoted = match[3]
        text = match[2] if quoted is None else _ESCAPE.sub(rb"\1", quoted)
        parameters[match[1].lower()] = text
        position = match.end()
    return parameters


def _filename(parameters: dict[bytes, bytes], name: bytes = b"filename") -> str:
    """A name to call the file by in an answer, whatever form it has (RFC 2183, RFC 2231)."""
    for key in (name, name + b"*", name + b"*0", name + b"*0*"):
        if key in parameters:
            return parameters[key].decode("utf-8", "replace")[:255] or "unnamed"
    return ""


def _fault(name: str, text: str, code: str) -> ValidationFailed:
    return ValidationFailed(FieldFault(name, text, code))
