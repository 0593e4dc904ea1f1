"""Sends hostile messages through the use case of the relay: each must be refused.

Then it changes messages of common mail programs at random. A changed message may be accepted, but
SES must accept it as well.
"""

import re
import time
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final

from pillarbox.application.delivery.build_message import build_raw
from pillarbox.domain.errors import ServiceError
from tests.fakes.client_messages import CLIENT_MESSAGES
from tests.fakes.world import World
from verification.attacks.hostile_messages import hostile_messages
from verification.attacks.sendable import faults_in
from verification.attacks.tally import Options, Tally

_SLOW: Final = 2.0  # seconds of CPU
_MUTATIONS: Final = 20_000
_BOUNDARY: Final = re.compile(rb'boundary="([^"\r\n ]{2,60})"', re.IGNORECASE)
_OCTETS: Final = b'\x00\t "(),-.:;<=>?@B\\_bx\x80\xc3\xff'


def attack(mutations: int, seed: int = 1, step: int = 1) -> Tally:
    """Try every hostile message, or every so manieth, and so many changed ones."""
    tally = Tally("hostile accepted", "accepted but unsendable", "crashes", "over 2 s of CPU")
    for label, message in islice(hostile_messages(), 0, None, step):
        if _submit(tally, label, message) is not None:
            tally.find("hostile accepted", label)
    random = Random(seed)  # noqa: S311  a repeatable test
    programs = sorted(CLIENT_MESSAGES)
    for _ in range(mutations):
        program = random.choice(programs)
        changed = _change(random, CLIENT_MESSAGES[program])
        if (raw := _submit(tally, program, changed)) is not None:
            tally["changed and accepted"] += 1
            for fault in faults_in(raw):
                tally.find("accepted but unsendable", fault)
    return tally


def _submit(tally: Tally, label: str, message: bytes) -> bytes | None:
    """Return what SES would get, or None if the message is refused."""
    tally["bad inputs tried"] += 1
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
        tally.find("crashes", f"{label}: {error!r}")
        return None
    finally:
        tally["over 2 s of CPU"] += time.thread_time() - started > _SLOW


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


def _folded(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    """Give the boundaries of a message a blank, and maybe fold them there."""
    blank = random.choice((b" ", b"\r\n "))
    for name in set(_BOUNDARY.findall(b"\r\n".join(lines))):
        with_blank = name[:-1] + b" " + name[-1:]
        lines = [line.replace(name, with_blank) for line in lines]
        declared = b'="' + with_blank
        folded = b'="' + name[:-1] + blank + name[-1:]
        lines = b"\r\n".join(lines).replace(declared, folded).split(b"\r\n")
    yield from lines


def _renamed(random: Random, lines: list[bytes]) -> Iterator[bytes]:
    new = random.choice((b".exe", b".js", b"\xe2\x80\xae", b"\xe2\x80\x8b", b".", b":", b"%2Eexe"))
    old = random.choice((b".pdf", b".docx", b".csv", b".xls", b".ics", b".png", b"Shop", b"Ann"))
    yield from (line.replace(old, new) for line in lines)


_CHANGES: Final = (_doubled, _dropped, _moved, _swapped, _altered, _altered, _folded, _renamed)


def run(options: Options) -> Tally:
    """Try every hostile message and 20,000 changed ones."""
    return attack(_MUTATIONS, options.seed)
