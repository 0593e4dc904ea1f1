"""Header fields: both parsers of the standard library read back the original values."""

import email
import email.policy
import re
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.utils import getaddresses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pillarbox.mime import headers
from tests.loops import for_each

#: The Unicode that the HTTP layer accepts: no control, no line end, no lone surrogate.
TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029"))
#: Text with many characters that have a meaning in header fields.
HOSTILE = st.text(st.sampled_from("ab ü€日😀\"\\,;:<>()@.=?_%'*[]")).map(
    lambda text: text.replace("a", "=?utf-8?q?x?=").replace("b", "word " * 3)
)
VALUES = TEXT | HOSTILE

CONTROLS = ["\r", "\n", "\r\n", "\0", "\t", "\x7f", "\x85", "\u2028", "\u2029"]


def read(field: bytes) -> EmailMessage:
    """Parse a field with the standard library's current parser."""
    return email.message_from_bytes(field + b"\r\n", policy=email.policy.default)


def read_compat32(field: bytes) -> Message:
    """Parse a field with the standard library's older parser."""
    return email.message_from_bytes(field + b"\r\n")


def unfolded(field: bytes) -> str:
    """Return the unfolded value of a field (RFC 5322 section 2.2.3)."""
    return field.decode("ascii").replace("\r\n", "").partition(": ")[2]


def check_lines(field: bytes) -> None:
    """Check a field with foldable words against the limits of RFC 2047 and RFC 5322."""
    assert field.endswith(b"\r\n")
    lines = field[:-2].split(b"\r\n")
    assert all(len(line) <= 76 and line.strip() for line in lines)
    assert all(line.startswith(b" ") for line in lines[1:])
    assert all(len(word) <= 75 for word in re.findall(rb"=\?\S*\?=", field))


@given(VALUES)
@example("😀" * 998)  # the longest (contract 2.1)
def test_subject_round_trips(subject: str) -> None:
    field = headers.field("Subject", headers.unstructured(subject))

    assert read(field)["Subject"] == subject
    assert str(make_header(decode_header(unfolded(field)))) == subject
    if subject:
        check_lines(field)


@given(VALUES)
def test_encoded_words_have_whole_characters(subject: str) -> None:
    """Each encoded-word decodes on its own (RFC 2047 section 5)."""
    for word in headers.unstructured(subject):
        if word.startswith("=?utf-8?"):
            [(octets, charset)] = decode_header(word)
            assert isinstance(octets, bytes)
            assert charset == "utf-8"
            octets.decode()


@for_each(
    ("subject", "words"),
    [
        ("Your receipt", ["Your", "receipt"]),
        ("", [""]),
        ("Your cosy café", ["=?utf-8?q?Your_cosy_caf=C3=A9?="]),
        ("日本", ["=?utf-8?b?5pel5pys?="]),
        (" x", ["=?utf-8?q?_x?="]),
        ("a  b", ["=?utf-8?q?a__b?="]),
        ("=?utf-8?q?x?=", ["=?utf-8?b?PT91dGYtOD9xP3g/PQ==?="]),
    ],
)
def test_subject_is_encoded_only_if_needed(subject: str, words: list[str]) -> None:
    assert headers.unstructured(subject) == words


@given(VALUES.filter(bool))
@example("x" * 1024)
def test_display_name_round_trips_with_one_address(name: str) -> None:
    field = headers.field("From", headers.mailbox(name, "no-reply@shop.example"))

    [address] = read(field)["From"].addresses
    assert address.addr_spec == "no-reply@shop.example"
    # This parser keeps spaces between encoded-words and strips some at the ends.
    assert "".join(address.display_name.split()) == "".join(name.split())
    [(raw_name, raw_address)] = getaddresses([unfolded(field)])
    assert raw_address == "no-reply@shop.example"
    assert str(make_header(decode_header(raw_name))) == name
    check_lines(field)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, ["a@b.example"]),
        ("", ["a@b.example"]),
        ("Shop", ['"Shop"', "<a@b.example>"]),
        ('x" <e@evil>,"', [r'"x\" <e@evil>,\""', "<a@b.example>"]),
        ("x\\", [r'"x\\"', "<a@b.example>"]),
        ("Müller, Anna", ["=?utf-8?q?M=C3=BCller=2C_Anna?=", "<a@b.example>"]),
    ],
)
def test_mailbox(name: str | None, words: list[str]) -> None:
    """A display name is quoted or encoded; without a name there is only the address."""
    assert headers.mailbox(name, "a@b.example") == words


