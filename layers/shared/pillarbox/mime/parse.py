"""Parse the structure of a submitted message (RFC 5322, RFC 2045, RFC 2046).

The service never rebuilds the message: it sends the octets as they were written.
The parser reads the header fields and, in a multipart message, where the parts
begin and end. It searches the bodies for delimiters and does not read them line
by line.

The parser is strict where two mail programs could see different messages. It
refuses everything ambiguous, such as two types of one part or a header line that
is not a field. So the recipient sees the message that was checked here.

To check it, the content is never decoded as a whole, except quoted-printable to measure it.
"""

import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final
from urllib.parse import unquote_to_bytes

from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.mime.fields import (
    Field,
    bad_message,
    check_repeats,
    decode,
    is_charset,
    is_clear,
    is_like_ascii,
    read_header,
    readings,
)

#: Fields that a part may have only once. Mail programs disagree about which of two counts.
PART_FIELDS: Final = frozenset(
    {b"content-type", b"content-transfer-encoding", b"content-disposition"}
)
#: Fields that a message may have only once: RFC 5322 section 3.6, and "Amazon SES header fields"
#: in the developer guide of SES. From and Sender are on both lists too; their own check says more.
MESSAGE_FIELDS: Final = frozenset(
    b"""
    accept-language acceptlanguage archived-at auto-submitted bcc bounces-to cc comments
    content-alternative content-base content-class content-description content-duration content-id
    content-language content-length content-location content-md5 date delivered-to
    disposition-notification-options disposition-notification-to dkim-signature
    domainkey-signature errors-to importance in-reply-to keywords list-archive list-help list-id
    list-owner list-post list-subscribe list-unsubscribe list-unsubscribe-post message-context
    message-id mime-version organization original-from original-message-id original-recipient
    original-subject precedence priority references reply-to return-path return-receipt-to
    sensitivity solicitation subject thread-index thread-topic to user-agent vbr-info
    """.split()
)


_TOKEN: Final = rb"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+"
_BLANKS: Final = rb"[ \t\r\n]*+"
#: A comment of plain words (RFC 5322 section 3.2.2), which looks like nothing else to a program
#: that knows no comments.
_COMMENT: Final = rb'\([^\0-\x1f"();<=>\\\x7f]*+\)'
_END: Final = _BLANKS + rb"(?P<comment>" + _COMMENT + rb")?" + _BLANKS + rb"(?=;|\Z)"
_TYPE: Final = re.compile(_BLANKS + rb"(" + _TOKEN + rb"/" + _TOKEN + rb")" + _END)
_DISPOSITION: Final = re.compile(_BLANKS + rb"(" + _TOKEN + rb")" + _END)
_PARAMETER: Final = rb";" + _BLANKS + rb"(%s)" + _BLANKS + rb"=" + _BLANKS
_QUOTED: Final = re.compile(_PARAMETER % _TOKEN + rb'"((?:[^"\\]|\\.)*+)"' + _END, re.DOTALL)
#: Programs write names with blanks and parentheses without quotes.
_UNQUOTED_NAME: Final = re.compile(
    _PARAMETER % rb"(?i:file)?(?i:name)" + rb'([^\0- ";\\\x7f](?:[^\0-\x1f";\\\x7f]|[\t\r\n])*+)'
)
#: Another unquoted value may be more than a token: "=" and "/" are common in boundaries.
_UNQUOTED: Final = re.compile(_PARAMETER % _TOKEN + rb'([^\0- "(),;<>\\\x7f]++)' + _END)
#: Many programs write a semicolon behind the last parameter.
_PARAMETERS_END: Final = re.compile(_BLANKS + rb"(?:;" + _BLANKS + rb")?+\Z")
#: Of one field. Programs write a few, and readers of other programs may take quadratic time.
_MAX_PARAMETERS: Final = 100
#: RFC 2046 section 5.1.1.
_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
_FOLD: Final = re.compile(rb"\r\n[ \t]*")
_UNFOLD: Final = re.compile(rb"\r\n")
#: RFC 2231 section 3: the number of a piece, and whether the piece is encoded.
_PIECE: Final = re.compile(rb"\*(0|[1-9][0-9]?)(\*)?")


