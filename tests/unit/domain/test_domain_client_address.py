"""The address of a client, as limits count it."""

import pytest

from pillarbox.domain.client_address import network_of


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
