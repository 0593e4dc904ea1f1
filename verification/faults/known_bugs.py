"""Bugs that this service could have had. The runs must catch each of them.

Each does a step in a way that looks simpler than the protocol.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from unittest import mock

from botocore.config import Config

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.claims import DynamoClaims
from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses import mailer as ses
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.delivery import deliver as delivery
from pillarbox.application.delivery.deliver import Delivery, DeliveryResult, Outcome
from pillarbox.application.history.aggregate import Aggregation, StreamResult
from pillarbox.application.ports import Claim
from pillarbox.domain.mail import Job
from pillarbox.domain.message import Event, Message
from pillarbox.wiring import services
from verification.faults.bug_enqueue_after_commit import enqueue_after_commit
from verification.faults.report import RunResult
from verification.faults.runs import PATHS, aimed, at_random
from verification.faults.statistics_runs import counted
from verification.faults.system import System

type Bug = Callable[[], AbstractContextManager[object]]

_RUNS: Final = 150


def first_failure(system: System, name: str) -> RunResult | None:
    """Return the first run that fails because of a bug, or None."""
    with BUGS[name]():
        return next((run for run in _hunt(system, name) if run.verdict), None)


def _hunt(system: System, name: str) -> Iterator[RunResult]:
    """Faults where the bug is about, then random schedules."""
    if name in AIMS:
        yield from AIMS[name](system)
    for seed in range(1, _RUNS):
        yield at_random(system, seed)


def _unconditional(term: str) -> Bug:
    """Updates whose condition lacks one term."""
    update = Table.update

    def lax(self: Table, *args: Any, condition: str | None = None, **more: Any) -> Any:
        without = condition and condition.replace(f" AND {term}", "").replace(term, "rev >= :zero")
        if without != condition and "zero" in (without or ""):
            more["values"] = more["values"] | {":zero": 0}
            more["values"].pop(":rev")
        return update(self, *args, condition=without, **more)

    return lambda: mock.patch.object(Table, "update", lax)


@contextmanager
def _sdk_retries_on_ses() -> Iterator[None]:
    retrying = ses._WITHOUT_RETRIES.merge(
        Config(retries={"mode": "standard", "total_max_attempts": 3})
    )
    services.cache_clear()
    with mock.patch.object(ses, "_WITHOUT_RETRIES", retrying):
        yield
    services.cache_clear()


@contextmanager
def _resend_when_a_lease_ends() -> Iterator[None]:
    with ExitStack() as patches:
        wait = mock.patch.object(delivery, "EVENT_WAIT", timedelta(seconds=90))
        patches.enter_context(wait)
        forever = datetime.max.replace(tzinfo=UTC)
        patches.enter_context(mock.patch.object(DynamoHeartbeat, "latest", return_value=forever))
        yield


def _unconditional_claim_delete() -> AbstractContextManager[object]:
    def release(self: DynamoClaims, claim: Claim) -> None:
        self._table.delete(keys.claim(claim.account_id, claim.digest))

    return mock.patch.object(DynamoClaims, "release", release)


@contextmanager
def _status_without_rank() -> Iterator[None]:
    """The event that came last decides."""

    def with_events(
        self: Message, events: Iterable[Event], provider_message_id: str | None = None
    ) -> Message:
        return replace(
            self,
            events=(*self.events, *events),
            provider_message_id=self.provider_message_id or provider_message_id,
        )

    last = property(lambda self: self.events[-1] if self.events else None)
    with (
        mock.patch.object(Message, "with_events", with_events),
        mock.patch.object(Message, "decisive", last),
    ):
        yield


def _no_refund() -> AbstractContextManager[object]:
    return mock.patch.object(DynamoQuotas, "refund")


def _forget_the_uncertain() -> AbstractContextManager[object]:
    run = Delivery._run

    def once(self: Delivery, job: Job) -> DeliveryResult:
        result = run(self, job)
        return DeliveryResult(Outcome.UNCERTAIN) if result.outcome is Outcome.UNCERTAIN else result

    return mock.patch.object(Delivery, "_run", once)


def _ignore_what_a_queue_refuses() -> AbstractContextManager[object]:
    send = SqsJobs._send_batch

    def ignoring(self: SqsJobs, entries: Sequence[tuple[str, str]]) -> list[str]:
        send(self, entries)
        return []

    return mock.patch.object(SqsJobs, "_send_batch", ignoring)


def _forget_what_was_not_counted() -> AbstractContextManager[object]:
    take = Aggregation.apply

    def forgetful(self: Aggregation[Any], records: Sequence[Any]) -> StreamResult:
        return replace(take(self, records), retry_from=None)

    return mock.patch.object(Aggregation, "apply", forgetful)


BUGS: Final[Mapping[str, Bug]] = {
    "enqueue after commit": enqueue_after_commit,
    "no lease": _unconditional("attribute_not_exists(lease)"),
    "SDK retries on SES": _sdk_retries_on_ses,
    "resend when a lease ends": _resend_when_a_lease_ends,
    "unconditional claim delete": _unconditional_claim_delete,
    "status without rank": _status_without_rank,
    "write over another's change": _unconditional("rev = :rev"),
    "no refund": _no_refund,
    "forget the uncertain": _forget_the_uncertain,
    "ignore what a queue refuses": _ignore_what_a_queue_refuses,
    "forget what was not counted": _forget_what_was_not_counted,
}

_UNKEYED, _KEYED, _BATCH = PATHS[0], PATHS[2], PATHS[6]
#: Where each can be seen soonest.
AIMS: Final[Mapping[str, Callable[[System], Iterator[RunResult]]]] = {
    "enqueue after commit": partial(aimed, path=_KEYED, call="sqs.SendMessage"),
    "no lease": partial(aimed, path=_UNKEYED, call="sesv2.SendEmail"),
    "SDK retries on SES": partial(aimed, path=_UNKEYED, call="sesv2.SendEmail"),
    "resend when a lease ends": partial(aimed, path=_UNKEYED, call="sesv2.SendEmail"),
    "unconditional claim delete": partial(aimed, path=_KEYED, call="dynamodb.TransactWriteItems"),
    "status without rank": partial(aimed, path=_UNKEYED, call="sesv2.SendEmail"),
    "no refund": partial(aimed, path=_UNKEYED, call="sqs.SendMessage"),
    "forget the uncertain": partial(aimed, path=_UNKEYED, call="sesv2.SendEmail"),
    "ignore what a queue refuses": partial(aimed, path=_BATCH, call="sqs.SendMessageBatch"),
    "forget what was not counted": counted,
}
