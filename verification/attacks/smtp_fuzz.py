"""Compare what SMTP clients send with what the relay accepts, for sessions made by chance.

A server runs in this process, with TLS, the real use case and stores. The fuzzer reads what it
sent as RFC 5321 says: lines end with CR LF, each command gets one reply, and a message ends at a
line with one dot. From that and the replies follows what must be stored: for each 250 after a
message one email, with the recipients that got a 250 and the content as sent, apart from the
documented changes. Nothing else may be stored, and nothing without a login. SES must accept what
is sent on: a 250 for an email that fails later is a mismatch too.
"""

import contextlib
import re
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import format_datetime
from typing import Final
from uuid import UUID

from local.ses.checks import check_message
from local.ses.errors import SesError
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.accounts.account import Plan
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World
from tests.relay.running_relay import Client, RunningRelay, serve
from verification.attacks.smtp_grammar import Grammar, Script
from verification.attacks.tally import Options, Tally

_REPLY: Final = re.compile(rb"(?:([2-5]\d\d)-[ -~]*\r\n)*([2-5]\d\d) ([ -~]*)\r\n")
_PATH: Final = re.compile(rb"(MAIL FROM|RCPT TO):<([^<>]*)>.*", re.IGNORECASE | re.DOTALL)
_QUEUED: Final = re.compile(rb"250 2\.0\.0 Ok: queued as ([0-9a-f-]{36})\r\n")
_BARE: Final = re.compile(rb"\0|\r(?!\n)|(?<!\r)\n")
_REMOVED: Final = re.compile(
    rb"(?:bcc|resent-bcc|return-path|idempotency-key|x-ses-[^:]*)\s*:", re.IGNORECASE
)
_IDEMPOTENCY: Final = re.compile(rb"^idempotency-key:", re.IGNORECASE | re.MULTILINE)
#: Replies after which the server closes the connection.
_LAST: Final = re.compile(rb"421 |221 |500 5\.5\.2 A line|550 5\.5\.2 A line|552 5\.3\.4 ")
_LONG_LINE: Final = re.compile(rb"500 5\.5\.2 A line of the message")
_ONLY_WITH_A_KEY: Final = re.compile(rb"235 |250 2\.1|3|250 2\.0\.0 Ok: queued")
_SIZE: Final = 40_000
_LONGEST_COMMAND: Final = 512
_LONGEST_LINE: Final = 998


class Mismatch(Exception):
    """What the relay did does not follow from what it was sent."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that got a 250: its id, its recipients, and its content without dot-stuffing."""

    message_id: UUID
    recipients: frozenset[str]
    content: bytes


class Fuzzer:
    """Sends scripts to a relay, and compares what it stores with what it was sent."""

    def __init__(self, seed: int) -> None:
        self.tally = Tally("mismatches")
        self._world = World(builders.account(plan=Plan.ENTERPRISE))
        self._grammar = Grammar(seed, self._world.live)
        #: The recipients of each message that was accepted.
        self._known: dict[UUID, frozenset[str]] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[RunningRelay]:
        """Run the server within a block."""
        service = ThreadedService(lambda: self._world.smtp_submission)
        with serve(service=service, message_size=_SIZE, clock=lambda: 0.0) as relay:
            yield relay

    def run(self, *, sessions: int | None = None, seconds: float = 0) -> Tally:
        """Send a number of scripts, or as many as fit into a time."""
        end = time.monotonic() + seconds
        with self.running() as relay:
            while self.tally["sessions"] < sessions if sessions else time.monotonic() < end:
                script = self._grammar.script()
                self.tally["sessions"] += 1
                try:
                    self.check(relay, script)
                except (Mismatch, TimeoutError) as error:
                    self.tally.find("mismatches", f"{error!r}: {script!r}")
        return self.tally

    def check(self, relay: RunningRelay, script: Script) -> None:
        """Send one script.

        Raises:
            Mismatch: what is stored, or a reply, does not follow from it.
        """
        store = self._world.store
        before = set(store.messages)  # they stay, since a repetition is answered from the record
        store.queue.clear()
        replies = converse(relay, script)
        self.tally["replies"] += len(replies)
        accepted = list(understand(script.secure, replies)) if replies else []
        self.tally["refused"] += sum(reply[:1] in b"45" for reply in replies)
        self.tally["accepted"] += len(accepted)
        first_ids = []
        for each in accepted:
            if each.message_id in self._known:
                self._check_repeated(each)
                continue
            self._known[each.message_id] = each.recipients
            first_ids.append(each.message_id)
            self._check_stored(each)
        stored = [message_id for _, message_id in store.messages.keys() - before]
        queued = [job.message_id for job in store.queue]
        if not sorted(first_ids) == sorted(stored) == sorted(queued):
            raise Mismatch(f"250 for {first_ids}, but stored {stored} and queued {queued}")

    def _check_repeated(self, accepted: Accepted) -> None:
        self.tally["repeated under one Idempotency-Key"] += 1
        first = self._known[accepted.message_id]
        if not _IDEMPOTENCY.search(accepted.content) or first != accepted.recipients:
            raise Mismatch(f"{accepted.message_id} was accepted twice")

    def _check_stored(self, accepted: Accepted) -> None:
        jobs = [job for job in self._world.store.queue if job.message_id == accepted.message_id]
        mail = jobs[0].mail if len(jobs) == 1 else None
        if mail is None:
            raise Mismatch(f"{len(jobs)} jobs for {accepted.message_id}")
        recipients = [address.lower() for address in (*mail.to, *mail.cc, *mail.bcc)]
        if set(recipients) != accepted.recipients:
            raise Mismatch(f"recipients {recipients} instead of {sorted(accepted.recipients)}")
        message = self._world.store.messages[builders.ACCOUNT, accepted.message_id]
        raw = build_raw(mail, message)
        if raw != expected_octets(accepted.content):
            raise Mismatch(f"the content of {accepted.message_id} is not what was sent")
        try:
            check_message(raw)
        except SesError as error:
            raise Mismatch(f"250 for {accepted.message_id}, and then {error}") from error


