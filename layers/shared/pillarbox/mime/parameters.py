"""Read Content-Type and Content-Disposition with their parameters (RFC 2045, 2183, 2231)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.encoded_words import decode, is_clear, is_like_ascii, readings
from pillarbox.mime.fields import bad_message

_TOKEN: Final = rb"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+"
_BLANKS: Final = rb"[ \t\r\n]*+"
#: A comment of plain words (RFC 5322 section 3.2.2), which looks like nothing else to a program
#: that knows no comments.
_COMMENT: Final = rb'\([^\0-\x1f"();<=>\\\x7f]*+\)'
_END: Final = _BLANKS + rb"(?P<comment>" + _COMMENT + rb")?+" + _BLANKS + rb"(?=;|\Z)"
_TYPE: Final = re.compile(_BLANKS + rb"(" + _TOKEN + rb"/" + _TOKEN + rb")" + _END)
_DISPOSITION: Final = re.compile(_BLANKS + rb"(" + _TOKEN + rb")" + _END)
_NAME: Final = rb";" + _BLANKS + rb"(%s)" + _BLANKS + rb"=" + _BLANKS
_QUOTED: Final = re.compile(_NAME % _TOKEN + rb'"((?:[^"\\]|\\.)*+)"' + _END, re.DOTALL)
#: Programs write names with blanks and parentheses without quotes.
_UNQUOTED_NAME: Final = re.compile(
    _NAME % rb"(?i:file)?(?i:name)" + rb'([^\0- ";\\\x7f](?:[^\0-\x1f";\\\x7f]|[\t\r\n])*+)'
)
#: Another unquoted value may be more than a token: "=" and "/" are common in boundaries.
_UNQUOTED: Final = re.compile(_NAME % _TOKEN + rb'([^\0- "(),;<>\\\x7f]++)' + _END)
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
        """Return the boundary of a multipart type.

        Raises:
            ValidationFailed: `bad_mime`: there is none, it is folded, or it has a form of RFC
                2231, which few programs read here.
        """
        boundary = self.text(b"boundary")
        extended = any(name.startswith(b"boundary*") for name in self.parameters)
        if extended or not _BOUNDARY.fullmatch(boundary):
            raise bad_message(
                "Content-Type", "a multipart type needs a valid boundary, on one line", "bad_mime"
            )
        return boundary

    def names(self, parameter: bytes) -> tuple[str, ...]:
        """Return what different programs read as the file name: each form of the parameter.

        Raises:
            ValidationFailed: `bad_mime`: a form is incomplete or cannot be decoded.
        """
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


def read_type(value: bytes) -> StructuredValue:
    """Read a Content-Type (RFC 2045 section 5.1), which may be folded.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    return _read(_TYPE, value, "Content-Type", "is not of the form type/subtype")


def read_disposition(value: bytes) -> StructuredValue:
    """Read a Content-Disposition (RFC 2183), which may be folded.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    return _read(_DISPOSITION, value, "Content-Disposition", "is not a valid disposition")


def _read(start: re.Pattern[bytes], value: bytes, name: str, fault: str) -> StructuredValue:
    match = start.match(value)
    if match is None:
        raise bad_message(name, fault, "bad_mime")
    kind = match[1].decode("ascii").lower()
    parameters: dict[bytes, tuple[bytes, ...]] = {}
    has_comment, count = match["comment"] is not None, 0
    while not _PARAMETERS_END.match(value, match.end()):
        position, count = match.end(), count + 1
        if count > _MAX_PARAMETERS:
            raise bad_message(name, f"has more than {_MAX_PARAMETERS} parameters", "bad_mime")
        if match := _QUOTED.match(value, position):
            texts = _quoted_texts(match[2])
        elif match := _UNQUOTED_NAME.match(value, position) or _UNQUOTED.match(value, position):
            texts = _unquoted_texts(match[2])
        else:
            raise bad_message(name, "has invalid parameters", "bad_mime")
        parameter = match[1].lower()
        if parameter == b"boundary":
            # It needs no escapes or folds, and programs disagree about both: it keeps them,
            # which makes it invalid.
            texts = (match[2],)
        if parameters.setdefault(parameter, texts) != texts:
            twice = parameter.decode("ascii")
            raise bad_message(name, f"has two different values of {twice}", "bad_mime")
        has_comment |= match.groupdict().get("comment") is not None
    if has_comment and kind.startswith("multipart/"):
        # A program that knows no comments would find no parts, or others.
        raise bad_message(name, "a multipart type must not have a comment", "bad_mime")
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
    return bad_message("filename", "is incomplete or cannot be decoded", "bad_mime")
