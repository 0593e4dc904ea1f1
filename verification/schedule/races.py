"""All orders of what happens to one message that waits, within a number of switches and kills.

The processes are the real use cases over the fakes. Each stops before each call of a port. There
another one may go on, it may be killed, or the clock may move. A run follows a list of choices, and
the next run changes the last choice that has another alternative, so that all are tried.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from greenlet import getcurrent, greenlet

from admin.use_cases.erasure import AccountErasure, RecipientErasure
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat
from pillarbox.application.delivery.sweep import WaitingSweep
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import STALL_TIME, Event, EventKind, Message
from tests.fakes import builders, stores
from tests.fakes.actors import Actor
from tests.fakes.world import VISIBILITY, World

ANN: Final = "ann@example.com"
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
#: More steps at one moment are a loop.
_MOST_STEPS: Final = 400


@dataclass(frozen=True, slots=True)
class Scenario:
    """A message that is accepted in some way, and what happens to it at the same time.

    `ticks` are the moves of the clock, which is a process too. Without `accepted` the acceptance is
    one of the processes.
    """

    name: str
    processes: tuple[str, ...]
    ahead: timedelta | None = MINUTE
    ticks: tuple[timedelta, ...] = ()
    accepted: bool = True
    #: How long after its acceptance the processes begin.
    after: timedelta = timedelta(0)


SCENARIOS: Final = (
    Scenario("accept", ("send", "worker"), ticks=(MINUTE, MINUTE), accepted=False),
    Scenario("accept later", ("send", "timer"), 15 * MINUTE, (13 * MINUTE,), accepted=False),
    Scenario("take and cancel", ("worker", "cancel"), after=MINUTE),
    Scenario("take and cancel twice", ("worker", "cancel", "cancel"), after=MINUTE),
    Scenario("take and postpone", ("worker", "postpone"), ticks=(HOUR,), after=MINUTE),
    Scenario("take and hasten", ("timer", "hasten"), HOUR, (2 * MINUTE,), after=58 * MINUTE),
    Scenario("postpone and cancel", ("worker", "postpone", "cancel"), after=MINUTE),
    Scenario("two new times", ("postpone", "hasten", "worker"), after=MINUTE),
    Scenario("hasten and take", ("hasten", "worker"), HOUR, (2 * MINUTE, MINUTE)),
    Scenario("two workers", ("worker", "worker", "cancel"), after=MINUTE),
    Scenario("revoke", ("worker", "revoke"), after=MINUTE),
    Scenario("revoke and postpone", ("worker", "revoke", "postpone"), after=MINUTE),
    Scenario("release", ("release", "worker"), None),
    Scenario("release and cancel", ("release", "worker", "cancel"), None),
    Scenario("release twice", ("release", "release", "worker"), None),
    Scenario("release and revoke", ("release", "revoke", "worker"), None),
    Scenario("release at the end", ("worker", "release"), None, after=timedelta(days=7)),
    Scenario("erase", ("worker", "erase"), after=MINUTE),
    Scenario("erase and cancel", ("erase", "cancel", "worker"), after=MINUTE),
    Scenario("erase and postpone", ("erase", "postpone", "worker"), after=MINUTE),
    Scenario("erase and release", ("erase", "release", "worker"), None),
    Scenario("timer and cancel", ("timer", "cancel"), HOUR, (MINUTE,), after=59 * MINUTE),
    Scenario("two timers", ("timer", "timer", "worker"), HOUR, (MINUTE,), after=59 * MINUTE),
)


class Choices:
    """The choices of a run: those of a list, then the first alternative each time."""

    def __init__(self, given: Sequence[int]) -> None:
        self.taken: list[tuple[int, int]] = []
        self._given = given

    def choose(self, alternatives: int) -> int:
        """Return the next choice among so many."""
        position = len(self.taken)
        choice = self._given[position] if position < len(self._given) else 0
        self.taken.append((choice, alternatives))
        return choice

    def following(self) -> list[int] | None:
        """Return the choices of the next run, or None after the last one."""
        taken = [*self.taken]
        while taken:
            choice, alternatives = taken.pop()
            if choice + 1 < alternatives:
                return [*(one for one, _ in taken), choice + 1]
        return None


@dataclass
class Race:
    """One run of a scenario, and what is wrong with it."""

    scenario: Scenario
    choices: Choices
    switches: int
    kills: int
    wrong: str = ""
    world: World = field(default_factory=World)
    confirmed: set[str] = field(default_factory=set)
    #: The time that a change confirmed last.
    due_at: datetime | None = None
    #: What was confirmed when a worker received its job.
    known: dict[greenlet, frozenset[str]] = field(default_factory=dict)
    message_id: UUID | None = None
    sent: int = 0

    def run(self) -> "Race":
        """Let the processes race, then let everything end, and judge."""
        world, scenario = self.world, self.scenario
        world.mailer.send = self._hand_over(world.mailer.send)  # type: ignore[method-assign]
        if scenario.accepted:
            self._send()
        world.advance(scenario.after)
        if scenario.after and scenario.ahead != HOUR:
            self._show_due_jobs()
        actors = [Actor(world, self._process(name)) for name in scenario.processes]
        if scenario.ticks:
            actors.append(Actor(world, self._tick))
        self._race(actors)
        world.gate.watch = lambda _: None
        self._settle()
        self._judge()
        return self

    def _race(self, actors: list[Actor]) -> None:
        current = 0
        while running := [number for number, actor in enumerate(actors) if not actor.done]:
            if current not in running:
                current = running[self.choices.choose(len(running))]
                actors[current].step()
                continue
            others = [number for number in running if number != current] if self.switches else []
            kill = 1 if self.kills and actors[current].at != "clock.tick" else 0
            choice = self.choices.choose(1 + len(others) + kill)
            if choice == 0:
                actors[current].step()
            elif choice <= len(others):
                self.switches -= 1
                current = others[choice - 1]
                actors[current].step()
            else:
                self.kills -= 1
                actors[current].kill()

    # The processes

    def _process(self, name: str) -> Callable[[], object]:
        return {
            "send": self._send,
            "worker": self._work,
            "timer": lambda: self._quietly(self.world.due_mail.enqueue),
            "cancel": lambda: self._change("cancel", self.world.changes.cancel),
            "postpone": lambda: self._change("postpone", self._reschedule(40 * MINUTE)),
            "hasten": lambda: self._change("hasten", self._reschedule(MINUTE)),
            "release": lambda: self._change("release", self._release),
            "revoke": self._revoke,
            "erase": self._erase,
        }[name]

    def _send(self) -> None:
        ahead, world = self.scenario.ahead, self.world
        due_at = world.now + ahead if ahead is not None else None
        request = builders.request(scheduled_at=due_at, hold=due_at is None)
        self._quietly(lambda: world.send(request))
        if world.store.messages:
            self.message_id = world.message().message_id
            self.confirmed.add("send")
            self.due_at = due_at

    def _reschedule(self, ahead: timedelta) -> Callable[..., Message]:
        due_at = self.world.now + ahead

        def reschedule(account_id: str, message_id: UUID) -> Message:
            message = self.world.changes.reschedule(account_id, message_id, due_at)
            self.due_at = due_at
            return message

        return reschedule

    def _release(self, _: str, message_id: UUID) -> Message:
        return self.world.changes.release(self.world.principal, message_id)

    def _change(self, name: str, change: Callable[..., Message]) -> None:
        message_id = self.message_id
        assert message_id is not None
        if self._quietly(lambda: change(builders.ACCOUNT, message_id)):
            self.confirmed.add(name)

    def _revoke(self) -> None:
        keys, digest = self.world.store.keys, digest_of_key(self.world.live)

        def revoke() -> None:
            keys[digest] = replace(keys[digest], revoked_at=self.world.now)

        self.world.gate.pass_through("keys.revoke", revoke)
        self.confirmed.add("revoke")

    def _erase(self) -> None:
        world, message_id = self.world, self.message_id
        assert message_id is not None
        port: Any = world._port
        messages = port("messages", stores.Messages(world.store))
        contents = port("contents", stores.WaitingContents(world.store))

        class Log:
            def get_all(self, account_id: str, ids: Sequence[UUID]) -> list[Message]:
                return [*messages.get_all(account_id, ids).values()]

        class Index:
            def change(self, *_: object) -> None:
                """The index is not a part of this."""

        nothing: Any = None
        erasure = RecipientErasure(
            accounts=nothing,
            log=Log(),  # type: ignore[arg-type]
            rewrite=lambda message: bool(messages.save(message)),
            index=Index(),  # type: ignore[arg-type]
            indexed_until=nothing,
            suppressions=nothing,
            free=nothing,
            erase_announced=nothing,
            remove_content=contents.remove,
            remove_kept=nothing,
            received=nothing,
            remove_received=nothing,
            clock=lambda: world.now,
            pause=nothing,
        )
        of_account = AccountErasure(builders.account())
        message = messages.get(builders.ACCOUNT, message_id)
        erasure._erase(of_account, message_id, message, ANN)
        self.confirmed.add("erase")

    def _tick(self) -> None:
        for tick in self.scenario.ticks:
            self.world.gate.pass_through("clock.tick", partial(self.world.advance, tick))

    def _work(self) -> None:
        for _ in range(2):
            entry = self.world.gate.pass_through("queue.receive", self._receive)
            if entry is None:
                return
            self._deliver(*entry)

    def _receive(self) -> tuple[datetime, Job] | None:
        """Receive a visible job, which is hidden for the visibility timeout from now on."""
        world = self.world
        self.known[getcurrent()] = frozenset(self.confirmed)
        for position, (visible, sent_at, job) in enumerate(world.store.hidden):
            if visible <= world.now:
                world.store.hidden[position] = (world.now + VISIBILITY, sent_at, job)
                return sent_at, job
        return None

    def _deliver(self, sent_at: datetime, job: Job) -> None:
        """Deliver a received job; a worker that dies leaves it hidden."""
        world, hidden = self.world, self.world.store.hidden
        try:
            result = world.due_delivery.deliver(job, sent_at=sent_at)
        except ServiceError:
            return
        entry = next((one for one in hidden if one[1:] == (sent_at, job)), None)
        if entry is not None:
            hidden.remove(entry)
        if result.retry_after is not None:
            hidden.append((world.now + result.retry_after, sent_at, job))

    @staticmethod
    def _quietly(call: Callable[[], object]) -> bool:
        """Make a call, and return whether it succeeded. A killed process ends here."""
        try:
            call()
        except ServiceError:
            return False
        return True

    def _hand_over(self, send: Callable[..., str]) -> Callable[..., str]:
        def hand_over(message: Message, recipients: tuple[str, ...], *rest: Any) -> str:
            now, schedule = self.world.now, message.schedule
            if schedule is None or schedule.held or now < schedule.due_at:
                self._fail("early")
            if self.due_at is not None and now < self.due_at and "cancel" not in self.confirmed:
                self._fail("early: before the time that was confirmed")
            if "cancel" in self.confirmed:
                self._fail("sent after a confirmed cancel")
            known = self.known.get(getcurrent(), frozenset())
            if "revoke" in known:
                self._fail("sent after a confirmed revocation")
            if "erase" in known and ANN in recipients:
                self._fail("sent to an erased person")
            self.sent += 1
            return send(message, recipients, *rest)

        return hand_over

    # The end

    def _show_due_jobs(self) -> None:
        """Let the timer pass in time for what is due now."""
        self.world.now -= MINUTE
        self.world.due_mail.enqueue()
        self.world.now += MINUTE

    def _settle(self) -> None:
        """Let the timer and a worker run undisturbed, until nothing waits any more."""
        world, reported = self.world, 0
        for _ in range(_MOST_STEPS):
            world.due_mail.enqueue()
            entry = self._receive()
            if entry is not None:
                self._deliver(*entry)
            for message, _, _ in world.mailer.taken[reported:]:
                world.report(message, Event(kind=EventKind.SENT, at=world.now))
            reported = len(world.mailer.taken)
            DynamoHeartbeat(world.store.table).record(world.now)
            if entry is None:
                times = [visible for visible, _, _ in world.store.hidden]
                times += [minute - 2 * MINUTE for minute in world.store.wakes.values()]
                if not times:
                    return
                world.now = max(world.now + SECOND, min(times))
        self._fail("the queue never becomes empty")

    def _judge(self) -> None:
        world, store = self.world, self.world.store
        if self.sent > 1:
            self._fail("sent twice")
        if self.sent and "cancel" in self.confirmed:
            self._fail("sent, and its cancel was confirmed")
        for message in store.messages.values():
            self._judge_message(message)
        if "send" in self.confirmed and not store.messages:
            self._fail("lost: an accepted message has no record")
        world.advance(STALL_TIME + HOUR)
        sweep = WaitingSweep(
            contents=stores.WaitingContents(store),
            messages=stores.Messages(store),
            queue=stores.FakeJobs(store),
        )
        sweep.sweep(builders.ACCOUNT, world.now, None)
        if store.contents:
            self._fail("a content is kept")
        used = world.store.counts.values()
        if any(count < 0 for count in used):
            self._fail("a quota is given back twice")

    def _judge_message(self, message: Message) -> None:
        error, began = message.error, set(self.scenario.processes)
        if message.pending:
            self._fail("lost: it waits for ever")
        if error is None:
            if not self.sent:
                self._fail("lost: it is not sent, and did not fail")
            return
        reasons = {
            "canceled": "cancel",
            "key_revoked": "revoke",
            "recipient_erased": "erase",
            "payload_gone": "erase",
        }
        if error.code == "not_released":
            if "release" in self.confirmed:
                self._fail("lost: a released message was not sent")
        elif reasons.get(error.code or "") not in began:
            self._fail(f"lost: it failed with {error.code}")

    def _fail(self, wrong: str) -> None:
        self.wrong = self.wrong or wrong


def explore(
    scenario: Scenario, *, switches: int, kills: int, most: int | None = None
) -> Iterator[Race]:
    """Run a scenario in all orders with at most so many switches and kills, or the first ones."""
    given: list[int] | None = []
    number = 0
    while given is not None and (most is None or number < most):
        choices = Choices(given)
        yield Race(scenario, choices, switches, kills).run()
        given = choices.following()
        number += 1
