"""The plain-text part: it reads well, and any input works."""

import time
from html.entities import html5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.rendering.markup import attributes_of
from pillarbox.rendering.sandbox import Branding, render_starter
from pillarbox.rendering.starters import SLUGS, get_starter
from pillarbox.rendering.text import text_from_html
from pillarbox.rendering.values import values_or_samples
from tests.loops import for_each

MAX_GROWTH = 2


def text_of(slug: str) -> str:
    starter = get_starter(slug)
    return text_from_html(
        render_starter(slug, values_or_samples(starter, {}), Branding("Harbour", None, True))
    )


def test_password_reset() -> None:
    """An email with a button becomes a short letter that shows the URL once."""
    assert text_of("password_reset") == (
        "Harbour\n"
        "\n"
        "Choose a new password\n"
        "\n"
        "Someone, hopefully you, asked to reset the password of your account."
        " The link works once and expires in 1 hour.\n"
        "\n"
        "Choose a new password: https://app.example.com/reset?token=w4Ns6GkEz9QvBy2C\n"
        "\n"
        "Did not ask for this?\n"
        "Ignore this email. Your password does not change,"
        " and cannot be changed without this link.\n"
        "\n"
        "You received this email because a password reset was requested for your account.\n"
        "\n"
        "Sent with Pillarbox"
    )


def test_receipt_and_steps() -> None:
    """Table rows become `label: value`, and a step keeps its number on the line of its title."""
    receipt = text_of("payment_receipt")
    assert "Amount paid\n49.00 EUR\n\nInvoice: INV-2026-0117\nSeller: Harbour\n" in receipt
    assert "1  Sign in\nUse the email address" in text_of("welcome")


@for_each("slug", SLUGS)
def test_starters(slug: str) -> None:
    """The text of a starter has no HTML, no two empty lines in a row, and no trailing spaces."""
    text = text_of(slug)
    assert not {"<", ">", "&", "\u00a0", "\u034f"} & set(text)
    assert "\n\n\n" not in text
    assert text == "\n".join(line.rstrip() for line in text.splitlines()).strip()


