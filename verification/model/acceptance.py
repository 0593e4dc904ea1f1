"""A model of accepting under one Idempotency-Key, and all states that it can reach.

A process is one try of a client. Each has its own generation, and one slot for each position of
its request, which stands for the id that derives from generation and position. A process may take
its next step at any time, or never again. So a lease may be over at any time, and a crash is a
process that stops. A write may fail, and then take effect at any later time, or never.

What the model assumes of time:

* A claim that has expired is seen as expired or not, since clocks differ. TTL deletes it late.
* A tombstone goes only when its window is over and nobody can commit under its id any more. It
  lives for two days, a claim for one, and an acceptor commits within ten minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

#: What a slot holds: nothing, an accepted message, or a tombstone.
_FREE, _MESSAGE, _TOMBSTONE = "", "M", "T"
_WINDOWS: Final = 2

#: Each leaves out, or does in another order, a step that the protocol needs.
VARIANTS: Final = (
    "no tombstone on a takeover",
    "no tombstone before a refusal",
    "tombstone after the release",
    "tombstone after the takeover",
    "ids not derived",
    "earlier generations forgotten",
    "release with earlier generations",
    "unconditional takeover",
    "unconditional release",
    "tombstones expire early",
)


# Named tuples, because they are copied, compared and hashed in half the time of dataclasses.
class Claim(NamedTuple):
    """The record of the key: its owner, what died before it, and the response to a batch."""

    owner: int
    earlier: tuple[int, ...] = ()
    response: tuple[Any, ...] | None = None


class Takeover(NamedTuple):
    """What a process that takes a claim over remembers.

    `at` is the position whose tombstone comes next, and `found` has those with a message.
    """

    seen: Claim
    expired: bool = False
    at: int = 0
    found: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


class Process(NamedTuple):
    """One try: its next step, what it remembers, and its answer.

    An answer of `sent` has the slot of each position, None for one that was refused.
    """

    step: str
    memory: tuple[Any, ...] = ()
    answer: str = ""
    sent: tuple[Any, ...] = ()


class State(NamedTuple):
    """Everything at one moment. `windows` has the 24 hours that each claim belongs to."""

    claim: Claim | None
    slots: tuple[tuple[str, ...], ...]
    processes: tuple[Process, ...]
    windows: tuple[int, ...]
    window: int = 0
    expired: bool = False
    #: Writes that failed, but may take effect.
    late: frozenset[tuple[Any, ...]] = frozenset()
    failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One configuration: the body of each process, and how many messages a request has.

    Args:
        bodies: a letter for each process.
        count: the messages of a request.
        batch: whether the claim stores the response; else it follows from the message.
        keyed: whether there is a key; a group over SMTP has none.
        failures: the most writes that fail in one run.
        variant: the step that is missing.
    """

    bodies: str
    count: int = 1
    batch: bool = False
    keyed: bool = True
    failures: int = 1
    variant: str = ""

    @property
    def start(self) -> State:
        first = Process("acquire") if self.keyed else Process("work", ((),))
        return State(
            claim=None,
            slots=((_FREE,) * self.count,) * len(self.bodies),
            processes=(first,) * len(self.bodies),
            windows=(0,) * len(self.bodies),
        )

    def successors(self, state: State) -> Iterator[State]:
        """Yield each state that one more event leads to."""
        for write in state.late:
            yield self._apply(state._replace(late=state.late - {write}), write)[0]
        if state.claim and not state.expired and state.window + 1 < _WINDOWS:
            yield state._replace(expired=True)
        if state.claim and state.expired:  # TTL
            yield state._replace(claim=None, expired=False, window=state.window + 1)
        yield from self._lost_tombstones(state)
        for me, process in enumerate(state.processes):
            if process.step != "end":
                yield from getattr(self, f"_{process.step}")(state, me, *process.memory)

    # The steps of a process

    def _acquire(self, state: State, me: int) -> Iterator[State]:
        write = ("put claim", me)
        yield from self._failed(state, me, write)
        if state.claim is None:
            yield self._next(self._apply(state, write)[0], me, "work", ())
        else:
            yield self._next(state, me, "decide", state.claim)

    def _decide(self, state: State, me: int, seen: Claim) -> Iterator[State]:
        if state.expired:
            step = "fence" if seen.response is None else "take_over"
            yield self._next(state, me, step, Takeover(seen, expired=True))
        if seen.response is not None:
            yield self._replay(state, me, seen, seen.response)
            return
        if not self.batch and state.slots[seen.owner][0] == _MESSAGE:
            yield self._replay(state, me, seen, ((seen.owner, 0),))
        else:
            yield self._end(state, me, "refused")  # in flight, or another body
        late = self.variant == "tombstone after the takeover"
        takeover = Takeover(seen, earlier=seen.earlier if late else ())
        yield self._next(state, me, "take_over" if late else "fence", takeover)

    def _fence(self, state: State, me: int, takeover: Takeover) -> Iterator[State]:
        """Put a tombstone under each id of the generation that was seen."""
        seen, at, found = takeover.seen, takeover.at, takeover.found
        if at < self.count:
            write = ("put tombstone", seen.owner, at)
            if self.variant != "no tombstone on a takeover":
                yield from self._failed(state, me, write)
                state, _ = self._apply(state, write)
            found += (at,) if state.slots[seen.owner][at] == _MESSAGE else ()
            yield self._next(state, me, "fence", takeover._replace(at=at + 1, found=found))
        elif takeover.expired:
            yield self._next(state, me, "take_over", takeover)
        elif (found or seen.earlier) and self.bodies[seen.owner] != self.bodies[me]:
            yield self._end(state, me, "refused")
        elif found and not self.batch:
            yield self._replay(state, me, seen, ((seen.owner, 0),))
        elif self.variant == "tombstone after the takeover":
            yield self._next(state, me, "work", ())
        else:
            parts = (seen.owner,) if found else ()
            forgets = self.variant == "earlier generations forgotten"
            earlier = parts if forgets else seen.earlier + parts
            yield self._next(state, me, "take_over", takeover._replace(earlier=earlier))

    def _take_over(self, state: State, me: int, takeover: Takeover) -> Iterator[State]:
        write = ("replace claim", me, takeover)
        yield from self._failed(state, me, write)
        state, done = self._apply(state, write)
        if not done:
            yield self._end(state, me, "refused")
        elif self.variant == "tombstone after the takeover" and not takeover.expired:
            yield self._next(state, me, "fence", takeover)
        else:
            yield self._next(state, me, "work", takeover.earlier)

    def _work(self, state: State, me: int, earlier: tuple[int, ...]) -> Iterator[State]:
        """Refuse the request, or choose the positions that are accepted."""
        sent: list[Any] = [None] * self.count
        for generation in earlier:
            for at, slot in enumerate(state.slots[generation]):
                if slot == _MESSAGE:
                    sent[at] = (generation, at)
        rest = [at for at in range(self.count) if sent[at] is None]
        for size in range(len(rest) + 1):
            for chosen in combinations(rest, size):
                if chosen or any(sent):
                    yield self._next(state, me, "commit", chosen, tuple(sent))
        yield self._next(state, me, "release", earlier)

    def _commit(
        self, state: State, me: int, todo: tuple[int, ...], sent: tuple[Any, ...]
    ) -> Iterator[State]:
        if not todo:
            yield self._next(state, me, "finish", sent)
            return
        at, *others = todo
        write = ("put message", me, at)
        if state.failures < self.failures:
            failed = state._replace(late=state.late | {write}, failures=state.failures + 1)
            # A group is one call: an error of one position leaves the others unknown too.
            yield self._next(failed, me, "settle", todo, sent, ())
        state, done = self._apply(state, write)
        if done:
            sent = (*sent[:at], (me, at), *sent[at + 1 :])
        elif not self.batch and self.keyed:
            yield self._next(state, me, "release", ())
            return
        yield self._next(state, me, "commit", tuple(others), sent)

    def _settle(
        self,
        state: State,
        me: int,
        todo: tuple[int, ...],
        sent: tuple[Any, ...],
        lost: tuple[int, ...],
    ) -> Iterator[State]:
        """Find out which messages exist, and see to it that the others never do."""
        if self.variant == "tombstone after the release" and todo and not lost:
            state, _ = self._apply(state, ("delete claim", me))
        if todo:
            at, *others = todo
            write = ("put tombstone", me, at)
            if self.variant != "no tombstone before a refusal":
                yield from self._failed(state, me, write)
                state, _ = self._apply(state, write)
            if state.slots[me][at] == _MESSAGE:
                sent = (*sent[:at], (me, at), *sent[at + 1 :])
            else:
                lost += (at,)
            yield self._next(state, me, "settle", tuple(others), sent, lost)
        elif not lost or (not self.keyed and any(sent)):
            yield self._next(state, me, "finish", sent)
        elif self.batch and self.keyed:
            yield self._end(state, me, "unknown")  # a retry finds what is accepted
        else:
            yield self._next(state, me, "release", ())

    def _finish(self, state: State, me: int, sent: tuple[Any, ...]) -> Iterator[State]:
        if self.batch and self.keyed:
            write = ("store response", me, sent)
            if state.failures < self.failures:
                failed = state._replace(late=state.late | {write}, failures=state.failures + 1)
                yield self._end(failed, me, "sent", sent)
            state, _ = self._apply(state, write)
        yield self._end(state, me, "sent", sent)

    def _release(self, state: State, me: int, earlier: tuple[int, ...]) -> Iterator[State]:
        if earlier and self.variant != "release with earlier generations":
            yield self._end(state, me, "refused")
            return
        write = ("delete claim", me)
        yield from self._failed(state, me, write, "refused")
        yield self._end(self._apply(state, write)[0], me, "refused")

    # Writes

    def _apply(self, state: State, write: tuple[Any, ...]) -> tuple[State, bool]:
        """Let a write take effect if its condition holds; return whether it does."""
        if write[0] not in {"put message", "put tombstone"}:
            return self._apply_to_claim(state, write)
        kind, owner, at = write
        slot = state.slots[owner][at]
        if kind == "put tombstone":
            free = slot == _FREE
            return (self._with_slot(state, owner, at, _TOMBSTONE) if free else state), free
        if slot == _FREE or self.variant == "ids not derived":
            return self._with_slot(state, owner, at, _MESSAGE), True
        return state, slot == _MESSAGE  # its own: the write was repeated

    def _apply_to_claim(self, state: State, write: tuple[Any, ...]) -> tuple[State, bool]:
        claim = state.claim
        match write:
            case ("put claim", me) if claim is None:
                return self._owned(state, me, Claim(me)), True
            case ("replace claim", me, takeover) if claim and (
                claim == takeover.seen or self.variant == "unconditional takeover"
            ):
                if takeover.expired and state.expired:
                    state = state._replace(expired=False, window=state.window + 1)
                return self._owned(state, me, Claim(me, takeover.earlier)), True
            case ("store response", me, sent) if claim and claim.owner == me:
                return state._replace(claim=claim._replace(response=sent)), True
            case ("delete claim", me) if claim and (
                claim.owner == me or self.variant == "unconditional release"
            ):
                return state._replace(claim=None, expired=False), True
        return state, False

    def _failed(
        self, state: State, me: int, write: tuple[Any, ...], answer: str = "unknown"
    ) -> Iterator[State]:
        """Yield the state in which a write fails, which ends the process."""
        if state.failures < self.failures:
            late = state.late | {write}
            yield self._end(state._replace(late=late, failures=state.failures + 1), me, answer)

    def _lost_tombstones(self, state: State) -> Iterator[State]:
        early = self.variant == "tombstones expire early"
        for owner, process in enumerate(state.processes):
            over = state.windows[owner] < state.window and process.step == "end"
            if not early and (not over or any(write[1] == owner for write in state.late)):
                continue
            for at, slot in enumerate(state.slots[owner]):
                if slot == _TOMBSTONE:
                    yield self._with_slot(state, owner, at, _FREE)

    @staticmethod
    def _with_slot(state: State, owner: int, at: int, slot: str) -> State:
        row = state.slots[owner]
        row = (*row[:at], slot, *row[at + 1 :])
        return state._replace(slots=(*state.slots[:owner], row, *state.slots[owner + 1 :]))

    @staticmethod
    def _owned(state: State, me: int, claim: Claim) -> State:
        windows = (*state.windows[:me], state.window, *state.windows[me + 1 :])
        return state._replace(claim=claim, windows=windows)

    @staticmethod
    def _with_process(state: State, me: int, process: Process) -> State:
        return state._replace(
            processes=(*state.processes[:me], process, *state.processes[me + 1 :])
        )

    def _next(self, state: State, me: int, step: str, *memory: Any) -> State:
        return self._with_process(state, me, Process(step, memory))

    def _end(self, state: State, me: int, answer: str, sent: tuple[Any, ...] = ()) -> State:
        return self._with_process(state, me, Process("end", (), answer, sent))

    def _replay(self, state: State, me: int, seen: Claim, sent: tuple[Any, ...]) -> State:
        same = self.bodies[seen.owner] == self.bodies[me]
        return self._end(state, me, "sent", sent) if same else self._end(state, me, "refused")

    # What must always hold

    def violation(self, state: State) -> str | None:
        """Return the promise that a state breaks, or None."""
        accepted = [
            (owner, at)
            for owner, row in enumerate(state.slots)
            for at, slot in enumerate(row)
            if slot == _MESSAGE
        ]
        return self._wrong_messages(state, accepted) or self._wrong_answer(state, accepted)

    def _wrong_messages(self, state: State, accepted: list[tuple[int, int]]) -> str | None:
        for window in range(_WINDOWS if self.keyed else 0):
            here = [(owner, at) for owner, at in accepted if state.windows[owner] == window]
            if len({at for _, at in here}) < len(here):
                return "two messages for one key and position"
            if len({self.bodies[owner] for owner, _ in here}) > 1:
                return "messages of two bodies for one key"
        return None

    def _wrong_answer(self, state: State, accepted: list[tuple[int, int]]) -> str | None:
        for me, process in enumerate(state.processes):
            named = [slot for slot in process.sent if slot]
            own = {slot for slot in accepted if slot[0] == me}
            if not {*named} <= {*accepted}:
                return "a 200 names a message that does not exist"
            if any(self.bodies[owner] != self.bodies[me] for owner, _ in named):
                return "a 200 names a message of another body"
            if process.answer == "refused" and own:
                return "a refused request has a message"
            if process.answer == "sent" and own - {*named}:
                return "a position that a 200 refuses has a message"
        return None


def explore(model: Model, limit: int | None = None) -> tuple[int, list[State], str | None]:
    """Visit all states of a model.

    Returns:
        The number of states, the shortest way to a violation, and which promise it breaks.
    """
    parents: dict[State, State | None] = {model.start: None}
    frontier = [model.start]
    while frontier:
        following: list[State] = []
        for state in frontier:
            if broken := model.violation(state):
                return len(parents), _way_to(state, parents), broken
            for successor in model.successors(state):
                if successor not in parents:
                    parents[successor] = state
                    following.append(successor)
            if limit and len(parents) > limit:
                return len(parents), [], None
        frontier = following
    return len(parents), [], None


def _way_to(state: State, parents: dict[State, State | None]) -> list[State]:
    way: list[State] = []
    step: State | None = state
    while step is not None:
        way.append(step)
        step = parents[step]
    return way[::-1]
