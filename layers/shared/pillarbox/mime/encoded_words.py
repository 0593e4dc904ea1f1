"""Decode encoded-words (RFC 2047; with a language, RFC 2231 section 5) as mail programs do.

Programs agree where a sender keeps the rules. Where one breaks them, people may see different
texts, so what must not mislead them is checked in each. All of it takes linear time.
"""

import re
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from typing import Final

from pillarbox.mime.charsets import codec_of, decode, is_like_ascii

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
