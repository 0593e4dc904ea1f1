"""The plain-text part: it reads well, and any input works."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.rendering.engine import Branding, render_starter
from pillarbox.rendering.markup import attributes_of
from pillarbox.rendering.starters import SLUGS, get_starter
from pillarbox.rendering.text import MAX_GROWTH, text_from_html
from pillarbox.rendering.values import values_or_samples


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
    assert "Amount paid\n49.00 EUR\n\nInvoice: INV-2026-0117\nStatus: Paid in full\n" in receipt
    assert "1  Make it yours\nAdd your details" in text_of("welcome")


@pytest.mark.parametrize("slug", SLUGS)
def test_starters(slug: str) -> None:
    """The text of a starter has no HTML, no two empty lines in a row, and no trailing spaces."""
    text = text_of(slug)
    assert not {"<", ">", "&", "\u00a0", "\u034f"} & set(text)
    assert "\n\n\n" not in text
    assert text == "\n".join(line.rstrip() for line in text.splitlines()).strip()


@pytest.mark.parametrize(
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
        ("<pre>a\n\n  b</pre>c", "a\n\n  b\n\nc"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a  b\n1  2"),
        ("<table><tr><th scope=row>a</th><td>1</td></tr></table>", "a: 1"),
        ("a <img src=x alt='Logo of X'> <img src=y> b", "a Logo of X b"),
        ("<title>t</title><style>p{}</style><script>a<b</script>x", "x"),
        ("<head><meta charset=utf-8><p>a</head>x", "x"),
        ("<head><title>t</title><body>x", "x"),
        ("<svg><text>a</text></svg><!-- c --><!--[if mso]><p>m</p><![endif]-->x", "x"),
        ("<div style='DISPLAY : none'><div>a</div>b</div>x", "x"),
        ("<p hidden>a<p>b", "b"),
        ("<span aria-hidden=true>a</span><i data-text=skip>b</i><p hidden>c</p>x", "x"),
        ("<img hidden alt=a>x", "x"),
        ("a\u200bb\u00adc\ufeffd", "abcd"),
    ],
)
def test_blocks(html: str, text: str) -> None:
    """Each element becomes plain text as people would write it."""
    assert text_from_html(html) == text


@pytest.mark.parametrize(
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
    ],
)
def test_links(html: str, text: str) -> None:
    """A link shows its URL once, and only if it can be followed from plain text."""
    assert text_from_html(html) == text


NAMES = st.sampled_from(
    [
        *("a", "b", "p", "div", "span", "ul", "ol", "li", "table", "tr", "td", "th", "pre"),
        *("blockquote", "h1", "br", "img", "hr", "i", "font", "section", "x-y"),
    ]
)
WORDS = st.text(st.sampled_from("abc é\n\t\u00a0&;.\"'=-/"), max_size=8)
TAGS = st.builds(
    lambda end, name, attribute: f"<{end}{name}{attribute}>",
    st.sampled_from(["", "", "/"]),
    NAMES,
    st.sampled_from(["", " href='https://x.example/?q'", ' alt="a>b"', " scope=row", " style=x"]),
)


@given(st.lists(TAGS | WORDS, max_size=30).map("".join))
def test_no_tag_is_in_the_text(html: str) -> None:
    """With tags that are open, crossed or closed twice, the text contains no tag."""
    text = text_from_html(html.replace('"a>b"', '"ab"'))
    assert "<" not in text
    assert ">" not in text.replace("> ", "").removesuffix(">")
    assert text == text.strip("\n")


@given(st.text(st.characters() | st.sampled_from("<>/!-='\"&; apre"), max_size=60))
def test_any_input(html: str) -> None:
    """Any string is converted without an exception."""
    text_from_html(html)


@pytest.mark.parametrize(
    ("before", "unit"),
    [
        ("<blockquote>" * 8, "<br>a"),
        ("<ol>" * 8 + "<li>" * 8_000, "<br>a"),
        (("<ol>" + "<li>" * 999) * 8 + "<pre>", "\na"),
        ('<a href="http:', "<"),
        ('<a href="http:">x</a><pre>', "\n<"),
        ("<ol>", "<li>a"),
        ("", "<hr>"),
        ("", "&nGt;"),
        ("", "<ul><li>ü"),
    ],
)
def test_the_text_has_at_most_twice_the_octets(before: str, unit: str) -> None:
    """Indents, marks and escaped URLs cannot make a long text of short HTML."""
    html = before + unit * 20_000
    text = text_from_html(html)
    assert len(text.encode()) <= MAX_GROWTH * len(html.encode())
    if unit.endswith("a"):
        assert text.count("a") == 20_000  # only indents were left out
    assert text


@given(
    st.lists(st.sampled_from(["<ol>", "<li>", "<pre>", "\n", "a", "<hr>", "</li>", "ü"])).map(
        "".join
    )
)
def test_no_text_is_over_twice_its_html(html: str) -> None:
    """The bound holds for short HTML too."""
    assert len(text_from_html(html).encode()) <= MAX_GROWTH * len(html.encode())


def test_a_deep_quote_keeps_its_indents() -> None:
    """The bound of the indents does not change a quoted reply of ordinary lines."""
    html = "<blockquote>" * 3 + "<p>Thanks, that works for me.</p>" * 50 + "</blockquote>" * 3
    assert text_from_html(html).count("> > > Thanks") == 50


def test_links_in_links() -> None:
    """A link around another one is written after it, so that nesting takes linear time."""
    nested = "one<td><ul><a href=http:a>two<td><ul><a href=http:b>three</a><td></ul></a>"
    assert text_from_html(nested) == "one  two  three (http:b)  (http:a)"

    def seconds(levels: int) -> float:
        html = "x<td><ul><a href=http:u>" * levels + "y" + "</a><td></ul>" * levels
        started = time.process_time()
        text_from_html(html)
        return time.process_time() - started

    short, long = (min(seconds(levels) for _ in range(3)) for levels in (500, 4_000))
    assert long < 8 * 3 * short  # quadratic: 64 times


@pytest.mark.parametrize("number", ["9" * 4_301, "0" * 5_000 + "65", "1" * 1_000])
def test_a_number_too_long_for_python(number: str) -> None:
    """A reference with thousands of digits is no character; it raises nothing."""
    assert text_from_html(f"a&#{number};b&#65;") == "a\ufffdbA"
    assert attributes_of(f"alt='&#{number};'") == {"alt": "\ufffd"}


@pytest.mark.parametrize(
    "name", ["iframe", "noembed", "noframes", "script", "style", "textarea", "title"]
)
def test_raw_text_is_never_shown(name: str) -> None:
    """The content of scripts, styles and similar elements is not shown, closed or not."""
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
        *("<style></styl", "<b></i>", "x<a href=http:a>y</a>", "<pre>\n", "<p a='", " ", "<svg>"),
    ],
)
def test_hostile_repetition(unit: str) -> None:
    """The text of deep, crossed or unclosed HTML stays about as long as the HTML."""
    html = unit * (200_000 // len(unit))
    assert len(text_from_html(html)) <= 3 * len(html)
