"""Read Content-Type and Content-Disposition with their parameters (RFC 2045, 2183, 2231)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.fields import bad_message
from pillarbox.mime.mailbox import decode_words

_TOKEN: Final = rb"[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+"
_TYPE: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb"/" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_DISPOSITION: Final = re.compile(rb"[ \t]*(" + _TOKEN + rb")[ \t]*(?=;|\Z)")
_PARAMETER: Final = re.compile(
    # An unquoted value may be more than a token: "=" and "/" are common in boundaries.
    rb";[ \t]*(" + _TOKEN + rb')[ \t]*=[ \t]*(?:([^\0- "(),;<>\\\x7f]+)|"((?:[^"\\]|\\.)*)")[ \t]*',
    re.DOTALL,
)
_PARAMETERS_END: Final = re.compile(rb"[; \t]*+\Z")
#: RFC 2046 section 5.1.1.
_BOUNDARY: Final = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
#: RFC 2231 section 3: the number of a piece, and whether the piece is encoded.
_PIECE: Final = re.compile(rb"\*(0|[1-9][0-9]?)(\*)?")


@dataclass(frozen=True, slots=True)
class StructuredValue:
    """A type or a disposition, and its parameters. Names are in lower case."""

    value: str = ""
    parameters: Mapping[bytes, bytes] = field(default_factory=dict)

    def boundary(self) -> bytes:
        """Return the boundary of a multipart type.

        Raises:
            ValidationFailed: `bad_mime`: there is none, or it has a form of RFC 2231, which few
                programs read here.
        """
        boundary = self.parameters.get(b"boundary", b"")
        extended = any(name.startswith(b"boundary*") for name in self.parameters)
        if extended or not _BOUNDARY.fullmatch(boundary):
            raise bad_message("Content-Type", "a multipart type needs a valid boundary", "bad_mime")
        return boundary

    def names(self, parameter: bytes) -> tuple[str, ...]:
        """Return what different programs read as the file name: each form of the parameter.

        Raises:
            ValidationFailed: `bad_mime`: a form is incomplete or cannot be decoded.
        """
        readings = []
        if parameter in self.parameters:
            readings.append(_decode_words(self.parameters[parameter]))
        if parameter + b"*" in self.parameters:
            readings.append(_decode(*_split_charset(self.parameters[parameter + b"*"])))
        if pieces := self._pieces(parameter):
            readings.append(_join(pieces))
        return tuple(dict.fromkeys(reading.replace("\t", " ") or "unnamed" for reading in readings))

    def _pieces(self, parameter: bytes) -> list[tuple[bytes, bool]]:
        """Return the pieces of a parameter in order, and whether each is encoded."""
        pieces = {}
        for name, value in self.parameters.items():
            if not name.startswith(parameter + b"*") or name == parameter + b"*":
                continue
            match = _PIECE.fullmatch(name, len(parameter))
            if match is None or match[1] in pieces:
                raise _bad_name()
            pieces[match[1]] = value, match[2] is not None
        try:
            return [pieces[b"%d" % number] for number in range(len(pieces))]
        except KeyError:
            raise _bad_name() from None


def read_type(value: bytes) -> StructuredValue:
    """Read a Content-Type (RFC 2045 section 5.1). Refuse comments, which are rare.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    match = _TYPE.match(value)
    if match is None:
        raise bad_message("Content-Type", "is not of the form type/subtype", "bad_mime")
    parameters = _read_parameters(value, match.end(), "Content-Type")
    return StructuredValue(match[1].decode("ascii").lower(), parameters)


def read_disposition(value: bytes) -> StructuredValue:
    """Read a Content-Disposition (RFC 2183).

    Raises:
        ValidationFailed: `bad_mime`.
    """
    match = _DISPOSITION.match(value)
    if match is None:
        raise bad_message("Content-Disposition", "is not a valid disposition", "bad_mime")
    parameters = _read_parameters(value, match.end(), "Content-Disposition")
    return StructuredValue(match[1].decode("ascii").lower(), parameters)


def _read_parameters(value: bytes, position: int, name: str) -> dict[bytes, bytes]:
    parameters: dict[bytes, bytes] = {}
    while not _PARAMETERS_END.match(value, position):
        match = _PARAMETER.match(value, position)
        if match is None or match[1].lower() in parameters:
            raise bad_message(name, "has invalid parameters", "bad_mime")
        text = match[2] or match[3] or b""
        # A boundary needs no escapes, and programs disagree about them: it keeps its backslashes,
        # which make it invalid.
        if match[2] is None and match[1].lower() != b"boundary":
            text = _ESCAPE.sub(rb"\1", text)
        parameters[match[1].lower()] = text
        position = match.end()
    return parameters


def _join(pieces: Sequence[tuple[bytes, bool]]) -> str:
    """Join the pieces of a parameter. Only the first one names the character set."""
    (first, encoded), *others = pieces
    if not encoded:
        if any(encoded for _, encoded in others):
            raise _bad_name()
        return _decode_words(b"".join(value for value, _ in pieces))
    charset, first = _split_charset(first)
    rest = (unquote_to_bytes(value) if encoded else value for value, encoded in others)
    return _decode(charset, b"".join((first, *rest)))


def _split_charset(value: bytes) -> tuple[bytes, bytes]:
    """Return the character set and the octets of an encoded value (RFC 2231 section 4)."""
    charset, _, rest = value.partition(b"'")
    _, quotes, text = rest.partition(b"'")
    return (charset, unquote_to_bytes(text)) if quotes else (b"", unquote_to_bytes(value))


def _decode(charset: bytes, octets: bytes) -> str:
    try:
        text = octets.decode(charset.decode("ascii", "replace") or "utf-8", "replace")
    except (LookupError, ValueError):
        raise _bad_name() from None
    return text.encode("utf-8", "replace").decode()


def _decode_words(value: bytes) -> str:
    name = decode_words(value.decode("utf-8", "replace"))
    if "=?" in name:
        raise _bad_name()  # another program may be able to decode it
    return name


def _bad_name() -> ValidationFailed:
    return bad_message("filename", "is incomplete or cannot be decoded", "bad_mime")
