"""Bugs that this service could have. The runs must catch each of them.

Each bug does a step in a way that looks simpler than the protocol.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from unittest import mock
from uuid import UUID

from botocore.config import Config

from pillarbox import consumer
from pillarbox.adapters.aws import client_of
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses import mailer as ses
from pillarbox.adapters.sqs import event_queue, jobs
from pillarbox.adapters.sqs.dead_letters import SqsDeadLetters
from pillarbox.adapters.sqs.event_queue import SqsEventQueue
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue
from pillarbox.application.delivery import deliver as delivery
from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.feedback import Feedback, FeedbackOutcome, FeedbackResult
from pillarbox.application.delivery.ports import EventRecord, SweepTask
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.application.delivery.sweep import Sweep
from pillarbox.application.history.aggregate import Aggregation
from pillarbox.application.ports import Claim, StoredClaim
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.claiming import Claiming
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.stream_result import StreamResult
from pillarbox.application.webhooks.drain import DRAIN_LATE
from pillarbox.domain.accounts.quota import Amount
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.mail import Job, Mail
from pillarbox.domain.messages.message import Event, EventKind, Message
from pillarbox.domain.webhooks.endpoint import WebhookTask
from pillarbox.wiring import services
from verification.faults.acceptance_runs import late_writes, stalled_acceptors, takeovers
from verification.faults.bug_enqueue_after_commit import enqueue_after_commit
from verification.faults.random_schedules import bursts, random_schedule
from verification.faults.report import RunResult
from verification.faults.runs import (
    PATHS,
    at_first_call,
    dead_letters,
    dying_event_workers,
    late_events,
    listed_late,
    paused_writes,
    quiet_service,
)
from verification.faults.statistics_runs import statistics_runs
from verification.faults.system import System
from verification.faults.webhook_runs import PATHS as WEBHOOK_PATHS
from verification.faults.webhook_runs import refused_tasks
from verification.webhooks.known_bugs import removed_before_queued

type Bug = Callable[[], AbstractContextManager[object]]

_RUNS: Final = 150


def first_failure(system: System, name: str) -> RunResult | None:
    """Return the first run that fails because of the bug, or None."""
    with BUGS[name]():
        return next((run for run in _runs_against(system, name) if run.verdict), None)


def _runs_against(system: System, name: str) -> Iterator[RunResult]:
    """Run faults at the call that the bug concerns, then random schedules."""
    if name in AIMS:
        yield from AIMS[name](system)
    for seed in range(1, _RUNS):
        yield random_schedule(system, seed)


def _unconditional(term: str) -> Bug:
    """Return the bug of updates whose condition misses one term."""
    update = Table.update

    def update_without_term(
        self: Table, *args: Any, condition: str | None = None, **options: Any
    ) -> Any:
        without = condition and condition.replace(f" AND {term}", "").replace(term, "rev >= :zero")
        if without != condition and "zero" in (without or ""):
            options["values"] = options["values"] | {":zero": 0}
            options["values"].pop(":rev")
        return update(self, *args, condition=without, **options)

    return lambda: mock.patch.object(Table, "update", update_without_term)


@contextmanager
def _sdk_retries_on_ses() -> Iterator[None]:
    retrying = ses._WITHOUT_RETRIES.merge(
        Config(retries={"mode": "standard", "total_max_attempts": 3})
    )
    client = client_of("sesv2", retrying)
    client.__set_name__(ses.SesMailer, "_ses")
    services.cache_clear()
    with mock.patch.object(ses.SesMailer, "_ses", client):
        yield
    services.cache_clear()


@contextmanager
def _no_lease() -> Iterator[None]:
    """Hand over a message even if another worker has leased it."""
    check = Delivery._without_hand_over

    def check_without_lease(self: Delivery, job: Job, message: Message) -> DeliveryResult | None:
        return check(self, job, replace(message, lease=None))

    with (
        mock.patch.object(Delivery, "_without_hand_over", check_without_lease),
        _unconditional("attribute_not_exists(lease)")(),
    ):
        yield


@contextmanager
def _resend_when_a_lease_ends() -> Iterator[None]:
    with (
        mock.patch.object(delivery, "EVENT_WAIT", timedelta(seconds=30)),
        mock.patch.object(Delivery, "_is_quiet", return_value=False),
        mock.patch.object(SqsEventQueue, "may_hold_older_than", return_value=False),
    ):
        yield


def _trust_events_of_other_mail() -> AbstractContextManager[object]:
    """Send again because newer events have arrived, without a look at the queue."""
    return mock.patch.object(SqsEventQueue, "may_hold_older_than", return_value=False)


@contextmanager
def _leave_no_mark() -> Iterator[None]:
    """Forget an event that could not be merged, and count it as arrived."""
    record = Feedback.record

    def record_and_forget(self: Feedback, records: Sequence[EventRecord]) -> list[Any]:
        results = record(self, records)
        return [FeedbackResult(FeedbackOutcome.IGNORED) for _ in results]

    with mock.patch.object(Feedback, "record", record_and_forget):
        yield


def _unconditional_claim_delete() -> AbstractContextManager[object]:
    def release(self: DynamoClaims, claim: Claim) -> None:
        self._table.delete(keys.claim(claim.account_id, claim.digest))

    return mock.patch.object(DynamoClaims, "release", release)


def _read_in_place_of_tombstones() -> AbstractContextManager[object]:
    def read(self: Claiming, claim: Claim, _: datetime) -> Mapping[UUID, Message]:
        return self.messages.get_all(claim.account_id, claim.message_ids)

    return mock.patch.object(Claiming, "_withdraw", read)


def _read_before_a_refusal() -> AbstractContextManager[object]:
    def read(self: Acceptance, message: Message) -> tuple[bool, bool]:
        return self.ports.messages.get(message.account_id, message.message_id) is not None, True

    return mock.patch.object(Acceptance, "_settle", read)


@contextmanager
def _release_before_the_tombstone() -> Iterator[None]:
    commit, settle, claims = Acceptance.commit, Acceptance._settle, list[Claim | None]()

    def commit_of(
        self: Acceptance, prepared: PreparedMessage, claim: Claim | None, text: str
    ) -> Any:
        claims[:] = [claim]
        return commit(self, prepared, claim, text)

    def release_and_settle(self: Acceptance, message: Message) -> tuple[bool, bool]:
        for claim in filter(None, claims):
            self.ports.claims.release(claim)
        return settle(self, message)

    with (
        mock.patch.object(Acceptance, "commit", commit_of),
        mock.patch.object(Acceptance, "_settle", release_and_settle),
    ):
        yield


@contextmanager
def _take_over_before_the_tombstones() -> Iterator[None]:
    take_over, withdraw = Claiming._take_over, Claiming._withdraw

    def take_over_then_withdraw(
        self: Claiming, stored: StoredClaim, claim: Claim, now: datetime
    ) -> Claim:
        claim = take_over(self, stored, claim, now)
        withdraw(self, stored.claim, now)
        return claim

    with (
        _read_in_place_of_tombstones(),
        mock.patch.object(Claiming, "_take_over", take_over_then_withdraw),
    ):
        yield


def _random_ids() -> AbstractContextManager[object]:
    """Accept a message under an id that its claim does not give."""
    reserve = Acceptance.reserve

    def reserve_without(
        self: Acceptance, prepared: PreparedMessage, _claim: Claim | None = None
    ) -> PreparedMessage:
        return reserve(self, prepared)

    return mock.patch.object(Acceptance, "reserve", reserve_without)


def _forget_dead_owners() -> AbstractContextManager[object]:
    """Take a batch over without what its dead owner accepted."""
    take_over = Claiming._take_over

    def take_all_over(self: Claiming, stored: StoredClaim, claim: Claim, now: datetime) -> Claim:
        return take_over(self, stored, replace(claim, earlier=()), now)

    return mock.patch.object(Claiming, "_take_over", take_all_over)


@contextmanager
def _status_without_rank() -> Iterator[None]:
    """Let the event that arrived last decide the status."""

    def with_events(
        self: Message, events: Iterable[Event], provider_message_id: str | None = None
    ) -> Message:
        return replace(
            self,
            events=(*self.events, *events),
            provider_message_id=self.provider_message_id or provider_message_id,
        )

    last_event = property(lambda self: self.events[-1] if self.events else None)
    with (
        mock.patch.object(Message, "with_events", with_events),
        mock.patch.object(Message, "decisive", last_event),
    ):
        yield


def _no_refund() -> AbstractContextManager[object]:
    return mock.patch.object(DynamoQuotas, "refund")


def _forget_uncertain_mail() -> AbstractContextManager[object]:
    run = Delivery._run

    def run_once(self: Delivery, *arguments: Any, **options: Any) -> DeliveryResult:
        result = run(self, *arguments, **options)
        return DeliveryResult(Outcome.UNCERTAIN) if result.outcome is Outcome.UNCERTAIN else result

    return mock.patch.object(Delivery, "_run", run_once)


def _ignore_refused_entries() -> AbstractContextManager[object]:
    send = SqsJobs._send_batch

    def send_ignoring_failures(self: SqsJobs, batch: Any) -> list[str]:
        send(self, batch)
        return []

    return mock.patch.object(SqsJobs, "_send_batch", send_ignoring_failures)


def _take_silence_for_acceptance() -> AbstractContextManager[object]:
    def send(sqs: Any, queue_url: str, entries: Sequence[Any]) -> dict[str, str]:
        response = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries)
        return {one["Id"]: one["Code"] for one in response.get("Failed", ())}

    return mock.patch.object(jobs, "send_batch", send)


def _forget_failed_records() -> AbstractContextManager[object]:
    apply = Aggregation.apply

    def apply_without_retry(self: Aggregation[Any], records: Sequence[Any]) -> StreamResult:
        return replace(apply(self, records), retry_from=None)

    return mock.patch.object(Aggregation, "apply", apply_without_retry)


def _delete_waiting_bodies() -> AbstractContextManager[object]:
    clear = Sweep._clear_spool

    failed = Event(kind=EventKind.FAILED, at=services().feedback.clock())

    class FailedMessages(DynamoMessages):
        def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
            found = super().get_all(account_id, message_ids)
            return {
                id_: message if message.lease else message.with_events([failed])
                for id_, message in found.items()
            }

    def clear_what_waits(self: Sweep, task: SweepTask) -> Any:
        return clear(replace(self, messages=FailedMessages(services().table)), task)

    return mock.patch.object(Sweep, "_clear_spool", clear_what_waits)


def _hide_retries_at_once() -> AbstractContextManager[object]:
    postpone = SqsJobs.postpone

    def postpone_later_ones(
        self: SqsJobs, queue_arn: str, receipt_handle: str, wait: timedelta
    ) -> None:
        if wait:
            postpone(self, queue_arn, receipt_handle, wait)

    return mock.patch.object(SqsJobs, "postpone", postpone_later_ones)


def _ignore_expiry() -> AbstractContextManager[object]:
    read = SqsJobs.read

    def read_with_a_day(self: SqsJobs, text: str) -> Job:
        job = read(self, text)
        return replace(job, deadline=job.queued_at + timedelta(hours=24))

    return mock.patch.object(SqsJobs, "read", read_with_a_day)


def _forget_poison_jobs() -> AbstractContextManager[object]:
    return mock.patch.object(SqsDeadLetters, "put")


def _refund_the_next_minute() -> AbstractContextManager[object]:
    refund = DynamoQuotas.refund

    def refund_later(self: DynamoQuotas, account_id: str, amount: Amount, now: datetime) -> None:
        refund(self, account_id, amount, now + timedelta(minutes=1))

    return mock.patch.object(DynamoQuotas, "refund", refund_later)


def _drain_a_slow_endpoint_once() -> AbstractContextManager[object]:
    """Queue the drain of a slow endpoint only after its events wait."""
    put_all = SqsWebhookQueue.put_all

    def put_none_before(
        self: SqsWebhookQueue, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)
    ) -> None:
        if delay != DRAIN_LATE:
            put_all(self, tasks, delay)

    return mock.patch.object(SqsWebhookQueue, "put_all", put_none_before)


@contextmanager
def _trust_a_young_age() -> Iterator[None]:
    """Leave no mark of an event that kills its worker, and let the last age end the wait."""

    def may_hold(self: SqsEventQueue, moment: datetime, _dead: int) -> bool:
        now = services().feedback.clock()
        since = now - timedelta(minutes=10)
        metric = "ApproximateAgeOfOldestMessage"
        read = vars(event_queue)["reports"]
        ages = read(self._cloudwatch, self._queue_url, metric, since, now)
        reported_at: datetime = max(ages)
        return reported_at - timedelta(seconds=ages[reported_at]) <= moment

    with (
        mock.patch.object(Feedback, "_leave_marks"),
        mock.patch.object(SqsEventQueue, "_queue_may_hold_older_than", may_hold),
    ):
        yield


def _stop_for_any_dead_letter() -> AbstractContextManager[object]:
    """Hold every message while there is a dead letter, whatever message it names."""
    return mock.patch.object(event_queue, "may_concern", return_value=True)


def _ignore_dead_letters() -> AbstractContextManager[object]:
    """Send again though an event of the message is a dead letter."""
    return mock.patch.object(event_queue, "may_concern", return_value=False)


def _wait_for_events_of_other_mail() -> AbstractContextManager[object]:
    return mock.patch.object(ses.SesMailer, "send_probe")


def _drop_without_a_tombstone() -> AbstractContextManager[object]:
    def unrecorded(delivery: Delivery, _: Job, sent_at: datetime) -> DeliveryResult:
        return delivery._unsaved(sent_at)

    return mock.patch.object(Delivery, "_unrecorded", unrecorded)


def _planted_in_delivery(change: Callable[[Delivery], Delivery]) -> AbstractContextManager[object]:
    within = Delivery.within
    return mock.patch.object(Delivery, "within", lambda *given: change(within(*given)))


@contextmanager
def _share_the_built_mail() -> Iterator[None]:
    """Keep the octets of a mail where the other threads of the worker keep theirs."""
    send, last = ses.SesMailer.send, [b""]

    def keeping(delivery: Delivery) -> Delivery:
        def build(mail: Mail, message: Message) -> bytes:
            last[0] = delivery.build(mail, message)
            return last[0]

        return replace(delivery, build=build)

    def send_last(self: ses.SesMailer, message: Message, to: Any, _raw: bytes, *of: Any) -> str:
        return send(self, message, to, last[0], *of)

    with (
        mock.patch.object(ses.SesMailer, "send", send_last),
        _planted_in_delivery(keeping),
    ):
        yield


@contextmanager
def _name_the_leases_of_a_batch_once() -> Iterator[None]:
    together, names = vars(consumer)["_together"], [""]

    def with_a_name(*arguments: Any) -> Any:
        names[0] = new_token(16)
        return together(*arguments)

    with (
        mock.patch.object(consumer, "_together", with_a_name),
        _planted_in_delivery(lambda delivery: replace(delivery, new_owner=lambda: names[0])),
    ):
        yield


def _take_results_as_they_come() -> AbstractContextManager[object]:
    """Take the result of the thread that ends first as that of the first record."""
    together = vars(consumer)["_together"]

    def as_they_come(call: Callable[[int], Any], numbers: Sequence[int]) -> dict[int, Any]:
        results: list[Any] = []
        together(lambda number: results.append(call(number)), numbers)
        return dict(zip(numbers, results, strict=True))

    return mock.patch.object(consumer, "_together", as_they_come)


def _settle_one_at_a_time() -> AbstractContextManager[object]:
    """Save no result, and leave the lease, while another thread saves one."""
    settle, busy = Delivery._settle, list[Delivery]()

    def settle_unless_busy(self: Delivery, *arguments: Any) -> None:
        if busy:
            return
        busy.append(self)
        try:
            settle(self, *arguments)
        finally:
            busy.clear()

    return mock.patch.object(Delivery, "_settle", settle_unless_busy)


def _leave_what_ses_lists_late() -> AbstractContextManager[object]:
    record = Feedback.record

    def record_once(self: Feedback, records: Sequence[EventRecord]) -> list[Any]:
        results = record(self, records)
        return [one if isinstance(one, Exception) else replace(one, again=False) for one in results]

    return mock.patch.object(Feedback, "record", record_once)


BUGS: Final[Mapping[str, Bug]] = {
    "enqueue after commit": enqueue_after_commit,
    "no lease": _no_lease,
    "SDK retries on SES": _sdk_retries_on_ses,
    "resend when a lease ends": _resend_when_a_lease_ends,
    "trust events of other mail": _trust_events_of_other_mail,
    "forget an event that cannot be merged": _leave_no_mark,
    "unconditional claim delete": _unconditional_claim_delete,
    "read in place of tombstones": _read_in_place_of_tombstones,
    "read before a refusal": _read_before_a_refusal,
    "release before the tombstone": _release_before_the_tombstone,
    "take over before the tombstones": _take_over_before_the_tombstones,
    "random ids": _random_ids,
    "forget dead owners": _forget_dead_owners,
    "status without rank": _status_without_rank,
    "write over another's change": _unconditional("rev = :rev"),
    "no refund": _no_refund,
    "forget the uncertain": _forget_uncertain_mail,
    "ignore what a queue refuses": _ignore_refused_entries,
    "take silence for acceptance": _take_silence_for_acceptance,
    "forget what was not counted": _forget_failed_records,
    "delete waiting bodies": _delete_waiting_bodies,
    "hide retries at once": _hide_retries_at_once,
    "ignore the expiry": _ignore_expiry,
    "forget poison jobs": _forget_poison_jobs,
    "refund the next minute": _refund_the_next_minute,
    "drain a slow endpoint once": _drain_a_slow_endpoint_once,
    "remove what is due before it is queued": removed_before_queued,
    "trust a young age": _trust_a_young_age,
    "stop for any dead letter": _stop_for_any_dead_letter,
    "ignore dead letters": _ignore_dead_letters,
    "wait for events of other mail": _wait_for_events_of_other_mail,
    "drop a job without a tombstone": _drop_without_a_tombstone,
    "share the built mail": _share_the_built_mail,
    "name the leases of a batch once": _name_the_leases_of_a_batch_once,
    "take results as they come": _take_results_as_they_come,
    "settle one at a time": _settle_one_at_a_time,
    "leave what SES lists late": _leave_what_ses_lists_late,
}

_UNKEYED, _KEYED, _TWO_RECIPIENTS, _BATCH, _KEYED_BATCH = (PATHS[n] for n in (0, 2, 5, 6, 7))
_LISTED_LATE: Final = PATHS[13]
_SLOW, _DOWN = WEBHOOK_PATHS[1], WEBHOOK_PATHS[2]
#: The runs that catch each bug soonest.
AIMS: Final[Mapping[str, Callable[[System], Iterator[RunResult]]]] = {
    "enqueue after commit": partial(at_first_call, path=_KEYED, call="sqs.SendMessage"),
    "no lease": partial(at_first_call, path=_UNKEYED, call="sesv2.SendEmail"),
    "SDK retries on SES": partial(at_first_call, path=_UNKEYED, call="sesv2.SendEmail"),
    "resend when a lease ends": partial(at_first_call, path=_UNKEYED, call="sesv2.SendEmail"),
    "trust events of other mail": partial(late_events, path=_UNKEYED),
    "unconditional claim delete": partial(takeovers, path=_KEYED),
    "read in place of tombstones": partial(stalled_acceptors, path=_KEYED),
    "read before a refusal": partial(late_writes, path=_KEYED),
    "release before the tombstone": partial(late_writes, path=_KEYED),
    "take over before the tombstones": partial(takeovers, path=_KEYED),
    "random ids": partial(stalled_acceptors, path=_KEYED),
    "forget dead owners": partial(takeovers, path=_KEYED_BATCH),
    "status without rank": partial(at_first_call, path=_UNKEYED, call="sesv2.SendEmail"),
    "write over another's change": partial(paused_writes, path=_TWO_RECIPIENTS),
    "no refund": partial(at_first_call, path=_UNKEYED, call="sqs.SendMessage"),
    "forget the uncertain": partial(at_first_call, path=_UNKEYED, call="sesv2.SendEmail"),
    "ignore what a queue refuses": partial(at_first_call, path=_BATCH, call="sqs.SendMessageBatch"),
    "take silence for acceptance": partial(at_first_call, path=_BATCH, call="sqs.SendMessageBatch"),
    "forget what was not counted": statistics_runs,
    "refund the next minute": partial(at_first_call, path=_UNKEYED, call="sqs.SendMessage"),
    "drain a slow endpoint once": partial(refused_tasks, path=_SLOW),
    "remove what is due before it is queued": partial(refused_tasks, path=_DOWN),
    "trust a young age": partial(dying_event_workers, path=_UNKEYED),
    "stop for any dead letter": partial(dead_letters, path=_UNKEYED),
    "ignore dead letters": partial(dead_letters, path=_UNKEYED),
    "wait for events of other mail": partial(quiet_service, path=_UNKEYED),
    "drop a job without a tombstone": partial(stalled_acceptors, path=_UNKEYED),
    "share the built mail": bursts,
    "name the leases of a batch once": bursts,
    "take results as they come": bursts,
    "settle one at a time": bursts,
    "leave what SES lists late": partial(listed_late, path=_LISTED_LATE),
}