def converse(relay: RunningRelay, script: Script) -> list[bytes]:
    """Send a script and return the replies within TLS; none if the server ends it before."""
    with relay.connect_plaintext() as client:
        client.send(script.plaintext)
        if not _starts_tls(client):
            return []
        try:
            client.wrap()
        except (ConnectionError, ssl.SSLError):
            if script.plaintext.endswith(b"STARTTLS\r\n"):
                raise Mismatch("the handshake failed") from None
            return []
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            for piece in script.in_pieces():
                client.send(piece)
        replies = []
        while reply := client.reply_or_end():
            replies.append(reply)
        return replies


def _starts_tls(client: Client) -> bool:
    """Read the replies to the plaintext. Return whether TLS follows, and not the end."""
    while True:
        reply = client.reply_or_end()
        if reply.startswith(b"220 "):
            return True
        if _LAST.match(reply):
            return False
        if not reply or _ONLY_WITH_A_KEY.match(reply):
            raise Mismatch(f"{reply!r} before TLS")


def understand(octets: bytes, replies: list[bytes]) -> Iterator[Accepted]:
    """Read what was sent as RFC 5321 says, and yield what the replies promise to have accepted."""
    recipients: list[bytes] = []
    position, in_message, in_exchange, logged_in = 0, False, False, False
    for reply in replies:
        logged_in = logged_in or reply.startswith(b"235 ")
        if not _REPLY.fullmatch(reply):
            raise Mismatch(f"the reply {reply!r} is malformed")
        if reply.startswith((b"451", b"454")):
            raise Mismatch(f"{reply!r} although nothing fails")
        if in_message:
            # The CR LF that ends DATA may begin the end of an empty message.
            end = octets.find(b"\r\n.\r\n", position - 2)
            content = octets[position : end + 2]
            position, in_message = (len(octets) if end < 0 else end + 5), False
            queued = _QUEUED.fullmatch(reply)
            if queued:
                if end < 0 or _BARE.search(content) or not recipients or not logged_in:
                    raise Mismatch("250 for no message, a bare CR, LF or NUL, nobody, or no login")
                addresses = frozenset(path.decode().lower() for path in recipients)
                yield Accepted(UUID(queued[1].decode()), addresses, unstuffed(content))
            _check_length(reply, content)
            recipients = []
        else:
            end = octets.find(b"\r\n", position)
            if end < 0:
                raise Mismatch(f"{reply!r} to nothing")
            line, position = octets[position:end], end + 2
            _check_command(line, reply, in_exchange=in_exchange)
            path = _PATH.fullmatch(line)
            if path and reply.startswith(b"250 2.1"):
                recipients = [*recipients, path[2]] if path[1][:1] in b"Rr" else []
            in_message, in_exchange = reply.startswith(b"354"), reply.startswith(b"334")
    if not _LAST.match(replies[-1]):
        raise Mismatch(f"the last reply is {replies[-1:]}")


def _check_length(reply: bytes, content: bytes) -> None:
    """Raise if a line is called too long although it has 998 octets (RFC 5321 4.5.3.1.6)."""
    longest = max(map(len, unstuffed(content).split(b"\r\n")))
    if _LONG_LINE.match(reply) and longest <= _LONGEST_LINE:
        raise Mismatch(f"{reply!r} to a line of {longest} octets")


def _check_command(line: bytes, reply: bytes, *, in_exchange: bool) -> None:
    succeeded = reply.startswith((b"2", b"354"))
    if succeeded and (_BARE.search(line) or b"queued" in reply):
        raise Mismatch(f"{reply!r} to {line!r}")
    if succeeded and not in_exchange and len(line) + 2 > _LONGEST_COMMAND:
        raise Mismatch(f"{reply!r} to a line of {len(line)} octets")


def unstuffed(content: bytes) -> bytes:
    """Remove the dot that a client adds to lines that begin with one (RFC 5321 4.5.2)."""
    lines = content.split(b"\r\n")
    return b"\r\n".join(line[1:] if line.startswith(b".") else line for line in lines)


def expected_octets(content: bytes) -> bytes:
    """Return what must be sent on: without private fields, with Date and empty line."""
    fields: list[bytes] = []
    header, rest = _header_and_rest(content)
    for line in header:
        if line.startswith((b" ", b"\t")) and fields:
            fields[-1] += line
        else:
            fields.append(line)
    names = {each.partition(b":")[0].lower() for each in fields}
    added = b""
    if b"date" not in names:
        added += f"Date: {format_datetime(builders.NOW)}\r\n".encode()
    return added + b"".join(each for each in fields if not _REMOVED.match(each)) + rest


def _header_and_rest(content: bytes) -> tuple[list[bytes], bytes]:
    """Split a message before its first empty line, which may be missing; return header lines."""
    lines = [line + b"\r\n" for line in content.split(b"\r\n")[:-1]]
    size = lines.index(b"\r\n") if b"\r\n" in lines else len(lines)
    return lines[:size], b"".join(lines[size:]) or b"\r\n"


def run(options: Options) -> Tally:
    """Send as many scripts as fit into the time."""
    return Fuzzer(options.seed).run(seconds=options.seconds)
