"""Read a mail that anybody may have written (RFC 5322, RFC 2045), as far as it can be read.

`parse.py` refuses what two mail programs may read differently, because the recipient must see what
was checked. Here nothing is refused and nothing raises: what cannot be read is left out, and the
raw mail is kept as it came. The time is linear in the size, and every number is bounded.
"""

import re
from binascii import a2b_base64, a2b_qp
from codecs import utf_8_decode
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from string import ascii_letters, digits
from typing import Final

from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ValidationFailed, cut
from pillarbox.domain.messages.header_text import in_one_line, is_header_safe
from pillarbox.domain.replies import (
    MAX_CONTENT,
    Automatic,
    CalendarAnswer,
    MailVerdict,
    ReceivedContent,
    ReceivedFile,
    Verdicts,
)
from pillarbox.mime.fields import Mailbox, codec_of, decode, decode_words, read_text
from pillarbox.mime.parse import StructuredValue
from pillarbox.mime.quotation import reply_of

#: In octets, of the header of the mail or of a part; what follows is not read.
MAX_HEADER: Final = 256 * 1024
MAX_FIELDS: Final = 1_000
MAX_PARTS: Final = 500
#: A multipart in so many others is a file.
MAX_DEPTH: Final = 20
#: In encoded octets, of a text; more would be cut anyway.
_MAX_TEXT: Final = 4 * 1024 * 1024
#: Of addresses in one field.
MAX_ADDRESSES: Final = 100
_MAX_PARAMETERS: Final = 100
_MAX_NAME: Final = 255

#: With those that are folded behind it; only an empty line ends the header (RFC 5322 section 4.2).
_LINE: Final = re.compile(rb"\r?+\n|[^\n]++(?:\n[ \t][^\n]*+)*+(?:\n|\Z)")
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
_FIELD: Final = re.compile(rb"([!-9;-~]{1,76}+)[ \t]*+:(.*)", re.DOTALL)
_TYPE: Final = re.compile(rb"\s*([\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127})")
_PARAMETER: Final = re.compile(
    rb';\s*+([^\s=;"]{1,76}+)\s*+=\s*+("(?:[^"\\]|\\.)*+"?+|[^;]*+)', re.DOTALL
)
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
_NOT_BASE64: Final = bytes({*range(256)} - {*f"{ascii_letters}{digits}+/".encode()})
#: What may follow a boundary on its line: "--" at the end of the multipart, and padding.
_AFTER_BOUNDARY: Final = re.compile(rb"(--)?[ \t]*+(?:\r?\n|\Z)")
_CR, _LF = b"\r\n"
#: One in it may have no other.
_COMMENT: Final = rb"\((?:[^()]|\([^()]*+\))*+\)"
#: A route before the address is from before 1989 (RFC 5322 section 4.4).
_IN_BRACKETS: Final = re.compile(rb"<(?:@[^<>\s:]{1,320}+:)?+([^<>\s]{1,320}+)>")
#: What is in quotes is only quotes here: see `_hide`.
_ADDRESS: Final = re.compile(
    rb"((?:(?<!\")\"{2,250}+|[^\s<>,;:\"()@]{1,250}+)@[^\s<>,;:\"()@]{1,255}+)"
)
_QUOTED: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?+', re.DOTALL)
_PIECE: Final = re.compile(rb"(" + _QUOTED.pattern + rb")|(" + _COMMENT + rb")", re.DOTALL)
#: It captures nothing: Python 3.13.0 fails at a group inside a possessive quantifier (gh-101955).
_ENTRY: Final = re.compile(
    rb"(?:" + _QUOTED.pattern + rb"|" + _COMMENT + rb'|<[^>]*+>?+|[^",<])++', re.DOTALL
)
_TEXTS: Final = frozenset({"text/plain", "text/html"})
#: A line: its marks of a quotation, or the blank before another mark, and the rest (RFC 3676).
_FLOWED: Final = re.compile(r"(?m)^(?:((?:> ?)++| (?=>))| )?(.*)")
#: The fields that SES writes above those of the sender, in its order.
_TRACE: Final = (
    "return-path",
    "received",
    "x-ses-spam-verdict",
    "x-ses-virus-verdict",
    "received-spf",
    "authentication-results",
    "x-ses-receipt",
    "x-ses-dkim-signature",
)
#: What a sender chose may stand in quotes or comments, such as an address of the envelope.
_CHOSEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|\([^()]*+\)')
_RESULT: Final = re.compile(
    r"(?<=;\s)(spf|dkim|dmarc)=(\w+)(?:\s+header\.(?:i|d|from)=@?([\w.-]{1,253}))?(?=;|\s|$)"
)
_VERDICTS: Final = {
    "pass": MailVerdict.PASS,
    "fail": MailVerdict.FAIL,
    "softfail": MailVerdict.FAIL,
}
#: Of RFC 3834 section 5 and of older programs.
_REPLIES: Final = ("x-autoreply", "x-autorespond", "x-auto-response-suppress")
_REPORTS: Final = frozenset({"message/delivery-status", "message/disposition-notification"})
#: The fields of an invitation that an answer has (RFC 5545 section 3.1).
_CALENDAR: Final = re.compile(r"(?aim)^(METHOD|UID|ATTENDEE)((?:;[^:\n]{0,500})?):([^\n]{0,500})")
_STATUS: Final = re.compile(r"(?ai);PARTSTAT=([A-Z-]{1,32})")
#: In characters, of what is read of the texts or of the HTML of a mail.
_MAX_READ: Final = 4 * MAX_CONTENT
_MAX_CALENDARS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedPart:
    """A part without parts. `start` and `end` are where its encoded content is."""

    content_type: str
    charset: str
    flowed: bool
    del_sp: bool
    encoding: str
    disposition: str
    filename: str | None
    content_id: str | None
    start: int
    end: int
    #: The type of the multipart around it, and its place there, from 1.
    container: str
    number: int

    @property
    def is_text(self) -> bool:
        """Whether it is a text that its writer wrote, and no file."""
        return (
            self.content_type in _TEXTS and self.disposition != "attachment" and not self.filename
        )

    def content(self, octets: bytes) -> bytes:
        """Return the decoded content. What is wrong in an encoding is left out."""
        content = octets[self.start : self.end]
        if self.encoding == "base64":
            encoded = content.translate(None, _NOT_BASE64)
            return a2b_base64(encoded[: len(encoded) - (len(encoded) % 4 == 1)] + b"==")
        return a2b_qp(content) if self.encoding == "quoted-printable" else content


