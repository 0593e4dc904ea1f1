"""`python -m local.guarded_engine`: ministack behind the guard, in the engine's own environment.

Both read the same variables. `AWS_ACCESS_KEY_ID` is the run's access key id.
"""

import os
import time
from collections.abc import Mapping
from typing import Any

from ministack import app as engine
from ministack.core import lambda_runtime
from ministack.services import lambda_svc, sts

from local.guard import LoopbackHost, SignedRequests

ACCESS_KEY_ID = os.environ["AWS_ACCESS_KEY_ID"]

_engine_credentials = lambda_runtime.execution_credentials


def execution_credentials(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the credentials of a function's role, with an access key id that cannot be guessed.

    The engine computes all of them from the names of the function and its role. Here the id begins
    with the run's, so that the guards of the engine and of the SES stand-in let it pass.
    """
    credentials: dict[str, str] = _engine_credentials(config)
    guessable = credentials["AWS_ACCESS_KEY_ID"]
    access_key_id = ACCESS_KEY_ID + guessable
    sts.register_session(access_key_id, sts._sessions.pop(guessable))  # noqa: SLF001  it has no other way
    return credentials | {"AWS_ACCESS_KEY_ID": access_key_id}


def end_idle_workers() -> int:
    """End each process of a function that was idle for `LAMBDA_WARM_TTL_SECONDS`.

    The engine itself keeps one of each function, 40 MB each, as long as it runs.
    """
    since = time.time() - lambda_runtime._LOCAL_WORKER_TTL  # noqa: SLF001  as above
    idle = []
    with lambda_runtime._lock:  # noqa: SLF001
        for pool in lambda_runtime._workers.values():  # noqa: SLF001
            idle += [each for each in pool if not each.in_use and each.last_used < since]
            pool[:] = [each for each in pool if each not in idle]
    lambda_runtime.kill_workers(idle)
    return len(idle)


def main() -> None:
    """Run the engine until SIGTERM."""
    lambda_runtime.execution_credentials = execution_credentials
    if "LAMBDA_WARM_TTL_SECONDS" in os.environ:
        lambda_svc.reap_idle_workers = end_idle_workers
        lambda_svc._ensure_reaper_thread()  # noqa: SLF001
    port = int(os.environ["GATEWAY_PORT"])
    engine.app = LoopbackHost(SignedRequests(engine.app, ACCESS_KEY_ID), port)
    engine.main()


if __name__ == "__main__":
    main()
