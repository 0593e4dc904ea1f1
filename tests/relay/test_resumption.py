"""TLS sessions are resumed, so a returning client needs no second full handshake."""

import ssl

import pytest

from tests.relay.running_relay import RunningRelay, trusting_context


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_is_resumed(relay: RunningRelay, version: ssl.TLSVersion) -> None:
    """The ticket of the first connection resumes the session, in TLS 1.2 and 1.3."""
    context = trusting_context()
    context.minimum_version = context.maximum_version = version
    session: ssl.SSLSession | None = None
    reused: list[bool | None] = []
    for _ in range(2):
        with relay.connect_plaintext() as client:
            assert client.command("STARTTLS").startswith(b"220 ")
            tls = context.wrap_socket(client.sock, server_hostname="127.0.0.1", session=session)
            client.sock = tls
            assert client.command("EHLO client.example").startswith(b"250")
            session, reused = tls.session, [*reused, tls.session_reused]
    assert reused == [False, True]
