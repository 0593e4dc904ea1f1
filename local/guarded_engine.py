"""`python -m local.guarded_engine`: ministack behind the guard.

Both read the same variables. `AWS_ACCESS_KEY_ID` is the run's access key id.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ministack import app as engine
from ministack.core import lambda_runtime
from ministack.services import cloudwatch_logs, dynamodb, eventbridge, lambda_svc, sts

from local.guard import LoopbackHost, SignedRequests

ACCESS_KEY_ID = os.environ["AWS_ACCESS_KEY_ID"]

#: The start of the keys of what waits for its minute, which the schedule below looks for.
DUE_TASKS: Final = ("TELL#", "DUE#", "WAKE#")
#: Seconds after which a schedule runs although nothing waits, so that it has never much to make up
#: for. It is shorter than an hour, the period of the sweep.
_LONGEST_REST: Final = 3540

_engine_credentials = lambda_runtime.execution_credentials
_invoke_target = eventbridge._invoke_target  # noqa: SLF001  the engine has no setting for it
_tokenize = dynamodb._tokenize  # noqa: SLF001  as above
_append_log_events = cloudwatch_logs._append_log_events  # noqa: SLF001  as above
_started = time.time()
_last_runs: dict[str, float] = {}


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

    The engine itself keeps one of each function, 40 MB each, as long as it runs. By default it is
    idle for five minutes.
    """
    since = time.time() - lambda_runtime._LOCAL_WORKER_TTL  # noqa: SLF001  as above
    idle = []
    with lambda_runtime._lock:  # noqa: SLF001
        for pool in lambda_runtime._workers.values():  # noqa: SLF001
            idle += [each for each in pool if not each.in_use and each.last_used < since]
            pool[:] = [each for each in pool if each not in idle]
    lambda_runtime.kill_workers(idle)
    return len(idle)


def invoke_target(
    target: Mapping[str, Any], event: Mapping[str, Any], rule: Mapping[str, Any], *rest: object
) -> None:
    """Invoke the target of a rule; that of a schedule only if a task waits, and once an hour.

    The timer of webhooks and emails runs each minute, so its function would never rest.
    """
    if "ScheduleExpression" in rule:
        name, now = str(rule["Name"]), time.time()
        if now - _last_runs.get(name, _started) < _LONGEST_REST and not _has_due_tasks():
            return
        _last_runs[name] = now
    _invoke_target(target, event, rule, *rest)


def _has_due_tasks() -> bool:
    return any(
        items and key.startswith(DUE_TASKS)
        for table in [*dynamodb._tables._data.values()]  # noqa: SLF001
        for key, items in [*table["items"].items()]
    )


def append_log_events(stream: dict[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
    """Keep what a function logs, and write it to the log of the stack."""
    _append_log_events(stream, events)
    sys.stderr.write("".join(f"{event['message']}\n" for event in events))
    sys.stderr.flush()


@lru_cache(maxsize=1000)
def tokens_of(expression: str) -> tuple[object, ...]:
    """Split an expression. The engine splits and checks it anew for each item of a partition."""
    return tuple(_tokenize(expression))


def main() -> None:
    """Run the engine until SIGTERM."""
    dynamodb._tokenize = lambda expression: [*tokens_of(expression)]  # noqa: SLF001
    dynamodb._condition_syntax_error = lru_cache(maxsize=1000)(dynamodb._condition_syntax_error)  # noqa: SLF001
    lambda_runtime.execution_credentials = execution_credentials
    # Each process would import botocore to count calls of functions by functions and end circles of
    # them. The service has one such call, of mail_code, which calls none.
    lambda_runtime._PYTHON_WORKER_SCRIPT = lambda_runtime._PYTHON_WORKER_SCRIPT.replace(  # noqa: SLF001
        "\n    _ms_install_invoke_depth()\n", "\n"
    )
    eventbridge._invoke_target = invoke_target  # noqa: SLF001
    cloudwatch_logs._append_log_events = append_log_events  # noqa: SLF001
    lambda_svc.reap_idle_workers = end_idle_workers
    lambda_svc._ensure_reaper_thread()  # noqa: SLF001
    port = int(os.environ["GATEWAY_PORT"])
    engine.app = LoopbackHost(SignedRequests(engine.app, ACCESS_KEY_ID), port)
    engine.main()


if __name__ == "__main__":
    main()
