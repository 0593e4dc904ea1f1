"""Header fields: folding, encoded-words, mailboxes and file names.

Own code, because the standard library's (3.13) is not right enough here:
`EmailMessage` writes encoded-words of more than 75 characters, loses spaces at
the ends of subjects and names, and may unquote a display name while folding
(CPython issues 85725, 87720, 121284).

Values that could end a header field, or a parameter of it, raise ValueError.
Its text never repeats the value: values are addresses and subjects of people.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import quote

#: RFC 5322 section 2.1.1 asks for 78, RFC 2047 section 2 for 76 where there are encoded-words.
_LINE: Final = 76

#: The longest word that still fits beside the longest field name.
_WORD: Final = 64

#: C0, DEL, C1 (with NEL) and the two Unicode line ends.
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

#: RFC 5322 section 3.4.1, cut down to dot-atom "@" dot-atom.
_DOT_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_ADDR_SPEC: Final = re.compile(f"{_DOT_ATOM}@{_DOT_ATOM}")

#: RFC 5321 section 4.5.3.1: a local part of 64 octets, "@", a domain of 255.
_LONGEST_ADDR_SPEC: Final = 320

#: Words that may stand as they are, with single spaces between them.
_PLAIN_WORDS: Final = re.compile(f"(?:[!-~]{{1,{_WORD}}}(?: [!-~]{{1,{_WORD}}})*)?")

#: A file name that needs neither escapes nor RFC 2231; 255 is the contract's limit (2.2).
_PLAIN_FILENAME: Final = re.compile(r"[ !#-\[\]-~]{1,255}")

#: RFC 2047 section 5 (3): what Q may leave bare even in a display name.
_Q_BARE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")


def field(name: str, words: Iterable[str]) -> bytes:
    """One header field with its CRLF, folded between words only."""
    first, *rest = words
    lines = [f"{name}: {first}"]
    for word in rest:
        if len(lines[-1]) + 1 + len(word) <= _LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(f" {word}")
    return ("\r\n".join(lines) + "\r\n").encode("ascii")


def addr_spec(address: str) -> str:
    """The address itself, if it is one bare addr-spec.

    Raises:
        ValueError: it is anything else, such as a list or a quoted local part.
    """
    if len(address) > _LONGEST_ADDR_SPEC or not _ADDR_SPEC.fullmatch(address):
        raise ValueError("not one bare addr-spec")
    return address


def address_list(addresses: tuple[str, ...]) -> list[str]:
    """The words of To and Cc: an address each, with its comma."""
    *others, last = map(addr_spec, addresses)
    return [*(f"{address}," for address in others), last]


def mailbox(name: str | None, address: str) -> list[str]:
    """The words of From (RFC 5322 section 3.4): whatever the name holds, one address.

    ASCII is always quoted, since readers that decode before they parse are
    then not misled either. The rest, and what is too long for a line, becomes
    encoded-words.
    """
    if not name:
        return [addr_spec(address)]
    quoted = '"{}"'.format(re.sub(r'(["\\])', r"\\\1", _text(name)))
    plain = len(quoted) <= _WORD and name.isascii() and "=?" not in name
    return [*([quoted] if plain else _encoded_words(name)), f"<{addr_spec(address)}>"]


def unstructured(text: str) -> list[str]:
    """The words of a Subject, as they are where reading them back gives the same text."""
    plain = _PLAIN_WORDS.fullmatch(_text(text)) and "=?" not in text
    return text.split(" ") if plain else list(_encoded_words(text))


def filename_parameter(name: str) -> list[str]:
    """The `filename` of a Content-Disposition, as words.

    The plain form, which every reader knows, on one line even if that is long;
    for other than simple ASCII the form of RFC 2231, continued over lines at
    character bounds. ASCII with a quote, a backslash or "=?" counts as other:
    readers disagree on escapes, and some decode encoded-words there.
    """
    if _PLAIN_FILENAME.fullmatch(name) and "=?" not in name:
        return [f'filename="{name}"']
    room = _LINE - len(" filename*99*=utf-8'';")
    pieces = [quote(piece, safe="") for piece in _pieces(_text(name), _percent_length, room)]
    pieces[0] = f"utf-8''{pieces[0]}"
    if len(pieces) == 1:
        return [f"filename*={pieces[0]}"]
    *others, last = (f"filename*{number}*={piece}" for number, piece in enumerate(pieces))
    return [*(f"{piece};" for piece in others), last]


def _text(text: str) -> str:
    if _CONTROLS.search(text):
        raise ValueError("a control character in a header field")
    return text


def _encoded_words(text: str) -> Iterator[str]:
    """RFC 2047, in Q or B, whichever is shorter; no character is split over two words."""
    room = _WORD - len("=?utf-8?q??=")
    base64_length = (len(text.encode()) + 2) // 3 * 4
    if sum(map(_q_length, text)) <= base64_length:
        for piece in _pieces(text, _q_length, room):
            yield f"=?utf-8?q?{''.join(map(_q, piece))}?="
    else:
        for piece in _pieces(text, _octet_length, room // 4 * 3):
            yield f"=?utf-8?b?{b64encode(piece.encode()).decode()}?="


def _pieces(text: str, cost: Callable[[str], int], room: int) -> Iterator[str]:
    """Cut text between characters into pieces that cost at most `room` each."""
    start = spent = 0
    for position, character in enumerate(text):
        if spent + cost(character) > room:
            yield text[start:position]
            start, spent = position, 0
        spent += cost(character)
    yield text[start:]


def _q(character: str) -> str:
    if character in _Q_BARE:
        return character
    return "_" if character == " " else "".join(f"={octet:02X}" for octet in character.encode())


def _q_length(character: str) -> int:
    return len(_q(character))


def _octet_length(character: str) -> int:
    return len(character.encode())


def _percent_length(character: str) -> int:
    return len(quote(character, safe=""))
