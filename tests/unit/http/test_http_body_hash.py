"""Bodies that mean the same have one hash, and bodies that differ have two."""

import hashlib
import json
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.http.json_body import parse_json
from pillarbox.http.messages.wire import batch_hash, send_hash
from tests.loops import for_each

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
