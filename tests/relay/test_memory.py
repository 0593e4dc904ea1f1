"""The memory that messages in transit take: one message, and more than fit."""

import hashlib
import json
from base64 import encodebytes
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.sending.smtp import SmtpSubmission
from relay.service import ThreadedService
from tests.allocations import measured
from tests.aws import forget_sessions
from tests.fakes.world import World
from tests.relay.running_relay import (
    AUTHENTICATED,
    MESSAGE,
    PATIENCE,
    SENDER,
    RunningRelay,
    plain,
    serve,
)
from tests.servers import Handler, serving
from tests.stack import wait_for

MIB = 2**20
HEAD = f"From: {SENDER}\r\nMIME-Version: 1.0\r\n".encode()
FILE = b"Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: "


def files() -> bytes:
    """Return a message with two files of 5 MB, the contract's maximum: 14 MB as sent."""
    file = FILE + b"base64\r\n\r\n" + encodebytes(bytes(5 * MIB)).replace(b"\n", b"\r\n")
    return b"".join(
        (
            HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n",
            *(b"--b\r\n" + file for _ in range(2)),
            b"--b--\r\n",
        )
    )


def dots() -> bytes:
    """Return a message in which every line begins with a stuffed dot."""
    return HEAD + b"\r\n" + (b".." + b"x" * 96 + b"\r\n") * (14 * MIB // 100)


def quoted() -> bytes:
    """Return a message with a quoted-printable file that encodes every octet as three."""
    return HEAD + FILE + b"quoted-printable\r\n\r\n" + (b"=41" * 24 + b"=\r\n") * (14 * MIB // 75)


class _Aws(Handler):
    """A stand-in for SQS and S3 that keeps only the sizes of the spooled objects."""

    protocol_version = "HTTP/1.1"
    spooled: list[int]

    def do_PUT(self) -> None:
        size = left = int(self.headers["Content-Length"])
        room = memoryview(bytearray(65_536))
        while left:
            left -= self.rfile.readinto(room[:left])
        self.spooled.append(size)
        self.write(200)

    def do_POST(self) -> None:
        text = json.loads(self.read())["MessageBody"]
        digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        self.write(200, json.dumps({"MessageId": "1", "MD5OfMessageBody": digest}).encode())


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Run the stand-in for AWS and return the sizes of the spooled objects."""
    sizes: list[int] = []
    handler = type("Handler", (_Aws,), {"spooled": sizes})
    with serving(handler) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "x")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        forget_sessions()
        yield sizes
    forget_sessions()


@pytest.mark.parametrize("make", [files, dots, quoted])
def test_memory_of_one_message(make: Callable[[], bytes], spooled: list[int]) -> None:
    """Until it is spooled a message takes at most 2.5 times its size; then its memory is free."""
    world = World()
    submission = replace(
        world.ports,
        jobs=SqsJobs("https://queue.example/1/jobs", "https://queue.example/1/urgent", "spool"),
    )
    service = ThreadedService(lambda: SmtpSubmission(submission, world.seen))
    small, large = MESSAGE + b"x\r\n" * 70_000, make()
    with serve(service=service) as relay, relay.connect_tls() as client:
        assert client.command(f"AUTH PLAIN {plain(world.live)}") == AUTHENTICATED
        # The first message loads the SDK.
        assert client.deliver(small).startswith(b"250 ")
        with measured() as peak_and_end:
            reply = client.deliver(large)
        assert reply.startswith(b"250 "), reply
    peak, after = peak_and_end
    assert spooled[1] > 0.9 * len(large)
    assert peak <= 2.5 * len(large)
    assert after < MIB


def test_memory_of_many_messages() -> None:
    """Of six simultaneous messages of 14 MB two fit in an account's share; the others get 452."""
    large = files()
    with serve(memory=256 * MIB, clock=lambda: 0.0) as relay, ThreadPoolExecutor(6) as clients:
        relay.service.gate.clear()
        with measured() as peak_and_end:
            replies = [clients.submit(deliver, relay, large) for _ in range(6)]
            wait_for(lambda: sum(reply.done() for reply in replies) == 4, 6 * PATIENCE)
            assert {reply.result()[:10] for reply in replies if reply.done()} == {b"452 4.3.1 "}
            relay.service.gate.set()
            codes = sorted(reply.result(PATIENCE)[:4] for reply in replies)
        assert codes == [b"250 "] * 2 + [b"452 "] * 4
        assert peak_and_end[0] < 64 * MIB
        assert [octets for _, octets in relay.service.accepted] == [large] * 2
        assert deliver(relay, large).startswith(b"250 ")


def deliver(relay: RunningRelay, message: bytes) -> bytes:
    """Send one message in its own session and return the reply."""
    with relay.connect_authenticated() as client:
        client.sock.settimeout(6 * PATIENCE)
        return client.deliver(message)
