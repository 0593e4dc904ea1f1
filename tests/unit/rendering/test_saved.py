"""Saved templates: what they may contain, which values they need, and how they render."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.rendering.sandbox import render_saved
from pillarbox.rendering.saved import missing_values
from pillarbox.rendering.template_check import check_template
from tests.loops import for_each
from tests.refusals import faults

MAX_LENGTH = 512 * 1024
MAX_ROWS = 1000
MAX_TAGS = 500
MAX_BYTES = 1024 * 1024

RECEIPT = """\
<p>Hi {{ customer.name | default("there") }},</p>
<ul>{% for line in lines %}<li>{{ line.title }}: {{ line.price }}</li>{% endfor %}</ul>
{% if plan == "pro" and not trial %}<p>{{ note | upper }}</p>{% elif trial %}-{% else %}+{% endif %}
"""
#: What is outside of the allow-list.
NOT_ALLOWED = (
    *("{{ x.__class__ }}", "{{ x.__class__.__mro__ }}", "{{ _x }}", "{{ x._y }}", "{{ \uff41 }}"),
    "{{ x.__class__.__mro__[1].__subclasses__() }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    *("{{ cycler.__init__.__globals__ }}", "{{ x | tojson }}", "{{ x | map('upper') }}"),
    *("{{ x() }}", "{{ x.items() }}", "{{ x[0] }}", "{{ x['y'] }}", "{{ x.0 }}", "{{ x[1:] }}"),
    *("{{ x | attr('y') }}", "{{ x | format(1) }}", "{{ x | safe }}", "{{ x | join }}"),
    *("{{ 'a' * 9 }}", "{{ 9 ** 9 ** 9 }}", "{{ x + y }}", "{{ x ~ y }}", "{{ -x }}"),
    *("{{ 'a' }}", "{{ [x] }}", "{{ {'a': x} }}", "{{ x if y }}", "{{ x == y }}"),
    *("{{ self }}", "{{ loop }}", "{{ caller }}", "{{ self.x }}", "{{ x is defined }}"),
    *("{% set x = 1 %}", "{% include 'a' %}", "{% extends 'a' %}", "{% import 'a' as b %}"),
    *("{% block a %}{% endblock %}", "{% macro a() %}{% endmacro %}", "{% with %}{% endwith %}"),
    *("{% filter upper %}x{% endfilter %}", "{% autoescape false %}{% endautoescape %}"),
    *("{% call x() %}{% endcall %}", "{% from 'a' import b %}", "{% set x %}{% endset %}"),
    "{% for i in range(1000000000) %}{% endfor %}",
    "{% for i in x %}{% for j in y %}{% endfor %}{% endfor %}",
    "{% for i in x %}{% for j in i.y %}{% endfor %}{% endfor %}",
    *("{% for i, j in x %}{% endfor %}", "{% for i in x if i %}{% endfor %}"),
    *("{% for i in x recursive %}{% endfor %}", "{% for i in x | upper %}{% endfor %}"),
    *("{% for loop in x %}{% endfor %}", "{% for i in x %}{{ loop.index }}{% endfor %}"),
    *("{% if x > 1 %}{% endif %}", "{% if x == y %}{% endif %}", "{% if x in y %}{% endif %}"),
    *("{% if 1 %}{% endif %}", "{% if x | upper == 'A' %}{% endif %}"),
    *("{% if x == 1 == 2 %}{% endif %}", "{% if x is defined %}{% endif %}"),
    *("{{ x | default }}", "{{ x | default(y) }}", "{{ x | default('a', true) }}"),
    *("{{ x | default(['a']) }}", "{{ x | default(default_value='a') }}", "{{ x | trim('a') }}"),
    "{{ x | default('" + "a" * 501 + "') }}",
    "{{ x" + " | upper" * 17 + " }}",
    "{{ x" + ".y" * 17 + " }}",
    "{% if " + " and ".join(["x"] * 30) + " %}{% endif %}",
    "{% if x %}" * 20 + "{% endif %}" * 20,
)
#: What is no template.
BROKEN = (
    *("{{ x", "{{ }}", "{% if x %}", "{% endif %}", "{% nope %}", "{{ x }", "{# open"),
    *("{{ x | }}", "{{ x | ", "{{ x. }}", "{% for i x %}{% endfor %}", "{{ '\\x' }}"),
    *("{% do x.append(1) %}", "{% trans %}x{% endtrans %}", "{% debug %}"),
    "{{ " + "(" * 5000 + "x" + ")" * 5000 + " }}",
    "{{ " + "9" * 5000 + " }}",
    "{% if x %}" * (MAX_TAGS // 2) + "{% endif %}" * (MAX_TAGS // 2),
)


def refusal(html: str, subject: str = "Hello") -> tuple[str, str]:
    (fault,) = faults(check_template, subject, html)
    return fault


def failure(html: str, values: dict[str, Json]) -> tuple[str, str]:
    (fault,) = faults(render_saved, html, values)
    return fault


def test_variables_of_a_template() -> None:
    variables = check_template("Order {{ order.id }}", RECEIPT)
    assert variables.names == ("order", "customer", "lines", "plan", "trial", "note")
    assert variables.required == (
        *("order.id", "lines", "lines[].title", "lines[].price", "plan", "trial", "note"),
    )


def test_default_in_every_use() -> None:
    assert check_template("s", "{{ a | default('x') }}").required == ()
    assert check_template("s", "{{ a | default('x') }}{{ a }}").required == ("a",)
    assert check_template("{{ a }}", "{{ a | default('x') }}").required == ("a",)


def test_no_variables() -> None:
    """Plain HTML is a valid template, and comments and raw text have no variables."""
    assert check_template("s", "<p>{# {{ a }} #}{% raw %}{{ b }}{% endraw %}").names == ()


@for_each("html", NOT_ALLOWED)
def test_not_allowed(html: str) -> None:
    """Everything outside the allow-list is refused, both on saving and on rendering."""
    assert refusal(html) == ("html", "not_allowed")
    assert failure(html, {}) == ("html", "not_allowed")


@for_each("html", BROKEN)
def test_syntax(html: str) -> None:
    assert refusal(html) == ("html", "template_syntax")


@pytest.mark.parametrize("html", ["x" * (MAX_LENGTH + 1), "{{ x }}" * (MAX_TAGS + 1)])
def test_too_large(html: str) -> None:
    """A template with too many characters or tags is refused."""
    assert refusal(html) == ("html", "too_large")


@pytest.mark.parametrize(
    "subject",
    ["{{ x", "{{ x | upper }}", "{% if x %}a{% endif %}", "{{ x.__y }} {{ 1 }}", "{# a #}"],
)
def test_subjects(subject: str) -> None:
    assert refusal("<p>x</p>", subject) == ("subject", "not_allowed")


def test_rendering() -> None:
    """Paths, defaults, filters, conditions and lists are rendered, and values are escaped."""
    html = render_saved(
        RECEIPT,
        {
            "lines": [{"title": "<b>Tea</b>", "price": 3.5}, {"title": "{{ 7 }}", "price": 2}],
            "plan": "pro",
            "trial": False,
            "note": "thank you & bye",
        },
    )
    assert html == (
        "<p>Hi there,</p>\n"
        "<ul><li>&lt;b&gt;Tea&lt;/b&gt;: 3.5</li><li>{{ 7 }}: 2</li></ul>\n"
        "<p>THANK YOU &amp; BYE</p>"
    )


@for_each(
    ("html", "values", "shown"),
    [
        ("{{ x }}", {"x": True}, "true"),
        ("{{ x }}", {"x": 0}, "0"),
        ("{{ x }}", {"x": ""}, ""),
        ("{{ x | default('d') }}", {"x": None}, "d"),
        ("{{ x.y.z | default('d') }}", {"x": {}}, "d"),
        ("{{ x.items }}", {"x": {"items": "3"}}, "3"),
        ("{{ x | trim | capitalize }}", {"x": " aB "}, "Ab"),
        ("{{ x | default('A') | lower }}", {}, "a"),
        ("{% for i in x %}{{ i }}{% else %}none{% endfor %}", {"x": []}, "none"),
        ("{% for i in x | default([]) %}{{ i }}{% endfor %}.", {}, "."),
        ("{% if x != 'a' or y %}1{% endif %}", {"x": "b", "y": False}, "1"),
        ("{% if x | default(false) %}1{% else %}0{% endif %}", {}, "0"),
        ("{% for x in y %}{{ x }}{% endfor %}{{ x }}", {"x": "o", "y": ["i"]}, "io"),
    ],
)
def test_values(html: str, values: dict[str, Json], shown: str) -> None:
    """Each allowed form shows the expected text."""
    check_template("s", html)
    assert render_saved(html, values) == shown


@for_each(
    ("html", "values", "code"),
    [
        ("{{ x }}", {}, "missing_variable"),
        ("{{ x }}", {"x": None}, "missing_variable"),
        ("{{ x.items }}", {"x": {"a": 1}}, "missing_variable"),
        ("{{ x.upper }}", {"x": "text"}, "missing_variable"),
        ("{{ cycler }}{{ range }}{{ dict }}", {}, "missing_variable"),
        ("{{ x }}", {"x": {"a": 1}}, "invalid_type"),
        ("{{ x }}", {"x": [1]}, "invalid_type"),
        ("{% for i in x %}{% endfor %}", {"x": "text"}, "invalid_type"),
        ("{% for i in x %}{% endfor %}", {"x": {"a": 1}}, "invalid_type"),
        ("{% for i in x %}{% endfor %}", {"x": [1] * (MAX_ROWS + 1)}, "invalid_type"),
    ],
)
def test_unsuitable_values_are_refused(html: str, values: dict[str, Json], code: str) -> None:
    assert failure(html, values) == ("variables", code)


def test_rendering_stops_at_the_size_limit() -> None:
    bomb = "{% for i in x %}" + "{{ y }}" * 400 + "{% endfor %}"
    values: dict[str, Json] = {"x": [1] * MAX_ROWS, "y": "ü" * 100_000}
    assert failure(bomb, values) == ("variables", "too_large")
    assert len(render_saved("{{ y }}", {"y": "x" * MAX_BYTES})) == MAX_BYTES
    assert failure("{{ y }}", {"y": "ü" * (MAX_BYTES // 2 + 1)}) == ("variables", "too_large")


@for_each(
    ("given", "missing"),
    [
        ({}, ("a", "b.c", "rows")),
        ({"a": None, "b": {}, "rows": None}, ("a", "b.c", "rows")),
        ({"a": "", "b": {"c": 0}, "rows": []}, ()),
        ({"a": 1, "b": {"c": False}, "rows": [{"d": 1}, {"d": 2}]}, ()),
        ({"a": 1, "b": "text", "rows": [{"d": 1}, {}]}, ("b.c", "rows[].d")),
        ({"a": 1, "b": {"c": 1}, "rows": "text"}, ("rows[].d",)),
    ],
)
def test_missing_values(given: dict[str, Json], missing: tuple[str, ...]) -> None:
    """Each required path without a value is listed, and a missing list is listed once."""
    html = "{{ a }}{{ b.c }}{% for r in rows %}{{ r.d }}{% endfor %}"
    required = check_template("s", html).required
    assert required == ("a", "b.c", "rows", "rows[].d")
    assert missing_values(required, given) == missing


JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=10,
)
PIECES = st.sampled_from(
    [
        *("{{ a }}", "{{ a.b | default('-') }}", "{{ b | upper }}", "{% for c in b %}", "{{ c }}"),
        *("{% endfor %}", "{% if a %}", "{% else %}", "{% endif %}", "{{", "}}", "{%", "%}", "<b>"),
        *("|", "a", ".", "(", ")", "'", "==", " and ", " not ", "{#", "#}", "{{ c.a }}", "\n"),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join), st.dictionaries(st.sampled_from("abc"), JSON))
def test_any_template(html: str, values: dict[str, Json]) -> None:
    try:
        variables = check_template("s", html)
        missing = missing_values(variables.required, values)
        rendered = render_saved(html, values)
    except ValidationFailed:
        return
    assert isinstance(rendered, str)
    assert all(path.split(".")[0].removesuffix("[]") in variables.names for path in missing)
