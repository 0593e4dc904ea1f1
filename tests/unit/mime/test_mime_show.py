"""What people see of a kept message."""

from pillarbox.mime.parse import ShownFile, ShownMail, show
from tests.loops import for_each

MAX_SHOWN = 512 * 1024


@for_each(
    ("header", "body", "text"),
    [
        ("", b"a\xc3\xbc", "aü"),
        ("Content-Type: text/plain; charset=iso-8859-1\r\n", b"\x93a\xfc\x94", "“aü”"),
        ("Content-Type: text/plain; charset=x-unknown\r\n", b"\xc3\xbc\xff", "ü\ufffd"),
        ("Content-Type: text/plain; charset=gb2312 (x)\r\n", b"\xd6\xd0\xce\xc4", "中文"),
        ("Content-Transfer-Encoding: BASE64\r\n", b"YcO8\r\n", "aü"),
        ("Content-Transfer-Encoding: quoted-printable;\r\n", b"a=C3=BC=\r\n", "aü"),
        ("", b"x" * MAX_SHOWN, "x" * MAX_SHOWN),
        ("", b"x" * (MAX_SHOWN + 1), None),
    ],
)
def test_the_text(header: str, body: bytes, text: str | None) -> None:
    """A text is decoded as mail programs do it; one that is too long is not shown."""
    octets = header.encode() + b"\r\n" + body
    assert show(octets) == ShownMail(None, text, (), len(octets))


def test_files() -> None:
    """A file has the name that most programs show, its type and its decoded size."""
    octets = (
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n"
        b'--b\r\nContent-Type: text/html; name="=?utf-8?q?=C3=BC?=.html"\r\n\r\n<p>\r\n'
        b"--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment;"
        b" filename=my (1).pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--b--\r\n"
    )
    files = (ShownFile("ü.html", "text/html", 3), ShownFile("my (1).pdf", "application/pdf", 4))
    assert show(octets) == ShownMail(None, "Hi", files, len(octets))


def test_a_message_that_is_refused_by_now() -> None:
    octets = (
        b'Content-Type: multipart/mixed; boundary="a\r\n b"\r\n\r\n--a b\r\n\r\nHi\r\n--a b--\r\n'
    )
    assert show(octets) == ShownMail(None, None, (), len(octets))


def test_a_returned_message_is_not_the_text() -> None:
    html = b"Content-Type: text/html\r\n\r\n<p>x\r\n"
    octets = (
        b"Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\n"
        b"Content-Type: message/rfc822\r\n\r\n" + html + b"--b--\r\n"
    )
    files = (ShownFile(None, "message/rfc822", len(html) - 2), ShownFile(None, "text/html", 4))
    assert show(octets) == ShownMail(None, "Hi", files, len(octets))
