"""Templates that must not be published: each is refused with its line."""

import pytest

from pillarbox.application.templates.rendered_source import render_source
from pillarbox.domain.accounts.brand import Brand
from pillarbox.domain.templates.draft import Source, SourceKind
from pillarbox.rendering.problems import Severity

_HTML = (
    "{{ x.__class__ }}",
    "{{ x.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__ }}",
    "{{ x['__class__'] }}",
    "{{ x | attr('__class__') }}",
    "{{ self }}",
    "{{ self._TemplateReference__context }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ config.items() }}",
    "{{ namespace() }}",
    "{{ joiner }}{{ joiner() }}",
    "{{ range(1000000000) }}",
    "{% for a in range(10) %}{% endfor %}",
    "{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}",
    "{% for a in x recursive %}{% endfor %}",
    "{% for a in x if a %}{% endfor %}",
    "{% for a, b in x %}{% endfor %}",
    "{% for a in x %}{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}",
    "{% set x %}y{% endset %}",
    "{% include '/etc/passwd' %}",
    "{% extends 'base' %}",
    "{% import 'os' as os %}",
    "{% from 'os' import system %}",
    "{% macro m() %}{% endmacro %}",
    "{% call m() %}{% endcall %}",
    "{% filter upper %}x{% endfilter %}",
    "{% block a %}{% endblock %}",
    "{% with a = 1 %}{% endwith %}",
    "{% autoescape false %}{{ x }}{% endautoescape %}",
    "{% do x.append(1) %}",
    "{% trans %}x{% endtrans %}",
    "{% debug %}",
    "{{ x | safe }}",
    "{{ x | tojson }}",
    "{{ x | map('upper') }}",
    "{{ x | format('a') }}",
    "{{ x | default(y) }}",
    "{{ x | default('" + "a" * 501 + "') }}",
    "{{ x() }}",
    "{{ x.y() }}",
    "{{ x * 1000000000 }}",
    "{{ 7 * 7 }}",
    "{{ 2 ** 1000000 }}",
    "{{ 'a' ~ x }}",
    "{{ x if y else z }}",
    "{{ x[0] }}",
    "{{ (x, y) }}",
    "{% if x > 3 %}{% endif %}",
    "{% if x in y %}{% endif %}",
    "{% if x is defined %}{% endif %}",
    "{% if x %}",
    "{% endif %}",
    "{{ x",
    "{{ }}",
    "{{ " + "(" * 200 + "x" + ")" * 200 + " }}{% frobnicate %}",
    "{{ x." + ".".join("a" * 20) + " }}",
    "{{" + "x|upper" + "|upper" * 20 + "}}",
    "{% if x %}" * 20 + "{% endif %}" * 20,
)
_MJML = (
    "<mj-include path='file:///etc/passwd' />",
    '<mj-include path="https://evil.example/x.mjml" />',
    "<mj-frobnicate></mj-frobnicate>",
    "<mj-section>",
    "</mj-section>",
    "<mj-text><b></mj-text>",
    "<mj-wrapper>" * 300 + "</mj-wrapper>" * 300,
    "<mj-raw>" + "<div>" * 5_000 + "</div>" * 5_000 + "</mj-raw>",
    "<mj-text>1 < 2</mj-text>",
    "<mj-text color=red>x</mj-text>",
    "<mj-text>{{ x.__class__ }}</mj-text>",
    "<mj-text><![CDATA[x]]></mj-text>",
)


def errors(kind: SourceKind, source: str) -> list[int | None]:
    shown = render_source(Source(kind=kind, subject="s", source=source), {}, Brand())
    assert shown.html is None
    assert shown.text is None
    return [problem.line for problem in shown.problems if problem.severity is Severity.ERROR]


def test_there_are_more_than_fifty() -> None:
    """The lists have the templates that the acceptance asks for."""
    assert len({*_HTML, *_MJML}) >= 50


@pytest.mark.parametrize("source", _HTML)
def test_a_hostile_template_is_refused_with_its_line(source: str) -> None:
    """What could reach Python, other files or endless work is refused, and its line named."""
    assert errors(SourceKind.HTML, f"<p>Hello</p>\n\n{source}\n") == [3]


@pytest.mark.parametrize("source", _MJML)
def test_hostile_mjml_is_refused_with_its_line(source: str) -> None:
    """What mrml would load, lose or crash on is refused, and its line named."""
    document = f"<mjml><mj-body>\n<mj-text>Hello</mj-text>\n{source}\n</mj-body></mjml>"
    assert errors(SourceKind.MJML, document) == [3]