@for_each(
    ("html", "text"),
    [
        ("", ""),
        ("a\n  b&nbsp; c &amp;&#8202;&lt;d&gt;", "a b c &\u200a<d>"),
        ("<h1>A</h1><h2>B</h2><p>c<p>d</p><div>e</div><div>f</div>", "A\n\nB\n\nc\n\nd\n\ne\nf"),
        ("a<br>b<br><br>c<br/>", "a\nb\n\nc"),
        ("a<b>b</b> <i> c</i>d", "ab cd"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"),
        ("<ol><li>a<ul><li>x</li></ul></li><li><p>b</p></ol>", "1. a\n   - x\n2. b"),
        ("<li>a</li>", "- a"),
        ("<blockquote>a<br>b</blockquote>c", "> a\n> b\n\nc"),
        ("<pre>\na\n\n\n  b\n</pre>c", "a\n\n\n  b\n\nc"),
        ("<pre>a\r\n \r\nb</pre>", "a\n\nb"),
        ("<ol start=3><li>c<li>d</ol>", "3. c\n4. d"),
        ("<ol start=x><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
        ("<ol reversed><li>a<li>b<ol reversed><li>x</ol></ol>", "2. a\n1. b\n   1. x"),
        ("<ol reversed start=0><li>a<li>b</ol>", "0. a\n-1. b"),
        ("<table><tr><td>a</td>\n<td><ol><li>b</ol></table>", "a\n1. b"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a  b\n1  2"),
        ("<table><tr><th scope=row>a</th><td>1</td></tr></table>", "a: 1"),
        ("a <img src=x alt='Logo of X'> <img src=y> b", "a Logo of X b"),
        ("<title>t</title><style>p{}</style><script>a<b</script>x", "x"),
        ("<head><meta charset=utf-8><p>a</head>x", "ax"),
        ("<!doctype html><html><head><title>T</title><p>Hello", "Hello"),
        ("<html><head><!-- a <body> b --></head><body><p>Hi", "Hi"),
        ("<head><script>write('<body>')</script><style>/* </head> */</style></head>x", "x"),
        ("<script><!-- <script>a</script> b --></script>x", "x"),
        ("a<img alt=b", "a"),
        ("<head><title>t</title><body>x", "x"),
        ("<svg><text>a</text></svg><!-- c --><!--[if mso]><p>m</p><![endif]-->x", "x"),
        ("<div style='DISPLAY : none'><div>a</div>b</div>x", "x"),
        ("<p hidden>a<p>b", "b"),
        ("<span aria-hidden=true>a</span><i data-text=skip>b</i><p hidden>c</p>x", "x"),
        ("<img hidden alt=a>x", "x"),
        ("<p STYLE='DISPLAY:NONE'>a</p><p HIDDEN>b</p><p style='Display: None'>c</p>x", "x"),
        ("<p style='&#100;isplay:none'>a</p><p style='display:none;display:block'>b</p>", "b"),
        ("<p style='x-display:none'>a</p><p title=hidden>b</p>", "a\n\nb"),
        ("<div style='visibility:hidden'>a<b style='visibility:visible'>b</b></div>", "b"),
        ("<template><p>a</p></template><datalist><option>b</datalist><dialog>c</dialog>x", "x"),
        ("<dialog open>a</dialog>", "a"),
        ("<svg/>a<svg><text>b</text><p>c", "a\n\nc"),
        ("<select><option>a<option>b</select>x", "x"),
        ("a\u200bb\u00adc\ufeffd", "abcd"),
    ],
)
def test_blocks(html: str, text: str) -> None:
    """Each element becomes plain text as people would write it."""
    assert text_from_html(html) == text


@for_each(
    ("html", "text"),
    [
        ("<a href='https://x.example/?a=1&amp;b=2'>See</a>", "See: https://x.example/?a=1&b=2"),
        ("<p>Go <a href=https://x.example/a>there</a> now", "Go there (https://x.example/a) now"),
        ("<a href='https://x.example/'>x.example</a>", "x.example"),
        ("<a href='https://x.example/a'> https://x.example/a </a>", "https://x.example/a"),
        ("Ask <a href='mailto:a%2Bb@x.example?subject=y'>us</a>", "Ask us (a+b@x.example)"),
        ("<a href=mailto:a@x.example>a@x.example</a>", "a@x.example"),
        ("<a href=tel:+123>Call!</a>", "Call! tel:+123"),
        ("<a href=#top>Up</a> <a href='javascript:x()'>no</a> <a>b</a>", "Up no b"),
        ("<a href=https://x.example><img alt=Shop></a>", "Shop: https://x.example"),
        ("<a href=https://x.example><img></a>", "https://x.example"),
        ("<a href=https://x.example><div>Shop</div></a>b", "Shop\nhttps://x.example\nb"),
        (
            "<a href=https://x.example>a<a href=https://y.example>b",
            "a (https://x.example)b (https://y.example)",
        ),
        ("<a href='https://x.example/<b>'>a</a>", "a: https://x.example/%3Cb%3E"),
        ("<a href=' https://x.example/a\n b '>a</a>", "a: https://x.example/a%20b"),
        ("<a href='http:x?a=1&region=eu&copy=2'>a</a>", "a: http:x?a=1&region=eu&copy=2"),
        ("<a href='shop-app://open?x'>a</a>", "a: shop-app://open?x"),
        ("<a href=' java&#10;script:x()'>no</a> <a href='data:,x'>no</a>", "no no"),
        ("<p><a href=https://x.example>a<p>b</a>c", "a: https://x.example\n\nbc"),
    ],
)
def test_links(html: str, text: str) -> None:
    """A link shows its URL once, and only if it can be followed from plain text."""
    assert text_from_html(html) == text


@for_each(
    "html",
    [
        *(f"<p hidden>a{end}" for end in ("<h1>x", "<div>x", "<table><td>x", "<ul>x", "<hr>x")),
        "<div><p hidden>a</div>x",
        "<ul><li hidden>a<li>x</ul>",
        "<dl><dt hidden>a<dd>x</dl>",
        "<dl><dd hidden>a<dt>x</dl>",
        "<table><tr><td hidden>a<td>x</table>",
        "<table><tr><th hidden>a<tr><td>x</table>",
        "<table><tr hidden><td>a<tr><td>x</table>",
        "<table><tbody hidden><tr><td>a<tbody><tr><td>x</table>",
        "<table hidden>x<tr><td>a</table>",
        "<div hidden>a<td>b</div>x",
        "<div><span hidden>a</div>x",
        "<b hidden>a<p>b</b>x",
        "<b><q hidden>a<div>x</b>",
        "<form><p hidden>a</form>x",
    ],
)
def test_a_hidden_element_ends_where_browsers_end_it(html: str) -> None:
    assert text_from_html(html).strip("- \n") == "x"


def test_references_in_attributes() -> None:
    """A name is a reference in a URL if it has a semicolon, or if nothing of a name follows."""
    for name, value in html5.items():
        if name.endswith(";"):
            assert attributes_of(f"a='x&{name}y'") == {"a": f"x{value}y"}
            continue
        assert attributes_of(f"a='x&{name}'") == {"a": f"x{value}"}
        assert attributes_of(f"a='x&{name}-'") == {"a": f"x{value}-"}
        for after in ("=1", "x", "1"):
            if f"{name}{after}" not in html5:
                assert attributes_of(f"a='x&{name}{after}'") == {"a": f"x&{name}{after}"}


@given(st.text(st.characters() | st.sampled_from("<>/!-='\"&; apre"), max_size=60))
def test_any_input(html: str) -> None:
    text_from_html(html)


@pytest.mark.parametrize(
    ("before", "unit"),
    [
        ("<blockquote>" * 8, "<br>a"),
        ("<ol>" * 8 + "<li>" * 8_000, "<br>a"),
        (("<ol>" + "<li>" * 999) * 8 + "<pre>", "\na"),
        ('x<a href="http:', "<"),
        ('<a href="http:">x</a><pre>', "\n<"),
        ("<ol>", "<li>a"),
        ("", "<hr>"),
        ("", "&nGt;"),
        ("", "<ul><li>ü"),
    ],
)
def test_the_text_has_at_most_twice_the_octets(before: str, unit: str) -> None:
    html = before + unit * 8_000
    text = text_from_html(html)
    assert len(text.encode()) <= MAX_GROWTH * len(html.encode())
    if unit.endswith("a"):
        assert text.count("a") == 8_000  # only indents were left out
    assert text


@given(
    st.lists(st.sampled_from(["<ol>", "<li>", "<pre>", "\n", "a", "<hr>", "</li>", "ü"])).map(
        "".join
    )
)
def test_no_text_is_over_twice_its_html(html: str) -> None:
    assert len(text_from_html(html).encode()) <= MAX_GROWTH * len(html.encode())


def test_a_deep_quote_keeps_its_indents() -> None:
    html = "<blockquote>" * 3 + "<p>Thanks, that works for me.</p>" * 50 + "</blockquote>" * 3
    assert text_from_html(html).count("> > > Thanks") == 50


def test_links_in_links() -> None:
    """A link around another one is written after it, so that nesting takes linear time."""
    nested = "<a href=http:a>one<table><td><a href=http:b>two</a></table></a>"
    assert text_from_html(nested) == "one\n\ntwo: http:b\nhttp:a"

    def seconds(levels: int) -> float:
        html = "x<table><td><a href=http:u>" * levels + "y" + "</a></table>" * levels
        started = time.process_time()
        text_from_html(html)
        return time.process_time() - started

    short, long = (min(seconds(levels) for _ in range(3)) for levels in (250, 2_000))
    assert long < 8 * 3 * short  # quadratic: 64 times


@pytest.mark.parametrize("number", ["9" * 4_301, "0" * 5_000 + "65", "1" * 1_000])
def test_a_number_too_long_for_python(number: str) -> None:
    assert text_from_html(f"a&#{number};b&#65;") == "a\ufffdbA"
    assert attributes_of(f"alt='&#{number};'") == {"alt": "\ufffd"}


@for_each("name", ["iframe", "noembed", "noframes", "script", "style", "textarea", "title"])
def test_raw_text_is_never_shown(name: str) -> None:
    assert text_from_html(f"a<{name}><p>b</{name}x></{name.upper()} >c") == "ac"
    assert text_from_html(f"a<{name}><p>b") == "a"


@pytest.mark.parametrize(
    "unit",
    [
        *("<font a><p>", "<div>", "<b><i>", "<a href=http:a>", '<a "', "<!--", "<", "<p a=", "&"),
        *(
            *("<ul><li>x", "<blockquote>x", "<table><tr><td>x", "</p>", "<script>", "<p hidden>"),
            "<br>",
        ),
        *("<p><b><i hidden>", "<b><div></b>", "<a href=http:a><div>", "<table><b>", "<svg><p>"),
        *("<style></styl", "<b></i>", "x<a href=http:a>y</a>", "<pre>\n", "<p a='", " ", "<svg>"),
    ],
)
def test_hostile_repetition(unit: str) -> None:
    """The text of deep, crossed or unclosed HTML stays about as long as the HTML."""
    html = unit * (50_000 // len(unit))
    assert len(text_from_html(html)) <= 3 * len(html)
