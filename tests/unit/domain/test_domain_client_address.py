"""The address of a client, as limits count it."""

import pytest

from pillarbox.domain.client_origin import block_of, is_of_edge, network_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("", "nonsense", True),
    ],
)
def test_an_address_means_one_client(one: str, other: str, *, same: bool) -> None:
    """An IPv4 address is one client, and so are all IPv6 addresses of one network of 64 bits."""
    assert (network_of(one) == network_of(other)) is same


def test_whatever_is_no_address_shares_one_block() -> None:
    """Who hides the address gets no limit of its own; only this machine has none."""
    assert block_of("192.0.2.9") == block_of("::ffff:192.0.2.1") == "192.0.2.0/24"
    assert block_of("zzz") == block_of("") != ""
    assert block_of("127.0.0.1") == block_of("::1") == ""


@pytest.mark.parametrize(
    ("given", "known", "same"),
    [
        ("old", "old", True),
        ("new", "old new", True),
        ("old new", "old new", False),
        ("", "", False),
        ("", "old", False),
        ("\ud800", "old", False),
    ],
)
def test_the_edge_has_one_of_the_known_secrets(given: str, known: str, *, same: bool) -> None:
    assert is_of_edge(given, known) is same
