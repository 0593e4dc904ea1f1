"""Header fields of the caller's own: the same table over HTTP and over SMTP."""

from collections.abc import Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.messages.mail import NAMES, HeaderError, is_ours, normal_headers
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.wire import validate
from tests.fakes.world import World
from tests.loops import for_each
from tests.unit.application.test_application_smtp import FROM, sent_bytes
from tests.unit.application.test_application_smtp import submit as submit_smtp

MAX_HEADERS_BYTES = 4096

SEND: Mapping[str, Any] = {"to": "ann@example.com", "html": "<p>Hi</p>", "subject": "Hello"}
#: A valid value for each field of the table, and for some X- fields.
VALUES: Mapping[str, str] = {
    "In-Reply-To": "<a@shop.example>",
    "References": " ".join(f"<{number}@shop.example>" for number in range(40)),
    "List-Unsubscribe": "<mailto:u@shop.example?subject=x>, <https://shop.example/u?id=1>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
    "Precedence": "bulk",
    "Feedback-ID": "receipts:shop:aws",
    "X-Entity-Ref-ID": "x" * 300,
    "x-ORDER_id": "Grüße, 日本 😀  two blanks",
    "X-Small": "=?utf-8?q?literal?=",
}


def sent_over_http(**fields: Any) -> EmailMessage:
    """Send over HTTP, deliver, and read what SES got with a strict parser."""
    world = World()
    body: dict[str, Any] = {**SEND, **fields}
    world.send(validate(SendEmailRequest, body).to_domain(body))
    raw = sent_bytes(world)
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    message = message_from_bytes(raw, policy=policy.default)
    assert not [part.defects for part in message.walk() if part.defects]
    return message


def fault_of(headers: Mapping[str, str]) -> str:
    """Return what is said of some fields; empty if they are valid."""
    try:
        normal_headers(headers)
    except HeaderError as error:
        return str(error)
    return ""


def test_each_field_reads_back_as_it_was_given() -> None:
    """A strict parser reads every field of the table with the value of the request."""
    message = sent_over_http(headers=VALUES)
    assert {name: message[name] for name in VALUES} == VALUES
    assert set(NAMES) < set(VALUES)


def test_what_http_takes_smtp_delivers() -> None:
    for name, value in VALUES.items():
        if value.isascii():
            world = World()
            submit_smtp(world, f"{FROM}{name}: {value}\r\n\r\nHi\r\n")
            assert f"{name}: {value}\r\n".encode() in sent_bytes(world)


@for_each("name", ["X-SES-Configuration-Set", "x-tag-order", "X-API-Key", "X-Api-Key-Old"])
def test_what_is_ours_reaches_nobody(name: str) -> None:
    """A field for SES or this service is refused over HTTP and removed over SMTP."""
    assert is_ours(name.lower())
    assert fault_of({name: "x"})
    world = World()
    submit_smtp(world, f"{FROM}{name}: x\r\n\r\nHi\r\n")
    assert name.encode() not in sent_bytes(world)


