"""The runs: the life of a mail with a fault at each call, and random schedules."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from random import Random
from typing import Final

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.accounts.account import QueuedMail, Suspension
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import Status
from tests.fakes.builders import attachment, received, request
from verification.faults.enumeration import UNDISTURBED, FaultsOf, Plan, at_each_call, describe
from verification.faults.processes import Send
from verification.faults.report import RunResult
from verification.faults.system import GONE, LISTED, System
from verification.faults.verdict import judge
from verification.faults.wire import FAULTS, Fault, Kind, Site, faults_of

_BOUNCING: Final = "bounce@simulator.amazonses.com"
_GONE: Final = f"bounce@{GONE}"
_LISTED: Final = f"bounce@{LISTED}"
#: More than a worker waits for at one recipient a second.
_TEN: Final = tuple(f"ann{number}@example.com" for number in range(10))
#: Seconds from when until when mail is held, and after which a worker gets a job: it looks at the
#: account if the job is ten seconds old, and again every ten minutes.
_HELD: Final = (5.0, 700.0)
_LOOKED_AT: Final = 11.0
#: Bytes. Base64 makes this larger than the size from which a mail goes through the spool.
_LARGE: Final = 180_000
#: Seconds after the hand-over. Events arrive after the worker's next try, and in reverse order.
_REVERSED: Final = {"Send": 200.0, "Delivery": 150.0, "Bounce": 130.0}
_IN_ORDER: Final = {"Send": 100.0, "Delivery": 130.0, "Bounce": 150.0}
#: Seconds, longer than all events take.
_PAUSE: Final = 240.0
#: Seconds before each retry: the client retries until the lease of a dead owner is over.
_RETRY_WAITS: Final = (1.0, 5.0, 61.0, 5.0, 60.0, 60.0)


@dataclass(frozen=True)
class Path:
    """A path through the service: how mail is sent and how it ends."""

    name: str
    keyed: bool
    large: bool = False
    to: tuple[str, ...] = ("ann@example.com",)
    #: Emails in one request, or in one group over SMTP. In a large batch the first is large.
    mails: int = 1
    #: Whether it is sent over SMTP.
    smtp: bool = False
    #: After how many seconds SES lists an address that bounced.
    listed_after: float = 0.0
    #: Whether the account is suspended, and its mail held, before a worker gets the job.
    held: bool = False
    #: The recipients a second that SES grants.
    rate: float = 14.0
    #: For how many days the account keeps the content.
    keep: int = 0
    #: Whether it answers a received mail.
    answers: bool = False

    def send(self) -> Send:
        mails = tuple(self._mail(large=self.large and n == 0) for n in range(self.mails))
        digest = new_token(32) if self.keyed else None
        return Send(mails, digest, _RETRY_WAITS if self.keyed else (), self.smtp)

    def _mail(self, *, large: bool) -> SendRequest:
        files = (attachment(_LARGE),) if large and not self.smtp else ()
        html = "<p>Hello</p>\r\n" * (_LARGE // 10 if large and self.smtp else 1)
        subject = new_token(16)
        # Each mail has its own address, since a bounce suppresses the address for later mail.
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
        if _LISTED in self.to:
            return Status.FAILED
        return Status.BOUNCED if {_BOUNCING, _GONE} & {*self.to} else Status.DELIVERED


PATHS: Final = (
    Path("unkeyed, inline", keyed=False),
    Path("unkeyed, spooled", keyed=False, large=True),
    Path("keyed, inline", keyed=True),
    Path("keyed, spooled", keyed=True, large=True),
    Path("keyed, bounced", keyed=True, to=(_BOUNCING,)),
    Path("keyed, delivered and bounced", keyed=True, to=("ann@example.com", _BOUNCING)),
    Path("batch, unkeyed", keyed=False, mails=2),
    Path("batch, keyed, spooled", keyed=True, mails=3, large=True),
    # Over SMTP, through the relay's use case.
    Path("SMTP, unkeyed", keyed=False, smtp=True),
    Path("SMTP, in a group", keyed=False, mails=3, smtp=True),
    Path("SMTP, keyed", keyed=True, smtp=True),
    Path("SMTP, keyed, spooled", keyed=True, large=True, smtp=True),
    Path("SMTP, keyed, bounced", keyed=True, to=(_BOUNCING,), smtp=True),
    # SES lists the address after the first receipt of the bounce, or had it listed before.
    Path("keyed, bounced, listed late", keyed=True, to=(_GONE,), listed_after=140.0),
    Path("keyed, unsent by SES", keyed=True, to=(_LISTED,)),
    Path("unkeyed, held", keyed=False, held=True),
    Path("batch, unkeyed, spooled, held", keyed=False, mails=2, large=True, held=True),
    Path("batch, unkeyed, beyond the rate", keyed=False, mails=2, to=_TEN, rate=1.0),
    Path("unkeyed, kept", keyed=False, keep=7),
    Path("keyed, an answer", keyed=True, answers=True),
)


def finals(send: Send, path: Path) -> dict[str, set[Status]]:
    """Return the final statuses that each mail of a send may have, by subject."""
    return {mail.subject or "": {path.final} for mail in send.mails}


def path_by_path(
    system: System, paths: Sequence[Path], faults: FaultsOf = faults_of
) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """Run each path with every fault at every call; yield the path's name and its runs."""
    known: set[Site] = set()
    for path in paths:
        yield path.name, faults_on_path(system, path, faults, known)


