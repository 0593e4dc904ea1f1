"""Emails that are made to grow, to nest or to be slow: `make attacks` tries more of them."""

from typing import Final

import pytest

from local import template
from verification.attacks.bombs import MAX_MEMORY, Result, count, explode

#: Those that need the most memory or time, and those that could not be sent before.
_WORST: Final = (
    *("bare lines in wide lists", "links in links", "numbers with many digits"),
    *("lines of two octets", "ten full files", "long header fields"),
    *("values that grow in upper case", "a large message over SMTP"),
)
_REFUSED: Final = (
    *("one octet too many", "a template over its limit", "a list for a text"),
    *("an object for a text", "a text for a list", "a number for a list", "rows of other types"),
)


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Return what became of all bombs, which one process tried."""
    return list(explode(*_WORST, *_REFUSED))


def test_every_accepted_message_can_be_built(results: list[Result]) -> None:
    """Each accepted bomb becomes a message for SES, in at most 256 MB, and fits into the worker."""
    tally = count(iter(results[: len(_WORST)]))
    assert (tally["bombs tried"], tally["accepted"]) == (len(_WORST), len(_WORST))
    assert (tally["accepted but unsendable"], tally["over 256 MB"]) == (0, 0), tally.findings
    worker = template.load()["Globals"]["Function"]["MemorySize"] * 1024 * 1024
    whole, one = tally["most bytes of a process"], tally["most bytes for one"]
    assert whole < worker
    assert MAX_MEMORY + (whole - one) < worker


def test_what_could_not_be_sent_is_refused(results: list[Result]) -> None:
    """HTML over its limit and values of the wrong type are refused when they are accepted."""
    tally = count(iter(results[len(_WORST) :]))
    assert (tally["bombs tried"], tally["accepted"]) == (len(_REFUSED), 0)
