"""What each command gets when it is wrong, out of order, or not to be had; on real sockets."""

import ssl
import warnings
from base64 import b64encode

import pytest

from pillarbox.domain.account import Plan
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal
from tests.fakes import builders
from tests.relay.served import (
    AUTHENTICATED,
    KEY,
    SENDER,
    TO,
    Served,
    plain,
    serve,
    trusting,
)

AUTH_FAILED = (
    b"535 5.7.8 Authentication failed: the user is apikey, the password a live API key\r\n"
)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


# --- before TLS ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [f"AUTH PLAIN {plain(KEY)}", "AUTH LOGIN", f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"],
)
def test_nothing_is_sent_in_the_clear(served: Served, command: str) -> None:
    """AUTH, MAIL, RCPT and DATA before STARTTLS get 530 5.7.0."""
    with served.greeted() as client:
        client.say("EHLO client.example")
        assert client.say(command).startswith(b"530 5.7.0 ")


def test_extensions_are_announced_when_they_are_there(served: Served) -> None:
    """STARTTLS is offered in the clear only, AUTH in TLS only and until it was used."""
    with served.greeted() as client:
        clear = client.say("EHLO client.example")
        client.start_tls()
        secure = client.say("EHLO client.example")
        assert client.say(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED
        known = client.say("EHLO client.example")
    always = [b"PIPELINING", b"SIZE 16777216", b"8BITMIME", b"ENHANCEDSTATUSCODES"]
    offers = [[line[4:] for line in reply.split(b"\r\n")[1:-1]] for reply in (clear, secure, known)]
    assert offers == [[*always, b"STARTTLS"], [*always, b"AUTH PLAIN LOGIN"], always]


def test_commands_sent_ahead_of_tls_are_dropped(served: Served) -> None:
    """What follows STARTTLS in the same segment is not answered inside TLS (RFC 3207, 4.2)."""
    with served.greeted() as client:
        client.say("EHLO client.example")
        client.send(b"STARTTLS\r\nEHLO injected.example\r\nNOOP\r\n")
        assert client.reply().startswith(b"220 2.0.0 ")
        client.wrap()
        assert client.say("HELP").startswith(b"214 2.0.0 ")


def test_what_was_said_in_the_clear_is_forgotten(served: Served) -> None:
    """After STARTTLS a client has to say EHLO again before AUTH."""
    with served.greeted() as client:
        client.say("EHLO client.example")
        client.start_tls()
        assert client.say(f"AUTH PLAIN {plain(KEY)}").startswith(b"503 5.5.1 ")


def test_starttls_inside_tls_is_refused(served: Served) -> None:
    """STARTTLS inside TLS gets 503 5.5.1."""
    with served.secured() as client:
        assert client.say("STARTTLS").startswith(b"503 5.5.1 ")


def test_starttls_takes_no_argument(served: Served) -> None:
    """STARTTLS with an argument gets 501 5.5.4 and starts nothing."""
    with served.greeted() as client:
        assert client.say("STARTTLS now").startswith(b"501 5.5.4 ")
        assert client.say("NOOP").startswith(b"250 ")


def test_old_tls_is_refused(served: Served) -> None:
    """A client that speaks nothing newer than TLS 1.1 gets no handshake."""
    context = trusting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with served.greeted() as client:
        client.say("STARTTLS")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            client.wrap(context)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_from_1_2_on(served: Served, version: ssl.TLSVersion) -> None:
    """TLS 1.2 and 1.3 are spoken."""
    context = trusting()
    context.minimum_version = context.maximum_version = version
    with served.greeted() as client:
        client.say("STARTTLS")
        client.wrap(context)
        assert isinstance(client.sock, ssl.SSLSocket)
        assert client.sock.version() == f"TLSv1.{version - ssl.TLSVersion.TLSv1}"
        assert client.say("NOOP").startswith(b"250 ")


def test_command_in_the_segment_of_the_handshake(served: Served) -> None:
    """What a client sends right behind its Finished is answered, and in TLS."""
    with served.greeted() as client:
        client.say("STARTTLS")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        client.send(outgoing.read())
        while True:
            incoming.write(client.sock.recv(65_536))
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                continue
        tls.write(b"NOOP\r\n")
        client.send(outgoing.read())
        reply = b""
        while not reply:
            incoming.write(client.sock.recv(65_536))
            try:
                reply = tls.read()
            except ssl.SSLWantReadError:
                continue
        assert reply == b"250 2.0.0 Ok\r\n"


# --- AUTH ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["PLAIN", "plain"])
def test_auth_plain(served: Served, mechanism: str) -> None:
    """AUTH PLAIN takes its response at once or when asked for, and `apikey` as whom to act for."""
    with served.secured() as client:
        assert client.say(f"AUTH {mechanism} {plain(KEY)}") == AUTHENTICATED
    with served.secured() as client:
        assert client.say(f"AUTH {mechanism}") == b"334 \r\n"
        assert client.say(encoded(f"apikey\0apikey\0{KEY}")) == AUTHENTICATED


def test_auth_login(served: Served) -> None:
    """AUTH LOGIN asks for user and password; the user may come at once."""
    with served.secured() as client:
        assert client.say("AUTH LOGIN") == b"334 VXNlcm5hbWU6\r\n"
        assert client.say(encoded("apikey")) == b"334 UGFzc3dvcmQ6\r\n"
        assert client.say(encoded(KEY)) == AUTHENTICATED
    with served.secured() as client:
        assert client.say(f"AUTH LOGIN {encoded('apikey')}") == b"334 UGFzc3dvcmQ6\r\n"
        assert client.say(encoded(KEY)) == AUTHENTICATED


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
def test_wrong_credentials_get_one_answer(served: Served, response: str) -> None:
    """A wrong user, a wrong key, or acting for another: the same 535 5.7.8 for all."""
    with served.secured() as client:
        assert client.say("AUTH PLAIN").startswith(b"334")
        assert client.say(response) == AUTH_FAILED


@pytest.mark.parametrize("code", ["invalid_api_key", "scope_required", "upgrade_required"])
def test_keys_that_may_not_send_get_the_same_answer(served: Served, code: str) -> None:
    """Revoked, without the scope, or a preview key: the same 535 5.7.8."""
    served.service.key_fault = ServiceError(code, "no")
    with served.secured() as client:
        assert client.say(f"AUTH PLAIN {plain(KEY)}") == AUTH_FAILED


def test_third_failed_login_ends_the_session(served: Served) -> None:
    """The third failure gets 421 4.7.0."""
    with served.secured() as client:
        for _ in range(2):
            assert client.say(f"AUTH PLAIN {plain('wrong')}") == AUTH_FAILED
        assert client.say(f"AUTH PLAIN {plain('wrong')}").startswith(b"421 4.7.0 ")
        assert client.closed()


def test_failed_logins_of_an_address_add_up() -> None:
    """An address with too many failures, in all its sessions, is not let in for a while."""
    with serve(failed_logins_of_address=4) as served:
        for _ in range(2):
            with served.secured() as client:
                for _ in range(2):
                    client.say(f"AUTH PLAIN {plain('wrong')}")
        with served.connect() as client:
            assert client.reply().startswith(b"421 4.7.0 ")
            assert client.closed()


@pytest.mark.parametrize("response", ["!!!", "YR==", "YWJj ZGVm", encoded("no nul"), "=x"])
def test_auth_response_that_is_none(served: Served, response: str) -> None:
    """What is no base64, or not of the mechanism's form, gets 501 5.5.2 (RFC 4954, 4)."""
    with served.secured() as client:
        client.say("AUTH PLAIN")
        assert client.say(response).startswith(b"501 5.5.2 ")
        assert client.say(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED


def test_auth_can_be_cancelled(served: Served) -> None:
    """A response of "*" gets 501 (RFC 4954, 4)."""
    with served.secured() as client:
        client.say("AUTH LOGIN")
        assert client.say("*").startswith(b"501 5.7.0 ")


def test_second_auth_is_refused(served: Served) -> None:
    """AUTH after AUTH gets 503 5.5.1."""
    with served.ready() as client:
        assert client.say(f"AUTH PLAIN {plain(KEY)}").startswith(b"503 5.5.1 ")


def test_other_mechanisms_are_refused(served: Served) -> None:
    """AUTH CRAM-MD5 gets 504 5.5.4, AUTH alone 501 5.5.4."""
    with served.secured() as client:
        assert client.say("AUTH CRAM-MD5").startswith(b"504 5.5.4 ")
        assert client.say("AUTH").startswith(b"501 5.5.4 ")


def test_auth_while_keys_cannot_be_read(served: Served) -> None:
    """With the key store down AUTH gets 454 4.7.0, which counts as no failure."""
    served.service.key_fault = ServiceError("service_unavailable", "down")
    with served.secured() as client:
        for _ in range(5):
            assert client.say(f"AUTH PLAIN {plain(KEY)}").startswith(b"454 4.7.0 ")


def test_mail_before_auth(served: Served) -> None:
    """MAIL, RCPT and DATA in TLS but without AUTH get 530 5.7.0."""
    with served.secured() as client:
        for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"):
            assert client.say(command).startswith(b"530 5.7.0 ")


# --- MAIL, RCPT, DATA ---------------------------------------------------------------------------


@pytest.mark.parametrize("sender", ["", "stranger@shop.example", "hello@shop.example.evil.example"])
def test_sender_that_is_not_verified(served: Served, sender: str) -> None:
    """The null reverse-path and unverified senders get 550 5.7.1 at MAIL."""
    with served.ready() as client:
        assert client.say(f"MAIL FROM:<{sender}>").startswith(b"550 5.7.1 ")


def test_free_accounts_send_from_their_default_sender(served: Served) -> None:
    """On a free plan another verified address is refused: only the default sender may be used."""
    account = builders.account(plan=Plan.FREE, senders={SENDER: True, "b@shop.example": True})
    served.service.principal = Principal(builders.api_key(KEY), account)
    with served.ready() as client:
        assert client.say("MAIL FROM:<b@shop.example>").startswith(b"550 5.7.1 ")
        assert client.say(f"MAIL FROM:<{SENDER}>").startswith(b"250 ")


def test_sender_verified_since_auth(served: Served) -> None:
    """A sender that was verified after AUTH is taken in the same session."""
    with served.ready() as client:
        account = builders.account(senders={SENDER: True, "new@shop.example": True})
        served.service.principal = Principal(builders.api_key(KEY), account)
        assert client.say("MAIL FROM:<new@shop.example>").startswith(b"250 ")


@pytest.mark.parametrize(
    ("argument", "reply"),
    [
        (f"FROM:{SENDER}", b"501 5.5.4"),
        (f"FROM: <{SENDER}>", b"501 5.5.4"),
        (f"TO:<{SENDER}>", b"501 5.5.4"),
        (f"FROM:<{SENDER}", b"501 5.5.4"),
        (f"FROM:<{SENDER}>x", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE=x", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE=1 SIZE=1", b"501 5.5.4"),
        (f"FROM:<{SENDER}> BODY=BINARYMIME", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SMTPUTF8", b"555 5.5.4"),
        (f"FROM:<{SENDER}> RET=FULL", b"555 5.5.4"),
        ("FROM:<root>", b"501 5.1.7"),
        ("FROM:<@relay.example:a@b.example>", b"501 5.1.7"),
        ("FROM:<é@shop.example>", b"553 5.6.7"),
        (f"FROM:<{SENDER}> SIZE=16777217", b"552 5.3.4"),
        (f"FROM:<{SENDER}> SIZE=99999999999999999999", b"552 5.3.4"),
    ],
)
def test_mail_arguments(served: Served, argument: str, reply: bytes) -> None:
    """MAIL takes a path in brackets and the parameters that were announced, nothing else."""
    with served.ready() as client:
        assert client.say(f"MAIL {argument}").startswith(reply)


@pytest.mark.parametrize(
    "parameters", ["SIZE=16777216", "BODY=8BITMIME", "body=7bit size=0", "AUTH=<>"]
)
def test_mail_parameters(served: Served, parameters: str) -> None:
    """SIZE up to the limit, BODY, and AUTH of RFC 4954 section 5 are taken."""
    with served.ready() as client:
        assert client.say(f"MAIL FROM:<{SENDER}> {parameters}").startswith(b"250 2.1.0 ")


@pytest.mark.parametrize(
    ("argument", "reply"),
    [
        ("TO:<>", b"501 5.1.3"),
        ("TO:<@relay.example:a@b.example>", b"501 5.1.3"),
        ("TO:<a@[127.0.0.1]>", b"501 5.1.3"),
        ("TO:<root>", b"501 5.1.3"),
        ("TO:<postmaster>", b"501 5.1.3"),
        ("TO:<a@localhost>", b"501 5.1.3"),
        ('TO:<"a b"@example.com>', b"501 5.1.3"),
        (f"TO:<{'x' * 65}@example.com>", b"501 5.1.3"),
        ("TO:<é@example.com>", b"553 5.6.7"),
        ("TO:a@b.example", b"501 5.5.4"),
        (f"TO:<{TO}> NOTIFY=NEVER", b"555 5.5.4"),
    ],
)
def test_rcpt_arguments(served: Served, argument: str, reply: bytes) -> None:
    """RCPT takes one mailbox: no source route, no literal, no local name, no parameter."""
    with served.ready() as client:
        client.say(f"MAIL FROM:<{SENDER}>")
        assert client.say(f"RCPT {argument}").startswith(reply)


def test_fifty_recipients(served: Served) -> None:
    """The 51st recipient gets 452 4.5.3; the message goes to the fifty."""
    with served.ready() as client:
        client.say(f"MAIL FROM:<{SENDER}>")
        for number in range(50):
            assert client.say(f"RCPT TO:<r{number}@example.com>").startswith(b"250 ")
        assert client.say("RCPT TO:<r50@example.com>").startswith(b"452 4.5.3 ")
        client.say("DATA")
        client.send(b"\r\n.\r\n")
        assert client.reply().startswith(b"250 ")
    assert len(served.service.accepted[0][0].recipients) == 50


def test_commands_out_of_order(served: Served) -> None:
    """RCPT before MAIL, DATA before RCPT, MAIL inside a transaction: 503 5.5.1."""
    with served.ready() as client:
        assert client.say(f"RCPT TO:<{TO}>").startswith(b"503 5.5.1 ")
        assert client.say("DATA").startswith(b"503 5.5.1 ")
        client.say(f"MAIL FROM:<{SENDER}>")
        assert client.say("DATA").startswith(b"503 5.5.1 ")
        assert client.say(f"MAIL FROM:<{SENDER}>").startswith(b"503 5.5.1 ")


@pytest.mark.parametrize("reset", ["RSET", "EHLO again.example", "HELO again.example"])
def test_reset_forgets_the_transaction(served: Served, reset: str) -> None:
    """RSET and EHLO end a transaction (RFC 5321, 4.1.4)."""
    with served.ready() as client:
        client.say(f"MAIL FROM:<{SENDER}>")
        assert client.say(reset).startswith(b"250")
        assert client.say(f"RCPT TO:<{TO}>").startswith(b"503 5.5.1 ")


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        ("VRFY ann", b"252 "),
        ("VRFY", b"501 5.5.4 "),
        ("EXPN staff", b"502 5.5.1 "),
        ("HELP", b"214 2.0.0 "),
        ("NOOP whatever", b"250 2.0.0 "),
        ("BDAT 5 LAST", b"500 5.5.1 "),
        ("XCLIENT ADDR=127.0.0.1", b"500 5.5.1 "),
        ("ETRN example.com", b"500 5.5.1 "),
        ("", b"500 5.5.1 "),
        ("\x16\x03\x01", b"500 5.5.1 "),
        ("GET / HTTP/1.1", b"500 5.5.1 "),
        ("EHLO", b"501 5.5.4 "),
        ("EHLO a b", b"501 5.5.4 "),
        ("DATA now", b"501 5.5.4 "),
        ("RSET now", b"501 5.5.4 "),
        ("QUIT now", b"501 5.5.4 "),
        ("NOOP " + "x" * 506, b"500 5.5.2 "),
        ("NOOP " + "x" * 100_000, b"500 5.5.2 "),
    ],
)
def test_other_commands(served: Served, command: str, reply: bytes) -> None:
    """What else can be said, and what a line that is no command gets; the session goes on."""
    with served.ready() as client:
        assert client.say(command).startswith(reply)
        assert client.say("NOOP") == b"250 2.0.0 Ok\r\n"


def test_longest_command(served: Served) -> None:
    """A command of 512 octets with its CR LF is taken (RFC 5321, 4.5.3.1.4)."""
    with served.ready() as client:
        assert client.say("NOOP " + "x" * 505).startswith(b"250 ")


@pytest.mark.parametrize(
    "octets", [b"NOOP\n", b"NOOP\rNOOP\r\n", b"NOOP\nNOOP\r\n", b"NO\0OP\r\n", b"NOOP\r\r\n"]
)
def test_bare_controls_in_commands(served: Served, octets: bytes) -> None:
    """A bare CR or LF, or a NUL, in a command gets 500 5.5.2 and the end."""
    with served.ready() as client:
        client.send(octets)
        assert client.reply().startswith(b"500 5.5.2 ")
        assert client.closed()


def test_quit(served: Served) -> None:
    """QUIT gets 221 2.0.0, and the connection is closed."""
    with served.ready() as client:
        assert client.say("QUIT") == b"221 2.0.0 Bye\r\n"
        assert client.closed()


def test_pipelining(served: Served) -> None:
    """Commands sent at once are answered in order (RFC 2920), two messages in one group too."""
    transaction = f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<{TO}>\r\nDATA\r\n".encode()
    with served.ready() as client:
        client.send(transaction)
        assert [client.reply()[:3] for _ in range(3)] == [b"250", b"250", b"354"]
        client.send(b"One\r\n.\r\n" + transaction)
        assert [client.reply()[:3] for _ in range(4)] == [b"250", b"250", b"250", b"354"]
        client.send(b"Two\r\n.\r\nQUIT\r\n")
        assert [client.reply()[:3] for _ in range(2)] == [b"250", b"221"]
    assert [octets for _, octets in served.service.accepted] == [b"One\r\n", b"Two\r\n"]
