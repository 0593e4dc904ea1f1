"""Webhooks under faults: a fault at each call from the table's stream to the endpoint.

The engine has the stream, the queue, the timer and all records; the endpoint answers in the
process. The POST counts as a call too. Emails end in five events each. An endpoint must accept
each event at least once. This clock, not the engine's, hides the tasks of the queue, and the
timer passes only in minutes in which a task is due.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, Final
from unittest import mock
from uuid import UUID

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from local import template
from pillarbox.adapters import webhook_poster
from pillarbox.adapters.dynamodb import keys, records, timer
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import to_item, to_text
from pillarbox.adapters.dynamodb.webhooks import deliveries
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.webhooks.ports import EndpointChanges, PostResult
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind, SendRoute
from pillarbox.domain.webhooks.endpoint import DeliveryState
from pillarbox.wiring import services
from tests.contract.client import Invocation, handler
from tests.contract.service import queue_record
from tests.fakes import builders, webhooks
from tests.fakes.webhook_world import beyond_patience, one_after_another
from verification.faults.enumeration import FaultsOf, Plan, at_each_call, describe
from verification.faults.processes import Process
from verification.faults.report import RunResult
from verification.faults.system import System
from verification.faults.verdict import Verdict
from verification.faults.wire import FAULTS_OF_GROUPS, Fault, Kind, Site, body_of, faults_of

_RESOURCES: Final = template.load()["Resources"]
_VISIBILITY: Final[int] = _RESOURCES["WebhooksQueue"]["Properties"]["VisibilityTimeout"]
_POST: Final = "endpoint.POST"
#: One of each kind for the code above the SDK, which other runs try in every way.
_FAULTS_OF_ANY_CALL: Final = (
    Fault(Kind.ERROR, "before", lasting=True),
    Fault(Kind.ERROR, "after", lasting=True),
    Fault(Kind.TIMEOUT, "after"),
    Fault(Kind.KILL, "before"),
    Fault(Kind.KILL, "after"),
)
_FAULTS: Final = (*_FAULTS_OF_ANY_CALL, *FAULTS_OF_GROUPS)
_MINUTE: Final = timedelta(minutes=1)
#: The timers of tasks and of alerts.
_TIMERS: Final = ("DUE", "TELL")
_OK: Final = PostResult(status_code=200)
_GONE: Final = PostResult(status_code=410)
_LATER: Final = PostResult(status_code=503, retry_after=timedelta(minutes=20))
_OWNER: Final = "owner@shop.example"
_TO: Final = ("ann@example.com", "bob@example.com")


@dataclass(frozen=True)
class WebhookPath:
    """How an endpoint behaves."""

    name: str
    #: What it answers at first, and for how long. The owner enables it again if that disabled it.
    answer: PostResult = _OK
    until: timedelta = timedelta(0)
    mails: int = 1
    #: Tasks of one invocation.
    batch: int = 10
    #: Whether the worker finds it slow.
    slow: bool = False


PATHS: Final = (
    WebhookPath("webhooks, accepted"),
    WebhookPath("webhooks, slow", mails=2, batch=5, slow=True),
    WebhookPath("webhooks, down", _LATER, timedelta(minutes=30)),
    WebhookPath("webhooks, gone", _GONE, timedelta(minutes=10)),
)


def _in_turn[T, R](call: Callable[[T], R], arguments: Sequence[T]) -> list[R]:
    return [call(argument) for argument in arguments]


def faults_of_any_call(call: str) -> Sequence[Fault]:
    return [fault for fault in _FAULTS if fault in faults_of(call)]


def webhook_runs(
    system: System, path: WebhookPath, faults: FaultsOf = faults_of_any_call
) -> Iterator[RunResult]:
    """Run each fault at the first and the last call from each place of a path."""

    def run(plan: Plan) -> RunResult:
        return WebhookRun(system, path).run(plan)

    return at_each_call(system.wire, run, faults, ends_only=True)


def refused_tasks(system: System, path: WebhookPath) -> Iterator[RunResult]:
    """Let the queue refuse the tasks at each place of a path."""
    refusal = Fault(Kind.ERROR, "before", lasting=True)
    return webhook_runs(
        system, path, lambda call: [refusal] if call == "sqs.SendMessageBatch" else ()
    )


def random_webhook_faults(system: System, seed: int) -> Iterator[RunResult]:
    """Run random faults at random calls of random paths, without end."""
    draw = Random(seed)  # noqa: S311  a repeatable schedule, not a secret
    while True:
        path, fault = draw.choice(PATHS), draw.choice(_FAULTS_OF_ANY_CALL)
        yield WebhookRun(system, path).run({draw.randrange(100): fault})


class WebhookRun:
    """One account with an endpoint, and what happens to its emails."""

    def __init__(self, system: System, path: WebhookPath) -> None:
        self._system, self._path = system, path
        self._queue_url = os.environ["PILLARBOX_WEBHOOKS_QUEUE_URL"]
        self._queues = (self._queue_url, os.environ["PILLARBOX_JOBS_QUEUE_URL"])
        self._sqs = boto3.client("sqs")
        self._visible: list[str] = []
        self._delay = 0
        #: The minutes in which the timer passes, and whether it must make up for one.
        self._minutes: set[int] = set()
        self._is_behind = False
        #: The jobs of emails to the owner, which nothing sends here.
        self._jobs: list[str] = []
        #: How often the endpoint accepted each event, by what its payload says.
        self._accepted: Counter[tuple[str, ...]] = Counter()

    def run(self, plan: Plan) -> RunResult:
        system, path = self._system, self._path
        self._set_up("*", "email.accepted")
        expected = [event for _ in range(path.mails) for event in self._send()]
        changes = list(system.stream.changes(system.account_id, "MSG", "SUP"))
        self._up_at = system.now + path.until
        struck = system.wire.plant(plan)
        with self._patched():
            self._announce(changes)
            if path.answer is _GONE:
                system.after(path.until.total_seconds(), self._enable)
            at_rest = system.run_until_idle()
        verdict = self._judge(expected, disturbed=bool(struck))
        verdict.stuck += not at_rest
        return RunResult(f"{path.name}: {describe(struck)}", len(struck), verdict)

    def _set_up(self, *types: str, **account: Any) -> None:
        """Add an account with an endpoint for some types of events."""
        system, table = self._system, services().table
        system.reset()
        system.pass_time(-system.now.timestamp() % 60)  # the timer's minutes are those of each run
        of_account = {"has_webhooks": True, "contact": _OWNER} | account
        table.put(records.account_item(builders.account(system.account_id, **of_account)))
        self._endpoint = webhooks.endpoint(
            system.account_id, created_at=system.now, types=frozenset(types)
        )
        DynamoWebhookEndpoints(services().credentials, table).add(self._endpoint, 10)

    @contextmanager
    def _patched(self) -> Iterator[None]:
        """Make calls one after another, in the same order in each run."""
        wire, drawn = self._system.wire, Random(1)  # noqa: S311  a repeatable run, no secret
        places: dict[bytes, int] = {}

        def place(name: bytes) -> int:
            """Spread tasks over the timer's buckets in turn: their ids differ in each run."""
            return places.setdefault(name, len(places))

        in_turn = beyond_patience if self._path.slow else one_after_another
        patches = (
            mock.patch.object(wire, "stand_in", self._stand_in),
            mock.patch.object(wire, "on_success", self._on_success),
            mock.patch.object(services().webhook_poster, "post", self._post),
            mock.patch.object(webhook_poster, "in_threads", in_turn),
            mock.patch.object(deliveries, "in_parallel", _in_turn),
            mock.patch.object(timer, "in_parallel", _in_turn),
            mock.patch("random.random", drawn.random),
            mock.patch.object(keys, "crc32", place),
        )
        with ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            yield

    # What is announced

    def _send(self) -> list[tuple[str, ...]]:
        """Write the records of an email as they change; return its events."""
        system, table = self._system, services().table
        system.pass_time(1)
        new = builders.message(system.account_id, new_id(system.now), to=_TO, announced=True)
        table.put(records.message_item(new))
        for kind, recipient in (
            (EventKind.SENT, None),
            (EventKind.DELIVERED, _TO[0]),
            (EventKind.BOUNCED, _TO[1]),
        ):
            system.pass_time(1)
            new = new.with_events([Event(kind=kind, at=system.now, recipient=recipient)])
            table.put(records.message_item(new))
        suppressed = f"{new.message_id}@example.com"
        DynamoSuppressions(table).add(
            system.account_id,
            Suppression(
                address=suppressed, reason="bounced", at=system.now, message_id=new.message_id
            ),
        )
        events = (
            ("email.accepted", ""),
            ("email.sent", ""),
            ("email.delivered", _TO[0]),
            ("email.bounced", _TO[1]),
            ("suppression.added", suppressed),
        )
        return [(kind, str(new.message_id), recipient) for kind, recipient in events]

    def _announce(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """Pass the changes to the function until it succeeds, as Lambda does."""

        def on_end(process: Process) -> None:
            if process.error:
                self._system.after(1, lambda: self._announce(changes))

        event = {"Records": changes}
        self._system.start(lambda: handler("announce_events")(event, Invocation()), on_end)

    # Queue, worker and timer

    def _stand_in(self, request: AWSPreparedRequest) -> AWSResponse | None:
        """Take the delay out of what is queued, since the engine has another clock."""
        if b"SendMessageBatch" in request.headers.get("X-Amz-Target", b""):
            body = json.loads(body_of(request))
            self._delay = max(entry.pop("DelaySeconds", 0) for entry in body["Entries"])
            request.body = json.dumps(body).encode()
            request.headers["Content-Length"] = str(len(request.body))
        return None

    def _on_success(self, name: str, body: bytes) -> None:
        system = self._system
        if name.startswith("sqs.SendMessage"):
            with mock.patch.object(system.wire, "live", False):
                self._receive()
        elif name == "dynamodb.PutItem":
            kind, *rest = json.loads(body)["Item"]["pk"]["S"].split("#")
            minute = int(rest[0]) if kind in _TIMERS else 0
            if minute and minute not in self._minutes:
                self._minutes.add(minute)
                system.after(minute * 60 - system.now.timestamp(), self._pass)

    def _receive(self) -> None:
        """Receive what was queued. From then on this clock hides it."""
        for url in self._queues:
            while found := self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get(
                "Messages"
            ):
                for each in found:
                    self._sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                    if url == self._queue_url:
                        self._system.after(self._delay, partial(self._show, each["Body"]))
                    else:
                        self._jobs.append(each["Body"])

    def _show(self, task: str) -> None:
        self._visible.append(task)
        self._system.after(0, self._work)

    def _work(self) -> None:
        """Run the worker on a batch of the visible tasks."""
        tasks, self._visible = self._visible[: self._path.batch], self._visible[self._path.batch :]
        if not tasks:
            return
        rows = [queue_record(body, str(n), queue="webhooks") for n, body in enumerate(tasks)]

        def on_end(process: Process) -> None:
            failures = [] if process.error else process.result["batchItemFailures"]
            failed = {int(failure["itemIdentifier"]) for failure in failures}
            for number, task in enumerate(tasks):
                if process.error or number in failed:
                    self._system.after(_VISIBILITY, partial(self._show, task))

        event = {"Records": rows}
        self._system.start(lambda: handler("post_webhooks")(event, Invocation()), on_end)

    def _pass(self) -> None:
        """Let a minute of the timer pass. The minutes before it had no task, or are made up for."""
        system = self._system
        minute = system.now.replace(second=0, microsecond=0)
        if not self._is_behind:
            before = to_item({"minute": to_text(minute - _MINUTE)})
            for kind in _TIMERS:
                services().table.put(keys.timer_note(kind) | before)

        def on_end(process: Process) -> None:
            self._is_behind = process.error is not None
            if self._is_behind:
                system.after((minute + _MINUTE - system.now).total_seconds(), self._pass)

        system.start(lambda: handler("enqueue_due")({}, Invocation()), on_end)

    # The endpoint and its owner

    def _post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> PostResult:
        wire = self._system.wire
        site = Site.here(_POST)
        wire.calls.append(site)
        fault = wire.plan(len(wire.calls) - 1, site)
        if fault and fault.when == "before":
            return self._strike(fault)
        answer = _OK if self._system.now >= self._up_at else self._path.answer
        if answer is _OK:
            event = json.loads(body)
            data = event["data"]
            address = data.get("recipient") or data.get("address") or ""
            named = data.get("messageId") or data.get("receivedId")
            self._accepted[event["type"], named, address] += 1
        return self._strike(fault) if fault else answer

    def _strike(self, fault: Fault) -> PostResult:
        """Kill the worker, or keep the answer from it."""
        if fault.kind is Kind.KILL:
            self._system.wire.die()
        self._system.pass_time(8)
        return PostResult(status_code=None, error="no response within 8 seconds")

    def _enable(self) -> None:
        """Let the owner enable the endpoint again, until that succeeds."""
        system, endpoint_id = self._system, UUID(self._endpoint.endpoint_id)
        changes = EndpointChanges(enabled=True)

        def on_end(process: Process) -> None:
            if process.error:
                system.after(60, self._enable)

        system.start(
            lambda: services().webhooks.change(system.account_id, endpoint_id, changes, by=COMMAND),
            on_end,
        )

    def _judge(self, expected: list[tuple[str, ...]], *, disturbed: bool) -> Verdict:
        """Count the events. In an undisturbed run none may come twice."""
        system, table = self._system, services().table
        key = (system.account_id, self._endpoint.endpoint_id)
        log = DynamoWebhookDeliveries(table).newest_first(*key, 100, None).items
        waiting = DynamoWaitingEvents(table, system.clock).oldest(*key, 100)
        notices = {
            str(each.message_id)
            for each in system.messages()
            if each.origin.route is SendRoute.NOTICE
        }
        queued = {id_ for id_ in notices if any(id_ in job for job in self._jobs)}
        due = int(self._path.answer is _GONE)
        return Verdict(
            accepted=len(self._accepted),
            lost=len(set(expected) - set(self._accepted)) + max(due - len(queued), 0),
            phantom=len(set(self._accepted) - set(expected)) + len(notices - queued),
            doubled=(0 if disturbed else self._accepted.total() - len(self._accepted))
            + max(len(notices) - due, 0),
            stuck=len(waiting),
            wrong=sum(each.state is not DeliveryState.DELIVERED for each in log)
            + abs(len(log) - len(expected)),
        )
