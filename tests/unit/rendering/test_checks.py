"""Checks of templates: what recipients would see, and the lines to change."""

from pillarbox.application.templates.rendered_source import check_file
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering.checks import check_result, suggest
from tests.loops import for_each

_OK = '<html><body><div style="display:none">Soon</div>\n{}</body></html>'


def found(html: str, kind: SourceKind = SourceKind.HTML) -> list[tuple[str, int | None]]:
    return [(problem.code, problem.line) for problem in check_file(kind, _OK.format(html))]


def test_a_good_template_has_no_problem() -> None:
    good = '<p>Hello {{ name }}</p><img src="https://a.example/x.png" alt="A" width="20">'
    assert found(f'{good}<a href="https://a.example/">x</a><a href="{{{{ url }}}}">y</a>') == []


@for_each(
    ("html", "code"),
    [
        ('x<img src="https://a.example/x.png" width="1">', "no_alt"),
        ('x<img src="https://a.example/x.png" alt="">', "no_width"),
        ('x<img src="" alt="" width="1">', "empty_source"),
        ('x<img src="cid:logo" alt="" width="1">', "cid_image"),
        ('<a href="http://a.example/">x</a>', "insecure_link"),
        ('<a href="http://localhost:3000/">x</a>', "local_link"),
        ('<a href="https://127.0.0.1/">x</a>', "local_link"),
        ('<a href="">x</a>', "empty_link"),
        ('<a href="#">x</a>', "empty_link"),
        ('<a href="javascript:alert(1)">x</a>', "bad_link"),
        ('<a href="/path">x</a>', "bad_link"),
        ('<a href="https://[">x</a>', "bad_link"),
        ("<script>x</script>y", "removed_element"),
        ('<p onclick="x">y</p>', "removed_attribute"),
        ('<p style="gap: 1px">x</p>', "unsupported"),
        ("x<video></video>", "unsupported"),
    ],
)
def test_a_problem_has_its_line(html: str, code: str) -> None:
    assert found(html) == [(code, 2)]


def test_the_result_is_checked() -> None:
    assert [problem.code for problem in check_result("x" * 61, "<img alt='Sale'>")] == [
        "only_images",
        "subject_too_long",
    ]
    assert [problem.code for problem in check_result("x", "y" * 104_449)] == ["html_too_long"]
    assert check_result("x" * 60, "y" * 104_448) == []


def test_a_preheader_is_missed() -> None:
    assert [problem.code for problem in check_file(SourceKind.HTML, "<p>x</p>")] == ["no_preheader"]
    mjml = "<mjml><mj-head>{}</mj-head><mj-body><mj-text>x</mj-text></mj-body></mjml>"
    preview = "<mj-preview>Soon</mj-preview>"
    assert check_file(SourceKind.MJML, mjml.format(preview)) == ()


def test_unsupported_features_name_the_programs() -> None:
    source = "<style>\np { color: red }\np { position: absolute }\n</style><p>x</p>"
    (problem,) = [one for one in check_file(SourceKind.HTML, source) if one.code == "unsupported"]
    assert problem.line == 3
    assert "Outlook (Windows)" in problem.message


@for_each(
    ("tag", "form"),
    [
        ("{{{ name }}}", "{{ name }}"),
        ("{{#if paid}}", "{% if paid %}"),
        ("{{/if}}", "{% endif %}"),
        ("{{#each lines}}", "{% for item in lines %}"),
        ("{{/each}}", "{% endfor %}"),
        ("{% elsif paid %}", "{% elif paid %}"),
        ("{% if total is defined %}", "{% if total | default('') %}"),
        ("{{ name.upper() }}", "{{ name | upper }}"),
        ("{{ name | title }}", "{{ name | capitalize }}"),
        ("{{ name | safe }}", "{{ name }}"),
        ("{{ name or 'you' }}", "{{ name | default('you') }}"),
        ("{{ order['id'] }}", "{{ order.id }}"),
        ("{{ a | upper }} {{ b | escape }}", "{{ b }}"),
        ("{{ a.__class__ }}", None),
        ("{{ a }}", None),
    ],
)
def test_the_nearest_form_is_suggested(tag: str, form: str | None) -> None:
    assert suggest(f"<p>\n{tag}</p>", 2) == form
