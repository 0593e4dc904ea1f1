"""Sends hostile messages through the use case of the relay: each must be refused.

    .venv/bin/python -m verification.attacks.mime --mutations 20000

Then it changes messages of common mail programs at random. A changed message may be accepted, but
SES must accept it as well.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Final

from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.errors import ServiceError
from tests.fakes.client_messages import CLIENT_MESSAGES
from tests.fakes.world import World
from verification.attacks.hostile_messages import hostile_messages
from verification.attacks.sendable import faults_in

_SLOW: Final = 2.0  # seconds of CPU
_OCTETS: Final = b'\x00\t "(),-.:;<=>?@B\\_bx\x80\xc3\xff'


@dataclass(slots=True)
class Counts:
    """What happened to the messages."""

    tried: int = 0
    #: Hostile messages that were accepted, and changed ones, which may be.
    hostile_accepted: int = 0
    changed_accepted: int = 0
    #: Accepted, but SES would refuse it, or it misleads.
    unsendable: int = 0
    crashed: int = 0
    slow: int = 0
    findings: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Return the last line."""
        return (
            f"bad inputs tried {self.tried:,}, hostile accepted {self.hostile_accepted}, changed"
            f" and accepted {self.changed_accepted:,}, crashes {self.crashed}, over 2 s of CPU"
            f" {self.slow}, accepted but unsendable {self.unsendable}"
        )

    @property
    def failed(self) -> bool:
        """Whether any message got what it should not."""
        return bool(self.hostile_accepted or self.unsendable or self.crashed or self.slow)


def attack(mutations: int, seed: int = 1, step: int = 1) -> Counts:
    """Try every hostile message, or every so manieth, and so many changed ones."""
    counts = Counts()
    for label, message in islice(hostile_messages(), 0, None, step):
        if _submit(counts, label, message) is not None:
            counts.hostile_accepted += 1
            counts.findings[f"accepted: {label}"] += 1
    random = Random(seed)  # noqa: S311  a repeatable test
    programs = sorted(CLIENT_MESSAGES)
    for _ in range(mutations):
        program = random.choice(programs)
        changed = _change(random, CLIENT_MESSAGES[program])
        if (raw := _submit(counts, program, changed)) is not None:
            counts.changed_accepted += 1
            if faults := faults_in(raw):
                counts.unsendable += 1
                counts.findings[f"unsendable: {faults[0]}"] += 1
    return counts


def _submit(counts: Counts, label: str, message: bytes) -> bytes | None:
    """Return what SES would get, or None if the message is refused."""
    counts.tried += 1
    world = World()
    started = time.thread_time()
    try:
        submission = world.smtp_submission
        prepared = submission.prepare(world.live, ("ann@example.com",), bytearray(message))
        submission.submit(world.live, prepared)
        (job,) = world.store.queue
        assert job.mail is not None
        return build_raw(job.mail, world.message())
    except ServiceError:
        return None
    except Exception as error:  # noqa: BLE001  any other error is what this looks for
        counts.crashed += 1
        counts.findings[f"crash: {label}: {error!r}"] += 1
        return None
    finally:
        counts.slow += time.thread_time() - started > _SLOW


def _change(random: Random, message: bytes) -> bytes:
    """Change one to four lines or octets, and keep CR LF as the only line end."""
    lines = message.split(b"\r\n")
    for _ in range(random.randint(1, 4)):
        lines = list(random.choice(_CHANGES)(random, lines))
    return b"\r\n".join(line.replace(b"\r", b"").replace(b"\n", b"") for line in lines)


def _doubled(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    position = random.randrange(len(lines))
    yield from (*lines[:position], lines[position], *lines[position:])


def _dropped(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    position = random.randrange(len(lines))
    yield from (*lines[:position], *lines[position + 1 :], b"")


def _moved(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    line = random.choice(lines)
    position = random.randrange(len(lines))
    yield from (*lines[:position], line, *lines[position:])


def _swapped(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    yield from lines


def _altered(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    number = random.randrange(len(lines))
    line = lines[number]
    start = random.randrange(len(line) + 1)
    octet = bytes((random.choice(_OCTETS),))
    lines[number] = line[:start] + octet + line[start + random.randint(0, 1) :]
    yield from lines


def _renamed(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    new = random.choice((b".exe", b".js", b"\xe2\x80\xae", b"\xe2\x80\x8b", b".", b":", b"%2Eexe"))
    old = random.choice((b".pdf", b".docx", b".csv", b".xls", b".ics", b".png", b"Shop", b"Ann"))
    yield from (line.replace(old, new) for line in lines)


_CHANGES: Final = (_doubled, _dropped, _moved, _swapped, _altered, _altered, _renamed)


def main() -> None:
    """Attack, and print what was found and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts = attack(arguments.mutations, arguments.seed)
    for finding, count in counts.findings.most_common(50):
        sys.stdout.write(f"{count:6} {finding}\n")
    sys.stdout.write(f"{counts}\n")
    sys.exit(counts.failed)


if __name__ == "__main__":
    main()
