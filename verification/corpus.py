# ruff: noqa: T201  a program that is run by hand prints its results
"""Submit the messages of some folders, such as the test data of mail parsers.

    .venv/bin/python -m verification.corpus FOLDER…

Each file is submitted as a mail program does: with CR LF as line ends, and with a verified sender
in place of From and Sender. What is accepted must pass the checks of the SES stand-in, and be the
same octets without the fields that are not delivered. benchmarks/corpus.md has the figures.
"""

import hashlib
import re
import sys
from pathlib import Path
from typing import Final

from local.ses.checks import check_message
from local.ses.errors import SesError
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.fakes.builders import SENDER
from tests.fakes.world import World
from verification.attacks.tally import Tally

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
#: The first line of a message in a mailbox file is no field.
_ENVELOPE: Final = re.compile(rb"From [^\r\n]*\r\n")
_FIELD: Final = re.compile(rb"[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*")
_HEADER: Final = re.compile(rb"(?:(?!\r\n)[^\r\n]*\r\n)*")
_AUTHOR: Final = re.compile(rb"(?i)(?:From|Sender)[ \t]*:")
_NOT_DELIVERED: Final = re.compile(
    rb"(?i)(?:(?:Bcc|Resent-Bcc|Return-Path|Idempotency-Key|X-API-Key|X-Scheduled-At)[ \t]*:"
    rb"|X-(?:SES|Tag)-|(?:To|Cc|Reply-To):\s*\Z)"
)
#: In octets, without its end (RFC 5321 section 4.5.3.1.6): the relay refuses a longer line.
_LONGEST: Final = 998


def submit(files: list[Path]) -> Tally:
    """Submit each distinct message, and count what becomes of them."""
    tally = Tally("crashes", "refused by SES", "changed")
    seen = set[bytes]()
    for path in files:
        octets = _submitted(path.read_bytes())
        digest = hashlib.sha256(octets).digest()
        if digest in seen:
            continue
        seen.add(digest)
        tally["messages"] += 1
        try:
            raw = _delivered(octets)
            check_message(raw)
        except ServiceError as error:
            tally[f"refused: {_reason(error)}"] += 1
        except SesError as error:
            tally.find("refused by SES", f"{path.name}: {error.message}")
        except Exception as error:  # noqa: BLE001  any other error is what this looks for
            tally.find("crashes", f"{path.name}: {error!r}")
        else:
            tally["accepted"] += 1
            if not raw.endswith(_expected(octets)):  # a Date may be before it
                tally.find("changed", path.name)
    return tally


def _submitted(octets: bytes) -> bytes:
    """Return a message of a file with a verified sender in From, and without Sender."""
    lines = _ENVELOPE.sub(b"", _LINE_END.sub(b"\r\n", octets).removesuffix(b"\r\n"), count=1)
    header, body = _split(lines)
    others = [field for field in _FIELD.findall(header) if not _AUTHOR.match(field)]
    return b"".join([f"From: {SENDER}\r\n".encode(), *others, body, b"\r\n"])


def _split(octets: bytes) -> tuple[bytes, bytes]:
    match = _HEADER.match(octets)
    end = match.end() if match else 0
    return octets[:end], octets[end:]


def _delivered(octets: bytes) -> bytes:
    """Return what SES gets.

    Raises:
        ServiceError: the message is refused.
    """
    if any(len(line) > _LONGEST for line in octets.split(b"\r\n")):
        raise ServiceError("request_too_large", f"a line is longer than {_LONGEST} octets")
    world = World()
    submission = world.smtp_submission
    prepared = submission.prepare(world.live, ("ann@example.com",), bytearray(octets))
    submission.submit(world.live, prepared)
    (job,) = world.store.queue
    mail = job.mail or world.store.spool[job.spool_key or ""]
    return build_raw(mail, world.message())


def _expected(octets: bytes) -> bytes:
    header, body = _split(octets)
    kept = [field for field in _FIELD.findall(header) if not _NOT_DELIVERED.match(field)]
    return b"".join([*kept, body or b"\r\n"])


def _reason(error: ServiceError) -> str:
    """Return what was wrong, without what differs between messages."""
    text = f"{error.code}: {(error.details or {}).get('content_type', error.message)}"
    if isinstance(error, ValidationFailed):
        fault = error.errors[0]
        text = f"{fault.field}: {fault.message}" if fault.field else fault.message
    return re.sub(r"\d+(?:\.\d+)*", "N", re.sub(r'"(?:[^"\\]|\\.)*"', '"…"', text))[:110]


def main() -> int:
    """Print how often each refusal occurred, and the counts; return 1 if a promise was broken."""
    files = [path for name in sys.argv[1:] for path in sorted(Path(name).rglob("*"))]
    tally = submit([path for path in files if path.is_file()])
    refusals = {name: tally.pop(name) for name in [*tally] if name.startswith("refused: ")}
    for name, count in sorted(refusals.items(), key=lambda each: -each[1]):
        print(f"{count:6} {name}")
    tally["refused"] = sum(refusals.values())
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
