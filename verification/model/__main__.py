# ruff: noqa: T201  a program that is run by hand prints its results
"""Visit all states of accepting under one key, then find each planted bug.

A line has the number of states and what was broken, which must be nothing. A planted bug is a
step that is missing; the line names the first promise that breaks without it, and with
`--trace` the way to it.
"""

import argparse
import sys
from typing import Final

from verification.model.acceptance import VARIANTS, Model, explore

#: Requests of one message, batches, and groups without a key.
MODELS: Final = (
    *(Model(bodies=bodies) for bodies in ("aaa", "aab", "abc")),
    *(Model(bodies=bodies, failures=3) for bodies in ("aa", "ab")),
    *(Model(bodies=bodies, count=2, batch=True, failures=2) for bodies in ("aa", "ab")),
    *(Model(bodies=bodies, count=2, batch=True, failures=0) for bodies in ("aaa", "aab")),
    Model(bodies="aa", count=2, keyed=False, failures=2),
)
#: The smallest of these show every planted bug.
_SMALL: Final = (
    *(Model(bodies=bodies) for bodies in ("aa", "ab")),
    Model(bodies="aaa", failures=0),
    *(Model(bodies=bodies, count=2, batch=True) for bodies in ("aa", "ab")),
    Model(bodies="aaa", count=2, batch=True, failures=0),
)


def main() -> int:
    """Return 1 if a promise was broken, or a planted bug was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", action="store_true", help="print the way to what is broken")
    trace, wrong = parser.parse_args().trace, False
    for model in MODELS:
        states, way, broken = explore(model)
        wrong |= broken is not None
        print(f"{_name(model)}: {states:,} states, {broken or 'nothing broken'}", flush=True)
        if trace:
            print(*way, sep="\n")
    for variant in VARIANTS:
        found = find(variant)
        wrong |= found is None
        print(f"{variant}: {found or 'NOT FOUND'}", flush=True)
    return int(wrong)


def find(variant: str) -> str | None:
    """Return which promise a planted bug breaks first, or None."""
    for model in _SMALL:
        planted = Model(
            bodies=model.bodies,
            count=model.count,
            batch=model.batch,
            failures=model.failures,
            variant=variant,
        )
        states, _, broken = explore(planted)
        if broken:
            return f"{broken}, in {_name(model)}, after {states:,} states"
    return None


def _name(model: Model) -> str:
    kind = f"batches of {model.count}" if model.batch else "requests"
    if not model.keyed:
        kind = f"groups of {model.count} without a key"
    return f"{kind} {model.bodies}, {model.failures} failed writes"


if __name__ == "__main__":
    sys.exit(main())
