"""The starter templates as emails: complete, safe and readable."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pillarbox.domain.errors import Json
from pillarbox.domain.templates.template import VariableKind
from pillarbox.rendering.palette import contrast, palette
from pillarbox.rendering.sandbox import Branding, render_starter
from pillarbox.rendering.starters import SLUGS, STARTERS, get_starter
from pillarbox.rendering.text import text_from_html
from pillarbox.rendering.values import values_or_samples
from tests.refusals import faults

BRANDING = Branding(name="Harbour", logo_url=None, attribution=True)
LAYOUT = (STARTERS / "layout.html").read_text()
#: The style sheets in the layout.
STYLE_SHEETS = "".join(re.findall(r"<style>(.*?)</style>", LAYOUT, flags=re.DOTALL))
INLINE = re.sub(r"/\*.*?\*/", "", (STARTERS / "inline.css").read_text(), flags=re.DOTALL)
COMPANY: dict[str, Json] = {
    "support_email": "help@shop.example",
    "action_url": "https://shop.example/go",
}
LINES: Json = [
    {"number": 1, "description": "Plan", "amount": "1 EUR"},
    {"number": 2, "description": "Seats", "amount": ""},
]
every_starter = pytest.mark.parametrize("slug", SLUGS)


def sample(slug: str, branding: Branding = BRANDING, **given: Json) -> str:
    starter = get_starter(slug)
    return render_starter(slug, values_or_samples(starter, {}) | given, branding)


def shown(html: str) -> LexborNode:
    body = LexborHTMLParser(html).body
    assert body
    return body


def first(node: LexborNode | LexborHTMLParser, selector: str) -> LexborNode:
    match = node.css_first(selector)
    assert match
    return match


@every_starter
def test_samples_fill_the_template(slug: str) -> None:
    html = sample(slug)
    assert not re.search(r"\{\{|\}\}|\{%|<!--%|%-->|\[%|\[\[", html)
    starter = get_starter(slug)
    for variable in starter.variables:
        if variable.name not in {"expiry_minutes", "days_left"}:
            assert variable.sample.replace("&", "&amp;") in html
    if any(v.name == "expiry_minutes" for v in starter.variables):
        assert "expires in" in html


@every_starter
def test_values_are_escaped(slug: str) -> None:
    """A value is text everywhere: it adds no element and no attribute."""
    hostile = "\"><script>alert(1)</script>' onload=x"
    starter = get_starter(slug)
    given = {v.name: hostile for v in starter.variables if v.kind is VariableKind.TEXT}
    clean = shown(sample(slug, replace(BRANDING, logo_url="https://x.example/l.png")))
    html = sample(
        slug,
        Branding(name=hostile, logo_url=f"https://x.example/{hostile}", attribution=True),
        **given,
    )
    body = shown(html)
    assert "<script" not in html
    assert [n.tag for n in body.traverse()] == [n.tag for n in clean.traverse()]
    assert [sorted(n.attributes) for n in body.traverse()] == [
        sorted(n.attributes) for n in clean.traverse()
    ]


@pytest.mark.parametrize("value", ["{{7*7}}", "{{ x.__class__ }}", "<!--% if x %-->", "[[ 7 ]]"])
def test_values_are_not_templates(value: str) -> None:
    """A value that looks like a template is shown unchanged, because rendering is one pass."""
    assert first(shown(sample("otp", otp_code=value)), ".code").text() == value


@every_starter
def test_attribution(slug: str) -> None:
    """The footer names the service only if the branding asks for attribution."""
    assert "Sent with Pillarbox" in sample(slug)
    assert "Pillarbox" not in sample(slug, replace(BRANDING, attribution=False))


@every_starter
def test_a_test_says_so_first(slug: str) -> None:
    """A test begins with that line, in HTML and as text; it gives no other reason at its end."""
    html = sample(slug, Branding(name=None, logo_url=None, attribution=True, is_test=True))
    notice = "This is a test. All names, codes, amounts and links in this email are examples."
    assert first(shown(html), "table p").text().startswith(notice)
    lines = text_from_html(html).splitlines()
    assert lines[0].startswith(notice)
    assert lines[-3] == "You received this email because someone sent a test to your address."
    assert "test" not in text_from_html(sample(slug))


@every_starter
def test_head(slug: str) -> None:
    """The header shows the logo with the brand as alternative text, the brand, or nothing."""
    logo = shown(sample(slug, replace(BRANDING, logo_url="https://x.example/l.png?a&b")))
    image = first(logo, "img")
    assert image.attributes["src"] == "https://x.example/l.png?a&b"
    assert image.attributes["alt"] == "Harbour"
    assert first(shown(sample(slug)), ".brand").text() == "Harbour"
    bare = shown(sample(slug, Branding(name=None, logo_url=None, attribution=False)))
    assert first(bare, ".head").text().strip() == ""
    unnamed = Branding(name=None, logo_url="https://x.example/l.png", attribution=False)
    assert first(shown(sample(slug, unnamed)), "img").attributes["alt"] == ""


@every_starter
def test_accessible(slug: str) -> None:
    """An email has a language, a title, one heading, alternative texts and marked layout tables."""
    html = sample(slug, replace(BRANDING, logo_url="https://x.example/l.png"))
    document = LexborHTMLParser(html)
    assert document.root
    assert document.root.attributes["lang"] == "en"
    assert len(document.css("h1")) == 1
    assert first(document, "title").text() == first(document, "h1").text()
    for table in document.css("table"):
        is_data = table.attributes.get("class") == "rows"
        assert is_data is (table.attributes.get("role") != "presentation")
    assert len(document.css(".rows th[scope=row]")) == len(document.css(".rows tr"))
    assert all("alt" in image.attributes for image in document.css("img"))


@every_starter
def test_css_is_inlined(slug: str) -> None:
    """Each rule of inline.css is in the style attribute of every element that it selects."""
    document = LexborHTMLParser(sample(slug))
    for selector, declarations in re.findall(r"([^{}]+)\{([^{}]+)\}", INLINE):
        for node in document.css(selector.strip()):
            style = node.attributes.get("style") or ""
            for name in re.findall(r"([\w-]+)\s*:", declarations):
                assert re.search(rf"(^|;)\s*{re.escape(name)}\s*:", style), (selector, name)


def test_every_class_is_styled() -> None:
    styled = set(re.findall(r"\.([a-z]+)\b(?=[^{}]*\{)", INLINE + STYLE_SHEETS))
    used = {
        name
        for slug in SLUGS
        for node in LexborHTMLParser(
            sample(slug)
            + sample(slug, replace(BRANDING, logo_url="https://x.example"))
            + sample(slug, replace(BRANDING, is_test=True))
            + sample(slug, BRANDING, lines=LINES, **COMPANY)
        ).css("[class]")
        for name in (node.attributes["class"] or "").split()
    }
    assert used - styled == {"attribution"}
    assert styled - used == set()


@every_starter
def test_size(slug: str) -> None:
    """An email is far smaller than the 102 KB at which Gmail cuts it off."""
    assert len(sample(slug).encode()) < 20 * 1024


@every_starter
def test_button_and_address(slug: str) -> None:
    """Each link has a button and, for mail programs that break buttons, a visible URL."""
    starter = get_starter(slug)
    body = shown(sample(slug))
    for variable in starter.variables:
        if variable.kind is VariableKind.WEB_URL:
            links = [a for a in body.css("a") if a.attributes["href"] == variable.sample]
            assert [a.text() == variable.sample for a in links] == [False, True]


@every_starter
def test_preheader(slug: str) -> None:
    """The preview line for inboxes is hidden, and does not repeat the heading."""
    body = shown(sample(slug))
    hidden = next(node for node in body.iter())
    assert hidden.attributes["class"] == "preheader"
    preview = re.split("[\u034f\u200c]", hidden.text())[0].strip()
    assert preview
    assert preview != first(body, "h1").text()
    assert preview not in text_from_html(sample(slug))


def test_links_of_contacts() -> None:
    """A contact that is a bare address gets a mailto: link, and a URL is the link itself."""
    for contact, href in (
        ("help@x.example", "mailto:help@x.example"),
        ("https://x.example/help", "https://x.example/help"),
    ):
        link = first(shown(sample("password_changed", support_email=contact)), "a")
        assert (link.attributes["href"], link.text()) == (href, contact)


def receipt(**given: Json) -> list[tuple[str, str]]:
    body = shown(
        sample(
            "payment_receipt",
            replace(BRANDING, sent_at=datetime(2026, 11, 20, tzinfo=UTC)),
            **given,
        )
    )
    rows = [(first(row, "th").text(), first(row, "td").text()) for row in body.css(".rows tr")]
    return [("Amount", first(body, ".sum").text()), *rows]


def test_a_receipt_shows_amount_date_and_seller() -> None:
    assert receipt(amount=1234567.5, currency="eur") == [
        ("Amount", "1,234,567.50 EUR"),
        ("Invoice", "INV-2026-0117"),
        ("Date", "20 November 2026"),
        ("Seller", "Harbour"),
    ]
    preheader = shown(sample("payment_receipt", amount=12500, currency="jpy")).text().strip()
    assert preheader.startswith("12,500 JPY received")


def test_a_receipt_without_date_and_seller_leaves_them_out() -> None:
    body = shown(sample("payment_receipt", Branding(None, None, attribution=False)))
    assert [label.text() for label in body.css(".rows th")] == ["Invoice"]


def test_a_receipt_shows_lines_and_company() -> None:
    lines: Json = [{"description": "Plan", "amount": 1041.5}, {"description": "<b>", "amount": ""}]
    company = {**COMPANY, "lines": lines, "company_address": "1 Quay Street"}
    body = shown(sample("payment_receipt", BRANDING, **company))
    rows = [[cell.text() for cell in row.css("th, td")] for row in body.css(".rows tr")]
    assert rows == [
        ["Plan", "1,041.50"],
        ["<b>"],
        ["Invoice", "INV-2026-0117"],
        ["Seller", "Harbour1 Quay Street"],
    ]
    assert [(a.text(), a.attributes["href"]) for a in body.css("a")][::2] == [
        ("View the invoice", "https://shop.example/go"),
        ("help@shop.example", "mailto:help@shop.example"),
    ]
    assert "Reply to this email" in shown(sample("payment_receipt")).text()


def test_a_welcome_has_steps_of_its_own_or_of_the_account() -> None:
    bare, full = (
        shown(sample("welcome")),
        shown(sample("welcome", BRANDING, lines=LINES, **COMPANY)),
    )
    assert [step.text() for step in bare.css(".step")] == ["1", "2", "3"]
    assert not bare.css(".button")
    assert [step.text() for step in full.css(".step, .stride")] == ["1", "Plan", "2", "Seats"]
    assert first(full, ".button a").attributes["href"] == "https://shop.example/go"


def test_an_ending_trial_says_what_ends() -> None:
    rows = shown(sample("trial_ending", lines=LINES)).css(".rows tr")
    assert [row.text() for row in rows] == ["Plan1 EUR", "Seats"]
    bare = shown(sample("trial_ending"))
    assert first(bare, "h1").text() == "Your Harbour trial ends in 3 days"
    assert "you then no longer have what the trial includes." in bare.text()


@every_starter
def test_every_email_shows_the_address_of_the_company(slug: str) -> None:
    assert sample(slug, company_address="1 Quay <Street>").count("1 Quay &lt;Street&gt;") == 1


@every_starter
def test_no_article_before_a_value(slug: str) -> None:
    """No text has "a" or "an" before a value, because the value decides which one is right."""
    starter = get_starter(slug)
    source = (STARTERS / slug / "mail.html").read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", source).split())
    assert "{{" in text
    assert not re.search(r"\ban?\s+\{\{", f"{text} {starter.subject}", re.IGNORECASE)


@every_starter
def test_the_email_is_an_article(slug: str) -> None:
    body = shown(sample(slug))
    (article,) = body.css("[role=article]")
    assert article.attributes["aria-label"] == first(body, "h1").text()
    assert article.attributes["aria-roledescription"] == "email"
    assert article.attributes["lang"] == "en"
    assert len(article.css("p")) == len(body.css("p"))


@every_starter
def test_each_part_of_the_style_has_its_own_block(slug: str) -> None:
    """Phones, dark mode and Outlook's apps have a block each, so a client refuses one alone."""
    html = sample(slug)
    assert '<meta name="color-scheme" content="light dark">' in html
    assert "<!--[if mso]>" in html
    phones = "@media only screen and (max-width: 480px)"
    kinds = (phones, "prefers-color-scheme", "[data-", "a[x-apple", ":root")
    blocks = [node.text() for node in LexborHTMLParser(html).css("head > style")]
    assert [[kind for kind in kinds if kind in block] for block in blocks] == [
        [":root"],
        ["a[x-apple"],
        [phones],
        ["prefers-color-scheme"],
        ["[data-"],
    ]


