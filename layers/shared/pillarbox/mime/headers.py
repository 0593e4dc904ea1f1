"""Write header fields: folding, encoded-words, mailboxes and file names.

The standard library (3.13) is not correct enough here. `EmailMessage` writes
encoded-words of more than 75 characters, loses spaces at the ends of subjects
and names, and may remove the quotes of a display name while folding (CPython
issues 85725, 87720, 121284).

A value that could end a header field or one of its parameters raises ValueError.
The exception's text never contains the value, because values are people's
addresses and subjects.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final
from urllib.parse import quote

#: RFC 5322 section 2.1.1 asks for lines of at most 78 characters. RFC 2047 section 2 asks for
#: 76 if the line has an encoded-word.
_MAX_LINE: Final = 76

#: The longest word that fits on one line with the longest field name.
_MAX_WORD: Final = 64

#: C0, DEL, C1 (with NEL), and the line and paragraph separators of Unicode.
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

#: RFC 5322 section 3.4.1, only the form dot-atom "@" dot-atom.
_DOT_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_ADDR_SPEC: Final = re.compile(f"{_DOT_ATOM}@{_DOT_ATOM}")

#: RFC 5321 section 4.5.3.1: a local part of 64 octets, "@", and a domain of 255.
_MAX_ADDR_SPEC: Final = 320

#: Words that need no encoding, with single spaces between them.
_PLAIN_WORDS: Final = re.compile(f"(?:[!-~]{{1,{_MAX_WORD}}}(?: [!-~]{{1,{_MAX_WORD}}})*)?")

#: A file name that needs neither escapes nor RFC 2231. The contract's limit is 255 (2.2).
_PLAIN_FILENAME: Final = re.compile(r"[ !#-\[\]-~]{1,255}")

#: RFC 2047 section 2.
_ENCODED_WORD: Final = r"=\?[^? ]+\?[BbQq]\?[^? ]*\?="

#: RFC 2047 section 5 (3): characters that the Q encoding need not escape in a display name.
_Q_LITERAL: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")


def field(name: str, words: Iterable[str]) -> bytes:
    """Return one header field with its CRLF. Fold it only between words."""
    first, *rest = words
    lines = [f"{name}: {first}"]
    for word in rest:
        if len(lines[-1]) + 1 + len(word) <= _MAX_LINE:
            lines[-1] += f" {word}"
        else:
            lines.append(f" {word}")
    return ("\r\n".join(lines) + "\r\n").encode("ascii")


def addr_spec(address: str) -> str:
    """Return the address if it is one bare addr-spec."""
    if len(address) > _MAX_ADDR_SPEC or not _ADDR_SPEC.fullmatch(address):
        raise ValueError("not one bare addr-spec")
    return address


def address_list(addresses: tuple[str, ...], names: Mapping[str, str]) -> list[str]:
    """Return the words of To, Cc or Reply-To: each address with any name and its comma."""
    words: list[str] = []
    for address in addresses:
        *before, last = mailbox(names.get(address), address)
        words += [*before, f"{last},"]
    words[-1] = words[-1].removesuffix(",")
    return words


def mailbox(name: str | None, address: str) -> list[str]:
    """Return the words of one address with any name (RFC 5322 section 3.4), as in From.

    Always quote an ASCII name, so that a program that decodes before it parses
    also sees one address. Write other names, and names that are too long for a
    line, as encoded-words.
    """
    if not name:
        return [addr_spec(address)]
    quoted = '"{}"'.format(re.sub(r'(["\\])', r"\\\1", _text(name)))
    can_quote = len(quoted) <= _MAX_WORD and name.isascii() and "=?" not in name
    return [*([quoted] if can_quote else _encoded_words(name)), f"<{addr_spec(address)}>"]


def unstructured(text: str) -> list[str]:
    """Return the words of a Subject, encoded unless the plain words read back as the same text."""
    is_plain = _PLAIN_WORDS.fullmatch(_text(text)) and "=?" not in text
    return text.split(" ") if is_plain else list(_encoded_words(text))


def words(text: str) -> list[str]:
    """Return the words of a field that programs read: ASCII as it is, else encoded.

    A program that compares an X-Entity-Ref-ID does not decode it, so a long word stays whole. What
    looks like an encoded-word is encoded too, so that it reads back as the same text.
    """
    is_plain = _text(text).isascii() and "  " not in text and not re.search(_ENCODED_WORD, text)
    return text.split(" ") if is_plain else list(_encoded_words(text))


def filename_parameter(name: str) -> list[str]:
    """Return the words of the `filename` parameter of a Content-Disposition.

    Write simple ASCII in the plain form, which every mail program understands.
    It stays on one line, even if that is long. Write other names in the form of
    RFC 2231, which continues over lines and never splits a character. Also use it
    for ASCII with a quote, a backslash or "=?", because mail programs disagree on
    escapes and some decode encoded-words here.
    """
    if _PLAIN_FILENAME.fullmatch(name) and "=?" not in name:
        return [f'filename="{name}"']
    room = _MAX_LINE - len(" filename*99*=utf-8'';")
    quoted = partial(quote, safe="")
    pieces = [*map(quoted, _pieces(_text(name), lambda one: len(quoted(one)), room))]
    pieces[0] = f"utf-8''{pieces[0]}"
    if len(pieces) == 1:
        return [f"filename*={pieces[0]}"]
    *others, last = (f"filename*{number}*={piece}" for number, piece in enumerate(pieces))
    return [*(f"{piece};" for piece in others), last]


def _text(text: str) -> str:
    if _CONTROLS.search(text):
        raise ValueError("a header field contains a control character")
    return text


def _encoded_words(text: str) -> Iterator[str]:
    """Write encoded-words (RFC 2047), in the shorter of Q and B. Never split a character."""
    room = _MAX_WORD - len("=?utf-8?q??=")
    base64_length = (len(text.encode()) + 2) // 3 * 4
    if sum(map(_q_length, text)) <= base64_length:
        for piece in _pieces(text, _q_length, room):
            yield f"=?utf-8?q?{''.join(map(_q, piece))}?="
    else:
        for piece in _pieces(text, lambda one: len(one.encode()), room // 4 * 3):
            yield f"=?utf-8?b?{b64encode(piece.encode()).decode()}?="


def _pieces(text: str, cost: Callable[[str], int], room: int) -> Iterator[str]:
    """Split text between characters into pieces that each cost at most `room`."""
    start = total = 0
    for position, character in enumerate(text):
        if total + cost(character) > room:
            yield text[start:position]
            start, total = position, 0
        total += cost(character)
    yield text[start:]


def _q(character: str) -> str:
    if character in _Q_LITERAL:
        return character
    return "_" if character == " " else "".join(f"={octet:02X}" for octet in character.encode())


def _q_length(character: str) -> int:
    return len(_q(character))
