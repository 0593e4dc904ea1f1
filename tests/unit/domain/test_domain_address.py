"""Addresses: which are accepted, their normal form, and which are refused (RFC 5321, 4.1.2)."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pillarbox.application.validation import to_a_label
from pillarbox.domain.address import AddressSyntaxError, domain_of, mailbox_key, parse_address

MAX_ADDRESS = 254

LABEL = "d" * 63
#: A domain of 189 octets. With a local part of 64 octets, the address has 254.
LONG_DOMAIN = f"{LABEL}.{LABEL}.{'d' * 57}.com"


def parse(text: str) -> str:
    return parse_address(text, to_a_label)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ann@example.com", "ann@example.com"),
        ("Ann.Lee+tag@EXAMPLE.Com", "Ann.Lee+tag@example.com"),
        ("o'hara!#$%&*/=?^_`{|}~-@example.com", "o'hara!#$%&*/=?^_`{|}~-@example.com"),
        ("a@b-c.example", "a@b-c.example"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
        ("a@BÜCHER.example", "a@xn--bcher-kva.example"),
        ("a@straße.example", "a@xn--strae-oqa.example"),
        ("a@例え.jp", "a@xn--r8jz45g.jp"),
        (f"{'l' * 64}@{LONG_DOMAIN}", f"{'l' * 64}@{LONG_DOMAIN}"),
    ],
)
def test_addresses_have_one_normal_form(text: str, address: str) -> None:
    """The local part stays as written; the domain becomes lower-case A-labels."""
    assert parse(text) == address


@pytest.mark.parametrize(
    "text",
    [
        *("", "@", "ann", "ann@", "@example.com", "ann@@example.com", "a@b@example.com"),
        *("Ann <ann@example.com>", "<ann@example.com>", "ann@example.com,bob@example.com"),
        *("ann@example.com;bob@example.com", "ann@example.com\r\nBcc: bob@example.com"),
        *("ann@example.com\n", "ann\x00@example.com", " ann@example.com", "ann@example.com "),
        *("an n@example.com", "ü@example.com", '"ann lee"@example.com', '"ann"@example.com'),
        *(".ann@example.com", "ann.@example.com", "a..b@example.com", "ann@[192.0.2.1]"),
        *("ann@[IPv6:2001:db8::1]", "ann@192.0.2.1", "ann@localhost", "ann@sub.localhost"),
        *("ann@example", "ann@example.com.", "ann@.example.com", "ann@exam ple.com"),
        *("ann@exam_ple.com", "ann@-example.com", "ann@example-.com"),
        f"ann@{'d' * 64}.com",
        f"{'l' * 65}@example.com",
        f"{'l' * 64}@d{LONG_DOMAIN}",
        "ann@\u2028example.com",
        "ann@ex\u202eample.com",
        "ann@xn--\u00fc.com",
        f"ann@{'ü' * 5000}.com",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    """Lists, names, quotes, literals, controls, private domains and long parts are refused."""
    with pytest.raises(AddressSyntaxError):
        parse(text)


@given(st.text() | st.text(string.ascii_letters + '@."<>,-\r\n \x00ü', max_size=40))
@example("a@\u212a.example")  # the Kelvin sign, which IDNA maps to k
def test_a_parsed_address_parses_to_itself(text: str) -> None:
    try:
        address = parse(text)
    except AddressSyntaxError:
        return
    assert address.isascii()
    assert address.isprintable()
    assert not set(address) & set(' ,;:<>()[]\\"')
    assert len(address) <= MAX_ADDRESS
    assert parse(address) == address


def test_spellings_of_one_mailbox_share_a_key() -> None:
    assert mailbox_key("Ann@example.com") == mailbox_key("ann@example.com")
    assert domain_of("ann@example.com") == "example.com"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ann <ann@example.com>", "give the bare address, which is between < and >"),
        ("<ann@example.com>", "give the bare address, which is between < and >"),
        ("a@x.example, b@x.example", "several addresses in one text: give each of them separately"),
        ("ann@example.com ", "has a blank at its start or its end"),
        ("mailto:ann@example.com", "give the bare address, without mailto:"),
        ("ann", "not an address of the form name@domain"),
    ],
)
def test_the_error_says_how_to_correct_the_address(text: str, reason: str) -> None:
    with pytest.raises(AddressSyntaxError) as error:
        parse(text)
    assert str(error.value) == reason
