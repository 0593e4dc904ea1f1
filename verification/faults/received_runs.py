"""Received mail under faults: from what S3 says of it to the endpoint that gets its event.

SES stored one mail. It must become one record with its content and one event, and its own object
must be the last thing that goes. The queue delivers a message again until the function succeeds,
and S3 may tell of an object twice, at once or after hours, as a redrive of dead letters does.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from unittest import mock
from uuid import UUID

import boto3

from local import template
from pillarbox.adapters.s3 import S3Received
from pillarbox.application.receiving_ports import ReceivingDomain, StoredRaw
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.replies import reply_token
from pillarbox.wiring import services
from tests.contract.client import Invocation, handler
from tests.contract.service import queue_record
from tests.fakes import builders
from verification.faults.enumeration import UNDISTURBED, Plan, at_each_call, describe
from verification.faults.processes import Process
from verification.faults.report import RunResult
from verification.faults.system import BUCKET, System
from verification.faults.verdict import Verdict
from verification.faults.webhook_runs import PATHS as WEBHOOK_PATHS
from verification.faults.webhook_runs import WebhookRun, faults_of_any_call
from verification.faults.wire import Site

_QUEUE: Final = template.load()["Resources"]["ReceivedQueue"]["Properties"]
_LATE: Final = 20 * 3_600.0
_MAIL: Final = """Return-Path: <ada@customer.example>
Received: from x by inbound-smtp for {address};
X-SES-RECEIPT: x
From: ada@customer.example
Content-Type: multipart/mixed; boundary=b

--b

Yes.
--b
Content-Type: application/pdf

