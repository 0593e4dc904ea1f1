"""Canaries over SMTP, in commands, logins, envelopes and messages."""

import logging
import os
from base64 import b64encode

from pillarbox.wiring import services
from relay import log
from relay.service import ThreadedService
from tests.contract.canaries import ADDRESS, CANARY, failing, traces
from tests.contract.service import Service
from tests.relay.running_relay import SENDER, Client, RunningRelay, plain, serve

#: The largest message that this server accepts, in octets.
_MAX_SIZE = 60_000


def relay_everything(service: Service) -> None:
    """Run a relay for the service, so that it replies and logs."""
    log.set_up()
    logging.getLogger("relay").setLevel(os.environ["POWERTOOLS_LOG_LEVEL"])
    account = service.account(senders={SENDER: True}, default=SENDER)
    service.suppress(account, f"suppressed.{ADDRESS}")
    key = service.key(account)
    threads = ThreadedService(lambda: services().smtp_submission)
    with serve(service=threads, message_size=_MAX_SIZE) as relay:
        log_in(relay)
        command(relay, key)
        submit(relay, key)
        break_off(relay, key)


def log_in(relay: RunningRelay) -> None:
    """Log in with invalid keys, names and base64."""
    for login in (
        f"AUTH PLAIN {plain(CANARY)}",
        f"AUTH PLAIN {plain(f'bx_live_{CANARY}')}",
        f"AUTH PLAIN {plain(CANARY, CANARY)}",
        f"AUTH PLAIN {CANARY}!",
        f"AUTH {CANARY} {CANARY}",
        f"AUTH LOGIN {b64encode(CANARY.encode()).decode()}",
    ):
        with relay.connect_tls() as client:
            refused(client, login)


def command(relay: RunningRelay, key: str) -> None:
    """Send invalid commands, and envelopes that are refused."""
    with relay.connect_plaintext() as client:
        client.command(f"EHLO {CANARY}.example")
        for line in (CANARY, f"STARTTLS {CANARY}", f"MAIL FROM:<{ADDRESS}>", f"NOOP {key}"):
            refused(client, line)
        client.start_tls()
        client.command(f"EHLO {CANARY}.example")
        client.command(f"AUTH PLAIN {plain(key)}")
        for line in (
            f"MAIL FROM:{ADDRESS}",
            f"MAIL FROM:<{SENDER}> X={CANARY}",
            f"MAIL FROM:<{SENDER}> SIZE={_MAX_SIZE + 1}",
            f"RCPT TO:<{ADDRESS}>",
            f"VRFY {ADDRESS}",
            f"EXPN {CANARY}",
            CANARY * 100,
        ):
            refused(client, line)
        # After the login, the reply to a refused address or parameter names it.
        assert traces(client.command(f"MAIL FROM:<{ADDRESS}>").decode())
        assert client.command(f"MAIL FROM:<{SENDER}>").startswith(b"250")
        assert traces(client.command(f"RCPT TO:<{CANARY}>").decode())
        assert traces(client.command(f"RCPT TO:<{ADDRESS}> {CANARY}").decode())


def submit(relay: RunningRelay, key: str) -> None:
    """Submit a message that is accepted, and one for each kind of refusal."""
    for recipient, octets, code in (
        (ADDRESS, message(), b"250"),
        (ADDRESS, message(), b"250"),  # the same key: a replay
        (ADDRESS, message(Subject=f"{CANARY} 2"), b"554"),  # another message with the same key
        (f"suppressed.{ADDRESS}", message(Key="2"), b"550"),
        (f"{CANARY}@gone.invalid", message(Key="3"), b"550"),
        (ADDRESS, message(Key="4", From=ADDRESS), b"550"),
        (ADDRESS, message(Key="5", From=CANARY), b"550"),
        (ADDRESS, message(Key="6", **{"Content-Type": f"{CANARY}/{CANARY}"}), b"554"),
        (ADDRESS, message(Key="7") + f"{CANARY}\r\n".encode() * _MAX_SIZE, b"552"),
        (ADDRESS, message(Key="8") + CANARY.encode() * 100 + b"\r\n", b"500"),
        (ADDRESS, f"{CANARY}\r\n".encode(), b"55"),
    ):
        with ready(relay, key) as client:
            client.envelope(recipient)
            client.send(octets + b".\r\n")
            reply = client.reply()
            assert reply.startswith(code), (octets[:200], reply)


def break_off(relay: RunningRelay, key: str) -> None:
    """Disconnect in the middle, break the TLS handshake, and let the table fail."""
    for octets in (message()[:-2], f"{CANARY}\n".encode()):
        with ready(relay, key) as client:
            client.envelope(ADDRESS)
            client.send(octets)
    with relay.connect_plaintext() as client:
        assert client.command("STARTTLS").startswith(b"220")
        client.send(f"{CANARY} is not a handshake\r\n".encode())
        assert client.closed()
    with ready(relay, key) as client:
        client.envelope(ADDRESS)
        with failing("BatchGetItem"):
            client.send(message(Key="9") + b".\r\n")
            assert client.reply().startswith(b"451 ")


def ready(relay: RunningRelay, key: str) -> Client:
    client = relay.connect_tls()
    assert client.command(f"AUTH PLAIN {plain(key)}").startswith(b"235")
    return client


def refused(client: Client, line: str) -> None:
    """Send a line; check that the reply does not repeat it."""
    assert not traces(client.command(line).decode())


def message(**changed: str) -> bytes:
    """Return a message with the canary in each part; `Key` extends its idempotency key."""
    fields = {
        "From": f"{CANARY} <{SENDER}>",
        "To": ADDRESS,
        "Cc": f"cc.{ADDRESS}",
        "Reply-To": f"reply.{ADDRESS}",
        "Subject": CANARY,
        "Message-ID": f"<{CANARY}@shop.example>",
        "Idempotency-Key": CANARY + changed.pop("Key", ""),
        "X-Other": CANARY,
        "Content-Type": f'text/html; about="{CANARY}"',
    }
    lines = [f"{name}: {value}" for name, value in (fields | changed).items()]
    return "\r\n".join([*lines, "", f"<p>{CANARY}</p>", ""]).encode()
