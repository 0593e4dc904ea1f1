"""Statistics under faults: a fault at each call of the function that counts mail.

This module writes the records of the stream as the table would: each change of some messages
whose creation and updates cross hours and a day. Batches are retried as Lambda does it: the
whole batch if the function failed, or from the record on that the function names.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from admin.wiring import OperatorWiring
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind, Message
from pillarbox.wiring import services
from tests.contract.client import Invocation, handler
from tests.fakes import builders
from verification.faults.enumeration import FaultsOf, Plan, at_each_call, describe
from verification.faults.report import RunResult
from verification.faults.system import System
from verification.faults.verdict import Verdict
from verification.faults.wire import faults_of

if TYPE_CHECKING:
    from verification.faults.processes import Process

type Record = dict[str, Any]

#: When messages are accepted, in minutes, and the events of each, one minute apart.
_EVENTS: Final = {
    0: (EventKind.SENT, EventKind.DELIVERED),
    1: (EventKind.SENT, EventKind.BOUNCED),
    50: (EventKind.FAILED,),
    59: (EventKind.SENT, EventKind.DELIVERED, EventKind.COMPLAINED),
    130: (EventKind.SENT,),
    26 * 60: (EventKind.SENT, EventKind.DELIVERED),
}
#: Records of one invocation.
_BATCH: Final = 5
#: For one batch; a fault strikes once.
_TRIES: Final = 3


def statistics_runs(
    system: System, every: int = 1, faults: FaultsOf = faults_of
) -> Iterator[RunResult]:
    """Run every fault at every call of `aggregate_stats`, or one of every `every`."""
    return at_each_call(system.wire, partial(_run, system), faults, every)


def _run(system: System, plan: Plan) -> RunResult:
    system.reset()
    struck = system.wire.plant(plan)
    records = _changes(system)
    verdict = Verdict(stuck=0 if _consume(system, records) else 1)
    system.pass_time(timedelta(days=3).total_seconds())  # no change is too recent to be counted
    audit = OperatorWiring(services().settings).statistics_audit.verify(system.account_id)
    verdict.accepted = audit.messages
    verdict.lost = len(_EVENTS) - audit.messages
    verdict.wrong = audit.wrong_items + audit.lagging_messages
    return RunResult(f"statistics: {describe(struck)}", len(struck), verdict)


def _changes(system: System) -> list[Record]:
    """Write the messages and return the stream records of their changes."""
    changes: list[tuple[float, Message]] = []
    for start, kinds in _EVENTS.items():
        accepted = system.now + timedelta(minutes=start)
        message = builders.message(system.account_id, new_id(accepted))
        changes.append((start, message))
        for minutes, kind in enumerate(kinds, start=1):
            event = Event(kind=kind, at=accepted + timedelta(minutes=minutes))
            message = replace(message.with_events([event]), revision=message.revision + 1)
            changes.append((start + minutes, message))
        services().table.put(message_item(message))
    changes.sort(key=lambda change: change[0])
    return [
        {"dynamodb": {"NewImage": message_item(message), "SequenceNumber": str(number)}}
        for number, (_, message) in enumerate(changes, start=1)
    ]


def _consume(system: System, records: list[Record]) -> bool:
    """Pass the stream to the function in batches; return False if a batch keeps failing."""
    tries = 0
    while records:
        batch = records[:_BATCH]
        processed = _process(system, batch)
        records = records[processed:]
        tries = 0 if processed == len(batch) else tries + 1
        if tries == _TRIES:
            return False
    return True


def _process(system: System, batch: list[Record]) -> int:
    """Run the function on a batch; return how many of its records are not retried."""
    processes: list[Process] = []
    system.start(
        lambda: handler("aggregate_stats")({"Records": batch}, Invocation()), processes.append
    )
    (process,) = processes
    if process.error:
        return 0
    failures = process.result["batchItemFailures"]
    if not failures:
        return len(batch)
    failed = failures[0]["itemIdentifier"]
    return [record["dynamodb"]["SequenceNumber"] for record in batch].index(failed)
