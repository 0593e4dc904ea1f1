"""The constants of a template, and whose fault it is if one breaks the engine."""

import logging
from collections.abc import Callable
from types import ModuleType

import pytest

from pillarbox.application.templates.rendered_source import render_source
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.templates.draft import Source, SourceKind
from pillarbox.rendering import checks, compiling, sandbox
from pillarbox.rendering.compiling import compile_source
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.template_check import check_template
from tests.loops import for_each
from tests.refusals import faults


@for_each(
    ("written", "shown"),
    [
        (r"'\ud83d\ude00'", "\U0001f600"),
        (r"'\U0001f600'", "\U0001f600"),
        ("'\U0001f600'", "\U0001f600"),
        (r"'\ud83d' '\ude00'", "\U0001f600"),
        (r"'a\tb\nc'", "a\tb\nc"),
        (r"'\N{BULLET}\ufeff\xa0'", "\u2022\ufeff\xa0"),
        (f"'{'x' * 500}'", "x" * 500),
        *(("9007199254740991", "9007199254740991"), ("0x1fffffffffffff", "9007199254740991")),
        *(("0o17", "15"), ("0b11", "3"), ("1_000", "1000"), ("1.5", "1.5"), ("1e3", "1000.0")),
        *(("true", "true"), ("false", "false"), ("[]", ""), ("none", "")),
    ],
)
def test_a_constant_is_what_a_person_expects(written: str, shown: str) -> None:
    source = f"{{{{ x | default({written}) }}}}{{% if y == {written} %}}{{% endif %}}"
    check_template("s", source)
    assert render_saved(source, {"y": 1}) == shown


@for_each(
    "written",
    [
        *(r"'\ud800'", r"'a\udfffb'", r"'\ude00\ud83d'", "'\ud800'"),
        *(r"'\0'", r"'\x1b'", r"'\x0b'", r"'\x7f'", r"'\x9f'", "'\x01'"),
        *("9007199254740992", "9007199254740992.0", "0x20000000000000", "1e16", "1e999", "1e400"),
        *(f"0x{'f' * 5_000}", f"0b{'1' * 20_000}", f"0o{'7' * 5_000}", "9" * 4_300),
        *(f"'{'x' * 501}'", "[1]", "[[]]", "{}", "()", "-1", "nan", "inf"),
    ],
)
def test_any_other_constant_is_refused(written: str) -> None:
    for source in (f"{{{{ x | default({written}) }}}}", f"{{% if x == {written} %}}{{% endif %}}"):
        assert faults(check_template, "s", source) == [("html", "not_allowed")]
        assert faults(render_saved, source, {"x": 1}) == [("html", "not_allowed")]


def test_what_breaks_the_engine_is_a_fault_of_the_source(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise OverflowError("secret")

    for module, name in (
        *((sandbox, "_parse"), (sandbox, "render_bounded"), (checks, "pieces_of")),
        (checks, "text_from_html"),
    ):
        caplog.clear()
        with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
            patched.setattr(module, name, broken)
            source = Source(kind=SourceKind.HTML, subject="s", source=f"<b>{name}</b>")
            shown = render_source(source, {}, Brand())
        (problem,) = [one for one in shown.problems if one.stops_publication]
        assert (problem.field, problem.code) == ("source", "rendering_failed")
        assert caplog.messages[0] == "a source cannot be rendered: OverflowError"


@pytest.mark.parametrize(
    ("module", "name", "work"),
    [
        (sandbox, "_parse", lambda source: check_template("s", source)),
        (compiling, "mask", lambda source: compile_source(SourceKind.HTML, source)),
        (sandbox, "render_bounded", lambda source: render_saved(source, {})),
    ],
)
def test_publications_tests_and_sends_blame_the_source_too(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, work: Callable[[str], object]
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(module, name, broken)
    assert faults(work, "<style>p{}</style>") == [("html", "rendering_failed")]


@pytest.mark.parametrize("error", [OSError, ImportError])
def test_what_the_machine_lacks_is_no_fault_of_the_source(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def absent(*_: object) -> None:
        raise error

    monkeypatch.setattr(sandbox, "_parse", absent)
    with pytest.raises(error):
        check_template("s", "<p>x</p>")
