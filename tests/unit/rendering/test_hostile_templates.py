"""Templates that must not be published: each is refused with its line."""

import pytest

from pillarbox.application.templates.rendered_source import render_source
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.templates.draft import Source, SourceKind
from pillarbox.rendering.template_check import Severity
from tests.loops import for_each
from tests.unit.rendering.test_saved import BROKEN, NOT_ALLOWED

_MJML = (
    "<mj-include path='file:///etc/passwd' />",
    '<mj-include path="https://evil.example/x.mjml" />',
    *("<mj-frobnicate></mj-frobnicate>", "<mj-section>", "</mj-section>"),
    "<mj-text><b></mj-text>",
    "<mj-wrapper>" * 300 + "</mj-wrapper>" * 300,
    "<mj-raw>" + "<div>" * 5_000 + "</div>" * 5_000 + "</mj-raw>",
    *("<mj-text>1 < 2</mj-text>", "<mj-text color=red>x</mj-text>"),
    *("<mj-text>{{ x.__class__ }}</mj-text>", "<mj-text><![CDATA[x]]></mj-text>"),
)


def errors(kind: SourceKind, source: str) -> list[int | None]:
    shown = render_source(Source(kind=kind, subject="s", source=source), {}, Brand())
    assert shown.html is None
    assert shown.text is None
    return [problem.line for problem in shown.problems if problem.severity is Severity.ERROR]


@pytest.mark.parametrize("source", [*NOT_ALLOWED, *BROKEN])
def test_a_hostile_template_is_refused_with_its_line(source: str) -> None:
    """What could reach Python, other files or endless work is refused, and its line named."""
    assert errors(SourceKind.HTML, f"<p>Hello</p>\n\n{source}\n") == [3]


@for_each("source", _MJML)
def test_hostile_mjml_is_refused_with_its_line(source: str) -> None:
    """What mrml would load, lose or crash on is refused, and its line named."""
    document = f"<mjml><mj-body>\n<mj-text>Hello</mj-text>\n{source}\n</mj-body></mjml>"
    assert errors(SourceKind.MJML, document) == [3]
