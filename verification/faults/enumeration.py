"""One fault at every call in turn, including calls that only happen after a fault."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from verification.faults.report import RunResult
from verification.faults.wire import Fault, Place, Site, Wire, faults_of, places_of

#: The faults of a run, by the place of the call, or by its number.
type Plan = Mapping[int | Place, Fault]
#: One run under a plan.
type Run = Callable[[Plan], RunResult]
#: Returns the possible faults of a call, by its name.
type FaultsOf = Callable[[str], Sequence[Fault]]

UNDISTURBED: Plan = {}


def at_each_call(
    wire: Wire,
    run: Run,
    faults: FaultsOf = faults_of,
    every: int = 1,
    known: set[Site] | None = None,
    *,
    ends_only: bool = False,
) -> Iterator[RunResult]:
    """Run once without a fault, then once for each fault at each call.

    A fault may lead to code that runs only then, such as a refund, a second read or a
    takeover. At the first call from such a place each fault is tried too, after the faults
    that led there. This continues until no run reaches a new place.

    Args:
        wire: records the calls of each run.
        run: makes one run under a plan.
        faults: returns the faults of a call, by its name.
        every: 1 tries every fault, 2 every second fault, and so on.
        known: the places that runs over other paths reached. They are not tried again after a
            fault. The places of this path are added.
        ends_only: whether to try faults only at the first and the last call from each place.
    """
    yield run(UNDISTURBED)
    known = set() if known is None else known
    known.update(wire.calls)
    places = [*places_of(wire.calls)]
    if ends_only:
        last = dict(places)
        places = [(site, nth) for site, nth in places if nth in {0, last[site]}]
    pending: deque[tuple[Plan, Place]] = deque((UNDISTURBED, place) for place in places)
    turns = count()
    while pending:
        earlier, place = pending.popleft()
        for fault in faults(place[0].name):
            if next(turns) % every:
                continue
            plan = {**earlier, place: fault}
            result = run(plan)
            for reached, nth in places_of(wire.calls):
                if reached not in known:
                    known.add(reached)
                    pending.append((plan, (reached, nth)))
            yield result


def describe(struck: Mapping[int, tuple[Site, Fault]]) -> str:
    """Describe which faults struck which calls."""
    faults = [f"{fault} at call {number}, {site.name}" for number, (site, fault) in struck.items()]
    return "; ".join(faults) or "undisturbed"