@dataclass(frozen=True, slots=True)
class StructuredValue:
    """A type or a disposition, and its parameters. Names are in lower case."""

    value: str = ""
    #: What programs read as the text of each; the first one is the usual.
    parameters: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    def text(self, parameter: bytes) -> bytes:
        """Return a parameter without its quotes; empty if there is none."""
        return next(iter(self.parameters.get(parameter, ())), b"")

    def boundary(self) -> bytes:
        boundary = self.text(b"boundary")
        extended = any(name.startswith(b"boundary*") for name in self.parameters)
        if extended or not _BOUNDARY.fullmatch(boundary):
            raise _bad_mime("Content-Type", "a multipart type needs a valid boundary, on one line")
        return boundary

    def names(self, parameter: bytes) -> tuple[str, ...]:
        """Return what different programs read as the file name: each form of the parameter."""
        found = [
            *(name for text in self.parameters.get(parameter, ()) for name in _decode_words(text)),
            *self._extended(parameter),
        ]
        return tuple(dict.fromkeys(name.replace("\t", " ") or "unnamed" for name in found))

    def _extended(self, parameter: bytes) -> Iterator[str]:
        """Yield what programs read in the forms of RFC 2231."""
        whole = self.text(parameter + b"*")
        if pieces := self._pieces(parameter):
            if whole:
                raise _bad_name()  # some programs join both
            yield from _join(pieces)
        elif whole:
            charset, octets = _split_charset(whole)
            yield decode(octets, charset)

    def _pieces(self, parameter: bytes) -> list[tuple[bytes, bool]]:
        """Return the pieces of a parameter in order, and whether each is encoded."""
        pieces = {}
        for name in self.parameters:
            if not name.startswith(parameter + b"*") or name == parameter + b"*":
                continue
            match = _PIECE.fullmatch(name, len(parameter))
            if match is None or match[1] in pieces or len(self.parameters[name]) > 1:
                raise _bad_name()
            pieces[match[1]] = self.text(name), match[2] is not None
        try:
            return [pieces[b"%d" % number] for number in range(len(pieces))]
        except KeyError:
            raise _bad_name() from None


def _bad_mime(name: str, text: str) -> ValidationFailed:
    return bad_message(name, text, "bad_mime")


def read_type(value: bytes) -> StructuredValue:
    """Read a Content-Type (RFC 2045 section 5.1), which may be folded."""
    return _read(_TYPE, value, "Content-Type", "is not of the form type/subtype")


def read_disposition(value: bytes) -> StructuredValue:
    """Read a Content-Disposition (RFC 2183), which may be folded."""
    return _read(_DISPOSITION, value, "Content-Disposition", "is not a valid disposition")


def _read(start: re.Pattern[bytes], value: bytes, name: str, fault: str) -> StructuredValue:
    match = start.match(value)
    if match is None:
        raise _bad_mime(name, fault)
    kind = match[1].decode("ascii").lower()
    parameters: dict[bytes, tuple[bytes, ...]] = {}
    has_comment, count = match["comment"] is not None, 0
    while not _PARAMETERS_END.match(value, match.end()):
        position, count = match.end(), count + 1
        if count > _MAX_PARAMETERS:
            raise _bad_mime(name, f"has more than {_MAX_PARAMETERS} parameters")
        if match := _QUOTED.match(value, position):
            texts = _quoted_texts(match[2])
        elif match := _UNQUOTED_NAME.match(value, position) or _UNQUOTED.match(value, position):
            texts = _unquoted_texts(match[2])
        else:
            raise _bad_mime(name, "has invalid parameters")
        parameter = match[1].lower()
        if parameter == b"boundary":
            # It needs no escapes or folds, and programs disagree about both: it keeps them,
            # which makes it invalid.
            texts = (match[2],)
        if parameters.setdefault(parameter, texts) != texts:
            twice = parameter.decode("ascii")
            raise _bad_mime(name, f"has two different values of {twice}")
        has_comment |= match.groupdict().get("comment") is not None
    if has_comment and kind.startswith("multipart/"):
        # A program that knows no comments would find no parts, or others.
        raise _bad_mime(name, "a multipart type must not have a comment")
    return StructuredValue(kind, parameters)


def _quoted_texts(text: bytes) -> tuple[bytes, ...]:
    """Return what programs read between quotes.

    Some drop the blanks of a fold, and some end the text at the first quote, escaped or not.
    """
    texts = [_ESCAPE.sub(rb"\1", each) for each in (_UNFOLD.sub(b"", text), _FOLD.sub(b"", text))]
    if b'\\"' in text:
        texts.append(text.partition(b'\\"')[0])
    return tuple(dict.fromkeys(texts))


