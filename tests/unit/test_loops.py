"""A loop over cases shows each case that fails."""

import pytest

from tests.loops import for_each


def test_all_failures_are_reported_together() -> None:
    """The error has each case that failed, with its reason, and no other case."""

    @for_each("number, word", [(1, "one"), (2, "two"), (3, "three")])
    def check(number: int, word: str) -> None:
        if number == 3:
            pytest.fail("a planted failure")
        assert word == "two"

    with pytest.raises(AssertionError) as failed:
        check()
    message = str(failed.value)
    assert "{'number': 1, 'word': 'one'}: AssertionError" in message
    assert "{'number': 3, 'word': 'three'}: Failed: a planted failure" in message
    assert "'two'}" not in message


def test_no_cases_are_a_failure() -> None:
    """A list that became empty shows nothing, so the test fails."""

    @for_each("number", [])
    def check(number: int) -> None:
        assert number

    with pytest.raises(AssertionError):
        check()
