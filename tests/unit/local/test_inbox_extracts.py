"""The inbox finds links, codes and a preview in an email."""

from email.message import EmailMessage

from hypothesis import given
from hypothesis import strategies as st

from local.inbox.extracts import codes_of, links_of, preview_of
from local.inbox.reading import MailView, read


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