def _unquoted_texts(text: bytes) -> tuple[bytes, ...]:
    """Return what programs read without quotes: all of it, or less if it has a blank or comment."""
    whole, joined = _UNFOLD.sub(b"", text), _FOLD.sub(b"", text)
    texts = (
        re.sub(rb"[ \t]" + _COMMENT + rb"\Z", b"", whole),
        *(whole, joined, re.sub(_COMMENT, b"", whole), whole.partition(b"(")[0]),
        whole.split(maxsplit=1)[0],
    )
    return tuple(dict.fromkeys(text.rstrip(b" \t") for text in texts))


def _join(pieces: Sequence[tuple[bytes, bool]]) -> Iterator[str]:
    """Yield what programs read in pieces. Only the first one names the character set."""
    (first, encoded), *others = pieces
    if not encoded:
        if any(encoded for _, encoded in others):
            raise _bad_name()
        yield from _decode_words(b"".join(value for value, _ in pieces))
        return
    charset, first = _split_charset(first)
    octets = [first, *(unquote_to_bytes(value) if encoded else value for value, encoded in others)]
    yield decode(b"".join(octets), charset)
    yield "".join(
        decode(each, charset if encoded else "utf-8")
        for each, (_, encoded) in zip(octets, pieces, strict=True)
    )
    yield decode(b"".join((first, *(unquote_to_bytes(value) for value, _ in others))), charset)


def _split_charset(value: bytes) -> tuple[str, bytes]:
    """Return the character set and the octets of an encoded value (RFC 2231 section 4)."""
    charset, _, rest = value.partition(b"'")
    _, quotes, text = rest.partition(b"'")
    if not quotes:
        charset, text = b"", value
    name = charset.decode("ascii", "replace") or "utf-8"
    if not is_like_ascii(name):
        raise _bad_name()
    return name, unquote_to_bytes(text)


def _decode_words(value: bytes) -> tuple[str, ...]:
    text = value.decode("utf-8", "replace")
    if not is_clear(text):
        raise _bad_name()  # another program may be able to decode it
    return readings(text)


def _bad_name() -> ValidationFailed:
    return _bad_mime("filename", "is incomplete or cannot be decoded")


#: The content is as it stands. A multipart has no other encoding (RFC 2045 section 6.4).
IDENTITY: Final = frozenset({b"7bit", b"8bit", b"binary"})
#: Also as programs write them: "7-bit", "quoted-printable;" and "8bit (a comment)". One that
#: searches for the name of an encoding must not find another in the comment.
_WRITTEN: Final = re.compile(
    rb"(7-?bit|8-?bit|binary|quoted-printable|base64)"
    rb"[ \t]*(?:;|\((?!.*(?:base64|quoted))[ ,./0-9:a-z_-]*\))?"
)
#: In bytes, of a name that an error repeats.
_MAX_SHOWN: Final = 40