def faults_on_path(
    system: System,
    path: Path,
    faults: FaultsOf = faults_of,
    known: set[Site] | None = None,
) -> Iterator[RunResult]:
    """Run a path with every fault at every call (see `at_each_call`)."""
    return at_each_call(system.wire, partial(run, system, path), faults, known=known)


def at_first_call(system: System, path: Path, call: str) -> Iterator[RunResult]:
    """Run a path with every fault at its first call of this name."""
    yield from _with_warm_clients(system, path)
    position = [site.name for site in system.wire.calls].index(call)
    for fault in faults_of(call):
        yield run(system, path, {position: fault})


def _with_warm_clients(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path twice, since the first run of a new client makes calls that later ones do not."""
    for _ in range(2):
        yield run(system, path, UNDISTURBED)


def listed_late(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path whose bounce is recorded before SES lists the address."""
    yield run(system, path, UNDISTURBED)


def late_events(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path whose events wait for hours, with every fault at its hand-over."""
    yield run(system, path, UNDISTURBED)
    names = [site.name for site in system.wire.calls]
    for fault in faults_of("sesv2.SendEmail"):
        yield run(system, path, {names.index("sesv2.SendEmail"): fault}, events_wait=4 * 3600)


def dying_event_workers(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path whose hand-over has no answer, and each event of which kills its worker often."""
    yield run(system, path, UNDISTURBED)
    names = [site.name for site in system.wire.calls]
    lost_answer: Plan = {names.index("sesv2.SendEmail"): Fault(Kind.TIMEOUT, "after")}
    for deaths in (1, 3, 28):
        with system.disturbed(deaths_of=lambda _, deaths=deaths: deaths):
            yield run(system, path, lost_answer)


def dead_letters(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path beside dead letters of other mail, with every fault at its hand-over.

    Then EventBridge sets its own events aside too, and an operator moves them back after hours.
    """
    for own in (None, 4 * 3600.0):
        with system.disturbed(letters_of_others=2, set_aside_for=lambda _, own=own: own):
            yield from at_first_call(system, path, "sesv2.SendEmail")


def quiet_service(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path whose worker dies before its hand-over, while no other mail has events."""
    yield run(system, path, UNDISTURBED)
    names = [site.name for site in system.wire.calls]
    with system.disturbed(quiet=True):
        wiring.services().table.delete(keys.heartbeat())
        yield run(system, path, {names.index("sesv2.SendEmail"): Fault(Kind.KILL, "before")})


def paused_writes(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path in which a process is paused before a write, at each of its writes in turn.

    Later events are recorded during the pause.
    """
    yield from _with_warm_clients(system, path)
    for position, site in enumerate([*system.wire.calls]):
        if site.name == "dynamodb.UpdateItem":
            yield run(system, path, UNDISTURBED, pause_at=position, arrivals=_IN_ORDER)


def random_faults(
    system: System, seed: int, faults: Sequence[Fault] = FAULTS
) -> Iterator[RunResult]:
    """Run random faults at random calls of random paths, without end."""
    draw = Random(seed)  # noqa: S311  a repeatable schedule, not a secret
    while True:
        path, fault = draw.choice(PATHS), draw.choice(faults)
        yield run(system, path, {draw.randrange(16): fault})


def within(seconds: float, runs: Iterator[RunResult]) -> Iterator[RunResult]:
    """Take as many runs as fit into the seconds, but at least one."""
    end = time.monotonic() + seconds
    for run in runs:
        yield run
        if time.monotonic() >= end:
            return


def run(
    system: System,
    path: Path,
    plan: Plan,
    *,
    events_wait: float = 0,
    arrivals: Mapping[str, float] = _REVERSED,
    pause_at: int | None = None,
    pause: float = _PAUSE,
    again_after: float | None = None,
) -> RunResult:
    """Make one run of a path under a plan, and judge it.

    Args:
        system: the system.
        path: how the mail is sent.
        plan: the faults.
        events_wait: seconds that all events are late.
        arrivals: seconds after which each kind of event arrives.
        pause_at: the call before which its process pauses.
        pause: seconds that it pauses.
        again_after: seconds after which another client sends the same with the same key.
    """
    system.rate, system.keep = path.rate, path.keep
    system.reset()
    struck = system.wire.plant(plan)
    if pause_at is not None:
        _pause_at(system, pause_at, pause)
    system.arrivals = lambda record: (events_wait + arrivals[record["eventType"]],)
    system.copies = lambda: (_LOOKED_AT if path.held else 0.0,)
    handed_over, ready_at = list[datetime](), system.now
    if path.held:
        _hold(system)
        ready_at += timedelta(seconds=_HELD[1])
    system.listed_after = path.listed_after
    send = _as_answer(system, path.send()) if path.answers else path.send()
    system.client(send)
    if again_after is not None:
        system.after(again_after, lambda: system.client(send))
    with system.disturbed(on_hand_over=lambda _: handed_over.append(system.now)):
        at_rest = system.run_until_idle()
    killed = any(fault.kind is Kind.KILL for _, fault in struck.values())
    names = [site.name for site, _ in struck.values()]
    verdict = judge(
        system,
        finals(send, path),
        at_rest=at_rest,
        exact=len(struck) < 2 and not killed and not any("UpdateItem" in name for name in names),
        spool=not killed and not any(name.startswith(("s3.", "sqs.")) for name in names),
    )
    verdict.wrong += len(system.listed()) + system.missing_contents()
    verdict.wrong += sum(at < ready_at for at in handed_over)
    # After two faults the service may be unable to know whether a mail was accepted.
    if len(struck) > 1:
        verdict.phantom = 0
    return RunResult(f"{path.name}: {describe(struck)}", len(struck), verdict)


def _as_answer(system: System, send: Send) -> Send:
    """Store a received mail that the client answers: its email has the same subject, after Re:."""
    (mail,) = send.mails
    answered = received(
        system.account_id,
        received_at=system.now,
        sender=mail.to[0],
        subject=mail.subject,
        reply_to=(),
    )
    wiring.services().received_mails.add(answered)
    return replace(send, received=answered, mails=(replace(mail, subject=f"Re: {mail.subject}"),))


def _hold(system: System) -> None:
    """Let the account be suspended for a while, and its queued mail be held."""
    accounts, (since, until) = wiring.services().account_store, _HELD
    suspension = Suspension(system.now + timedelta(seconds=since), queued=QueuedMail.HOLD)
    system.after(since, lambda: accounts.suspend(system.account_id, suspension))
    system.after(until, lambda: accounts.resume(system.account_id))


def _pause_at(system: System, position: int, seconds: float) -> None:
    """Pause the process that makes the call with this number, before the call."""
    planned = system.wire.plan

    def plan(number: int, site: Site) -> Fault | None:
        if number == position:
            system.pause(seconds)
        return planned(number, site)

    system.wire.plan = plan
