"""Which character sets mail programs know, and how they read each of them."""

import re
from encodings.aliases import aliases
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
