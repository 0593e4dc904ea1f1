"""One fault at every call in turn, also at the calls that only a fault leads to."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from verification.faults.report import RunResult
from verification.faults.wire import Fault, Site, Wire, faults_of

#: What strikes, by the number of the call.
type Plan = Mapping[int, Fault]
#: One run under a plan.
type Run = Callable[[Plan], RunResult]
#: What can go wrong with a call of a name.
type FaultsOf = Callable[[str], Sequence[Fault]]

UNDISTURBED: Plan = {}


def at_each_call(
    wire: Wire,
    run: Run,
    faults: FaultsOf = faults_of,
    every: int = 1,
    known: set[Site] | None = None,
) -> Iterator[RunResult]:
    """A run that nothing disturbs, then one for each fault at each of its calls.

    A fault may lead to places of the code that nothing else leads to: what refunds, looks
    again, or takes over. The first time that one is come to, each fault is tried there too,
    after what led there; and so on, until no run comes to a new one.

    Args:
        wire: what it notes the calls of each run on.
        run: what is tried.
        faults: those of a call, by its name.
        every: 1 for all of these runs, 2 for each second of them, and so on.
        known: the places that runs over other paths came to, to which those of this one are
            added: after a fault they are not tried again.
    """
    yield run(UNDISTURBED)
    known = set() if known is None else known
    known.update(wire.calls)
    ahead = deque((UNDISTURBED, *call) for call in enumerate(wire.calls))
    turn = count()
    while ahead:
        before, position, site = ahead.popleft()
        for fault in faults(site.name):
            if next(turn) % every:
                continue
            plan = {**before, position: fault}
            tried = run(plan)
            for number, found in enumerate(wire.calls):
                if found not in known:
                    known.add(found)
                    ahead.append((plan, number, found))
            yield tried


def in_words(struck: Mapping[int, tuple[Site, Fault]]) -> str:
    """What struck where."""
    what = [f"{fault} at call {number}, {site.name}" for number, (site, fault) in struck.items()]
    return "; ".join(what) or "undisturbed"
