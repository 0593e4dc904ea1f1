"""Random schedules: sends at the same time under faults, pauses, copies, lost events and more.

Beside faults of calls, a schedule may have:

* message records that are throttled for minutes, and events that wait for hours;
* a minute, a day or a month that ends while mail is accepted;
* mails that expire within minutes, and a provider that throttles for minutes or hours;
* jobs that no worker can read, and jobs of a newer version;
* batches of jobs, which a worker delivers in threads, and workers that get the same job;
* workers whose time is over, or ends while they deliver;
* workers of events that die with the same event again and again;
* dead letters of other mail, and events that EventBridge sets aside for minutes or hours;
* clocks that differ by 30 seconds, and acceptors that stall for 20 minutes;
* no events of other mail;
* passes of the sweep.
"""

import json
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import StringIO
from random import Random
from typing import Any, Final
from unittest.mock import patch

from pillarbox.adapters.s3 import S3Spool
from pillarbox.adapters.sqs.jobs import RESULT_VERSION, read_job
from pillarbox.application.delivery.ports import SpoolObject, SweepStep, SweepTask
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import UnreadableJob
from pillarbox.domain.accounts.quota import Window, window_end
from pillarbox.domain.messages.message import Message, Status
from pillarbox.domain.timing import CLOCK_MARGIN
from pillarbox.wiring import services
from tests.contract.client import Invocation
from tests.fakes.builders import NOW
from verification.faults.processes import Process
from verification.faults.report import RunResult
from verification.faults.runs import PATHS, finals
from verification.faults.system import BUCKET, System
from verification.faults.verdict import judge
from verification.faults.wire import FAULTS, Fault, Kind, Site

_THROTTLED: Final = Fault(Kind.THROTTLE, "before", lasting=True)
#: The calls before a hand-over may time out, which takes time after the check of the deadline.
_GRACE: Final = timedelta(minutes=1) + CLOCK_MARGIN
#: Seconds, longer than a worker waits for the record of a job.
_STALL: Final = 1_200
#: Seconds.
_AT_ONCE: Final = 1.0
_HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class _EndingInvocation(Invocation):
    """An invocation that has too little time for a hand-over."""

    #: How many tries had been struck when it started.
    strikes: int = 0

    def get_remaining_time_in_millis(self) -> int:
        return 20_000