@dataclass(frozen=True, slots=True)
class ReceivedStructure:
    """The header fields in their order, names in lower case and values unfolded, and the parts."""

    fields: tuple[tuple[str, bytes], ...]
    parts: tuple[ReceivedPart, ...]

    def all(self, name: str) -> list[bytes]:
        return [value for each, value in self.fields if each == name]

    def first(self, name: str) -> bytes:
        """Return the value of the first field with a name; empty without one."""
        return next(iter(self.all(name)), b"")

    def text(self, name: str) -> str:
        """Return the value of the first field with a name as programs show it, in one line."""
        return _line(self.first(name))

    def mailboxes(self, name: str) -> tuple[Mailbox, ...]:
        found = (one for value in self.all(name) for one in _mailboxes(value))
        return tuple(one for one, _ in zip(found, range(MAX_ADDRESSES), strict=False))


def read_structure(octets: bytes) -> ReceivedStructure:
    fields, body = _header(octets, 0, len(octets))
    reader = _PartReader(octets)
    reader.read(fields, body, len(octets), "", 1, 0)
    return ReceivedStructure(fields, tuple(reader.parts))


def _header(octets: bytes, start: int, end: int) -> tuple[tuple[tuple[str, bytes], ...], int]:
    """Return the fields of a header, and where the body begins.

    A line without a colon belongs to the body, since some programs forget the blank line.
    """
    fields: list[tuple[str, bytes]] = []
    position, limit = start, min(end, start + MAX_HEADER)
    while position < limit:
        line = _LINE.match(octets, position, limit)
        if line is None or b":" not in line[0]:
            is_blank = line is not None and not line[0].strip()
            return tuple(fields), line.end() if line and is_blank else position
        found = _FIELD.match(_FOLD.sub(b" ", line[0]))
        if found and len(fields) < MAX_FIELDS:
            fields.append((found[1].decode().lower(), found[2].strip()))
        position = line.end()
    return tuple(fields), position


