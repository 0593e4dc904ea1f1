# ruff: noqa: T201  a program that is run by hand prints its results
"""Compare the breaker with its slow definition in random histories.

    .venv/bin/python -m verification.breaker
    .venv/bin/python -m verification.breaker --histories 500 --seed 20000

In each history an account sends for days: with two keys, with templates and without, to one or many
recipients, in one shard or in four. Some bounce, complain, reply automatically, are on SES's list
or its simulator's, and events come late, in any order and again. After each batch of the table's
stream the pauses in the account's record must be those that counting message by message gives.
"""

import argparse
import sys
from typing import Final

from tests.fakes.reputation import check_history

#: After so many histories it prints how far it is.
_REPORTED: Final = 500


def main() -> int:
    """Return 1 if a judgement differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first history")
    given = parser.parse_args()
    judged = differing = 0
    for seed in range(given.seed, given.seed + given.histories):
        try:
            judged += check_history(seed)
        except AssertionError as error:
            differing += 1
            print(f"differs: {error}", flush=True)
        if (played := seed - given.seed + 1) % _REPORTED == 0:
            print(f"{played} histories, {judged} batches", flush=True)
    print(f"{given.histories} histories, {judged} batches, {differing} histories differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