@dataclass(frozen=True, slots=True)
class _EarlyEnd(Invocation):
    """An invocation that ends while it delivers, if it takes long."""

    system: System | None = None
    ends_at: datetime = NOW

    def get_remaining_time_in_millis(self) -> int:
        assert self.system
        return max((self.ends_at - self.system.now) // timedelta(milliseconds=1), 0)


def random_schedules(system: System, seed: int) -> Iterator[RunResult]:
    """Run random schedules from this seed on, without end."""
    while True:
        yield random_schedule(system, seed)
        seed += 1


def random_schedule(system: System, seed: int) -> RunResult:
    """Run some sends at the same time under the random faults of a seed."""
    draw = Random(seed)  # noqa: S311  a repeatable schedule, not a secret
    return _RandomSchedule(system, draw).run(f"seed {seed}")


def bursts(system: System) -> Iterator[RunResult]:
    """Run bursts with few faults, whose jobs workers get twice and deliver in batches."""
    for seed in range(1, 40):
        draw = Random(seed)  # noqa: S311  a repeatable schedule, not a secret
        yield _RandomSchedule(system, draw, is_burst=True).run(f"burst {seed}")


class _RandomSchedule:
    """One random schedule.

    It stays within what the protocol can tolerate. Functions end within their time-outs,
    though pauses here exceed them tenfold. Of each mail that the provider accepted, at
    least one event is queued within a quarter of an hour. It may be received hours later.
    """

    def __init__(self, system: System, draw: Random, *, is_burst: bool = False) -> None:
        self._system, self._draw = system, draw
        self._faults, self._is_calm = 0, is_burst and draw.random() < 0.5
        self._faults_left = draw.randrange(2 if is_burst else 12)
        #: The latest second at which a send of a burst begins; without one, workers get one job.
        self._burst = 5 if is_burst else draw.choice((0, 5))
        #: The lost event of each mail, by subject.
        self._lost: dict[str, set[str]] = {}
        #: When each mail expires, by message id.
        self._deadlines: dict[str, datetime] = {}
        #: The provider throttles until then.
        self._throttled_until = system.now
        #: What came late, in words.
        self._late: list[str] = []
        self._throttled = not is_burst and draw.random() < 0.3
        #: How many seconds a wrong clock is off in this run.
        self._wrong_by = draw.choice((0.0, -30.0, 30.0))

    def run(self, name: str) -> RunResult:
        system, draw = self._system, self._draw
        self._approach_end_of_window()
        with system.disturbed(letters_of_others=draw.choice((0, 0, 1, 9))):
            system.reset()
        system.wire.plan = self._plan
        system.arrivals = self._arrive
        system.copies = self._copies
        with (
            patch("random.random", draw.random),
            system.disturbed(
                batch=10 if self._burst else 1,
                gather=self._gather,
                choose=draw.choice,
                on_delivered=self._on_delivered,
                receive_as=self._receive_as,
                context=self._context,
                on_retry=self._on_retry,
                on_hand_over=self._on_hand_over,
                skew=self._skew,
                on_call=self._on_call,
                deaths_of=self._deaths_of,
                set_aside_for=self._set_aside_for,
                quiet=draw.random() < 0.2,
            ),
        ):
            return self._run(name)

    def _run(self, name: str) -> RunResult:
        system, draw = self._system, self._draw
        expected: dict[str, set[Status]] = {}
        if not self._is_calm and draw.random() < 0.3:
            self._throttled_until = system.now + timedelta(
                seconds=draw.choice((120, 600, 900, 2 * _HOUR))
            )
        if self._throttled:
            self._throttle_messages()
        self._strikes = system.wire.strikes
        for _ in range(draw.randint(4, 8) if self._burst else draw.randint(1, 4)):
            path = draw.choice(PATHS)
            send = path.send()
            expected |= finals(send, path)
            system.after(draw.uniform(0, self._burst or 120), lambda send=send: system.client(send))  # type: ignore[misc]
            if path.keyed and draw.random() < 0.3:  # the same request from another process
                system.after(draw.uniform(0, 400), lambda send=send: system.client(send))  # type: ignore[misc]
        for latest in (300, 2 * _HOUR, 5 * _HOUR):
            if draw.random() < 0.5:
                system.after(draw.uniform(0, latest), self._sweep)
        at_rest = system.run_until_idle()
        for subject, lost in self._lost.items():
            if subject in expected and lost - {"Send"}:
                expected[subject] |= {Status.SENT, Status.DELIVERED}
        verdict = judge(
            system, expected, at_rest=at_rest, exact=False, spool=False, excused=self._excused
        )
        # A refused try may follow an accepted one, and a bounce may be lost.
        verdict.phantom = 0
        verdict.late = len(self._late)
        if any(lost - {"Send"} for lost in self._lost.values()):
            verdict.wrong = 0
        with redirect_stdout(StringIO()):  # metrics
            verdict.wrong += system.stream.wrong_statistics(system.account_id)
        return RunResult(", ".join((name, *self._late)), self._faults, verdict)

    # The clock

    def _approach_end_of_window(self) -> None:
        """Let a window of the quota end within the first minute of some runs."""
        system, draw = self._system, self._draw
        system.now = window_end("day", system.now) + timedelta(hours=12)
        windows: tuple[Window | None, ...] = (None, None, None, "minute", "day", "month")
        window = draw.choice(windows)
        if window is not None:
            reset = timedelta(hours=1)  # the next run starts so much later
            end = window_end(window, system.now + reset + timedelta(minutes=2))
            system.now = end - reset - timedelta(seconds=draw.uniform(0, 60))

    def _skew(self) -> float:
        """Return how far the clock of a process is off. All are off in one direction."""
        return self._draw.choice((0.0, self._wrong_by))

    # Calls

    def _on_call(self, name: str) -> None:
        """Let an acceptor stall when it has just queued its job."""
        process = self._system.process
        has_queued = process and not process.paused and name.startswith("sqs.SendMessage")
        if has_queued and self._draw.random() < 0.05:
            self._system.pause(_STALL)

    def _plan(self, _number: int, site: Site) -> Fault | None:
        system, draw = self._system, self._draw
        process = system.process
        if process and not process.paused and draw.random() < (0.005 if self._burst else 0.04):
            system.pause(draw.choice((5, 40, 100, 240)))
        if site.name == "sesv2.SendEmail" and system.now < self._throttled_until:
            return _THROTTLED
        if self._faults_left and draw.random() < (0.03 if self._burst else 0.1):
            self._faults_left -= 1
            self._faults += 1
            return draw.choice(FAULTS)
        return None

    def _throttle_messages(self) -> None:
        """Throttle all changes of message records for some time, as of one hot partition."""
        system, draw = self._system, self._draw
        start = system.now + timedelta(seconds=draw.uniform(0, 300))
        end = start + timedelta(seconds=draw.choice((5, 60, 1500)))

        def throttled(name: str, body: bytes) -> bool:
            return name == "dynamodb.UpdateItem" and b"MSG#" in body and start <= system.now < end

        system.wire.throttled = throttled

    # Events

    def _arrive(self, record: dict[str, Any]) -> tuple[float, ...]:
        draw = self._draw
        subject = record["mail"]["commonHeaders"]["subject"]
        lost = self._lost.setdefault(subject, set())
        if not lost and draw.random() < 0.1:
            lost.add(record["eventType"])
            return ()
        longest = draw.choice((180, 180, _HOUR, 4 * _HOUR))
        return tuple(draw.uniform(0, longest) for _ in range(draw.choice((1, 1, 2))))

    def _deaths_of(self, _record: dict[str, Any]) -> int:
        """Return how many workers an event kills. A throttle too would make it a dead letter."""
        return 0 if self._throttled else self._draw.choice((0, 0, 0, 0, 0, 1, 3, 20))

    def _set_aside_for(self, _record: dict[str, Any]) -> float | None:
        return self._draw.choice((*[None] * 12, 900.0, 3.0 * _HOUR))

    # Jobs

    def _copies(self) -> tuple[float, ...]:
        draw = self._draw
        latest, more = (1, 1) if self._is_calm else (draw.choice((5, 400)), draw.choice((0, 0, 1)))
        return (
            draw.uniform(0, 5),
            *(draw.uniform(0, latest) for _ in range(more)),
        )

    def _receive_as(self, body: str) -> str:
        """Let a job expire soon, or make it unreadable to this worker, or leave it as it is."""
        system, draw = self._system, self._draw
        job = json.loads(body)
        change = 1 if self._is_calm else draw.random()
        if change < 0.03:
            del job["hash"]
        elif change < 0.06:
            job["version"] += RESULT_VERSION
        elif change < 0.3:
            wait = timedelta(seconds=draw.choice((60, 300, 600)))
            job["deadline"] = (system.now + wait).isoformat()
        # The same message may be in the queue twice, but expires once.
        deadline = datetime.fromisoformat(job["deadline"])
        job["deadline"] = self._deadlines.setdefault(job["id"], deadline).isoformat()
        return json.dumps(job)

    def _gather(self) -> float:
        return self._draw.uniform(0, self._burst)

    def _context(self) -> Invocation:
        system, kind = self._system, self._draw.random()
        if kind < 0.05:
            return _EndingInvocation(strikes=system.wire.strikes)
        if kind < 0.2:
            lasts = timedelta(seconds=self._draw.uniform(20, 60))
            return _EarlyEnd(system=system, ends_at=system.now + lasts)
        return Invocation()

    def _on_delivered(self, process: Process) -> None:
        """Count the leases that workers left behind, though nothing had happened to any of them."""
        system = self._system
        unharmed = system.wire.strikes == self._strikes and not self._throttled
        if unharmed and not process.paused and not system.alive:
            leased = [message for message in system.messages() if message.lease]
            self._late += [f"the lease of {message.message_id} was left" for message in leased]

    def _on_retry(self, body: str, context: Invocation, wait: float) -> None:
        """Count a job that a worker without time did not hand back at once."""
        if not isinstance(context, _EndingInvocation) or wait <= _AT_ONCE:
            return
        if _is_readable(body) and context.strikes == self._system.wire.strikes:
            self._late.append(f"a job was handed back after {wait:.1f} s")

    def _on_hand_over(self, mail: Any) -> None:
        """Count a mail that a worker handed over after its deadline without having stalled."""
        system = self._system
        stalled = system.process is None or system.process.paused
        if not stalled:
            # A probe has no deadline.
            deadline = self._deadlines.get(mail.tags["message"], system.now)
            if system.now > deadline + _GRACE:
                self._late.append(f"handed over {system.now - deadline} after its deadline")

    def _excused(self, message: Message) -> bool:
        """Return whether a message failed because it expired or because its job was set aside."""
        error, message_id = message.error, str(message.message_id)
        if message.status is not Status.FAILED or error is None:
            return False
        if error.code == "unreadable_job":
            return any(json.loads(job)["id"] == message_id for job in self._system.set_aside)
        expired = error.code in {"expired", "delivery_uncertain"}
        return expired and error.at >= self._deadlines[message_id]

    # The sweep

    def _sweep(self) -> None:
        """Make a pass over this run's account and its spool, whose objects have simulated times."""
        system = self._system
        sweep = replace(services().sweep, spool=_SimulatedSpool(system))

        def run() -> None:
            for step in (SweepStep.OVERDUE, SweepStep.SPOOL):
                task = SweepTask(account_id=system.account_id, pass_at=system.now, step=step)
                sweep.run(task, lambda: True)

        system.start(run, lambda _: None)


def _is_readable(body: str) -> bool:
    with suppress(UnreadableJob):
        return bool(read_job(body))
    return False


class _SimulatedSpool(S3Spool):
    """The spool of one run. The engine stamps objects with the real time."""

    def __init__(self, system: System) -> None:
        super().__init__(BUCKET)
        self._system = system

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        times = self._system.spool_times
        page = super().put_before(account_id, datetime.max.replace(tzinfo=moment.tzinfo), cursor)
        return replace(
            page, items=[s for s in page.items if s.key in times and times[s.key] < moment]
        )