def test_fifty_recipients_are_folded() -> None:
    addresses = tuple(f"customer-{number}@mail.example" for number in range(50))
    field = headers.field("To", headers.address_list(addresses, {}))

    check_lines(field)
    assert tuple(address.addr_spec for address in read(field)["To"].addresses) == addresses


@given(VALUES.filter(lambda name: 0 < len(name) <= 255))
def test_file_name_round_trips(name: str) -> None:
    field = headers.field("Content-Disposition", ["attachment;", *headers.filename_parameter(name)])

    disposition = read(field)["Content-Disposition"]
    assert disposition.content_disposition == "attachment"
    assert dict(disposition.params) == {"filename": name}
    if re.fullmatch(r"\s*<.*>\s*", name, re.DOTALL) is None:  # from which `get_filename` takes <>
        assert read_compat32(field).get_filename() == name.strip()
    if b"filename*" in field:
        check_lines(field)


@for_each(
    ("name", "words"),
    [
        ("receipt.pdf", ['filename="receipt.pdf"']),
        ("a; b=c.pdf", ['filename="a; b=c.pdf"']),
        ("x" * 255, [f'filename="{"x" * 255}"']),
        ('a"b\\.pdf', ["filename*=utf-8''a%22b%5C.pdf"]),
        ("=?utf-8?q?x?=", ["filename*=utf-8''%3D%3Futf-8%3Fq%3Fx%3F%3D"]),
        ("über.pdf", ["filename*=utf-8''%C3%BCber.pdf"]),
        (
            "日本" * 4 + ".pdf",
            [
                "filename*0*=utf-8''%E6%97%A5%E6%9C%AC%E6%97%A5%E6%9C%AC%E6%97%A5%E6%9C%AC;",
                "filename*1*=%E6%97%A5%E6%9C%AC.pdf",
            ],
        ),
    ],
)
def test_filename_forms(name: str, words: list[str]) -> None:
    """Simple ASCII has the plain form, and other names have the form of RFC 2231."""
    assert headers.filename_parameter(name) == words


@for_each("control", CONTROLS)
def test_control_characters_are_refused(control: str) -> None:
    for text in (f"x{control}Bcc: e@evil.example", f"ü{control}Bcc: e@evil.example"):
        with pytest.raises(ValueError, match="control character"):
            headers.unstructured(text)
        with pytest.raises(ValueError, match="control character"):
            headers.mailbox(text, "a@b.example")
        with pytest.raises(ValueError, match="control character"):
            headers.filename_parameter(text)


@for_each(
    "address",
    [
        *("", "a", "a@", "@b.example", "a@b.example\r\nBcc: e@evil.example", "a@b.example\n"),
        *("a@b.example,c@d.example", "a@b.example c@d.example", "A <a@b.example>"),
        *("<a@b.example>", '"a b"@b.example', "a@[127.0.0.1]", "a@b.example (comment)"),
        *("ü@b.example", "a@bücher.example"),
        "a" * 330 + "@b.example",
    ],
)
def test_only_bare_addresses_pass(address: str) -> None:
    """An address that could be read as another address, several, or a new line is refused."""
    with pytest.raises(ValueError, match="addr-spec") as caught:
        headers.addr_spec(address)
    assert "example" not in str(caught.value)