#: How many decoded octets identify a program or a picture.
_FIRST: Final = 12
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/=\r\n\t ]")
_BASE64_END: Final = re.compile(rb"=[\r\n\t ]*+(?:=[\r\n\t ]*+)?")
_BASE64_DIGIT: Final = re.compile(rb"[A-Za-z0-9+/]")
#: One octet of quoted-printable, behind any soft line breaks and stray equal signs.
_QP_OCTET: Final = re.compile(
    rb"(?:=+(?==)|=[ \t]*+\r\n|=(?![0-9A-Fa-f]{2}))*+(=[0-9A-Fa-f]{2}|.)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MimePart:
    """A part without parts: the body, one of its alternatives, or a file."""

    content_type: str
    disposition: str
    #: What mail programs may read as its name. Usually they all read the same one, if any.
    filenames: tuple[str, ...]
    encoding: bytes
    start: int
    end: int
    #: Of a text, as it is written; empty if none is named.
    charset: bytes = b""
    #: Whether it belongs to the form of the message, as a signature does, and is no file.
    is_form: bool = False


def read_encoding(value: bytes) -> bytes:
    """Return the encoding that a field names, in lower case."""
    match = _WRITTEN.fullmatch(value.lower())
    if match is None:
        raise _bad_mime("Content-Transfer-Encoding", "is not an encoding of RFC 2045")
    return match[1].replace(b"-bit", b"bit")


def check_encoding(octets: bytes | bytearray, part: MimePart) -> None:
    """Raise if mail programs could decode a part differently.

    RFC 2045 section 6.8 lets them skip characters that are not base64, or report an error, and
    some stop at the first padding. So only white space may be among base64, and padding at its end.
    """
    if part.encoding != b"base64":
        return
    start, end = part.start, part.end
    padding = octets.find(b"=", start, end)
    blanks = sum(octets.count(blank, start, end) for blank in (b"\r", b"\n", b"\t", b" "))
    if (
        _NOT_BASE64.search(octets, start, end)
        or (padding >= 0 and not _BASE64_END.fullmatch(octets, padding, end))
        or (end - start - blanks) % 4
    ):
        raise _bad_mime("", "a part is not valid base64")


def check_charset(charset: bytes) -> None:
    """Raise if a text has a character set that nothing can decode; SES refuses such an email."""
    name = charset.decode("latin-1").lower()
    if is_charset(name):
        return
    shown = cut(name, _MAX_SHOWN)
    raise _bad_mime("Content-Type", f"charset {shown} is not the name of one")


def decoded_size(octets: bytes | bytearray, part: MimePart) -> int:
    """Return how many octets a part has after decoding.

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


def decoded(octets: bytes, part: MimePart) -> bytes:
    content = octets[part.start : part.end]
    if part.encoding == b"base64":
        return binascii.a2b_base64(content)
    return binascii.a2b_qp(content) if part.encoding == b"quoted-printable" else content


def first_octets(octets: bytes | bytearray, part: MimePart, count: int = _FIRST) -> bytes:
    """Return the first decoded octets, even behind many line breaks and blanks."""
    if part.encoding == b"base64":
        found = islice(_BASE64_DIGIT.finditer(octets, part.start, part.end), -(-count * 4 // 3))
        digits = b"".join(match[0] for match in found)
        complete = digits[: len(digits) - (len(digits) % 4 == 1)]
        return binascii.a2b_base64(complete + b"=" * (-len(complete) % 4))
    if part.encoding == b"quoted-printable":
        head, position = b"", part.start
        while len(head) < count and (match := _QP_OCTET.match(octets, position, part.end)):
            head += binascii.a2b_qp(match[1])
            position = match.end()
        return head
    return bytes(memoryview(octets)[part.start : min(part.end, part.start + count)])


#: What a report says to programs, and the message that it is about (RFC 6522, RFC 6533).
_REPORTED: Final = re.compile(
    r"message/(?:global-)?(?:delivery-status|disposition-notification)"
    r"|text/rfc822-headers|message/global-headers|message/rfc822|message/global"
)
#: RFC 3156 section 5 and RFC 8551 section 3.5, with the name that older programs write.
_SIGNATURE: Final = re.compile(r"application/(?:pgp|(?:x-)?pkcs7)-signature")
#: RFC 3156 section 4.
_ENCRYPTED: Final = {1: "application/pgp-encrypted", 2: "application/octet-stream"}
_ARMOR: Final = b"-----BEGIN PGP MESSAGE-----"
#: What has another extension could be opened as a file.
_NAME: Final = re.compile(r"[^.]*|.*\.(?:p7s|asc|sig|pgp|eml|txt)", re.IGNORECASE | re.ASCII)


def is_form(
    octets: bytes | bytearray, part: MimePart, container: StructuredValue, number: int
) -> bool:
    """Return whether a part is no file, by its place: its number, from 1, in a multipart."""
    kind = part.content_type
    match container.value:
        case "multipart/report":
            found = number > 1 and _REPORTED.fullmatch(kind) is not None
        case "multipart/signed":
            protocol = container.text(b"protocol").decode("latin-1").lower()
            found = (number, kind) == (2, protocol) and _SIGNATURE.fullmatch(kind) is not None
        case "multipart/encrypted":
            found = kind == _ENCRYPTED.get(number) and (
                number == 1 or first_octets(octets, part, 64).lstrip().startswith(_ARMOR)
            )
        case "multipart/alternative":
            found = kind == "text/x-amp-html" and part.disposition != "attachment"
        case _:
            found = False
    return found and all(map(_NAME.fullmatch, part.filenames))


#: RFC 5321 section 6.3: more Received fields than these mean a loop.
MAX_RECEIVED: Final = 100
MAX_DEPTH: Final = 10
MAX_PARTS: Final = 250
#: Delimiters, and lines that only start like a delimiter.
_MAX_DELIMITERS: Final = 4 * MAX_PARTS

#: What may follow a boundary on its line: "--" at the end of the multipart, and padding.
_DELIMITER_END: Final = re.compile(rb"(--)?[ \t]*(?:\r\n|\Z)")

_TEXT: Final = b"text/plain"
#: The type of a part of a multipart/digest that names none (RFC 2046 section 5.1.5).
_MESSAGE: Final = b"message/rfc822"
_MESSAGES: Final = frozenset({"message/rfc822", "message/global"})
_NO_CONTAINER: Final = StructuredValue()


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
    """Parse a message in which every line ends with CR LF."""
    fields, body = read_header(octets, 0, len(octets))
    if sum(entry.name == b"received" for entry in fields) > MAX_RECEIVED:
        raise bad_message(
            "Received",
            f"the message passed through over {MAX_RECEIVED} hosts",
            "mail_loop",
        )
    parser = _PartParser(octets)
    try:
        parser.parse_part(fields, body, len(octets))
    except ValidationFailed as error:
        raise _located(error, parser.path) from None
    return MessageStructure(
        fields=tuple(fields),
        body=body,
        parts=tuple(parser.parts),
        boundaries=tuple(sorted(parser.boundaries)),
    )


def _located(error: ValidationFailed, path: list[int]) -> ValidationFailed:
    """Return the error with the number of the part that has it, such as 2.1."""
    number = ".".join(str(each) for each in path if each)
    if not number:
        return error
    (fault,) = error.errors
    return ValidationFailed(FieldError(fault.field, f"{fault.message} (part {number})", fault.code))


@dataclass(slots=True)
class _PartParser:
    """Parses the parts recursively, and collects those that have no parts."""

    octets: bytes | bytearray
    parts: list[MimePart] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    delimiters: int = 0
    #: Which part is parsed: its number in each multipart around it.
    path: list[int] = field(default_factory=list)

    def parse_part(
        self,
        fields: list[Field],
        start: int,
        end: int,
        enclosing: tuple[bytes, ...] = (),
        container: StructuredValue = _NO_CONTAINER,
    ) -> None:
        """Parse one part.

        `container` is the type of the multipart around it, `enclosing` are the boundaries of all.
        """
        check_repeats(fields, PART_FIELDS, "bad_mime")
        default_type = _MESSAGE if container.value == "multipart/digest" else _TEXT
        # Folded as they are: in a boundary it matters.
        values = {
            entry.name: bytes(self.octets[entry.start + len(entry.name) + 1 : entry.end])
            for entry in fields
            if entry.name in PART_FIELDS
        }
        content_type = read_type(values.get(b"content-type", default_type))
        disposition = StructuredValue()
        if b"content-disposition" in values:
            disposition = read_disposition(values[b"content-disposition"])
        written = values.get(b"content-transfer-encoding", b"7bit").strip()
        encoding = read_encoding(written)
        # Some programs write or read each parameter in the other field.
        names = [
            name
            for value in (disposition, content_type)
            for parameter in (b"filename", b"name")
            for name in value.names(parameter)
        ]
        if content_type.value.startswith("multipart/"):
            if written.lower() not in IDENTITY:
                raise _bad_mime("Content-Transfer-Encoding", "a multipart is not encoded")
            if names:
                raise _bad_mime("filename", "a multipart is not a file")
            (type_field,) = (entry for entry in fields if entry.name == b"content-type")
            self._parse_multipart(type_field, content_type, (start, end), enclosing)
            return
        is_text = content_type.value.startswith("text/")
        part = MimePart(
            content_type.value,
            disposition.value,
            tuple(dict.fromkeys(names)),
            encoding,
            start,
            end,
            content_type.text(b"charset") if is_text else b"",
        )
        check_encoding(self.octets, part)
        if is_text and b"charset" in content_type.parameters:
            check_charset(part.charset)
        if is_form(self.octets, part, container, self.path[-1] if self.path else 0):
            part = replace(part, is_form=True)
        self.parts.append(part)
        if len(self.parts) > MAX_PARTS:
            raise _bad_mime("", f"the message has more than {MAX_PARTS} parts")
        if part.is_form and part.content_type in _MESSAGES:
            self._parse_returned(part, enclosing)

    def _parse_returned(self, part: MimePart, enclosing: tuple[bytes, ...]) -> None:
        """Parse a message in a report: its parts are checked as those of the message itself."""
        if part.encoding not in IDENTITY:
            raise _bad_mime("Content-Transfer-Encoding", "a message within is not encoded")
        fields, body = read_header(self.octets, part.start, part.end)
        self.parse_part(fields, body, part.end, enclosing)

    def _parse_multipart(
        self,
        type_field: Field,
        content_type: StructuredValue,
        body: tuple[int, int],
        enclosing: tuple[bytes, ...],
    ) -> None:
        if len(enclosing) >= MAX_DEPTH:
            raise _bad_mime("", f"the parts are nested more than {MAX_DEPTH} levels deep")
        boundary = content_type.boundary()
        # RFC 2046 section 5.1.1: a line that only starts with a delimiter may count as one.
        if any(boundary.startswith(other) or other.startswith(boundary) for other in enclosing):
            raise _bad_mime("Content-Type", "nested multiparts have boundaries that start alike")
        position = self.octets.rfind(boundary, type_field.start, type_field.end)
        self.boundaries.append((position, position + len(boundary)))
        self.path.append(0)
        for part_start, part_end in self._part_positions(boundary, *body):
            self.path[-1] += 1
            fields, part_body = read_header(self.octets, part_start, part_end)
            self.parse_part(fields, part_body, part_end, (*enclosing, boundary), content_type)
        self.path.pop()

    def _part_positions(self, boundary: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each part. The last delimiter may be missing."""
        delimiter = b"\r\n--" + boundary
        part_start: int | None = None
        # A delimiter starts with a CR LF. That may also be the end of the empty line after the
        # header, but not the end of another delimiter: there programs disagree.
        position = self.octets.find(delimiter, max(start - 2, 0), end)
        while position >= 0:
            self.delimiters += 1
            if self.delimiters > _MAX_DELIMITERS:
                raise _bad_mime("", f"the message has more than {MAX_PARTS} parts")
            search_from = position + len(delimiter)
            match = _DELIMITER_END.match(self.octets, search_from, end)
            if match:
                self.boundaries.append((position + len(b"\r\n--"), search_from))
                if part_start is not None:
                    yield part_start, max(position, part_start)
                if match[1]:
                    if self.octets.find(delimiter, match.end() - 2, end) >= 0:  # some show them
                        raise _bad_mime("", "parts follow the end of a multipart")
                    break
                part_start = search_from = match.end()
            position = self.octets.find(delimiter, search_from, end)
        else:
            if part_start is not None:
                yield part_start, end
        if part_start is None:
            raise _bad_mime("Content-Type", "no part starts in the body")


#: In octets: a longer part is not shown. Both parts as JSON must fit into a response of 6 MB.
MAX_SHOWN: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a message."""

    filename: str | None
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class ShownMail:
    """The parts of a message; None if it has no such part, or one that is too long to show."""

    html: str | None
    text: str | None
    files: tuple[ShownFile, ...]
    size: int


def show(octets: bytes) -> ShownMail:
    """Return the parts of a message. It was checked when it was accepted.

    An earlier version may have accepted what this one refuses: such a message shows no parts.
    """
    try:
        parts = parse(octets).parts
    except ValidationFailed:
        parts = ()
    bodies: dict[str, str | None] = {}
    files = []
    form_end = 0  # a message that a report returns has parts of its own
    for part in parts:
        kind, name = part.content_type, next(iter(part.filenames), None)
        is_file = part.disposition == "attachment" or name is not None
        is_file |= part.start < form_end
        if kind in {"text/html", "text/plain"} and not is_file and kind not in bodies:
            content = decoded(octets, part)
            charset = part.charset.decode("latin-1")
            bodies[kind] = decode(content, charset) if len(content) <= MAX_SHOWN else None
        else:
            form_end = max(form_end, part.end if part.is_form else 0)
            files.append(ShownFile(name, kind, decoded_size(octets, part)))
    return ShownMail(bodies.get("text/html"), bodies.get("text/plain"), tuple(files), len(octets))
