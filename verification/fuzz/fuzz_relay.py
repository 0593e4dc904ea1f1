"""Coverage-guided fuzzing of the relay (atheris): framing, dialogue, MIME and the use case.

    .uv/bin/uv run --with atheris python -m verification.fuzz.fuzz_relay -max_total_time=60

Parsers may raise only the errors that they document. A message must be the same however it is
split into pieces. No message may be accepted without a key.
"""

import contextlib
import re
import sys
from collections.abc import Coroutine
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

# Only this script needs it; `uv run --with` installs it.
import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

with atheris.instrument_imports(include=["relay", "pillarbox"]):
    from pillarbox.application.delivery.build_message import build_raw
    from pillarbox.domain.accounts.key_policy import Principal
    from pillarbox.domain.errors import ServiceError
    from pillarbox.mime.content import decoded_size, first_octets
    from pillarbox.mime.parse import parse
    from relay import framing, proxy
    from relay.admission import Admission
    from relay.limits import ServerLimits
    from relay.memory import MemoryBudget
    from relay.service import Envelope
    from relay.session import ServerContext, SmtpSession
    from tests.fakes import builders
    from tests.fakes.world import World

_REFUSALS: Final = (framing.BareControlCharacter, framing.LineTooLong, framing.ContentFarTooLarge)
_REPLY: Final = re.compile(rb"(?:([2-5]\d\d)-[ -~]*\r\n)*([2-5]\d\d) [ -~]*\r\n")
_FROM: Final = f"From: {builders.SENDER}\r\n".encode()
_PRIVATE_FIELDS: Final = {"bcc", "resent-bcc", "return-path", "idempotency-key"}


class _Service:
    """Knows the key `key` and accepts every message with it."""

    async def authenticate(self, key_text: str) -> Principal:
        """Return the principal of the key."""
        if key_text != "key":
            raise ServiceError("invalid_api_key", "not valid")
        return Principal(builders.api_key("key"), builders.account())

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        """Accept a message."""
        assert key_text == "key", "a message needs a key"
        assert envelope.sender == builders.SENDER, "the sender is verified"
        assert 1 <= len(envelope.recipients) <= 50, "there are 1 to 50 recipients"
        assert not re.search(rb"\0|\r(?!\n)|(?<!\r)\n", octets), "lines end with CR LF"
        return "id"


_CONTEXT: Final = ServerContext(name="relay.example", limits=ServerLimits(), service=_Service())


def message_of(octets: bytes, step: int) -> tuple[type[Exception] | None, bytes | None]:
    """Return the refusal or the octets of a message that arrives in pieces of `step` octets."""
    content = framing.ContentBuffer(
        10**6, MemoryBudget(ServerLimits()).begin("account", "192.0.2.1", lambda: None)
    )
    try:
        for start in range(0, len(octets), step):
            if content.feed(octets[start : start + step]) is not None:
                return None, bytes(content.finish())
    except _REFUSALS as refusal:
        return type(refusal), None
    finally:
        content.release()
    return None, None


def check_lines(octets: bytes, step: int) -> None:
    """Read commands in pieces until one is refused."""
    lines = framing.LineBuffer()
    with contextlib.suppress(*_REFUSALS):
        for start in range(0, len(octets), step):
            lines.feed(octets[start : start + step])
            while (line := lines.next_line()) is not None:
                assert not {0, 10, 13} & set(line), "a line has no NUL, CR or LF"


def check_message(octets: bytes) -> None:
    """Parse a message and decode each of its parts."""
    with contextlib.suppress(ServiceError):
        for part in parse(octets).parts:
            assert 0 <= part.start <= part.end <= len(octets), "a part is inside its message"
            assert decoded_size(octets, part) <= len(octets), "decoding makes no part larger"
            first_octets(octets, part)


