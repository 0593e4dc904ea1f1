"""The inbox finds the codes of an email among amounts, dates, phone numbers and other figures."""

import string
import time
from datetime import datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.inbox.codes import codes_in
from local.inbox.extracts import codes_of, links_of, preview_of
from local.inbox.reading import MailView, read
from tests.loops import for_each

#: How emails say what their code is; the code may be anything, a year too.
SAYINGS = (
    "Your code is {}.",
    "Your code is {}. It expires in 10 minutes.",
    "{} is your verification code.",
    "Use {} to sign in, or follow the link",
    "Code: {}",
    "code:{}",
    "Your one-time PIN ({}) is valid for 1 hour",
    "Dein Anmeldecode lautet {}",
    "Votre code est {} et expire en 2030",
    "您的验证码是{}。",
    "Here is your code\n\nEnter it to continue.\n\n{}\n\nIt works once.",
    "{}\nThis is your code.",
    "Your code for order 12345678 is {}",
    "Your code for your account: {}",
)
codes = st.from_regex(r"[0-9]{4,8}", fullmatch=True)
numbers = st.integers(1000, 99_999_999).map(str)
years = st.integers(1900, 2099).map(str)
groups = st.text(string.ascii_uppercase + string.digits, min_size=4, max_size=4)


def with_each[T](values: st.SearchStrategy[T], *forms: str) -> st.SearchStrategy[str]:
    """Return texts with a value in one of these forms."""
    return st.builds(str.format, st.sampled_from(forms), values)