def _mailboxes(value: bytes) -> Iterator[Mailbox]:
    """Yield the addresses of a value. A quote or bracket that is not closed ends with it.

    A comment is the name if there is no other, as older programs write it (RFC 5322 section 3.4).
    """
    for match in _ENTRY.finditer(value):
        comments = b" ".join(comment[1:-1] for _, comment in _PIECE.findall(match[0]))
        entry = _PIECE.sub(rb"\1", match[0])
        unquoted = _QUOTED.sub(_hide, entry)
        in_brackets = _IN_BRACKETS.search(unquoted)
        found = in_brackets or _ADDRESS.search(unquoted)
        # What is quoted may be a part of the address (RFC 5322 section 3.4.1).
        address = entry[slice(*found.span(1))].decode("utf-8", "replace") if found else ""
        if found is None or not is_header_safe(address):
            continue
        name = entry[: found.start()].strip().strip(b'"') if in_brackets else b""
        yield Mailbox(_line(_ESCAPE.sub(rb"\1", name or comments)) or None, address)


def _hide(name: re.Match[bytes]) -> bytes:
    """Return as many octets without an address in them; a quote that is not closed stays."""
    return b'"' * len(name[0]) if name[0].endswith(b'"') else name[0]


def _line(value: bytes) -> str:
    return " ".join(in_one_line(read_text(_in_utf_8(value))).split())


def _in_utf_8(value: bytes) -> bytes:
    return decode(value, _guessed(value)).encode()


def read_parameters(value: bytes) -> StructuredValue:
    """Return a type or a disposition with its parameters, each as most programs read it."""
    kind, _, rest = value.partition(b";")
    parameters: dict[bytes, tuple[bytes, ...]] = {}
    matches = _PARAMETER.finditer(b";" + rest)
    for match, _ in zip(matches, range(_MAX_PARAMETERS), strict=False):
        text = match[2].strip()
        if text.startswith(b'"'):
            text = _ESCAPE.sub(rb"\1", text[1:].removesuffix(b'"'))
        parameters.setdefault(match[1].lower(), (text,))
    return StructuredValue(kind.strip().decode("latin-1").lower(), parameters)


