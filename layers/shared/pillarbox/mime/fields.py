"""Read header sections (RFC 5322 section 2.2), which fields occur, and fields with one mailbox.

Programs agree where a sender keeps the rules. Where one breaks them, people may see different
texts, so what must not mislead them is checked in each. All of it takes linear time.
"""

import codecs
import json
import re
from binascii import a2b_base64
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from encodings.aliases import aliases
from functools import partial
from itertools import groupby
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

_PUNCTUATION: Final = re.compile(r"[^a-z0-9]+")
#: Other spellings of two families: iso-8859-8-i and iso88598, windows-936 and ms936.
_ISO_8859: Final = re.compile(r"^iso_?8859_?([1-9][0-9]?)(?:_.*)?$")
_CODE_PAGE: Final = re.compile(r"^(?:windows|win|ibm|dos|ms)_?([0-9]+)$")
#: What Python can decode: the codecs with other names, and those that have none.
_CODECS: Final = frozenset(aliases.values()) | {
    *("cp1006", "cp720", "cp737", "cp856", "cp874", "cp875", "koi8_t", "koi8_u", "mac_arabic"),
    *("mac_croatian", "mac_farsi", "mac_romanian", "utf_8_sig"),
}
#: No character sets, or those that mail programs do not decode. Shifts, UTF-7 and EBCDIC hide
#: from one program what another shows.
_NOT_DECODED: Final = frozenset(
    {"base64_codec", "bz2_codec", "hex_codec", "mbcs", "quopri_codec", "rot_13", "uu_codec"}
    | {"cp037", "cp1026", "cp1140", "cp273", "cp424", "cp500", "cp875", "hz", "iso2022_kr"}
    | {"utf_7", "zlib_codec"}
)
#: The larger set that is meant by the name of a smaller one (WHATWG Encoding Standard, 4.2).
_MEANT: Final = {
    **dict.fromkeys(("ascii", "latin_1", "iso8859_1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gb_2312", "gbk", "cp936"), "gb18030"),
    **dict.fromkeys(("iso8859_11", "tis_620"), "cp874"),
    **dict.fromkeys(("csunicode", "iso_10646_ucs_2", "ucs_2", "unicode"), "utf_16_le"),
    **dict.fromkeys(("cseuckr", "iso_ir_149", "ks_c_5601_1989", "ksc_5601"), "cp949"),
    "iso2022_jp": "iso2022_jp_ext",  # with the narrow katakana
    "iso8859_9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
#: The registered names with a dot (IANA, "Character Sets"). In others SES knows none.
_WITH_DOT: Final = ("ansi_x3.", "iso_646.")
#: Registered names that Python lacks and SES knows.
_MORE: Final = frozenset(
    {"euc-tw", "iso-10646-ucs-2", "iso-2022-cn", "iso-8859-6-e", "iso-8859-6-i", "iso-8859-8-e"}
    | {"iso-8859-8-i", "viscii", "windows-874", "windows-936", "windows-949"}
)
#: The octets of a character of JIS X 0208, and those of Shift_JIS.
_CELLS: Final = bytes(range(0x21, 0x7F))
_LEADS: Final = bytes((*range(0x81, 0xA0), *range(0xE0, 0xFD)))
_TRAILS: Final = bytes((*range(0x40, 0x7F), *range(0x80, 0xFD)))


def codec_of(charset: str) -> str | None:
    """Return Python's name of the codec that programs use; None for an unknown character set."""
    name = _normal(charset)
    codec = aliases.get(name, name)
    codec = _MEANT.get(codec, codec)
    return codec if codec in _CODECS and codec not in _NOT_DECODED else None


def decode(octets: bytes, charset: str) -> str:
    """Return the text of octets. Wrong octets are replaced, and an unknown charset is UTF-8."""
    codec = codec_of(charset)
    # ISO 2022 has 7 bits. Programs that meet more read UTF-8, or nothing.
    if codec is None or (codec.startswith("iso2022") and not octets.isascii()):
        codec = "utf_8"
    return octets.decode(codec, "jis" if codec in {"iso2022_jp_ext", "euc_jp"} else "replace")


def _read_windows_character(error: UnicodeError) -> tuple[str, int]:
    """Read what Windows has beside JIS X 0208, such as ① and 髙, as in its Shift_JIS.

    Mail programs write it in ISO-2022-JP and EUC-JP, too (WHATWG Encoding Standard, section 12).
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    start, high = error.start, 0x80 if error.encoding == "euc_jp" else 0
    try:
        row, cell = (_CELLS.index(octet - high) for octet in error.object[start : start + 2])
        lead, trail = divmod(len(_CELLS) * row + cell, len(_TRAILS))
        character = bytes((_LEADS[lead], _TRAILS[trail])).decode("cp932")
    except ValueError:
        return "\ufffd", error.end
    return character, start + 2


codecs.register_error("jis", _read_windows_character)


def is_like_ascii(charset: str) -> bool:
    """Return whether programs know a character set, and read its ASCII as ASCII."""
    codec = codec_of(charset)
    return codec is not None and not codec.startswith(("utf_16", "utf_32"))


def is_charset(charset: str) -> bool:
    """Return whether SES knows a charset in lower case, or it stands for an unknown one."""
    if "." in charset and not charset.startswith(_WITH_DOT):
        return False
    name = _PUNCTUATION.sub("_", charset)
    is_unknown = charset.startswith(("x-", "unknown-8bit"))
    return is_unknown or name in aliases or name in _CODECS or charset in _MORE


def _normal(charset: str) -> str:
    name = _PUNCTUATION.sub("_", charset.lower()).removeprefix("x_").strip("_")
    return _CODE_PAGE.sub(r"cp\1", _ISO_8859.sub(r"iso8859_\1", name))


_WORD: Final = re.compile(r"=\?[^?\s]+\?[BbQq]\?[^?]*\?=")
#: Some programs also read a blank in the character set and a question mark in the text.
_LENIENT_WORD: Final = re.compile(r"=\?[^?]*\?[BbQq]\?.*?\?=", re.DOTALL)
_BETWEEN: Final = r"[ \t\r\n]*"
_BLANK: Final = re.compile(r"[ \t\r\n]+")
_HEX: Final = re.compile(rb"=([0-9A-Fa-f]{2})")
_BROKEN_HEX: Final = re.compile(r"=\s+(?=[0-9A-Fa-f])")
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/=]+")
#: Names of encodings of Unicode in units of several octets, or in ASCII. Programs know different
#: ones, and assume different orders of the octets.
_WIDE: Final = re.compile(
    r"=\?[^?]*(?:utf[-_]?[1-37]|ucs|unicode|10646|u16|u32)", re.IGNORECASE | re.ASCII
)
_WIDE_CODECS: Final = ("utf_8", "utf_7", "utf_16_be", "utf_16_le", "utf_32_be", "utf_32_le")

#: The codec or an unknown character set, the encoding, and the encoded text.
type _Word = tuple[str, str, str]


def decode_words(text: str) -> str:
    """Return a text as most programs show it.

    Blanks between words are dropped, and neighbours in one character set are decoded together,
    because some senders split characters. Everything else of the text stays as it is.
    """
    return _decode(text, _decode_merged)


def readings(text: str) -> tuple[str, ...]:
    """Return the texts that mail programs may show; the first one is that of `decode_words`."""
    if "=?" not in text:
        return (text,)
    wide = _WIDE_CODECS if _WIDE.search(text) else ()
    return tuple(
        dict.fromkeys(
            (
                decode_words(text),
                _decode(text, lambda run: "".join(_decode_run([word]) for word in run)),
                _decode(text, _decode_run),
                _decode(text, _decode_merged, _LENIENT_WORD),
                decode_words(_BLANK.sub("", text)),
                *(_decode(text, partial(_decode_merged, codec=codec)) for codec in wide),
            )
        )
    )


def is_clear(text: str) -> bool:
    """Return whether every "=?" begins a word that all programs can decode."""
    return "=?" not in _WORD.sub(
        lambda word: "" if is_like_ascii(_charset(word[0])) else word[0], text
    )


def _decode(
    text: str, decode_run: Callable[[list[_Word]], str], word: re.Pattern[str] = _WORD
) -> str:
    """Replace each run of words. Where no word can end any more, no start is searched."""
    end = text.rfind("?=") + 2
    run = re.compile(f"{word.pattern}(?:{_BETWEEN}{word.pattern})*+", word.flags)
    decoded = run.sub(
        lambda found: decode_run([_split(each) for each in word.findall(found[0])]), text[:end]
    )
    return decoded + text[end:]


def _charset(word: str) -> str:
    return word.split("?", 2)[1].partition("*")[0].lower()


def _split(word: str) -> _Word:
    _, _, encoding, encoded = word.split("?", 3)
    charset = _charset(word)
    return codec_of(charset) or charset, encoding.lower(), encoded.removesuffix("?=")


def _decode_merged(run: Iterable[_Word], codec: str | None = None) -> str:
    """Join the encoded texts of neighbours, and then decode them."""
    merged = (
        (charset, encoding, "".join(encoded for _, _, encoded in words))
        for (charset, encoding), words in groupby(run, key=lambda word: word[:2])
    )
    return _decode_run(merged, codec)


def _decode_run(run: Iterable[_Word], codec: str | None = None) -> str:
    """Decode each text, and join the octets of neighbours."""
    decoded = []
    for charset, words in groupby(run, key=lambda word: word[0]):
        octets = b"".join(_octets(encoding, encoded) for _, encoding, encoded in words)
        decoded.append(octets.decode(codec, "replace") if codec else decode(octets, charset))
    return "".join(decoded)


def _octets(encoding: str, encoded: str) -> bytes:
    if encoding == "q":
        text = _BROKEN_HEX.sub("=", encoded).replace("_", " ")
        return _HEX.sub(lambda octet: bytes.fromhex(octet[1].decode()), text.encode())
    pieces = _NOT_BASE64.sub("", encoded).split("=")
    whole = (piece[: len(piece) - (len(piece) % 4 == 1)] for piece in pieces)
    return b"".join(a2b_base64(piece + "==") for piece in whole)


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
    """Return the fields of a header section, and the position of the body."""
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
    """Raise if one of these fields occurs twice."""
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
_PHRASE_WORD: Final = (
    rb'(?:"(?:[^"\\\x00-\x1f]|\\[ -~])*+"|[!#-\'*+\-./0-9=?A-Z^_`a-z{|}~\x80-\xff]++)'
)
_ATEXT: Final = rb'[^\x00-\x20<>"(),:;@\\\[\]\x7f-\xff]+'
_ADDRESS: Final = _ATEXT + rb"@" + _ATEXT
_MAILBOX: Final = re.compile(
    rb"((?:" + _PHRASE_WORD + rb"[ \t]*+)*+)<(" + _ADDRESS + rb")>|(" + _ADDRESS + rb")"
)
#: A comment (section 3.2.2) that looks like no address, also to a program that knows no comments.
_COMMENT: Final = rb'\((?:[^()<>"\\\x00-\x08\x0a-\x1f\x7f]|"[^()<>"\\\x00-\x1f\x7f]*+")*+\)'
_PIECE: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|(' + _COMMENT + rb")[ \t]*+")
_PIECES: Final = re.compile(rb'(?:[^"()]|"(?:[^"\\]|\\.)*+"|' + _COMMENT + rb")*+")
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
