"""Sources that are made to grow: each is answered, and the process that answers lives."""

import faulthandler
from unittest import mock

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering import compiling
from pillarbox.wiring.templates import compile_in_child
from verification.attacks.source_bombs import SOURCES, count, explode

# Python warns of forks while other tests' threads wait. The function has no threads.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]


def test_worst_sources_are_answered() -> None:
    """Those that killed the function before, or need the most time, cost a bounded amount."""
    names = ("a long value", "a long default of components", "siblings that a rule looks for")
    tally = count(explode(*names))
    assert not tally.failed, tally
    assert (tally["sources tried"], tally["refused"]) == (3, 2)


@pytest.mark.parametrize("name", ["a long value", "a long default of components"])
def test_the_death_of_the_compiler_is_an_error_of_the_source(name: str) -> None:
    """If the estimate misses a source, the compiler aborts alone, and the author is told."""
    bomb = SOURCES[name]()

    def miss(*_: object) -> None:
        faulthandler.disable()  # in the child: its abort is no news

    with (
        mock.patch.object(compiling, "check_css", miss),
        mock.patch.object(compiling, "check_components", miss),
        pytest.raises(ValidationFailed) as failed,
    ):
        compile_in_child(bomb.kind, bomb.source)
    assert [(error.field, error.code) for error in failed.value.errors] == [
        ("html", "rendering_failed")
    ]


def test_apart_is_the_same_as_here() -> None:
    """The other process returns the same HTML, warnings and faults."""
    for source in ("<style>p{color:red}</style><p>x</p>", "<style>p{}</style><p>x", "<p>x"):
        here = compiling.compile_source(SourceKind.HTML, source)
        assert compile_in_child(SourceKind.HTML, source) == here
    with pytest.raises(ValidationFailed, match="Line 2: mj-include is not supported"):
        compile_in_child(
            SourceKind.MJML, "<mjml><mj-body>\n<mj-include path='x'/></mj-body></mjml>"
        )