@dataclass(slots=True)
class _PartReader:
    octets: bytes
    parts: list[ReceivedPart] = field(default_factory=list)

    def read(  # noqa: PLR0913, PLR0917  where the part is, and in what
        self,
        fields: tuple[tuple[str, bytes], ...],
        start: int,
        end: int,
        container: str,
        number: int,
        depth: int,
    ) -> None:
        values = dict(reversed(fields))
        default = b"message/rfc822" if container == "multipart/digest" else b"text/plain"
        full_type = read_parameters(values.get("content-type", default))
        found = _TYPE.match(values.get("content-type", default))
        kind = found[1].decode("latin-1").lower() if found else "application/octet-stream"
        boundary = full_type.text(b"boundary") or _name(full_type, b"boundary").encode()
        if kind.startswith("multipart/") and depth < MAX_DEPTH:
            count = 0
            for count, (first, last) in enumerate(self._parts(boundary, start, end), 1):
                inner, body = _header(self.octets, first, last)
                self.read(inner, body, last, kind, count, depth + 1)
            if count:
                return
            kind = "text/plain"  # programs show what has no delimiter
        if len(self.parts) >= MAX_PARTS:
            return
        disposition = read_parameters(_in_utf_8(values.get("content-disposition", b"")))
        content_id = _line(values.get("content-id", b"").strip(b"<> \t"))
        self.parts.append(
            ReceivedPart(
                content_type=kind,
                charset=full_type.text(b"charset").decode("latin-1"),
                flowed=full_type.text(b"format").lower() == b"flowed" and kind == "text/plain",
                del_sp=full_type.text(b"delsp").lower() == b"yes",
                encoding=_first_word(values.get("content-transfer-encoding", b"")),
                disposition=disposition.value,
                filename=_filename(disposition, b"filename") or _filename(full_type, b"name"),
                content_id=content_id[:_MAX_NAME] or None,
                start=start,
                end=end,
                container=container,
                number=number,
            )
        )

    def _parts(self, boundary: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each part is; the line end before a delimiter belongs to none."""
        delimiter, octets = b"--" + boundary, self.octets
        part: int | None = None
        # The line "--" above a signature is no delimiter.
        position = octets.find(delimiter, start, end) if boundary else -1
        while position >= 0:
            found = _AFTER_BOUNDARY.match(octets, position + len(delimiter), end)
            is_line = position == start or octets[position - 1] == _LF
            if found is None or not is_line:
                position = octets.find(delimiter, position + len(delimiter), end)
                continue
            if part is not None:
                yield part, max(part, position - 1 - (octets[position - 2] == _CR))
            if found[1] or len(self.parts) >= MAX_PARTS:
                return
            part = found.end()
            position = octets.find(delimiter, part, end)
        if part is not None:
            yield part, end


def _first_word(value: bytes) -> str:
    return next(iter(re.split(r"[\s;(]", value.strip().decode("latin-1").lower())))


def _name(value: StructuredValue, parameter: bytes) -> str:
    """Return a parameter that may be in pieces (RFC 2231); empty if there is none.

    A plain one beside it is for programs that read no other (RFC 6266 section 4.3).
    """
    try:
        extended = replace(value, parameters={**value.parameters, parameter: ()})
        return next(iter(extended.names(parameter) or value.names(parameter)), "")
    except ValidationFailed:
        return decode_words(value.text(parameter).decode("utf-8", "replace"))


def _filename(value: StructuredValue, parameter: bytes) -> str | None:
    name = _name(value, parameter).replace("\\", "/").rpartition("/")[2]
    blanks = " ".join(name.split())  # macOS and Japanese programs write others than the usual one
    printable = "".join(letter for letter in blanks if letter.isprintable()).strip(". ")
    return printable[:_MAX_NAME] or None


def decode_text(part: ReceivedPart, octets: bytes) -> str:
    """Return a text, up to `_MAX_TEXT`, with LF at its line ends, without NULs.

    Lines that its program broke are joined.
    """
    start = replace(part, end=min(part.end, part.start + _MAX_TEXT))
    content, charset = start.content(octets), part.charset
    if codec_of(charset) is None or charset.lower() == "us-ascii":
        charset = _guessed(content, is_whole=start.end == part.end)
    text = decode(content, charset).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _unflowed(text[:_MAX_READ], del_sp=part.del_sp) if part.flowed else text


def _guessed(octets: bytes, *, is_whole: bool = True) -> str:
    """Return the charset of a text that names none, or not the right one, as most programs do."""
    try:
        utf_8_decode(octets, "strict", is_whole)
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _unflowed(text: str, *, del_sp: bool) -> str:
    """Join the lines that end with a blank (RFC 3676 section 4). Blank lines stay.

    So do the delimiter of a signature and titles in hyphens, after which Outlook writes a blank. A
    line that a person began with `>` keeps the blank before it, since it is no quotation.
    """
    pieces: list[str] = []
    flowing = -1  # the marks of the line before, if this one may belong to it
    for line in _FLOWED.finditer(text):
        quote, content = line.groups("")
        is_title = content.startswith("--") and content.endswith("-- ")
        is_text = not is_title and content.strip(" ") != ""
        depth = quote.count(">")
        pieces += (content,) if is_text and depth == flowing else ("\n", quote, content)
        flowing = depth if is_text and content.endswith(" ") else -1
        if del_sp and flowing >= 0:
            pieces[-1] = content[:-1]
    return "".join(pieces[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    #: The envelope's sender; empty for a report.
    return_path: str | None
    verdicts: Verdicts
    #: The domains whose signature was right.
    signed_by: frozenset[str]
    #: The domain in From that the verdict of DMARC is about.
    author: str | None


def trace_of(structure: ReceivedStructure) -> Trace:
    """Return what SES wrote, and nothing that the sender wrote under the same names.

    SES puts its fields above all others, each once, and ends them with its receipt.
    """
    found: dict[str, str] = {}
    for name, value in structure.fields:
        is_last = "x-ses-receipt" in found and name != "x-ses-dkim-signature"
        if name not in _TRACE or name in found or is_last:
            break
        found[name] = value.decode("utf-8", "replace")
    if "x-ses-receipt" not in found:
        found = {}
    by_name: dict[str, MailVerdict] = {}
    domains: dict[str, set[str]] = {"spf": set(), "dkim": set(), "dmarc": set()}
    for name, result, domain in _results(found.get("authentication-results", "").lower()):
        verdict = _VERDICTS.get(result, MailVerdict.UNKNOWN)
        if by_name.get(name) is not MailVerdict.PASS:  # one right signature of several counts
            by_name[name] = verdict
        if verdict is MailVerdict.PASS:
            domains[name].add(domain)
    for name in ("spam", "virus"):
        status = found.get(f"x-ses-{name}-verdict", "").strip().lower()
        by_name[name] = _VERDICTS.get(status, MailVerdict.UNKNOWN)
    path = found.get("return-path")
    return Trace(
        return_path=None if path is None else path.strip().strip("<>"),
        verdicts=Verdicts(**by_name),
        signed_by=frozenset(domains["dkim"] - {""}),
        author=next(iter(domains["dmarc"]), None),
    )


def _results(value: str) -> Sequence[tuple[str, str, str]]:
    """Return the methods of Authentication-Results, each with its result and domain (RFC 8601).

    Where a sender chose something that could pass for a result, there is none.
    """
    plain = _CHOSEN.sub("", value)
    found = _RESULT.findall(plain) if plain.startswith("amazonses.com;") else ()
    once = [name for name, *_ in found if name != "dkim"]
    return () if len(once) != len({*once}) or {*plain} & {*'"()'} else found


def is_authenticated(senders: Collection[str], trace: Trace) -> bool:
    """Return whether the domain of From vouches for a mail: by DMARC, else by its signature.

    Many domains have no policy of DMARC, and then only the signature of the domain itself, or of
    one above it, says something. Several authors vouch for none: SES checks one of them.
    """
    if len(senders) != 1:
        return False
    (sender,) = senders
    domain = domain_of(sender).lower() if "@" in sender else ""
    if trace.verdicts.dmarc is not MailVerdict.UNKNOWN:
        return trace.verdicts.dmarc is MailVerdict.PASS and domain == trace.author
    return any(domain == one or domain.endswith(f".{one}") for one in trace.signed_by)


def automatic_of(structure: ReceivedStructure, trace: Trace) -> Automatic | None:
    """Return what kind of program wrote a mail; None for a person."""
    types = {part.content_type for part in structure.parts}
    if trace.return_path == "" or types & _REPORTS:
        return Automatic.REPORT
    submitted = _first_word(structure.first("auto-submitted"))
    is_reply = submitted not in {"", "no"} or any(map(structure.all, _REPLIES))
    precedence = structure.text("precedence").lower()
    if is_reply or precedence == "auto_reply":
        return Automatic.REPLY
    if structure.all("list-id") or precedence in {"bulk", "list", "junk"}:
        return Automatic.LIST
    return None


def content_of(
    structure: ReceivedStructure, octets: bytes, to_text: Callable[[str], str]
) -> ReceivedContent:
    """Return the texts of a mail. `to_text` makes the text of HTML.

    The texts of parts beside each other are joined, as programs show them: a mail program splits
    the text around a picture.
    """
    texts: list[ReceivedPart] = []
    pages: list[ReceivedPart] = []
    for part in structure.parts:
        if part.is_text:
            (pages if part.content_type == "text/html" else texts).append(part)
    text, html = _joined(texts, octets), _joined(pages, octets)
    written = text if text is not None and text.strip() else None
    if written is None and html is not None:
        written = to_text(html)
    shown, page, written = (_cut(each) for each in (text, html, written))
    return ReceivedContent(
        text=shown,
        html=page,
        reply=written and reply_of(written, is_flowed=any(part.flowed for part in texts)),
        cut=(shown, page) != (text, html),
        calendar=tuple(islice(_calendars(structure, octets), _MAX_CALENDARS)),
    )


def files_of(structure: ReceivedStructure) -> tuple[ReceivedPart, ...]:
    """Return the parts that are files: all but the texts and what a report says to programs."""
    return tuple(
        part for part in structure.parts if not part.is_text and part.content_type not in _REPORTS
    )


def describe(part: ReceivedPart, size: int) -> ReceivedFile:
    return ReceivedFile(
        filename=part.filename,
        content_type=part.content_type,
        size=size,
        content_id=part.content_id,
        inline=part.disposition != "attachment" and part.content_id is not None,
    )


def _joined(parts: list[ReceivedPart], octets: bytes) -> str | None:
    text = "\n"
    for part in parts:
        if len(text) <= _MAX_READ:
            text += f"{decode_text(part, octets)}\n"
    return text[1:-1][:_MAX_READ] if parts else None


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text.encode()) <= MAX_CONTENT else cut(text, MAX_CONTENT)


def _calendars(structure: ReceivedStructure, octets: bytes) -> Iterator[CalendarAnswer]:
    for part in structure.parts:
        if part.content_type != "text/calendar":
            continue
        unfolded = re.sub(r"\n[ \t]", "", decode_text(part, octets)[:MAX_CONTENT])
        found = {
            name.upper(): (more, value.strip()) for name, more, value in _CALENDAR.findall(unfolded)
        }
        method = found.get("METHOD", ("", ""))[1].upper()
        if method:
            more, attendee = found.get("ATTENDEE", ("", ""))
            status = _STATUS.search(more)
            yield CalendarAnswer(
                method=method,
                uid=found.get("UID", ("", ""))[1] or None,
                attendee=re.sub(r"(?ai)^mailto:", "", attendee) or None,
                status=status[1].lower() if status else None,
            )