@for_each(
    ("headers", "fault"),
    [
        ({"Bcc": "x@y.example"}, "is none of In-Reply-To"),
        ({"To": "x"}, "is none of"),
        ({"Subject": "x"}, "is none of"),
        ({"Message-ID": "<a@b.example>"}, "is none of"),
        ({"DKIM-Signature": "x"}, "is none of"),
        ({"X-": "x"}, "is none of"),
        ({"X-a b": "x"}, "is none of"),
        ({"X-ü": "x"}, "is none of"),
        ({"X-Kullan\u0131c\u0131-Id": "7"}, "is none of"),
        ({"X-\u212aey": "7"}, "is none of"),
        ({"Feedbac\u212a-ID": "7"}, "is none of"),
        ({"X-\u017fES-Configuration-Set": "7"}, "is none of"),
        ({"X-a\r\nBcc": "x"}, "is none of"),
        ({"X-A": "a\r\nBcc: b@c.example"}, "control characters"),
        ({"X-A": "a\u202eb"}, "control characters"),
        ({"X-A": ""}, "must have a value"),
        ({"X-A": " a"}, "must have a value"),
        ({"X-A": "\u200b"}, "must have a value"),
        ({"X-A": "x" * 901}, "a word of more than 900 bytes"),
        ({"X-A": "a", "x-a": "b"}, "the same name twice"),
        ({"X-Tag-order": "1"}, "goes in tags"),
        ({"In-Reply-To": "a@shop.example"}, "message ids"),
        ({"References": "<a@b.example>, <c@d.example>"}, "message ids"),
        ({"List-Unsubscribe": "https://shop.example"}, "must be links"),
        ({"List-Unsubscribe": "<javascript:alert(1)>"}, "must be links"),
        ({"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}, "needs an https: link"),
        ({"Auto-Submitted": "yes"}, "auto-generated"),
        ({"Precedence": "high"}, "bulk"),
        ({"Feedback-ID": "ü"}, "ASCII"),
        ({f"X-{number}": "a" for number in range(21)}, "more than 20 fields"),
        ({f"X-{number}": "a " * 400 + "b" for number in range(6)}, "larger than 4096 bytes"),
    ],
)
def test_other_fields_and_values_are_refused_by_name(headers: dict[str, str], fault: str) -> None:
    assert fault in fault_of(headers)


@for_each(
    ("headers", "delivered"),
    [
        (
            {
                "List-Unsubscribe": "<mailto:u@shop.example>,<HTTPS://shop.example/u,v> , <http://a.b>"
            },
            "<mailto:u@shop.example>, <HTTPS://shop.example/u,v>, <http://a.b>",
        ),
        (
            {"References": "<a@b.example><c@d.example>  <e@f.example>"},
            "<a@b.example> <c@d.example> <e@f.example>",
        ),
        ({"auto-submitted": "Auto-Generated"}, "auto-generated"),
        ({"Precedence": "Bulk"}, "bulk"),
    ],
)
def test_structured_values_have_one_form(headers: dict[str, str], delivered: str) -> None:
    """RFC 2369 and RFC 5322 ask for no blank, RFC 3834 for no case: each is written in one form."""
    [name] = headers
    assert sent_over_http(headers=headers)[name] == delivered


@given(
    st.dictionaries(
        st.sampled_from(["X-One", "X-Two", "x-three"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
        max_size=3,
    )
)
def test_any_accepted_value_reads_back(headers: dict[str, str]) -> None:
    """A value is refused, or a strict parser reads it back; no value makes another field."""
    if fault_of(headers):
        return
    message = sent_over_http(headers=headers)
    assert {name: message[name] for name in headers} == headers
    assert {name for name in message if name.lower().startswith("x-")} == set(headers)


def test_unsubscribe_writes_the_fields_of_rfc_8058() -> None:
    """`unsubscribe` writes List-Unsubscribe, and with oneClick List-Unsubscribe-Post after it."""
    link = {"url": "https://shop.example/u?id=1&list=a"}
    message = sent_over_http(unsubscribe=link | {"oneClick": True})
    names = [name for name in message if name.startswith("List-")]
    assert names == ["List-Unsubscribe", "List-Unsubscribe-Post"]
    assert message["List-Unsubscribe"] == f"<{link['url']}>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "List-Unsubscribe-Post" not in sent_over_http(unsubscribe=link)


def test_the_text_part_of_the_request_replaces_the_generated_one() -> None:
    """`text` is sent as it was written; HTML and the other parts stay."""
    message = sent_over_http(text="Guten Tag {{ name }}\n-- \nShop\n")
    plain, html = message.iter_parts()
    assert isinstance(plain, EmailMessage)
    assert isinstance(html, EmailMessage)
    assert plain.get_content().replace("\r\n", "\n") == "Guten Tag {{ name }}\n-- \nShop\n"
    assert html.get_content() == "<p>Hi</p>"


def test_a_name_in_from_is_the_name_of_the_sender() -> None:
    """`from` may be a name and an address; a name with a comma is quoted, and words are decoded."""
    for given_from, shown in {
        "Acme <hello@shop.example>": "Acme",
        '"Acme, Inc." <hello@shop.example>': "Acme, Inc.",
        "Grüße & Co. <hello@SHOP.example>": "Grüße & Co.",
        "<hello@shop.example>": "",
        "=?utf-8?q?Gr=C3=BC=C3=9Fe?= <hello@shop.example>": "Grüße",
    }.items():
        message = sent_over_http(**{"from": given_from})
        (address,) = message["From"].addresses
        assert (address.display_name, address.addr_spec) == (shown, "hello@shop.example")


def test_the_size_of_all_fields_is_counted_in_octets() -> None:
    fields = {f"X-{number}": "日" * 270 for number in range(6)}
    assert sum(map(len, fields.values())) < MAX_HEADERS_BYTES
    assert "4096" in fault_of(fields)
