"""Many acceptances at a time: what several ask of one port at the same moment is asked together.

Each acceptance takes its own steps in its own thread (`submission.py`), in their
order and with their promises. Only the calls are shared: who comes first asks at
once, for itself; who comes meanwhile waits until that call has ended, and then all
who wait ask in one call. Nobody waits for company, and nobody is told of a success
before the call that it was part of has succeeded.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event, Lock
from typing import Final, cast

from pillarbox.application.ports import (
    Answer,
    Claim,
    Directory,
    Found,
    Jobs,
    Messages,
    Question,
    Quotas,
)
from pillarbox.application.submission import Submission
from pillarbox.domain.mail import Job, Mail, RawBody
from pillarbox.domain.message import Message
from pillarbox.domain.quota import Limits, QuotaExceeded, window_name

#: Asked together at most: a transaction of records stays far below its 100 writes and 4 MB.
MOST: Final = 25
#: In octets. A larger message may go through the spool, and others would wait for its upload.
SMALL: Final = 50_000


def grouped(one: Submission) -> Submission:
    """The same submission, whose calls go together with those of other threads."""
    return replace(
        one,
        directory=GroupedDirectory(one.directory),
        quotas=GroupedQuotas(one.quotas),
        jobs=GroupedJobs(one.jobs),
        messages=GroupedMessages(one.messages),
    )


class Alone(Exception):
    """A call together did not do it for this one: it is to ask by itself."""


@dataclass(slots=True, eq=False)
class _Waiting[T, R]:
    """One who waits: for the outcome, or to be the one who asks for all."""

    argument: T
    woken: Event = field(default_factory=Event)
    asks: bool = False
    outcome: R | Exception | None = None


class Grouping[T, R]:
    """Calls of several threads, made together by one of them.

    Args:
        alone: the call for one argument.
        together: the call for several. It gives an outcome for each, `Alone` for
            one who is to use `alone`; what it raises, all get, likewise.
    """

    def __init__(
        self,
        alone: Callable[[T], R],
        together: Callable[[Sequence[T]], Sequence[R | Exception]],
    ) -> None:
        self._alone = alone
        self._together = together
        self._lock = Lock()
        #: By group, who waits. A group that is here has somebody who asks.
        self._waiting: dict[Hashable, list[_Waiting[T, R]]] = {}

    def ask(self, argument: T, group: Hashable = None) -> R:
        """Make the call for one argument, alone or with what waits in the same group.

        Raises:
            Exception: what the call raised, for this argument.
        """
        own = _Waiting[T, R](argument)
        with self._lock:
            at_once = group not in self._waiting
            self._waiting.setdefault(group, [])
            if not at_once:
                self._waiting[group].append(own)
        if at_once:
            return self._lead(group, own, [own])
        own.woken.wait()
        if not own.asks:
            return self._result(own)
        with self._lock:
            waiting = self._waiting[group]
            members = [own, *waiting[: MOST - 1]]
            del waiting[: MOST - 1]
        return self._lead(group, own, members)

    def _lead(self, group: Hashable, own: _Waiting[T, R], members: Sequence[_Waiting[T, R]]) -> R:
        """Ask for all members; then another may."""
        try:
            if len(members) == 1:
                return self._alone(own.argument)
            self._settle(members)
        finally:
            self._hand_on(group)
        return self._result(own)

    def _settle(self, members: Sequence[_Waiting[T, R]]) -> None:
        outcomes: Sequence[R | Exception]
        try:
            outcomes = self._together([member.argument for member in members])
        except Exception as error:  # noqa: BLE001  each member raises it in its own thread
            outcomes = [error] * len(members)
        for member, outcome in zip(members, outcomes, strict=True):
            member.outcome = outcome
            member.woken.set()

    def _hand_on(self, group: Hashable) -> None:
        with self._lock:
            waiting = self._waiting[group]
            if not waiting:
                del self._waiting[group]
                return
            following = waiting.pop(0)
            following.asks = True
        following.woken.set()

    def _result(self, own: _Waiting[T, R]) -> R:
        if isinstance(own.outcome, Alone):
            return self._alone(own.argument)
        if isinstance(own.outcome, Exception):
            raise own.outcome
        return cast("R", own.outcome)


class GroupedDirectory(Directory):
    """Fulfils `ports.Directory`: all who ask at one moment are answered by one read."""

    def __init__(self, directory: Directory) -> None:
        self._reads = Grouping[Question, Found](
            lambda question: directory.look_up_all([question])[0],
            _or_alone(directory.look_up_all),
        )

    def look_up_all(self, questions: Sequence[Question]) -> Sequence[Found]:
        """Each joins those that are asked now; its read begins after this was called."""
        return [self._reads.ask(question) for question in questions]


class GroupedQuotas:
    """Fulfils `ports.Quotas`: the draws of one account in one minute are one draw."""

    def __init__(self, quotas: Quotas) -> None:
        self.refund = quotas.refund
        self._draws = Grouping[_Draw, None](
            lambda draw: quotas.reserve(draw.account_id, draw.count, draw.limits, draw.now),
            lambda draws: _draw_together(quotas, draws),
        )

    def reserve(self, account_id: str, count: int, limits: Limits, now: datetime) -> None:
        """Count messages in; when not all who draw fit, each draws for itself."""
        draw = _Draw(account_id, count, limits, now)
        self._draws.ask(draw, (account_id, limits, window_name("minute", now)))


@dataclass(frozen=True, slots=True)
class _Draw:
    account_id: str
    count: int
    limits: Limits
    now: datetime


def _draw_together(quotas: Quotas, draws: Sequence[_Draw]) -> Sequence[Exception | None]:
    """Draw once. An unknown outcome is not tried again: it might count twice."""
    first = draws[0]
    count = sum(draw.count for draw in draws)
    try:
        quotas.reserve(first.account_id, count, first.limits, first.now)
    except QuotaExceeded:
        return [Alone()] * len(draws)
    return [None] * len(draws)


class GroupedJobs:
    """Fulfils `ports.Jobs`: small mails are queued together."""

    def __init__(self, jobs: Jobs) -> None:
        self.put_all, self.load, self.discard = jobs.put_all, jobs.load, jobs.discard
        self._put_alone = jobs.put
        self._puts = Grouping[tuple[Job, Mail], None](
            lambda pair: jobs.put(*pair), _or_alone(lambda pairs: _queue_together(jobs, pairs))
        )

    def put(self, job: Job, mail: Mail) -> None:
        """Queue a job; one that the queue did not take of several is tried once more."""
        if isinstance(mail.body, RawBody) and len(mail.body.octets) <= SMALL:
            self._puts.ask((job, mail))
        else:
            self._put_alone(job, mail)


def _queue_together(jobs: Jobs, pairs: Sequence[tuple[Job, Mail]]) -> Sequence[Exception | None]:
    refused = jobs.put_all(pairs)
    return [Alone() if job.message_id in refused else None for job, _ in pairs]


class GroupedMessages:
    """Fulfils `ports.Messages`: records without a claim are put together."""

    def __init__(self, messages: Messages) -> None:
        self.commit_all, self.get_all = messages.commit_all, messages.get_all
        self.get, self.peek = messages.get, messages.peek
        self.take, self.save = messages.take, messages.save
        self._commit_claimed = messages.commit
        self._commits = Grouping[tuple[Message, Answer], None](
            lambda pair: messages.commit(pair[0], None, pair[1]),
            _or_alone(lambda pairs: _commit_together(messages, pairs)),
        )

    def commit(self, message: Message, claim: Claim | None, answer: Answer) -> None:
        """Accept a mail. After a failure together each record is put by itself, unless there."""
        if claim is None:
            self._commits.ask((message, answer))
        else:
            self._commit_claimed(message, claim, answer)


def _commit_together(
    messages: Messages, pairs: Sequence[tuple[Message, Answer]]
) -> Sequence[Exception | None]:
    messages.commit_all([message for message, _ in pairs])
    return [None] * len(pairs)


def _or_alone[T, R](
    together: Callable[[Sequence[T]], Sequence[R | Exception]],
) -> Callable[[Sequence[T]], Sequence[R | Exception]]:
    """For calls that may be made again: when one together fails, one member's fault is its own."""

    def call(arguments: Sequence[T]) -> Sequence[R | Exception]:
        try:
            return together(arguments)
        except Exception:  # noqa: BLE001  whatever it is, alone each meets its own
            return [Alone()] * len(arguments)

    return call
