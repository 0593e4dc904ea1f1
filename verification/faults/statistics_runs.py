"""Statistics under faults: a fault at each call of the function that counts mail.

The stream's records are written here, as the table's own would be: each change of some
mails whose creation and updates cross hours and a day. What becomes of a batch is Lambda's rule:
it comes again whole when the function failed, or from the record on that it names.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from admin.wiring import statistics_audit
from pillarbox import wiring
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.domain.ids import new_id
from pillarbox.domain.message import Event, EventKind, Message
from tests.contract.client import Invocation, handler
from tests.fakes import builders
from verification.faults.enumeration import FaultsOf, Plan, at_each_call, in_words
from verification.faults.report import RunResult
from verification.faults.system import System
from verification.faults.verdict import Verdict
from verification.faults.wire import faults_of

if TYPE_CHECKING:
    from verification.faults.processes import Process

type Record = dict[str, Any]

#: When mails are accepted, in minutes, and what happens to each, a minute later each time.
_LIVES: Final = {
    0: (EventKind.SENT, EventKind.DELIVERED),
    1: (EventKind.SENT, EventKind.BOUNCED),
    50: (EventKind.FAILED,),
    59: (EventKind.SENT, EventKind.DELIVERED, EventKind.COMPLAINED),
    130: (EventKind.SENT,),
    26 * 60: (EventKind.SENT, EventKind.DELIVERED),
}
#: Records of one invocation.
_BATCH: Final = 5
#: Of one batch; a fault strikes once.
_TRIES: Final = 3


def counted(system: System, every: int = 1, faults: FaultsOf = faults_of) -> Iterator[RunResult]:
    """Every fault at every call of `aggregate_stats`; or one of so many."""
    return at_each_call(system.wire, partial(_count, system), faults, every)


def _count(system: System, plan: Plan) -> RunResult:
    system.begin()
    struck = system.wire.plant(plan)
    records = _changes(system)
    verdict = Verdict(stuck=0 if _follow(system, records) else 1)
    system.pass_time(timedelta(days=3).total_seconds())  # nothing is on its way any more
    found = statistics_audit().verify(system.account_id)
    verdict.accepted = found.messages
    verdict.lost = len(_LIVES) - found.messages
    verdict.wrong = found.wrong_items + found.lagging_messages
    return RunResult(f"statistics: {in_words(struck)}", len(struck), verdict)


def _changes(system: System) -> list[Record]:
    """Let mails live; gives the records that the table's stream has of it."""
    happened: list[tuple[float, Message]] = []
    for start, kinds in _LIVES.items():
        accepted = system.now + timedelta(minutes=start)
        message = builders.message(system.account_id, new_id(accepted))
        happened.append((start, message))
        for minutes, kind in enumerate(kinds, start=1):
            event = Event(kind=kind, at=accepted + timedelta(minutes=minutes))
            message = replace(message.with_events([event]), revision=message.revision + 1)
            happened.append((start + minutes, message))
        wiring.table().put(message_item(message))
    happened.sort(key=lambda change: change[0])
    return [
        {"dynamodb": {"NewImage": message_item(message), "SequenceNumber": str(number)}}
        for number, (_, message) in enumerate(happened, start=1)
    ]


def _follow(system: System, records: list[Record]) -> bool:
    """Give the stream to the function, batch by batch; False when it does not come through."""
    tries = 0
    while records:
        batch = records[:_BATCH]
        done = _done(system, batch)
        records = records[done:]
        tries = 0 if done == len(batch) else tries + 1
        if tries == _TRIES:
            return False
    return True


def _done(system: System, batch: list[Record]) -> int:
    """How many of a batch's records need not come again."""
    ended: list[Process] = []
    system.start(lambda: handler("aggregate_stats")({"Records": batch}, Invocation()), ended.append)
    (process,) = ended
    if process.error:
        return 0
    failures = process.result["batchItemFailures"]
    if not failures:
        return len(batch)
    again = failures[0]["itemIdentifier"]
    return [record["dynamodb"]["SequenceNumber"] for record in batch].index(again)
