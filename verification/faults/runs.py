"""The runs: a mail's life with faults at its calls, then random schedules of everything at once."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any, Final

from pillarbox.domain.ids import new_token
from pillarbox.domain.mail import SendRequest
from pillarbox.domain.message import Status
from tests.fakes.builders import attachment, request
from verification.faults.enumeration import UNDISTURBED, FaultsOf, Plan, at_each_call, in_words
from verification.faults.processes import Send
from verification.faults.report import RunResult
from verification.faults.system import System
from verification.faults.verdict import judge
from verification.faults.wire import FAULTS, Fault, Kind, Site, faults_of

_BOUNCING: Final = "bounce@simulator.amazonses.com"
#: Base64 of this is over the size from which a mail goes through the spool.
_LARGE: Final = 180_000
#: A client that tries again until the lease of an owner that died is over.
_PATIENT: Final = (1.0, 5.0, 31.0, 5.0, 60.0, 60.0)


@dataclass(frozen=True)
class Path:
    """A way through the service: how mail is sent, and what becomes of it."""

    name: str
    keyed: bool
    large: bool = False
    to: tuple[str, ...] = ("ann@example.com",)
    #: How many go in one request, or over SMTP in a group; of a large batch the first is large.
    mails: int = 1
    #: Whether it comes in over SMTP.
    smtp: bool = False

    def send(self) -> Send:
        mails = tuple(self._mail(large=self.large and n == 0) for n in range(self.mails))
        digest = new_token(32) if self.keyed else None
        return Send(mails, digest, _PATIENT if self.keyed else (), self.smtp)

    def _mail(self, *, large: bool) -> SendRequest:
        files = (attachment(_LARGE),) if large and not self.smtp else ()
        html = "<p>Hello</p>\r\n" * (_LARGE // 10 if large and self.smtp else 1)
        subject = new_token(16)
        # An address of its own: once it has bounced, it would hold up the mail after it.
        to = tuple(address.replace("bounce@", f"bounce+{subject}@") for address in self.to)
        return request(
            to=to,
            subject=subject,
            attachments=files,
            html=html,
            body_hash=sha256(subject.encode()).hexdigest(),
        )

    @property
    def final(self) -> Status:
        return Status.BOUNCED if _BOUNCING in self.to else Status.DELIVERED


PATHS: Final = (
    Path("unkeyed, inline", keyed=False),
    Path("unkeyed, spooled", keyed=False, large=True),
    Path("keyed, inline", keyed=True),
    Path("keyed, spooled", keyed=True, large=True),
    Path("keyed, bounced", keyed=True, to=(_BOUNCING,)),
    Path("keyed, delivered and bounced", keyed=True, to=("ann@example.com", _BOUNCING)),
    Path("batch, unkeyed", keyed=False, mails=2),
    Path("batch, keyed, spooled", keyed=True, mails=3, large=True),
    # Over SMTP, through the relay's use-case.
    Path("SMTP, unkeyed", keyed=False, smtp=True),
    Path("SMTP, in a group", keyed=False, mails=3, smtp=True),
    Path("SMTP, keyed", keyed=True, smtp=True),
    Path("SMTP, keyed, spooled", keyed=True, large=True, smtp=True),
    Path("SMTP, keyed, bounced", keyed=True, to=(_BOUNCING,), smtp=True),
)


def finals(send: Send, path: Path) -> dict[str, set[Status]]:
    """What each mail of a send may show at last."""
    return {mail.subject or "": {path.final} for mail in send.mails}


def path_by_path(
    system: System, paths: Sequence[Path], faults: FaultsOf = faults_of
) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """Every path with every fault at every call, by its name."""
    known: set[Site] = set()
    for path in paths:
        yield path.name, one_by_one(system, path, faults, known)


def one_by_one(
    system: System,
    path: Path,
    faults: FaultsOf = faults_of,
    known: set[Site] | None = None,
) -> Iterator[RunResult]:
    """A path with every fault at every call, as `at_each_call` has it."""
    return at_each_call(system.wire, partial(_run, system, path), faults, known=known)


def aimed(system: System, path: Path, call: str) -> Iterator[RunResult]:
    """Every fault at the first call of a name on a path."""
    yield _run(system, path, UNDISTURBED)
    position = [site.name for site in system.wire.calls].index(call)
    for fault in faults_of(call):
        yield _run(system, path, {position: fault})


def sampled(system: System, seed: int, faults: Sequence[Fault] = FAULTS) -> Iterator[RunResult]:
    """Some of these, drawn at random, without end."""
    draw = Random(seed)  # noqa: S311  a schedule to be repeated, no secret
    while True:
        path, fault = draw.choice(PATHS), draw.choice(faults)
        yield _run(system, path, {draw.randrange(16): fault})


def at_random_from(system: System, seed: int) -> Iterator[RunResult]:
    """Random schedules from a seed on, without end."""
    while True:
        yield at_random(system, seed)
        seed += 1


def within(seconds: float, runs: Iterator[RunResult]) -> Iterator[RunResult]:
    """As many of these as so many seconds allow, and one at least."""
    end = time.monotonic() + seconds
    for run in runs:
        yield run
        if time.monotonic() >= end:
            return


def _run(system: System, path: Path, plan: Plan) -> RunResult:
    system.begin()
    struck = system.wire.plant(plan)
    # Late enough for a worker to look again before; the last thing that happened comes first.
    late = {"Send": 200.0, "Delivery": 150.0, "Bounce": 130.0}
    system.arrivals = lambda record: (late[record["eventType"]],)
    system.copies = lambda: (0.0,)
    send = path.send()
    system.client(send)
    at_rest = system.rest()
    killed = any(fault.kind is Kind.KILL for _, fault in struck.values())
    names = [site.name for site, _ in struck.values()]
    verdict = judge(
        system,
        finals(send, path),
        at_rest=at_rest,
        exact=len(struck) < 2 and not killed and not any("UpdateItem" in name for name in names),
        spool=not killed and not any(name.startswith(("s3.", "sqs.")) for name in names),
    )
    if (
        len(struck) > 1
    ):  # where looking whether a mail was taken fails too, none can say that it was
        verdict.phantom = 0
    return RunResult(f"{path.name}: {in_words(struck)}", len(struck), verdict)


def at_random(system: System, seed: int) -> RunResult:
    """Some mails at once, and everything that may happen to them, as a seed has it."""
    draw = Random(seed)  # noqa: S311  a schedule to be repeated, no secret
    run = _Random(system, draw)
    return run.go(f"seed {seed}")


class _Random:
    """One random schedule.

    Within the bounds of what the protocol can bear at all: functions end within
    their time-outs, which pauses here overstep tenfold, and of what the provider
    did at least one event arrives within a quarter of an hour.
    """

    def __init__(self, system: System, draw: Random) -> None:
        self._system, self._draw = system, draw
        self._faults = 0
        self._left = draw.randrange(12)
        #: The event that is lost of each mail, by its subject.
        self._lost: dict[str, set[str]] = {}

    def go(self, name: str) -> RunResult:
        system, draw = self._system, self._draw
        system.begin()
        system.wire.plan = self._plan
        system.arrivals = self._arrive
        system.copies = self._copies
        expected: dict[str, set[Status]] = {}
        for _ in range(draw.randint(1, 4)):
            path = draw.choice(PATHS)
            send = path.send()
            expected |= finals(send, path)
            system.after(draw.uniform(0, 120), lambda send=send: system.client(send))  # type: ignore[misc]
            if path.keyed and draw.random() < 0.3:  # the same operation from another process
                system.after(draw.uniform(0, 400), lambda send=send: system.client(send))  # type: ignore[misc]
        at_rest = system.rest()
        for subject, lost in self._lost.items():
            if lost - {"Send"}:
                expected[subject] |= {Status.SENT, Status.DELIVERED}
        verdict = judge(system, expected, at_rest=at_rest, exact=False, spool=False)
        # A try that was refused may follow one that was taken; and a bounce may be lost.
        verdict.phantom = 0
        if any(lost - {"Send"} for lost in self._lost.values()):
            verdict.wrong = 0
        return RunResult(name, self._faults, verdict)

    def _plan(self, _number: int, _site: Site) -> Fault | None:
        system, draw = self._system, self._draw
        process = system.process
        if process and not process.paused and draw.random() < 0.04:
            system.pause(draw.choice((5, 40, 100, 240)))
        if self._left and draw.random() < 0.1:
            self._left -= 1
            self._faults += 1
            return draw.choice(FAULTS)
        return None

    def _arrive(self, record: dict[str, Any]) -> tuple[float, ...]:
        draw = self._draw
        subject = record["mail"]["commonHeaders"]["subject"]
        lost = self._lost.setdefault(subject, set())
        if not lost and draw.random() < 0.1:
            lost.add(record["eventType"])
            return ()
        return tuple(draw.uniform(0, 180) for _ in range(draw.choice((1, 1, 2))))

    def _copies(self) -> tuple[float, ...]:
        draw = self._draw
        return (draw.uniform(0, 5), *(draw.uniform(0, 400) for _ in range(draw.choice((0, 0, 1)))))
