"""A program that runs the front with its real handlers over the fakes, so that it needs no AWS.

python -m verification.attacks.front_on_fakes KEY…
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from types import SimpleNamespace
from unittest import mock

from front import program
from front.workers import Workers, serve_handlers
from pillarbox import wiring
from tests.fakes import builders
from tests.fakes.world import World


def main(keys: Sequence[str]) -> int:
    """Serve as the front does; the keys are valid."""
    work = partial(serve, keys=keys)
    with mock.patch.object(program, "Workers", partial(Workers, work=work)):
        return program.main()


def serve(pipe: Connection, keys: Sequence[str]) -> None:
    """Run the handlers in one process of the front."""
    with mock.patch.object(wiring, "services", partial(services, keys)):
        serve_handlers(pipe)


def services(keys: Sequence[str]) -> SimpleNamespace:
    """Return the use cases over a new store, so that no request pays for an earlier one."""
    world = World(replace(builders.account(), overrides=builders.UNLIMITED))
    records = (builders.api_key(key) for key in keys)
    world.store.keys = {record.digest: record for record in records}
    return SimpleNamespace(single_send=world.single_send, batch_send=world.batch_send)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