#: What an email says beside its code, each a line with a figure that is no code.
amounts = with_each(
    numbers,
    *(
        "${}",
        "{} €",
        "{}€",
        "EUR {}",
        "Total: {} JPY",
        "{} USD",
        "{}.00",
        "1,{}.50",
        "£ {} a month",
    ),
    *("{} points", "{} emails this month", "{}%", "{} km", "{} kr", "{} dollars", "Rs. {}"),
)
dates = st.builds(
    lambda date, form: date.strftime(form),
    st.datetimes(datetime(1900, 1, 1), datetime(2099, 12, 31)),  # noqa: DTZ001  formatted only
    st.sampled_from(
        [
            *("%d %B %Y", "%B %d, %Y", "%b %d %Y, %H:%M", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y"),
            *("%a, %d %b %Y %H:%M:%S +0000", "%H:%M:%S on %d. %B %Y", "in %B %Y", "%Y-%m-%dT%H:%M"),
        ]
    ),
)
in_years = with_each(
    years,
    *("© {} Shop", "(c) {} Shop", "Copyright {} Shop", "since {}", "in {}", "{}-2099", "{} ©"),
    *("Shop, {}", "Our plans for {}", "From March {} on"),
)
phones = with_each(
    st.from_regex(r"[0-9]{7}", fullmatch=True),
    *("+49 30 {}", "(030) {}", "030 {}", "030/{}", "Tel. {}", "Phone: {}", "call {}", "1-800-{}"),
)
named_numbers = with_each(
    numbers,
    *("Order {}", "Order #{}", "Order number: {}", "Your order number is {}", "Invoice no. {}"),
    *("Order number\n{}", "Bestellung {}", "Rechnung Nr. {}", "Customer ID {}", "#{}"),
    *(
        "https://example.com/{}",
        "{}@example.com",
        "v1.{}.2",
        "a{}b",
        "card ending in {}",
        "**** {}",
    ),
    *("Ticket {} was closed", "http://127.0.0.1:{}/", "Article SKU-{}", "INV-2026-{}"),
)
addresses = st.sampled_from(
    ["San Francisco, CA 94105", "10115 Berlin", "1600 Amphitheatre Parkway", "203.0.113.24"]
)
names = with_each(groups, "Seat {0}-{0}", "{0}-{0}", "Booking {0}{0}", "ISO-{}")
noise = st.one_of(amounts, dates, in_years, phones, named_numbers, addresses, names)


@given(codes, st.sampled_from(SAYINGS))
def test_a_code_of_digits_is_found(code: str, saying: str) -> None:
    assert codes_in(saying.format(code)) == [code]


@given(groups, groups, st.sampled_from(SAYINGS))
def test_a_code_of_letters_and_digits_is_found(first: str, second: str, saying: str) -> None:
    code = f"{first}-{second}"
    expected = code.replace("-", "") if code.replace("-", "").isdigit() else code
    assert codes_in(saying.format(code)) == [expected]


@given(st.lists(noise, max_size=4))
def test_other_figures_are_no_codes(lines: list[str]) -> None:
    assert codes_in("\n".join(lines)) == []


@given(st.lists(noise, max_size=3), codes, st.sampled_from(SAYINGS), st.lists(noise, max_size=3))
def test_only_the_code_is_found(
    before: list[str], code: str, saying: str, after: list[str]
) -> None:
    text = "\n\n".join(["Hello Ada,", *before, "We write to you.", saying.format(code), *after])
    assert codes_in(text) == [code]


@for_each(
    ("text", "found"),
    [
        ("Use AB12-CD34 to sign in", ["AB12-CD34"]),
        ("G-481516 is your verification code", ["G-481516"]),
        ("Your code: WDJB-MJHT", ["WDJB-MJHT"]),
        ("Your code is X7K9Q2", ["X7K9Q2"]),
        ("Your code: 4 8 1 5 1 6", ["481516"]),
        ("Your code: 4815 1623", ["48151623"]),
        ("Save these codes:\n12345678\n23456789\n34567890", ["12345678", "23456789", "34567890"]),
        ("Hello! 481516", ["481516"]),
        ("123-456", ["123456"]),
        ("1234 and 12345678, again 1234", ["1234", "12345678"]),
        ("123 or 123456789", []),
        ("12,345.00, +491234567", []),
        ("Vahvistustunnuksesi on 481516", ["481516"]),
        ("Hello! 1234\nYour code is 5678", ["5678", "1234"]),
        ("Your postal code is AB12-CD34", []),
        ("PLEASE READ THE CODE OF CONDUCT", []),
        ("Your QR code was scanned 2026", []),
        ("Flight AB1234 leaves", []),
        ("2026", []),
        ("AB12-CD34", []),
        ("", []),
    ],
)
def test_codes_of_examples(text: str, found: list[str]) -> None:
    assert codes_in(text) == found


@pytest.mark.parametrize(
    "html",
    [
        "<p>Your code is:</p><p><b>481516</b></p><p>&copy; 2026 Shop</p>",
        "<div>Your code is:</div><div>4<i>8</i>1516</div>2026",
        "<table><tr><td>Code</td><td>481516</td></tr><tr><td>Sum</td><td>1200 EUR</td></tr>",
        "<h1>Sign in</h1><table><tr>"
        + "".join(f"<td>{d}</td>" for d in "481516")
        + "</tr></table>",
    ],
)
def test_codes_of_html(html: str) -> None:
    view = MailView(headers=(), text=None, html=f"<title>2026</title>{html}", parts=())
    assert codes_of("Welcome", view) == ["481516"]


def test_a_large_email_takes_no_square_of_its_length() -> None:
    for line in ("1234 5678 code. ", "1234567\n", "A" * 50 + "code1234 "):
        took = []
        for times in (200, 2_000):
            start = time.process_time()
            codes_in(line * times)
            took.append(time.process_time() - start)
        assert took[1] < 50 * took[0]


def view(text: str | None = None, html: str | None = None) -> MailView:
    """Return an email with these bodies."""
    return MailView(headers=(), text=text, html=html, parts=())


def test_links_of_html_and_text() -> None:
    html = (
        '<a href="https://a.example/?x=1&amp;y=2">a</a><a href="mailto:b@example.com">b</a><a>c</a>'
    )
    text = "Open https://a.example/?x=1&y=2, or (https://c.example/d)."
    assert links_of(view(text, html)) == ["https://a.example/?x=1&y=2", "https://c.example/d"]


def test_links_are_those_that_a_browser_opens() -> None:
    html = (
        '<a href="https://a.example/?x=1&region=eu&copy=2">a</a>'
        '<AREA HREF=" https://b.example/c d"><a href="#top">b</a>'
        '<!-- <a href="https://no.example/"> --><script>"<a href=https://no.example/>"</script>'
    )
    found = ["https://a.example/?x=1&region=eu&copy=2", "https://b.example/c%20d"]
    assert links_of(view(html=html)) == found


def test_codes_after_a_hidden_paragraph() -> None:
    html = '<p style="display:none">Preheader<h1>Your code is 482193</h1><p>Bye</p>'
    assert codes_of("", view(html=html)) == ["482193"]
    html = 'Your code: <a href="shop://code/111111">Open</a>, <a href="tel:222222">call</a>'
    assert codes_of("", view(html=html)) == []


def test_codes_of_the_subject_come_first() -> None:
    html = "<style>.x{width:1234px} 5678 </style><p>Code <b>222222</b></p>"
    assert codes_of("111111 is your code", view(html=html)) == ["111111", "222222"]
    assert codes_of("Your code", view("Your code: https://example.com/?code=481516")) == []


def test_the_preview_is_one_line() -> None:
    assert preview_of(view("Hello\n\n  Ada\n")) == "Hello Ada"
    assert preview_of(view(html="<head><title>No</title></head><p>Hi</p><p>Bob</p>")) == "Hi Bob"
    assert len(preview_of(view("x" * 500))) == 140
    assert preview_of(view()) == ""


@given(st.text(alphabet="<>[]&;!-/ ahref='\"=scriptyl1234\n"))
def test_no_html_is_too_broken(html: str) -> None:
    mail = EmailMessage()
    mail.set_content(html, subtype="html")
    parsed = read(mail.as_bytes())
    assert all(link.startswith("http") for link in links_of(parsed))
    assert all(code.isdigit() for code in codes_of("", parsed))
    assert "\n" not in preview_of(parsed)
