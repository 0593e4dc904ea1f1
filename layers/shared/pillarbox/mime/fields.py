"""Read header sections (RFC 5322 section 2.2), which fields occur, and fields with one mailbox."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.mime.encoded_words import decode_words, readings

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


#: RFC 5322 section 3.4, only the unambiguous forms: no group, no list, and no "@" in an unquoted
#: name. The dots of "John Q. Public" are allowed.
_WORD: Final = rb'(?:"(?:[^"\\\x00-\x1f]|\\[ -~])*+"|[!#-\'*+\-./0-9=?A-Z^_`a-z{|}~\x80-\xff]++)'
_ATEXT: Final = rb'[^\x00-\x20<>"(),:;@\\\[\]\x7f-\xff]+'
_ADDRESS: Final = _ATEXT + rb"@" + _ATEXT
_MAILBOX: Final = re.compile(
    rb"((?:" + _WORD + rb"[ \t]*+)*+)<(" + _ADDRESS + rb")>|(" + _ADDRESS + rb")"
)
#: A comment (section 3.2.2) that looks like no address, also to a program that knows no comments.
_COMMENT: Final = rb'\((?:[^()<>"\\\x00-\x08\x0a-\x1f\x7f]|"[^()<>"\\\x00-\x1f\x7f]*+")*+\)'
_PIECE: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|(' + _COMMENT + rb")[ \t]*+")
_PIECES: Final = re.compile(rb'(?:[^"()]|' + _PIECE.pattern + rb")*+")
#: Text before an address in angle brackets.
_UNQUOTED: Final = re.compile(rb'([^<>"]++)<' + _ADDRESS + rb">[ \t]*+")
#: The same section for To, Cc and Reply-To: a list with groups, comments and empty entries. Names
#: are read leniently, such as "ann@x.example <ann@x.example>". Addresses are of the form that SES
#: accepts: with a domain name, and no dot at the ends or beside another one.
_GAP: Final = rb"[ \t]*+(?:\((?:[^()\\]|\\.)*+\)[ \t]*+)*+"
_PHRASE: Final = (
    rb'(?:(?:"(?:[^"\\\x00-\x1f]|\\[ -~])*+"|[^\x00-\x20<>"(),:;\\\x7f]++)' + _GAP + rb")*+"
)
_DOT_ATOM: Final = rb"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++)*+"
_DOMAIN: Final = rb"[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)*+"
_ADDR_SPEC: Final = rb'(?:"(?:[^"\\\x00-\x1f]|\\[ -~])*+"|' + _DOT_ATOM + rb")@" + _DOMAIN
_ITEM: Final = (
    rb"(?:" + _PHRASE + rb"<" + _ADDR_SPEC + rb">" + _GAP + rb"|" + _ADDR_SPEC + _GAP + rb")"
)
_ITEMS: Final = _GAP + _ITEM + rb"?+(?:," + _GAP + _ITEM + rb"?+)*+"
_GROUP: Final = _GAP + _PHRASE + rb":" + _ITEMS + rb";" + _GAP
_ENTRY: Final = rb"(?:" + _GROUP + rb"|" + _GAP + _ITEM + rb"?+)"
_ADDRESS_LIST: Final = re.compile(_ENTRY + rb"(?:," + _ENTRY + rb")*+")
#: What is between commas outside of quotes. A quote that is not closed ends with the value.
_BETWEEN_COMMAS: Final = re.compile(rb'(?:"(?:[^"\\]|\\.)*+"?|[^",])++')
_QUOTED: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb"\\(.)")
_WORDS: Final = re.compile(rb'[^\s<>"(),:;]+')


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A display name (or None), and an address as it is written."""

    name: str | None
    address: str


def read_mailbox(value: bytes) -> Mailbox | None:
    """Read one mailbox without comments. Return None unless it is clearly one."""
    match = _MAILBOX.fullmatch(value.strip(b" \t"))
    if match is None:
        return None
    phrase = _QUOTED.sub(lambda quoted: _ESCAPE.sub(rb"\1", quoted[1]), match[1] or b"")
    return Mailbox(read_text(phrase) or None, (match[2] or match[3]).decode("ascii"))


def read_commented_mailbox(value: bytes) -> Mailbox | None:
    """Read the value of a From field that may have comments around its address.

    They are the name if there is no other. Return None unless it is clearly one mailbox.
    """
    comments: list[bytes] = []

    def blank(piece: re.Match[bytes]) -> bytes:
        if not piece[1]:
            return piece[0]
        comments.append(piece[1][1:-1])
        return b"" if value[piece.start() - 1 : piece.start()] in {b" ", b"\t"} else b" "

    mailbox = read_mailbox(_PIECE.sub(blank, value) if _PIECES.fullmatch(value) else value)
    if mailbox is None or mailbox.name:
        return mailbox
    return Mailbox(read_text(b" ".join(comments)) or None, mailbox.address)


def unquoted_name(value: bytes) -> bytes:
    """Return what is before an address in angle brackets and has no quotes; empty without it."""
    match = _UNQUOTED.fullmatch(value)
    return match[1].strip() if match else b""


def read_text(value: bytes) -> str:
    """Return the value of an unstructured field as most programs show it."""
    return decode_words(value.decode("utf-8", "replace").strip())


def every_reading(value: bytes) -> tuple[str, ...]:
    """Return the texts that mail programs may show for a value; some remove its escapes first."""
    texts = [value.decode("utf-8", "replace")]
    if b"\\" in value:
        texts.append(_ESCAPE.sub(rb"\1", value).decode("utf-8", "replace"))
    return tuple(reading for text in texts for reading in readings(text))


def is_address_list(value: bytes) -> bool:
    """Return whether this is a value of To, Cc or Reply-To that every mail program can read."""
    return _ADDRESS_LIST.fullmatch(value) is not None


def first_bad_entry(value: bytes) -> bytes:
    """Return the first entry of a list that is no address; empty if groups or comments hide it."""
    if b":" in value or b"(" in value:
        return b""
    entries = map(bytes.strip, _BETWEEN_COMMAS.findall(value))
    return next((entry for entry in entries if not is_address_list(entry)), b"")


def addresses_in(value: bytes) -> frozenset[str]:
    """Return every word of To or Cc that looks like an address, in lower case."""
    words: list[bytes] = _WORDS.findall(value)
    return frozenset(word.decode("latin-1").lower() for word in words if b"@" in word[1:-1])
