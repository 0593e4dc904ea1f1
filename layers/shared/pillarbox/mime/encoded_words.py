"""Decode encoded-words (RFC 2047; with a language, RFC 2231 section 5) as mail programs do.

Programs agree where a sender keeps the rules. Where one breaks them, people may see different
texts, so what must not mislead them is checked in each. All of it takes linear time.
"""

import re
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from encodings.aliases import aliases
from functools import partial
from itertools import groupby
from typing import Final

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
    "iso8859_9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
#: The registered names with a dot (IANA, "Character Sets"). In others SES knows none.
_WITH_DOT: Final = ("ansi_x3.", "iso_646.")
#: Registered names that Python lacks and SES knows.
_MORE: Final = frozenset(
    {
        "euc-tw",
        "iso-10646-ucs-2",
        "iso-2022-cn",
        "iso-8859-6-e",
        "iso-8859-6-i",
        "iso-8859-8-e",
        "iso-8859-8-i",
        "viscii",
        "windows-874",
        "windows-936",
        "windows-949",
    }
)


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
    return octets.decode(codec, "replace")


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
