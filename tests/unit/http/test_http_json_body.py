"""JSON bodies: a text that parsers could read differently is refused, and equal ones are equal."""

import hashlib
import json
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import ValidationFailed
from pillarbox.http import json_body
from pillarbox.http.json_body import canonical, depth_of, parse_json
from pillarbox.http.messages.wire import batch_hash, send_hash
from tests.allocations import measured
from tests.loops import for_each
from tests.refusals import fault

MAX_COSTLY = 250_000
MAX_DEPTH = 32
MAX_VALUES = 1_100_000

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def error_of(raw: bytes, code: str = "invalid_json") -> str:
    only = fault(parse_json, raw)
    assert (only.field, only.code) == ("", code)
    return only.message


@given(value=JSON, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_valid_json_is_parsed_like_the_standard_library(
    value: object, indent: int | None, *, ascii_only: bool
) -> None:
    """For JSON without duplicate names, parse_json returns the same as json.loads."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    parsed = parse_json(text.encode())
    assert parsed == json.loads(text)
    assert depth_of(parsed) == depth_of(value)  # type: ignore[arg-type]


@given(
    st.binary(max_size=60)
    | st.text('{}[]",:0123456789eE+-.\\ unlltrefasNI\n', max_size=60).map(str.encode)
)
def test_any_octets_are_parsed_or_refused(raw: bytes) -> None:
    """Any octets are parsed or refused with a 422; a parsed value can be written again."""
    try:
        value = parse_json(raw)
    except ValidationFailed:
        return
    assert json.loads(canonical(value)) == value


@for_each(
    ("raw", "words"),
    [
        (b"", "not JSON"),
        (b"   ", "not JSON"),
        (b'{"to": "a@b.c"', "not JSON"),
        (b'{"a": 1} x', "not JSON"),
        (b"{} {}", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'{"a": 01}', "not JSON"),
        (b'"\x01"', "not JSON"),
        (b"NaN", "NaN is not JSON"),
        (b'{"a": Infinity}', "Infinity is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"1e999", "too large"),
        (b"[-1e999]", "too large"),
        (b"9" * 5000, "too large"),
        (b'{"a": -' + b"9" * 5000 + b"}", "too large"),
        (b'{"to": 1, "to": 2}', 'the name "to" occurs twice'),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', 'the name "b" occurs twice'),
        (b'{"a": 1, "\\u0061": 2}', 'the name "a" occurs twice'),
        (b'"\\ud800"', "lone surrogate"),
        (b'"\\udc00\\ud800"', "lone surrogate"),
        (b'{"\\udfff": 1}', "lone surrogate"),
        (b'[{"a": ["x", "\\ud83d"]}]', "lone surrogate"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'"\xc3"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ("{}".encode("utf-16-le"), "not JSON"),
        (b"[" * 100_000, "deeper than 32"),
        (b'{"a":' * 100_000, "deeper than 32"),
        (b"[" * 33 + b"]" * 33, "deeper than 32"),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "deeper than 32"),
    ],
)
def test_ambiguous_json_is_refused(raw: bytes, words: str) -> None:
    """Each attack on the parser is one error on the whole body, with a clear message."""
    assert words in error_of(raw)


@for_each(
    "raw",
    [
        b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
        b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH,
        b'"\\ud83d\\ude00"',
        b" \r\n\t{}\n",
        b"9" * 4300,
        b"1.7976931348623157e308",
        b'{"a": 1, "A": 2, "": 3}',
    ],
)
def test_json_at_the_limits_is_parsed(raw: bytes) -> None:
    """32 levels, surrogate pairs, large finite numbers and names that differ in case are valid."""
    assert parse_json(raw) == json.loads(raw)


def count_values(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count_values, inner))


UNITS = [b"[]", b"{}", b'{"a":[1]}', b"7", b"0.1", b'""', b'",[{"', b'"\\"[[["', b"null"]
COSTLY = [b"[]", b"{}", b"0.1", b"1e5", b"0.10000000000000000001"]


@pytest.fixture
def hundredth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hundredth of the values be valid: as many as in production take seconds."""
    monkeypatch.setattr(json_body, "MAX_VALUES", MAX_VALUES // 100)
    monkeypatch.setattr(json_body, "MAX_COSTLY", MAX_COSTLY // 100)


def list_of(unit: bytes, count: int) -> bytes:
    return b"[" + b",".join([unit] * count) + b"]"


def peak_of_refusal(raw: bytes) -> int:
    """Return the octets that Python allocates at most until too many values are refused."""
    with measured() as peak_and_end:
        message = error_of(raw, "too_many_values")
    assert "more than 11000 values" in message
    return peak_and_end[0]


@pytest.mark.usefixtures("hundredth")
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.slow
def test_too_many_values_are_refused(unit: bytes) -> None:
    raw = list_of(unit, MAX_VALUES // 100)
    # What earlier tests left, threads and garbage, may allocate memory too, but hardly three times.
    assert min(peak_of_refusal(raw) for _ in range(3)) < 32 * 1024 * 1024 // 100


@pytest.mark.usefixtures("hundredth")
@pytest.mark.parametrize("unit", COSTLY)
@pytest.mark.slow
def test_costly_values_have_a_lower_limit(unit: bytes) -> None:
    """Lists, objects and fractions take more memory and time, so fewer are valid."""
    assert parse_json(list_of(unit, MAX_COSTLY // 100 - 1))
    error_of(list_of(unit, MAX_COSTLY // 100 + 1), "too_many_values")


def test_long_integers_are_limited_together() -> None:
    number = b"9" * 4300
    assert len(parse_json(list_of(number, 200))) == 200  # type: ignore[arg-type]
    assert "long numbers" in error_of(list_of(number, 300))


@pytest.mark.usefixtures("hundredth")
@pytest.mark.slow
def test_as_many_values_as_allowed_are_parsed() -> None:
    """A list and as many numbers as fit into the limit are valid, one more is not."""
    most = MAX_VALUES // 100 - 1
    assert parse_json(list_of(b"7", most)) == [7] * most
    assert "more than 11000 values" in error_of(list_of(b"7", most + 1), "too_many_values")


@for_each("text", [b",", b"[", b"{", b'\\",', b'\\\\\\"{', b"\\\\\\\\,", b" " * 70_000 + b","])
def test_octets_in_strings_are_no_values(text: bytes) -> None:
    """Commas and brackets in strings do not count, wherever quotes and backslashes are."""
    raw = b'{"html":"' + text * (2_000_000 // len(text)) + b'","a":[1,2]}'
    assert parse_json(raw) == json.loads(raw)


@given(value=JSON, indent=st.sampled_from([None, 1]))
def test_values_are_never_counted_short(value: object, indent: int | None) -> None:
    """The count is at least the number of values, so that no text slips through."""
    raw = json.dumps(value, indent=indent).encode()
    with mock.patch.object(json_body, "MAX_VALUES", count_values(value) - 1):
        error_of(raw, "too_many_values")


@given(st.text('{}[]",:\\u01 ', max_size=60).map(str.encode))
def test_the_exact_count_agrees_with_the_parser(raw: bytes) -> None:
    """Valid JSON with octets in strings has at most twice as many counted values as values."""
    try:
        value = json.loads(b"[" + raw + b"]")
    except ValueError:
        return

    with mock.patch.object(json_body, "MAX_VALUES", 2 * count_values(value) + 1):
        assert not json_body._has_too_many_values(b"[" + raw + b"]")


def test_a_long_duplicate_name_is_cut() -> None:
    name = b"x" * 1000
    assert len(error_of(b'{"' + name + b'": 1, "' + name + b'": 2}')) < 120


def test_equal_json_has_one_canonical_form() -> None:
    """The order of names, white space and escapes do not change the canonical form."""
    one = parse_json(b'{"b": [1, {"y": null, "x": "\\u00fc"}], "a": true}')
    other = parse_json('{"a":true,"b":[1,{"x":"ü","y":null}]}'.encode())
    assert canonical(one) == canonical(other) == '{"a":true,"b":[1,{"x":"ü","y":null}]}'.encode()
    assert canonical([1, 2]) != canonical([2, 1])
    assert canonical("1") != canonical(1)
    assert canonical(True) != canonical(1)


_PDF: Final = '{"filename": "a.pdf", "contentType": "application/pdf", "content": "YQ=="'


def hash_of(text: str) -> str:
    return send_hash(parse_json(text.encode()))


def hash_of_batch(*messages: str) -> str:
    return batch_hash(parse_json(f'{{"messages": [{", ".join(messages)}]}}'.encode()))


@for_each(
    ("one", "other"),
    [
        ('{"to": "a@x.example"}', '{"to": "a@x.example", "cc": null}'),
        ('{"to": "a@x.example"}', '{"variables": null, "bcc": null, "to": "a@x.example"}'),
        (f'{{"attachments": [{_PDF}}}]}}', f'{{"attachments": [{_PDF}, "contentId": null}}]}}'),
        ('{"variables": {"n": 0.1}}', '{"variables": {"n": 0.10}}'),
        ('{"variables": {"n": 0.1}}', '{"variables": {"n": 1e-1}}'),
        ('{"variables": {"n": 1.5E+2}}', '{"variables": {"n": 150.0}}'),
        (
            '{"variables": {"n": 0.10000000000000000001}}',
            '{"variables": {"n": 10000000000000000001E-20}}',
        ),
        ('{"variables": {"n": -0.0}}', '{"variables": {"n": -0e5}}'),
    ],
)
def test_the_same_request_has_one_hash(one: str, other: str) -> None:
    """A field that is null is left out, and a number may be written in several ways."""
    assert hash_of(one) == hash_of(other)
    assert hash_of_batch("1", one) == hash_of_batch("1", other)


@for_each(
    ("one", "other"),
    [
        ("0.1", "0.10000000000000000001"),
        ("0.10000000000000000001", "0.10000000000000000002"),
        ("1e-400", "0.0"),
        ("-1e-400", "1e-400"),
        ("1.00000000000000000001", "1.0"),
        ("[0.1, 0.10000000000000000001]", "[0.10000000000000000001, 0.1]"),
        ('{"a": 0.1, "b": 0.10000000000000000001}', '{"a": 0.10000000000000000001, "b": 0.1}'),
        ("null", "0"),
        ('{"a": null}', "{}"),
        ("[null]", "[]"),
    ],
)
def test_other_requests_have_other_hashes(one: str, other: str) -> None:
    """Every digit counts, and null is a value in the variables."""
    bodies = [f'{{"variables": {{"n": {value}}}}}' for value in (one, other)]
    assert hash_of(bodies[0]) != hash_of(bodies[1])
    assert hash_of_batch(bodies[0]) != hash_of_batch(bodies[1])


@given(
    st.recursive(
        st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text("aü€"),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_hashes_of_earlier_versions_still_match(value: Any) -> None:
    """Stored claims hold the hash for a day: a body as programs write it keeps the hash it had."""
    body = {"to": "a@x.example", "variables": {"n": value}}
    raw = json.dumps(body)
    written = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hash_of(raw) == hashlib.sha256(written.encode()).hexdigest()
