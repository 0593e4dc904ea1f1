"""Bodies that cost more than they should: many values, deep nesting, long names, odd numbers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from front.uploads import BODY_LIMIT
from pillarbox.http.json_body import MAX_COSTLY, MAX_VALUES

#: One JSON value, and how many values it contains.
_UNITS: Final[Mapping[str, tuple[bytes, int]]] = {
    "empty lists": (b"[]", 1),
    "empty objects": (b"{}", 1),
    "small objects": (b'{"a":1}', 2),
    "objects of two": (b'{"a":"b","c":null}', 3),
    "digits": (b"7", 1),
    "numbers": (b"1234567890", 1),
    "numbers of 4300 digits": (b"9" * 4300, 1),
    "fractions": (b"0.1", 1),
    "exact fractions": (b"0.10000000000000000001", 1),
    "large exponents": (b"1e308", 1),
    "empty strings": (b'""', 1),
    "strings": (b'"ab"', 1),
    "escapes": (b'"\\ud83d\\ude00\\u0001"', 1),
    "constants": (b"null", 1),
    "lists of lists": (b"[" * 25 + b"]" * 25, 25),
    "objects of objects": (b'{"":' * 24 + b"1" + b"}" * 24, 25),
    "addresses": ('"ö@ü.example"'.encode(), 1),
}
_PLACES: Final[Mapping[str, tuple[bytes, bytes]]] = {
    "nowhere": (b"[", b"]"),
    "to": (b'{"subject":"s","html":"h","to":[', b"]}"),
    "variables": (b'{"to":"a@example.com","starterTemplate":"otp","variables":{"x":[', b"]}}"),
    "attachments": (b'{"to":"a@example.com","subject":"s","html":"h","attachments":[', b"]}"),
    "messages": (b'{"messages":[', b"]}"),
    "a message": (b'{"messages":[{"variables":{"x":[', b"]}}]}"),
}
_HUNDRED: Final = 100


def bodies() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each body, and what builds it: a body takes up to 16 MiB."""
    for unit, (text, values) in _UNITS.items():
        for place, (start, end) in _PLACES.items():
            room = BODY_LIMIT - len(start) - len(end)
            most = room // (len(text) + 1)
            allowed = min(most, (_allowed(text) - 10) // values)
            yield f"{unit} in {place}, as many as fit", _fill(start, text, end, most)
            yield f"{unit} in {place}, as many as are allowed", _fill(start, text, end, allowed)
    yield from _SPECIAL.items()


def _allowed(text: bytes) -> int:
    """Return how many values of a kind are allowed."""
    is_costly = text[:1] in b"[{" or (b"." in text and b"@" not in text) or text == b"1e308"
    return MAX_COSTLY if is_costly else MAX_VALUES


def _fill(start: bytes, text: bytes, end: bytes, count: int) -> Callable[[], bytes]:
    return lambda: start + b",".join([text] * count) + end


def _object(count: int, name: Callable[[int], bytes], value: bytes = b"1") -> bytes:
    return b"{" + b",".join(b'"%b":%b' % (name(n), value) for n in range(count)) + b"}"


def _batch(message: bytes, count: int = _HUNDRED) -> bytes:
    return b'{"messages":[' + b",".join([message] * count) + b"]}"


def _send(name: str, value: bytes) -> bytes:
    return b'{"to":"a@example.com","subject":"s","html":"h","%b":%b}' % (name.encode(), value)


def _pad(start: bytes, text: bytes, end: bytes) -> bytes:
    return start + text * ((BODY_LIMIT - len(start) - len(end)) // len(text)) + end


def _distinct(size: int, fill: bytes = b"x") -> Callable[[int], bytes]:
    return lambda n: fill * (size // len(fill)) + b"%d" % n


_ASTRAL: Final = "\U0001f600".encode()
_SPECIAL: Final[Mapping[str, Callable[[], bytes]]] = {
    "nothing": lambda: b"",
    "blanks": lambda: b" " * BODY_LIMIT,
    "zeros": lambda: bytes(BODY_LIMIT),
    "quotes": lambda: b'"' * BODY_LIMIT,
    "backslashes": lambda: _pad(b'"', b"\\\\", b'"'),
    "an open string": lambda: _pad(b'"', b"\\", b""),
    "open lists": lambda: b"[" * BODY_LIMIT,
    "open objects": lambda: b'{"":' * (BODY_LIMIT // 4),
    "open lists, as many as are allowed": lambda: b"[" * (MAX_COSTLY - 1),
    "open objects, as many as are allowed": lambda: b'{"":' * (MAX_COSTLY - 1),
    "one number": lambda: b"9" * BODY_LIMIT,
    "one fraction": lambda: _pad(b"0.", b"1", b""),
    "one small fraction": lambda: _pad(b"0.", b"0", b"1"),
    "one exponent": lambda: _pad(b"1e-", b"9", b""),
    "one long exponent": lambda: _pad(b"1e", b"0", b"1"),
    "fractions of 4000 digits": lambda: _pad(b"[0", b",0." + b"7" * 4000, b"]"),
    "one astral character": lambda: _pad(b'"' + _ASTRAL, b"a", b'"'),
    "astral characters": lambda: _pad(b'"', _ASTRAL, b'"'),
    "one lone surrogate": lambda: _pad(b'"\\ud800', b"\\u00e9", b'"'),
    "not UTF-8": lambda: _pad(b'"', b"a", b'\xff"'),
    "one long name": lambda: _pad(b'{"', b"a", b'":1}'),
    "distinct names": lambda: _object(BODY_LIMIT // 13, _distinct(0)),
    "distinct names, as many as are allowed": lambda: _object(MAX_VALUES - 10, _distinct(0)),
    "a name twice": lambda: _object(MAX_VALUES - 10, _distinct(0))[:-1] + b',"0":1}',
    "commas in a string": lambda: _send("brandName", _pad(b'"', b",[{", b'"')[:-100] + b'"'),
    "escaped quotes": lambda: _pad(_send("x", b"")[:-1] + b'"', b'\\",[', b'"}'),
    "html": lambda: _pad(b'{"to":"a@example.com","subject":"s","html":"', b"<p>a, b</p>", b'"}'),
    "html with an astral character": lambda: _pad(
        b'{"to":"a@example.com","subject":"s","html":"' + _ASTRAL, b"a", b'"}'
    ),
    "a long address": lambda: _pad(b'{"subject":"s","html":"h","to":"', b"a.", b'@b.c"}'),
    "a long domain": lambda: _pad(
        b'{"subject":"s","html":"h","to":"a@', "ü.".encode(), b'example"}'
    ),
    "a long sender": lambda: _pad(
        b'{"to":"a@b.c","subject":"s","html":"h","from":"a@', "Ǆ".encode(), b'.example"}'
    ),
    "a long slug": lambda: _pad(b'{"to":"a@example.com","starterTemplate":"', b"x", b'"}'),
    "a long template id": lambda: _pad(b'{"to":"a@example.com","templateId":"', b"0", b'"}'),
    "a long logo": lambda: _pad(
        b'{"to":"a@b.c","starterTemplate":"otp","variables":{"otp_code":"1"},"logoUrl":"https://',
        b"x",
        b'"}',
    ),
    "an attachment that is not base64": lambda: _pad(
        b'{"to":"a@b.c","subject":"s","html":"h","attachments":[{"filename":"a.pdf",'
        b'"contentType":"application/pdf","content":"',
        b"QUJD",
        b'="}]}',
    ),
    "an attachment over 5 MB": lambda: _pad(
        b'{"to":"a@b.c","subject":"s","html":"h","attachments":[{"filename":"a.pdf",'
        b'"contentType":"application/pdf","content":"',
        b"QUJD",
        b'"}]}',
    ),
    "unknown fields": lambda: _object(_HUNDRED, _distinct(100_000)),
    "unknown fields in a batch": lambda: _batch(_object(_HUNDRED, _distinct(250))),
    "control characters as names": lambda: _batch(_object(_HUNDRED, _distinct(300, b"\\u0001"))),
    "astral names": lambda: _batch(_object(_HUNDRED, _distinct(300, _ASTRAL))),
    "unknown fields of attachments": lambda: _batch(
        b'{"attachments":[' + b",".join([_object(90, _distinct(20))] * 30) + b"]}"
    ),
    "attachments without fields": lambda: _batch(
        b'{"attachments":[' + b",".join([b"{}"] * 4000) + b"]}"
    ),
    "recipients that are no strings": lambda: _batch(
        b'{"to":[%b],"cc":[%b],"bcc":[%b]}' % ((b",".join([b"1"] * _HUNDRED),) * 3)
    ),
    "refused recipients": lambda: _batch(
        _send("to", b"[" + b",".join([b'"' + b"\\u0001" * 500 + b'"'] * 10) + b"]").replace(
            b'"to":"a@example.com",', b""
        )
    ),
    "refused files": lambda: _batch(
        _send(
            "attachments",
            b'[{"filename":"%b.png","contentType":"%b","content":""}]'
            % (_ASTRAL * 250, b"\\u0001" * 500),
        )
    ),
    "refused files with astral types": lambda: _batch(
        _send(
            "attachments",
            b'[{"filename":"%b.png","contentType":"%b","content":""}]'
            % (_ASTRAL * 250, _ASTRAL * 250),
        )
    ),
    "missing variables": lambda: _batch(b'{"to":"a@example.com","starterTemplate":"invite"}'),
}
