"""Compiling sources: MJML, and CSS in HTML, with the tags of templates in them."""

from typing import Any

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering.compiling import compile_source, mask
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.template_check import check_template
from pillarbox.rendering.text import text_from_html
from tests.loops import for_each

MAX_SOURCE = 256 * 1024

STYLED = """<html><head><title>{{ title }}</title><style>
.total { color: {{ accent }} }
@media (max-width: 600px) { .total { color: blue } }
</style></head><body>
<table {% if wide %}width="600"{% endif %}>{% for line in lines %}
<tr><td class="total">{{ line.price | default("<b>") }}</td></tr>{% else %}<tr><td>none</td></tr>
{% endfor %}</table>{# a comment #}{% raw %}{{ braces }}{% endraw %}
<a href="{{ url }}?a=1&amp;b={{ query | default('"') }}">here</a>
</body></html>"""
MJML = """<mjml><mj-head><mj-preview>{{ preview }}</mj-preview>
<mj-style inline="inline">td { color: red }</mj-style></mj-head><mj-body>
{% if a %}<mj-section><mj-column width="50%">
{% for line in lines %}<mj-text color="{{ line.color }}">{{ line.name }}</mj-text>{% endfor %}
<mj-table>{% for line in lines %}<tr><td>{{ line.name }}</td></tr>{% endfor %}</mj-table>
</mj-column></mj-section>{% endif %}</mj-body></mjml>"""
VALUES: dict[str, Any] = {
    "lines": [{"name": "A", "color": "blue"}, {"name": "B", "color": "green"}],
    "a": True,
}


def html_of(kind: SourceKind, source: str) -> str:
    html, problems = compile_source(kind, source)
    assert problems == []
    return html


def test_html_without_styles_stays_as_written() -> None:
    source = "<P CLASS=x>{{ a | default('<b>') }}<br/>&nbsp;</p>{% if b %}<li>{% endif %}"
    assert compile_source(SourceKind.HTML, source) == (source, [])


def test_rules_become_style_attributes() -> None:
    html = html_of(SourceKind.HTML, STYLED)
    assert (
        '<td class="total" style="color: {{ accent }};">{{ line.price | default("<b>") }}' in html
    )
    assert "@media (max-width: 600px) { .total { color: blue } }" in html
    assert '{% if wide %}width="600" {% endif %}' in html
    assert "{% for line in lines %}\n<tr>" in html
    assert "<tbody>" not in html
    assert "{# a comment #}{% raw %}{{ braces }}{% endraw %}" in html
    assert """href="{{ url }}?a=1&amp;b={{ query | default('"') }}">""" in html
    names = {"title", "accent", "wide", "lines", "url", "query"}
    assert {*check_template("", html).names} == names


@pytest.mark.parametrize(
    ("body", "line", "reason"),
    [
        ("<table><tr><td>x</tr></table>", 2, "<td> has no end tag"),
        ("<p>x</p></div>", 2, "</div> has no start tag"),
        ("<table>{{ a }}<tr><td>x</td></tr></table>", 1, "structure"),
        ("<div>" * 201 + "</div>" * 201, 2, "nested deeper"),
    ],
)
def test_html_is_not_changed_in_other_ways(body: str, line: int, reason: str) -> None:
    """If inlining could change more than styles, the source stays, with a warning."""
    source = f"<style>td {{ color: red }}</style>\n{body}"
    html, (problem,) = compile_source(SourceKind.HTML, source)
    assert html == source
    assert (problem.code, problem.line) == ("css_not_inlined", line)
    assert reason in problem.message


def test_css_with_conditions_is_not_inlined() -> None:
    source = "<style>{% if a %}p { color: red }{% endif %}</style><p>x</p>"
    html, (problem,) = compile_source(SourceKind.HTML, source)
    assert html == source
    assert problem.code == "css_not_inlined"


def test_mjml_keeps_the_tags_in_their_places() -> None:
    html = html_of(SourceKind.MJML, MJML)
    rendered = render_saved(html, VALUES | {"preview": "Soon"})
    assert rendered.count("color:blue") == rendered.count("color:green") == 1
    assert (
        '<tr><td style="color: red;">A</td></tr><tr><td style="color: red;">B</td></tr>' in rendered
    )
    assert rendered.count("<tbody>") == rendered.count("</tbody>")
    assert "fonts.googleapis.com" not in rendered
    without = render_saved(html, VALUES | {"preview": "", "a": False})
    assert ">A<" not in without


def test_a_lost_tag_is_named() -> None:
    head = "\n{% if a %}<mj-title>x</mj-title>{% endif %}"
    source = f"<mjml><mj-head>{head}</mj-head><mj-body></mj-body></mjml>"
    with pytest.raises(ValidationFailed, match="Line 2"):
        compile_source(SourceKind.MJML, source)


def test_a_source_has_a_limit() -> None:
    """A source of more than 256 KB is refused."""
    with pytest.raises(ValidationFailed, match="262144"):
        compile_source(SourceKind.HTML, "é" * (MAX_SOURCE // 2 + 1))


@for_each(
    "source",
    ["{{ a }}", "pbx0q0z {{ a }}", "{% if a %}\n{{ b }}{% endif %}", "{{ '}}' }}{# #}", "", "{{"],
)
def test_masking_is_reversible(source: str) -> None:
    """The marks are words that the source does not have, and give back the source."""
    masked = mask(source)
    assert masked.restored(masked.text) == source
    assert masked.restored(masked.with_comments(masked.text)) == source


@for_each(
    ("attributes", "inlined"),
    [
        *((attributes, True) for attributes in ("", "media=all", 'media="Screen, print"')),
        *(
            (attributes, True)
            for attributes in ("media=''", "type=TEXT/CSS", "media='only screen'")
        ),
        *((attributes, False) for attributes in ("media=print", "media='(width < 9em)'")),
        *((attributes, False) for attributes in ("media='screen and (max-width:9em)'",)),
        *(
            (attributes, False)
            for attributes in ("type=text/x", "media='(prefers-color-scheme:dark)'")
        ),
    ],
)
def test_sheets_for_some_stay_sheets(attributes: str, *, inlined: bool) -> None:
    css = "p { color: red } @media print { p { display: none } }"
    other = "<STYLE>i { color: blue }</STYLE>"
    source = f"<style {attributes}>{css}</style>{other}<p>{{{{ code }}}}</p><i>x</i>"
    html, problems = compile_source(SourceKind.HTML, source)
    assert not problems
    assert ("<p style=" in html) == inlined
    assert '<i style="color: blue;">' in html
    assert css in html
    assert "ignore" not in html
    assert text_from_html(html) == "{{ code }}\n\nx"
