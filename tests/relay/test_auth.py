"""AUTH: mechanisms, malformed responses and wrong credentials, on real sockets."""

from base64 import b64encode

import pytest

from pillarbox.domain.accounts.key_policy import SUSPENDED
from pillarbox.domain.errors import ServiceError
from tests.relay.running_relay import AUTHENTICATED, KEY, SENDER, TO, Client, RunningRelay, plain

AUTH_FAILED = (
    b"535 5.7.8 Authentication failed: use the user apikey and a live API key as the password\r\n"
)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize("mechanism", ["PLAIN", "plain"])
def test_auth_plain(relay: RunningRelay, mechanism: str) -> None:
    """AUTH PLAIN accepts its response at once or after a 334, and `apikey` as authorization id."""
    with relay.connect_tls() as client:
        assert client.command(f"AUTH {mechanism} {plain(KEY)}") == AUTHENTICATED
    with relay.connect_tls() as client:
        assert client.command(f"AUTH {mechanism}") == b"334 \r\n"
        assert client.command(encoded(f"apikey\0apikey\0{KEY}")) == AUTHENTICATED


def test_auth_login(relay: RunningRelay) -> None:
    """AUTH LOGIN asks for user and password; the user may come with the command."""
    with relay.connect_tls() as client:
        assert client.command("AUTH LOGIN") == b"334 VXNlcm5hbWU6\r\n"
        assert client.command(encoded("apikey")) == b"334 UGFzc3dvcmQ6\r\n"
        assert client.command(encoded(KEY)) == AUTHENTICATED
    with relay.connect_tls() as client:
        assert client.command(f"AUTH LOGIN {encoded('apikey')}") == b"334 UGFzc3dvcmQ6\r\n"
        assert client.command(encoded(KEY)) == AUTHENTICATED


@pytest.mark.parametrize(
    "response",
    [
        plain("bx_live_wrong"),
        plain(""),
        plain("x" * 8_000),
        plain("kéy"),
        plain(KEY, "root"),
        plain(KEY, ""),
        encoded(f"root\0apikey\0{KEY}"),
    ],
)
def test_wrong_credentials_get_one_reply(relay: RunningRelay, response: str) -> None:
    """A wrong user, a wrong key, and acting for another user all get the same 535 5.7.8."""
    with relay.connect_tls() as client:
        assert client.command("AUTH PLAIN").startswith(b"334")
        assert client.command(response) == AUTH_FAILED