@every_starter
def test_the_accent_replaces_the_colours_of_the_starters(slug: str) -> None:
    html = sample(slug, replace(BRANDING, accent="#0a7d5a"))
    assert first(shown(html), ".slot").attributes["bgcolor"] == "#0a7d5a"
    for name in ("accent", "accent_dark", "link", "link_dark"):
        assert palette(None)[name] not in html
    assert palette("#0a7d5a")["link_dark"] in html


def declared(css: str, name: str, prop: str) -> str:
    """Return the last value of a property for a class in a style sheet."""
    values = [
        value
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]+)\}", css)
        if name in [selector.strip() for selector in selectors.split(",")]
        for value in re.findall(rf"(?<![\w-]){prop}:\s*(#[0-9a-f]{{6}})", body)
    ]
    assert values, (name, prop)
    return str(values[-1])


def pairs() -> Iterator[tuple[str, str]]:
    """Yield each class of text with each of its backgrounds."""
    for text in (".ink", ".headline", ".copy", ".quiet", ".link"):
        yield text, ".card"
    yield from ((".ink", ".sheet"), (".quiet", ".sheet"), (".quiet", ".panel"), (".sum", ".panel"))
    yield from ((".code", ".panel"), (".step", ".step"), (".button a", ".button a"))


@pytest.mark.parametrize("accent", [None, "#0a7d5a", "#e11d48", "#808080", "#6a5acd"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "background"), list(pairs()))
def test_contrast(scheme: str, text: str, background: str, accent: str | None) -> None:
    """Text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2 AA, 1.4.3)."""
    dark = LAYOUT[LAYOUT.index("prefers-color-scheme: dark") :].split("[data-ogsb]")[0]
    css = INLINE if scheme == "light" else dark.partition("{")[2]
    # The longest names first, because some are the start of others.
    for name, value in sorted(palette(accent).items(), reverse=True):
        css = css.replace(f"colour-{name.replace('_', '-')}", value)
    colour, behind = declared(css, text, "color"), declared(css, background, "background-color")
    assert contrast(colour, behind) >= 4.5


def test_too_large() -> None:
    """Values that make the email larger than 1 MB are refused as too large."""
    assert faults(sample, "otp", app_name="<" * 200_000) == [("variables", "too_large")]


@given(st.text(), st.text(min_size=1))
def test_any_value_is_shown(code: str, brand: str) -> None:
    body = shown(sample("otp", Branding(brand, None, attribution=False), otp_code=code + "."))
    shown_code = first(body, ".code").text()
    # Browsers drop NUL and read CR as LF. The JSON parser refuses lone surrogates.
    expected = (code + ".").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    assert shown_code == expected
