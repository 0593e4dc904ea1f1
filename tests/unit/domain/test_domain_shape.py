"""The shapes of variables: enough to know what is missing, and nothing more."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.domain.errors import Json
from pillarbox.domain.templates.shape import (
    OTHER_SHAPE,
    bounded_shapes,
    numbered_shapes,
    shape_of,
    values_of,
)
from pillarbox.rendering.saved import missing_values
from tests.examples import examples

MAX_SHAPE = 250
MAX_SHAPES = 50

_NAMES = st.sampled_from(["a", "b", "1"])
_PATHS = ("a", "b", "1", "a.a", "a.b", "a.b.a", "a[].a", "a[].b", "a[].b.a", "a[].b[].a", "b[].a")


def _variables() -> st.SearchStrategy[dict[str, Json]]:
    values: st.SearchStrategy[Json] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(_NAMES, values, max_size=3)


def _first_missing(values: dict[str, Json]) -> set[str]:
    """Return the missing paths that do not continue another missing path."""
    missing = missing_values(_PATHS, values)
    return {path for path in missing if not any(path.startswith(f"{one}[") for one in missing)}


@given(_variables())
@settings(max_examples=examples(100), deadline=None)
@pytest.mark.slow
def test_a_shape_lacks_what_its_values_lack(values: dict[str, Json]) -> None:
    given_values = values_of(shape_of(values))
    assert given_values is not None
    assert _first_missing(given_values) == _first_missing(values)
    assert shape_of(given_values) == shape_of(values)


def test_a_shape_is_short_and_has_no_value() -> None:
    """It has names and kinds in the order of the alphabet; what all entries of a list have."""
    order: Json = {"total": 7.5, "id": "secret", "note": None}
    lines: Json = [{"price": 1, "title": "secret"}, {"price": 2}]
    shape = shape_of({"order": order, "name": "secret", "lines": lines, "none": [], "few": [1]})
    assert shape == "{few:[{}],lines:[{price}],name,none:[],order:{id,total}}"


def test_a_name_that_no_template_can_have_is_left_out() -> None:
    """Addresses and keys of data in the place of names are not recorded."""
    people: Json = {"ada@shop.example": 1, "a b": 2, "x" * 61: 3, "ok": 4}
    assert shape_of({"people": people, "é": 1}) == "{people:{ok}}"


def test_a_long_shape_is_not_told_apart() -> None:
    names = {f"name_{number:02}": "x" for number in range(40)}
    assert shape_of(names) == OTHER_SHAPE
    assert values_of(OTHER_SHAPE) is None
    few = dict([*names.items()][:30])
    assert len(shape_of(few)) == 30 * 8 + 1 < MAX_SHAPE


def test_the_shapes_of_an_item_have_a_bound() -> None:
    """The most frequent ones are told apart, and no message is lost from the sum."""
    counts = Counter({f"{{a{number}}}": number for number in range(1, 200)})
    bounded = bounded_shapes(counts + Counter({OTHER_SHAPE: 9}))
    assert len(bounded) == MAX_SHAPES
    assert bounded["{a199}"] == 199
    assert bounded.total() == counts.total() + 9
    assert bounded_shapes({"{a}": 1}) == {"{a}": 1}


def test_members_are_numbered_by_the_first_shapes() -> None:
    """None is 0, and shapes after the bound are the last number."""
    assert numbered_shapes(["{a}", None, "{b}", "{a}"]) == (["{a}", "{b}"], b"\1\0\2\1")
    shapes, numbers = numbered_shapes(f"{{a{number}}}" for number in range(300))
    assert (len(shapes), shapes[-1], numbers[-1]) == (MAX_SHAPES, OTHER_SHAPE, MAX_SHAPES)
    assert numbered_shapes([None])[0] == []