def test_the_login_of_a_suspended_account(relay: RunningRelay) -> None:
    """A valid key of a suspended account gets 525 5.7.13 (RFC 5248), which is no failed login."""
    relay.service.key_fault = ServiceError("account_suspended", "no")
    with relay.connect_tls() as client:
        for _ in range(4):
            reply = client.command(f"AUTH PLAIN {plain(KEY)}")
            assert reply == f"525 5.7.13 {SUSPENDED}\r\n".encode()
        relay.service.key_fault = None
        assert client.command(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED


def test_third_failed_login_ends_the_session(relay: RunningRelay) -> None:
    """The third failed login gets 421 4.7.0, and the connection ends."""
    with relay.connect_tls() as client:
        for _ in range(2):
            assert client.command(f"AUTH PLAIN {plain('wrong')}") == AUTH_FAILED
        assert client.command(f"AUTH PLAIN {plain('wrong')}").startswith(b"421 4.7.0 ")
        assert client.closed()


@pytest.mark.parametrize(
    "response",
    [
        "!!!",
        "YR==",
        "YWJj ZGVm",
        encoded("no nul"),
        encoded("one\0nul"),
        encoded("a\0b\0c\0d"),
        "=x",
    ],
)
def test_malformed_auth_response(relay: RunningRelay, response: str) -> None:
    """A response that is not base64, or is malformed, gets 501 5.5.2 (RFC 4954, 4)."""
    with relay.connect_tls() as client:
        client.command("AUTH PLAIN")
        assert client.command(response).startswith(b"501 5.5.2 ")
        assert client.command(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED


def test_second_auth_is_refused(client: Client) -> None:
    """AUTH after a successful AUTH gets 503 5.5.1."""
    assert client.command(f"AUTH PLAIN {plain(KEY)}").startswith(b"503 5.5.1 ")


def test_other_mechanisms_are_refused(relay: RunningRelay) -> None:
    """AUTH CRAM-MD5 gets 504 5.5.4, and AUTH without a mechanism 501 5.5.4."""
    with relay.connect_tls() as client:
        assert client.command("AUTH CRAM-MD5").startswith(b"504 5.5.4 ")
        assert client.command("AUTH").startswith(b"501 5.5.4 ")


def test_auth_while_keys_cannot_be_read(relay: RunningRelay) -> None:
    """If the key store is down, AUTH gets 454 4.7.0, which does not count as a failed login."""
    relay.service.key_fault = ServiceError("service_unavailable", "down")
    with relay.connect_tls() as client:
        for _ in range(5):
            assert client.command(f"AUTH PLAIN {plain(KEY)}").startswith(b"454 4.7.0 ")


def test_mail_before_auth(relay: RunningRelay) -> None:
    """MAIL, RCPT and DATA in TLS but before AUTH get 530 5.7.0."""
    with relay.connect_tls() as client:
        for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"):
            assert client.command(command).startswith(b"530 5.7.0 ")


def test_equals_sign_is_an_empty_initial_response(relay: RunningRelay) -> None:
    """An equals sign is an empty initial response, but not a valid later one (RFC 4954, 4)."""
    with relay.connect_tls() as client:
        assert client.command("AUTH PLAIN =").startswith(b"501 5.5.2 ")
        assert client.command("AUTH LOGIN =").startswith(b"334 ")
        assert client.command(encoded(KEY)) == AUTH_FAILED
        assert client.command("AUTH LOGIN").startswith(b"334 ")
        assert client.command("=").startswith(b"501 5.5.2 ")


@pytest.mark.parametrize(
    "argument", [f"PLAIN {plain(KEY)} more", f"PLAIN  {plain(KEY)}", f" PLAIN {plain(KEY)}"]
)
def test_auth_arguments(relay: RunningRelay, argument: str) -> None:
    """AUTH accepts a mechanism and one response, separated by one space."""
    with relay.connect_tls() as client:
        assert client.command(f"AUTH {argument}").startswith(b"501 5.5.4 ")


def test_commands_within_auth_are_responses(relay: RunningRelay) -> None:
    with relay.connect_tls() as client:
        for command in (f"MAIL FROM:<{SENDER}>", "QUIT", ""):
            assert client.command("AUTH PLAIN").startswith(b"334 ")
            assert client.command(command).startswith(b"501 5.5.2 ")
        assert client.command("NOOP").startswith(b"250 ")


def test_longest_response(relay: RunningRelay) -> None:
    """A response may have 12,288 octets with CR LF (RFC 4954, 4); a longer one ends AUTH."""
    with relay.connect_tls() as client:
        client.command("AUTH LOGIN")
        assert client.command("QUFB" * 3_071).startswith(b"334 ")
        assert client.command("*").startswith(b"501 5.7.0 ")
        client.command("AUTH LOGIN")
        assert client.command("QUFB" * 3_072).startswith(b"500 5.5.2 ")
        assert client.command("NOOP").startswith(b"250 ")


def test_no_password_is_looked_up_for_another_user(relay: RunningRelay) -> None:
    with relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain(KEY, 'admin')}") == AUTH_FAILED
    assert relay.service.authentications == 0


def test_each_call_says_where_the_client_is(relay: RunningRelay) -> None:
    with relay.connect_authenticated() as client:
        assert client.deliver().startswith(b"250 ")
    places = [origin.client(lambda _: False) for origin in relay.service.origins]
    assert places == ["127.0.0.1"] * 2
