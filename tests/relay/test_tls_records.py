"""The records of TLS in memory: what arrives together, in parts and with the first reply."""

import ssl

import pytest

from relay.tls import TlsRecords, make_context
from tests.relay.running_relay import certificate
from tests.relay.tls_client import TlsClient


def connect(newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> tuple[TlsClient, TlsRecords]:
    client, server = TlsClient(newest), TlsRecords(make_context(certificate()))
    server.decrypt(client.handshake())
    if newest < ssl.TLSVersion.TLSv1_3:
        server.decrypt(client.handshake(server.outgoing()))
        client.handshake(server.outgoing())
    else:
        server.decrypt(client.handshake(server.outgoing()))
    assert server.established
    return client, server


def test_several_records_in_one_segment() -> None:
    client, server = connect()
    records = [client.record(octets) for octets in (b"NOOP\r\n", b"RSET\r\n", b"QUIT\r\n")]
    assert server.decrypt(b"".join(records[:2])) == b"NOOP\r\nRSET\r\n"
    assert server.decrypt(records[2]) == b"QUIT\r\n"


def test_a_record_in_parts() -> None:
    client, server = connect()
    first, second = client.record(b"NOOP\r\n"), client.record(b"QUIT\r\n")
    assert server.decrypt(first + second[:7]) == b"NOOP\r\n"
    assert server.decrypt(second[7:]) == b"QUIT\r\n"


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_ticket_leaves_with_the_first_reply(newest: ssl.TLSVersion) -> None:
    """After the handshake nothing is sent until there is a reply, which the client can read."""
    client, server = connect(newest)
    assert server.outgoing() == b""
    server.encrypt(b"250 2.0.0 OK\r\n")
    assert client.read(server.outgoing()) == b"250 2.0.0 OK\r\n"


def test_one_ticket_for_each_handshake() -> None:
    assert make_context(certificate()).num_tickets == 1
