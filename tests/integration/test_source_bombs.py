"""Sources that are made to grow: each is answered, and the process that answers lives."""

import faulthandler
import multiprocessing
import os
import resource
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Final
from unittest import mock

import pytest

from pillarbox.application.templates.rendered_source import render_source
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.templates.draft import Source, SourceKind
from pillarbox.rendering import compiling
from pillarbox.wiring.templates import compile_in_child
from tests.allocations import forget_peak, memory

# Python warns of forks while other tests' threads wait. The function has no threads.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]

#: The function that compiles has 1,024 MB for both processes.
MEMORY = 512 * 1024 * 1024
_LONG: Final = "a" * 100_000
#: Those that killed the function before, and the one that needs the most time.
_SOURCES: Final[Mapping[str, Source]] = {
    "a long value": Source(
        kind=SourceKind.HTML,
        subject="s",
        source=f"<style>*{{font-family:{_LONG}}}</style>" + "<i></i>" * 15_000,
    ),
    "a long default of components": Source(
        kind=SourceKind.MJML,
        subject="s",
        source=f'<mjml><mj-head><mj-attributes><mj-text css-class="{_LONG}"/></mj-attributes>'
        f"</mj-head><mj-body><mj-section><mj-column>{'<mj-text/>' * 14_000}</mj-column>"
        "</mj-section></mj-body></mjml>",
    ),
    "siblings that a rule looks for": Source(
        kind=SourceKind.HTML,
        subject="s",
        source="<style>"
        + "".join(f"{'i~' * 20}b{n}{{color:red}}" for n in range(20))
        + "</style>"
        + "<i></i>" * 12_000,
    ),
}


def _show(name: str) -> tuple[list[str], int, float]:
    """Return the codes of errors, the octets at most and the seconds of CPU, of both processes."""
    forget_peak()
    before = sum(os.times()[:4])
    shown = render_source(_SOURCES[name], {}, Brand(), compile_in_child)
    of_compiler = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return (
        [problem.code for problem in shown.problems if problem.stops_publication],
        memory("VmHWM") + of_compiler,
        sum(os.times()[:4]) - before,
    )


def test_worst_sources_are_answered() -> None:
    """The process that answers lives, and each costs a bounded amount: two are refused."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        shown = {name: process.submit(_show, name).result() for name in _SOURCES}
    assert [name for name, (errors, _, _) in shown.items() if errors] == [*_SOURCES][:2]
    assert all(memory <= MEMORY for _, memory, _ in shown.values())
    assert all(seconds <= 5 for _, _, seconds in shown.values())


@pytest.mark.parametrize("name", ["a long value", "a long default of components"])
def test_the_death_of_the_compiler_is_an_error_of_the_source(name: str) -> None:
    """If the estimate misses a source, the compiler aborts alone, and the author is told."""
    bomb = _SOURCES[name]

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
    for source in ("<style>p{color:red}</style><p>x</p>", "<style>p{}</style><p>x", "<p>x"):
        here = compiling.compile_source(SourceKind.HTML, source)
        assert compile_in_child(SourceKind.HTML, source) == here
    with pytest.raises(ValidationFailed, match="Line 2: mj-include is not supported"):
        compile_in_child(
            SourceKind.MJML, "<mjml><mj-body>\n<mj-include path='x'/></mj-body></mjml>"
        )
