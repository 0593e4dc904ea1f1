"""A job that kills each worker that builds it, in a batch with nine jobs of other tenants.

The worker is a process of the operating system and dies by `os._exit`, on the local engine with a
clock that jumps. The queue shows all ten jobs again after its visibility timeout.
"""

import heapq
import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unittest import mock

import boto3

from pillarbox import consumer, wiring
from pillarbox.adapters.dynamodb import records
from pillarbox.application.delivery import build_message
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from pillarbox.http.messages.replies import send_result
from tests.aws import forget_wiring
from tests.contract.client import Invocation, handler
from tests.contract.service import queue_record
from tests.fakes import builders
from verification.attacks.tally import Options, Tally
from verification.faults.engine import running
from verification.faults.process_exits import DIED, real_processes
from verification.faults.runs import PATHS
from verification.faults.system import VISIBILITY, System

if TYPE_CHECKING:
    from verification.faults.processes import Process

_DEADLY: Final = "deadly"
_TENANTS: Final = 10
_STEPS: Final = 100
_BATCH: Final = 10


@dataclass(eq=False)
class _Queued:
    """A message in the queue."""

    body: str
    receipt: str
    subject: str
    first_received_at: datetime | None = None
    receives: int = 0


@dataclass(kw_only=True)
class Counts:
    """What became of ten jobs."""

    #: How often each subject reached the provider.
    sent: Counter[str] = field(default_factory=Counter)
    #: How often each subject's job was received.
    receives: Counter[str] = field(default_factory=Counter)
    worker_deaths: int = 0
    #: Deaths of the processes that build one message alone.
    build_deaths: int = 0
    set_aside: int = 0
    code: str | None = None

    @property
    def others(self) -> list[str]:
        return [subject for subject in self.receives if subject != _DEADLY]

    @property
    def repetitions(self) -> int:
        """The most repetitions of a job of another tenant."""
        return max(self.receives[subject] - 1 for subject in self.others)

    def __bool__(self) -> bool:
        """Whether another tenant was harmed more than once, or the deadly job was not set aside."""
        once = all(self.sent[subject] == 1 for subject in self.others)
        ended = (self.worker_deaths, self.build_deaths, self.set_aside) == (1, 3, 1)
        return not once or self.repetitions > 1 or not ended or self.sent[_DEADLY] > 0


def attack(system: System, seed: int = 1) -> Counts:
    """Let ten tenants send one email each, and deliver them until nothing is left."""
    subjects = [_DEADLY, *(f"tenant {n}" for n in range(1, _TENANTS))]
    random.Random(seed).shuffle(subjects)  # noqa: S311  repeatable, not a secret
    with _deadly_builds(), real_processes(system, PATHS[:1]):
        system.reset()
        counts = Counts()
        queue = [(system.now, n, queued) for n, queued in enumerate(_accept(subjects))]
        heapq.heapify(queue)
        for _ in range(_STEPS):
            if not queue:
                break
            system.now = max(system.now, queue[0][0])
            visible = [entry for entry in queue if entry[0] <= system.now][:_BATCH]
            queue = [entry for entry in queue if entry not in visible]
            for queued, wait in _receive(system, [entry[2] for entry in visible], counts):
                heapq.heappush(queue, (system.now + wait, id(queued), queued))
        counts.sent.update(mail.subject for mail in system.provider_mails())
        counts.set_aside = len(system.set_aside)
        return counts


def _accept(subjects: list[str]) -> Iterator[_Queued]:
    """Let one new tenant send each subject, and receive the jobs."""
    sqs, table = boto3.client("sqs"), wiring.services().table
    for subject in subjects:
        account_id = new_token(12)
        key = builders.key_text(account_id)
        table.put(records.account_item(builders.account(account_id)))
        wiring.services().credentials.put(records.key_item(builders.api_key(key, account_id)))
        request = builders.request(subject=subject)
        wiring.services().single_send.submit(key, request, None, send_result)
        (job,) = sqs.receive_message(
            QueueUrl=os.environ["PILLARBOX_JOBS_QUEUE_URL"], VisibilityTimeout=43_200
        )["Messages"]
        yield _Queued(job["Body"], job["ReceiptHandle"], subject)


def _receive(
    system: System, batch: list[_Queued], counts: Counts
) -> list[tuple[_Queued, timedelta]]:
    """Pass a batch to a new worker; return the jobs that become visible again, and when."""
    postponed: dict[str, timedelta] = {}
    rows = []
    for position, queued in enumerate(batch):
        queued.receives += 1
        queued.first_received_at = queued.first_received_at or system.now
        counts.receives[queued.subject] += 1
        rows.append(
            queue_record(
                queued.body,
                str(position),
                queued.receipt,
                receives=queued.receives,
                first_received_at=queued.first_received_at,
            )
        )
    ended: list[Process] = []
    on_success = system.wire.on_success

    def record(name: str, body: bytes) -> None:
        on_success(name, body)
        if name == "sqs.ChangeMessageVisibility":
            asked = json.loads(body)
            postponed[asked["ReceiptHandle"]] = timedelta(seconds=asked["VisibilityTimeout"])

    with mock.patch.object(system.wire, "on_success", record):
        system.start(
            lambda: handler("deliver_message")({"Records": rows}, Invocation()), ended.append
        )
    (process,) = ended
    if process.error:
        counts.worker_deaths += 1
        return [(queued, VISIBILITY) for queued in batch]
    kept = {failure["itemIdentifier"] for failure in process.result["batchItemFailures"]}
    again = [queued for position, queued in enumerate(batch) if str(position) in kept]
    for queued in batch:
        if queued.subject == _DEADLY:
            message = _message(queued)
            counts.code = message.error.code if message.error else None
            # The last one is not counted in the record, but fails the message.
            counts.build_deaths = message.deaths + (counts.code == "building_failed")
    return [(queued, postponed.get(queued.receipt, VISIBILITY)) for queued in again]


def _message(queued: _Queued) -> Message:
    job = wiring.services().jobs.read(queued.body)
    message = wiring.services().delivery.messages.get(job.account_id, job.message_id)
    assert message
    return message


@contextmanager
def _deadly_builds() -> Iterator[None]:
    """Let each process die that builds the deadly message."""
    build = build_message.build_raw

    def build_or_die(mail: Mail, message: Message, base_url: str) -> bytes:
        if mail.subject == _DEADLY:
            os._exit(DIED)
        return build(mail, message, base_url)

    # The processes of a busy machine are slow.
    patient = mock.patch.object(consumer, "PATIENCE", 60)
    with patient, mock.patch.object(build_message, "build_raw", build_or_die):
        forget_wiring()
        yield
    forget_wiring()


def run(_: Options) -> Tally:
    """Attack with the deadly job at ten positions."""
    tally = Tally("broken")
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as system:
        for seed in range(10):
            counts = attack(system, seed)
            tally["batches"] += 1
            tally["jobs of others"] += len(counts.others)
            tally["workers killed"] += counts.worker_deaths
            tally.raise_to("repetitions at most", counts.repetitions)
            if counts:
                tally.find("broken", counts)
    return tally