%PDF
--b--
"""


@dataclass(frozen=True)
class ReceivedPath:
    """When the queue shows the notifications of one object, in seconds."""

    name: str
    shown: tuple[float, ...] = (0.0,)
    #: Whether the object expired before.
    gone: bool = False
    #: Whether faults strike the way of the event to the endpoint as well.
    all_the_way: bool = False


PATHS: Final = (
    ReceivedPath("received", all_the_way=True),
    ReceivedPath("received, told twice and late", (0.0, 1.0, _LATE)),
    ReceivedPath("received, from dead letters", (_LATE,)),
    ReceivedPath("received, gone before", gone=True),
)


def received_runs(system: System, path: ReceivedPath, every: int = 1) -> Iterator[RunResult]:
    """Run each fault, or every so manieth, at the first and last call from each place of a path."""

    def run(plan: Plan) -> RunResult:
        return _Run(system, path).run(plan)

    return at_each_call(system.wire, run, faults_of_any_call, every, ends_only=True)


def two_receivers(system: System, path: ReceivedPath) -> Iterator[RunResult]:
    """Pause the first receiver at each of its calls, while another one handles the same object."""
    yield _Run(system, path).run(UNDISTURBED)
    for number in range(len(system.wire.calls)):
        yield _Run(system, path, pause_at=number).run(UNDISTURBED)


class _Run(WebhookRun):
    """One account whose domain receives one mail."""

    def __init__(self, system: System, path: ReceivedPath, pause_at: int | None = None) -> None:
        super().__init__(system, WEBHOOK_PATHS[0])
        self._of, self._pause_at = path, pause_at
        self._domain = f"{new_token(12)}.example"
        self._s3 = boto3.client("s3")
        self._dead = self._early = 0

    def run(self, plan: Plan) -> RunResult:
        system = self._system
        self._set_up("email.received", reply_domain=self._domain)
        for part in ("receiving", "reply_keys"):  # each run reads the keys of tokens
            vars(services()).pop(part, None)
        services().receiving_domains.put(ReceivingDomain(self._domain, system.account_id))
        sent = builders.message(system.account_id, new_id(system.now))
        services().message_store.commit(sent)
        key = services().reply_keys.for_new_tokens()
        token = reply_token(system.account_id, sent.message_id, key)
        vars(services()).pop("reply_keys", None)
        self._key = f"received/{self._domain}/1"
        body = _MAIL.format(address=f"r.{token}@{self._domain}")
        self._s3.put_object(Bucket=BUCKET, Key=self._key, Body=body.encode())
        if self._of.gone:
            self._s3.delete_object(Bucket=BUCKET, Key=self._key)
        list(system.stream.changes(system.account_id, "RECD"))
        self._up_at, self._stored_at = system.now, system.now
        struck = system.wire.plant(plan)
        if self._pause_at is not None:
            self._plan_pause(self._pause_at)
        with self._patched():
            for seconds in self._of.shown:
                system.after(seconds, partial(self._deliver, 1))
            at_rest = system.run_until_idle()
            calls = [*system.wire.calls]
            if not self._of.all_the_way:
                system.wire.plant(UNDISTURBED)
            self._announce([*system.stream.changes(system.account_id, "RECD")])
            at_rest = system.run_until_idle() and at_rest
        if not self._of.all_the_way:
            system.wire.calls[:] = calls
        verdict = self._verdict(sent.message_id, disturbed=bool(struck))
        verdict.stuck += (not at_rest) + self._dead
        return RunResult(f"{self._of.name}: {describe(struck)}", len(struck), verdict)

    def _plan_pause(self, position: int) -> None:
        def plan(number: int, _: Site) -> None:
            process = self._system.process
            if number == position and process and not process.paused:
                self._system.pause(30)

        self._system.wire.plan = plan

    @contextmanager
    def _patched(self) -> Iterator[None]:
        """Let the objects have times of this clock, and look when the object of SES goes."""
        get, stored_at = S3Received.get, self._stored_at

        def by_this_clock(objects: S3Received, key: str) -> StoredRaw | None:
            raw = get(objects, key)
            return raw and replace(raw, stored_at=stored_at)

        with super()._patched(), mock.patch.object(S3Received, "get", by_this_clock):
            yield

    def _on_success(self, name: str, body: bytes) -> None:
        super()._on_success(name, body)
        if name == "s3.DeleteObject":
            with mock.patch.object(self._system.wire, "live", False):
                self._early += not [*services().received_mails.all(self._system.account_id)]

    def _deliver(self, receipts: int) -> None:
        if receipts > _QUEUE["RedrivePolicy"]["maxReceiveCount"]:
            self._dead += 1
            return
        told = {"eventName": "ObjectCreated:Put", "s3": {"object": {"key": self._key}}}
        body = json.dumps({"Records": [told]})
        record = queue_record(body, queue="received", receives=receipts)

        def on_end(process: Process) -> None:
            if process.error or process.result["batchItemFailures"]:
                wait = _QUEUE["VisibilityTimeout"]
                self._system.after(wait, partial(self._deliver, receipts + 1))

        event = {"Records": [record]}
        self._system.start(lambda: handler("receive_email")(event, Invocation()), on_end)

    def _verdict(self, message_id: UUID, *, disturbed: bool) -> Verdict:
        """Judge a run. In an undisturbed one the event may not come twice."""
        account_id = self._system.account_id
        mails = [*services().received_mails.all(account_id)]
        answers = services().received_mails.answers_to(account_id, message_id, None, 10)
        due = int(not self._of.gone)
        events = Counter(named for _, named, _ in self._accepted.elements())
        verdict = Verdict(
            accepted=len(mails),
            lost=max(due - len(mails), 0) + max(due - len(events), 0) + self._early,
            doubled=max(len(mails) - due, 0)
            + max(len(events) - due, 0)
            + (0 if disturbed else events.total() - len(events)),
            wrong=abs(len(answers) - due),
        )
        kept = self._keys("answers/")
        for mail in mails:
            content = services().received_objects.content(mail)
            is_whole = content is not None and content.reply == "Yes." and mail.answered is not None
            verdict.wrong += not (is_whole and mail.parsed and len(mail.files) == 1)
            verdict.wrong += len([key for key in kept if str(mail.received_id) in key]) != 3
        named = {str(mail.received_id) for mail in mails}
        verdict.left += sum(key.split("/")[4] not in named for key in kept)
        verdict.left += len(self._keys(self._key))
        return verdict

    def _keys(self, prefix: str) -> list[str]:
        """Return the keys of the account's objects."""
        listed: Any = self._s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", ())
        account_id = self._system.account_id
        return [one["Key"] for one in listed if account_id in one["Key"] or one["Key"] == self._key]