def check_dialogue(octets: bytes, *, secure: bool) -> None:
    """Run a session; every command must get a well-formed reply."""
    client = _CONTEXT.connections.admit("192.0.2.1", lambda _: None)
    assert isinstance(client, Admission), "there is room for one connection"
    try:
        _run_session(SmtpSession(_CONTEXT, client), octets, secure=secure)
    finally:
        _CONTEXT.connections.release(client)


def _run_session(session: SmtpSession, octets: bytes, *, secure: bool) -> None:
    lines = framing.LineBuffer()
    if secure:
        session.tls_established()
    lines.feed(octets)
    with contextlib.suppress(*_REFUSALS):
        while (line := lines.next_line(session.longest_line)) is not None:
            answer = session.command(line)
            while True:
                reply = _result_of(answer) if isinstance(answer, Coroutine) else answer
                assert _REPLY.fullmatch(reply.wire), "a reply has lines of printable ASCII"
                content = session.content
                if content is None:
                    break
                try:
                    rest = content.feed(lines.pop_all())
                    if rest is None:
                        return
                    lines.feed(rest)
                    answer = session.content_ended(content)
                finally:
                    content.release()
    assert session.authenticated <= secure, "no key is accepted without TLS"


def _result_of(answer: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that never waits."""
    try:
        answer.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the service answers at once")


def check_submission(octets: bytes) -> None:
    """Accept a message; the mail that is sent must have one author and no private field."""
    world = World()
    submission = world.smtp_submission
    try:
        prepared = submission.prepare(world.live, ("ann@example.com",), bytearray(octets))
        submission.submit(world.live, prepared)
    except ServiceError:
        assert not world.store.messages, "a refused message leaves no record"
        return
    (job,) = world.store.queue
    assert job.mail, "a job contains a small mail"
    sent = message_from_bytes(build_raw(job.mail, world.message()))
    names = [name.lower().strip() for name in sent]
    assert not _PRIVATE_FIELDS & set(names), "private fields are removed"
    assert not any(name.startswith("x-ses-") for name in names), "fields for SES are removed"
    assert names.count("from") == 1, "there is one From field"


def check(octets: bytes) -> None:
    """Check one input; its first octet determines how it is split."""
    if not octets:
        return
    first, octets = octets[0], octets[1:]
    step = first % 16 + 1
    check_lines(octets, step)
    assert message_of(octets, step) == message_of(octets, len(octets) + 1), (
        "pieces do not change a message"
    )
    check_message(octets)
    check_dialogue(octets, secure=first < 240)
    check_submission(octets if first & 16 else _FROM + octets)
    with contextlib.suppress(proxy.ProxyHeaderError):
        proxy.read_header(octets)


def first_inputs() -> list[bytes]:
    """Return the first inputs: a session, and a mail with several parts."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = builders.SENDER, "Ann <ann@example.com>", "Hé"
    mail.set_content("Hello\n.\nthere")
    mail.add_alternative("<p>Hello", subtype="html")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    octets = mail.as_bytes(policy=policy.SMTP)
    session = (
        b"EHLO c.example\r\nAUTH PLAIN AGFwaWtleQBrZXk=\r\n"
        b"MAIL FROM:<%s> SIZE=9\r\nRCPT TO:<ann@example.com>\r\nDATA\r\n"
        b"Hello\r\n.\r\nRSET\r\nQUIT\r\n" % builders.SENDER.encode()
    )
    return [b"\x07" + session, b"\x17" + octets, b"\x17" + octets + b".\r\n"]


if __name__ == "__main__":
    words = Path(__file__).with_name("relay.dict")
    with TemporaryDirectory() as seeds:
        for number, octets in enumerate(first_inputs()):
            (Path(seeds) / str(number)).write_bytes(octets)
        corpora = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
        flags = [argument for argument in sys.argv[1:] if argument.startswith("-")]
        options = ["-len_control=0", "-max_len=8192", f"-dict={words}", *flags]
        atheris.Setup([sys.argv[0], *options, *corpora, seeds], check)
        atheris.Fuzz()
