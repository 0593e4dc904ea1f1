"""Bugs that someone could write by mistake. For each of them a test of `make test` must fail.

A bug replaces some text of a file. The tests are those that are meant to catch it.
"""

from dataclasses import dataclass
from typing import Final

_LAYER: Final = "layers/shared/pillarbox"
_DELIVERING: Final = f"{_LAYER}/application/delivery"
_SENDING: Final = f"{_LAYER}/application/sending"
_DYNAMODB: Final = f"{_LAYER}/adapters/dynamodb"
_UNIT: Final = "tests/unit/application/test_application"
#: The first check of a mail's deadline.
_DEADLINE: Final = (
    "        now = self.clock()\n        if now >= job.deadline:\n            return self._refuse("
)


@dataclass(frozen=True)
class SeededBug:
    """A bug: the file, its text and the text with the bug, and the tests that catch it."""

    name: str
    path: str
    text: str
    bug: str
    tests: str


BUGS: Final = (
    SeededBug(
        "a retry at once counts as done",
        f"{_LAYER}/consumer.py",
        "if result.retry_after is not None:",
        "if result.retry_after:",
        "tests/unit/test_consumer.py",
    ),
    SeededBug(
        "the body of a job that is retried at once is deleted",
        f"{_DELIVERING}/deliver.py",
        "if result.retry_after is None:",
        "if not result.retry_after:",
        f"{_UNIT}_retries.py",
    ),
    SeededBug(
        "a job without time stays hidden",
        "functions/deliver_message/app.py",
        "wait = _postpone(record, timedelta(0))",
        "wait = timedelta(0)",
        "tests/contract/test_worker.py",
    ),
    SeededBug(
        "the sweep deletes bodies between two tries",
        f"{_DELIVERING}/sweep.py",
        "in messages.items() if message.pending}",
        "in messages.items() if message.pending and message.lease}",
        f"{_UNIT}_sweep.py",
    ),
    SeededBug(
        "a poison job's mail fails before the job is kept",
        f"{_DELIVERING}/poison_jobs.py",
        "        self.dead_letters.put(text)\n",
        "        if message is not None and message.pending and message.lease is None:\n"
        "            self.messages.save(message.with_events([failed]))\n"
        "        self.dead_letters.put(text)\n",
        f"{_UNIT}_retries.py",
    ),
    SeededBug(
        "a job of a dead worker is built in the worker",
        "functions/deliver_message/app.py",
        "if suspect:",
        "if False:",
        "tests/contract/test_worker.py",
    ),
    SeededBug(
        "the deaths of a job are not added up",
        f"{_DELIVERING}/poison_jobs.py",
        "deaths=message.deaths + 1))",
        "deaths=1))",
        f"{_UNIT}_poison_jobs.py",
    ),
    SeededBug(
        "a work that exits counts as done",
        f"{_LAYER}/adapters/child_process.py",
        "_DONE: Final = 70",
        "_DONE: Final = 0",
        "tests/integration/test_child_process.py",
    ),
    SeededBug(
        "indents have no bound",
        f"{_LAYER}/rendering/text.py",
        "if self._room < 0:",
        "if not text:",
        "tests/unit/rendering/test_text.py",
    ),
    SeededBug(
        "the deadline is checked at the first try only",
        f"{_DELIVERING}/deliver.py",
        _DEADLINE,
        "        if message.attempt:\n"
        "            job = replace(job, deadline=job.deadline + EVENT_WAIT * 100)\n" + _DEADLINE,
        "tests/contract/test_worker.py",
    ),
    SeededBug(
        "a refund goes into the current minute",
        f"{_SENDING}/acceptance.py",
        "quota.refund(prepared.amount, prepared.now)",
        "quota.refund(prepared.amount, self.ports.clock())",
        f"{_UNIT}_retries.py",
    ),
    SeededBug(
        "a refund of several goes into the current minute",
        f"{_SENDING}/acceptance.py",
        "quota.refund(_amount(prepared), moments[0])",
        "quota.refund(_amount(prepared), datetime.now(moments[0].tzinfo))",
        f"{_UNIT}_retries.py",
    ),
    SeededBug(
        "messages are grouped by account",
        "relay/service.py",
        "        self._batcher = SubmissionBatcher(self._accept)\n",
        "        batcher = SubmissionBatcher(\n"
        "            lambda _, pairs: self._accept(pairs[0][0], [pair[1] for pair in pairs])\n"
        "        )\n"
        "        submit = batcher.submit\n"
        "        batcher.submit = lambda key, one: submit(key[:20], (key, one))\n"
        "        self._batcher = batcher\n",
        "tests/relay/test_two_keys.py",
    ),
    SeededBug(
        "the results of a batch are in the order of text",
        f"{_SENDING}/acceptance.py",
        "for position in sorted(self.outcomes)]",
        "for position in sorted(self.outcomes, key=str)]",
        f"{_UNIT}_retries.py",
    ),
    SeededBug(
        "an expired key replays its old response",
        f"{_SENDING}/claiming.py",
        "        if now >= stored.expires_at:",
        "        if now >= stored.expires_at.replace(year=9999):",
        "tests/ports/test_ports_claims.py",
    ),
    SeededBug(
        "SMTP answers 250 although the commit failed",
        f"{_SENDING}/smtp.py",
        "group.outcomes.update(dict.fromkeys(group.prepared, error))",
        "group.outcomes.update({at: one.accepted for at, one in group.prepared.items()})",
        f"{_UNIT}_smtp_groups.py",
    ),
    SeededBug(
        "a bounce counts for the first recipient",
        f"{_LAYER}/adapters/ses/events.py",
        'recipient=_address_of(recipient["emailAddress"]) or None,\n'
        "            code=_bounce_code(subtype, recipient),",
        'recipient=_address_of(bounce["bouncedRecipients"][0]["emailAddress"]) or None,\n'
        "            code=_bounce_code(subtype, recipient),",
        "tests/ports/test_ports_notices.py tests/integration/feedback",
    ),
    SeededBug(
        "an address that is no recipient is suppressed",
        f"{_LAYER}/domain/messages/message.py",
        "return self.recipients[0] if len(self.recipients) == 1 else None",
        "return address",
        f"{_UNIT}_feedback.py",
    ),
    SeededBug(
        "only the first of several events suppresses",
        f"{_DELIVERING}/feedback.py",
        "if changed is not before or message.is_erased:",
        "if event is events[0]:",
        f"{_UNIT}_feedback.py",
    ),
    SeededBug(
        "only the third receipt of an event leaves a mark",
        f"{_DELIVERING}/feedback.py",
        "if record.receives > 1)",
        "if record.receives > 2)",
        f"{_UNIT}_feedback.py",
    ),
    SeededBug(
        "an account holds uncertain mail only while events are late",
        f"{_DELIVERING}/deliver.py",
        "or account.hold_uncertain:",
        "or (account.hold_uncertain and event_may_come):",
        f"{_UNIT}_delivery.py",
    ),
    SeededBug(
        "every refusal of S3 counts as a lost body",
        f"{_LAYER}/adapters/sqs/jobs.py",
        'if code_of(error) == "NoSuchKey":',
        "if code_of(error):",
        "tests/ports/test_ports_jobs.py",
    ),
    SeededBug(
        "a batch forgets the jobs that the queue refused",
        f"{_LAYER}/adapters/sqs/batches.py",
        'return {name: codes.get(name, "NoAnswer") for name in sent if name not in accepted}',
        "return {}",
        "tests/ports/test_ports_jobs.py",
    ),
    SeededBug(
        "a young age of the oldest event ends the wait",
        f"{_LAYER}/adapters/sqs/event_queue.py",
        "reported[0] - at >= stay",
        "reported[0] >= at",
        "tests/ports/test_ports_event_queue.py",
    ),
    SeededBug(
        "a dead letter that was moved back counts as a new event",
        f"{_LAYER}/adapters/sqs/event_queue.py",
        "if after < before",
        "if after < 0",
        "tests/unit/test_event_queue.py",
    ),
    SeededBug(
        "a queue from which nothing is received ends the wait",
        f"{_LAYER}/adapters/sqs/event_queue.py",
        "if not received[at] or later",
        "if later",
        "tests/unit/test_event_queue.py",
    ),
    SeededBug(
        "a report about an erased recipient suppresses whom it names",
        f"{_LAYER}/adapters/ses/events.py",
        "if not recipients or mailbox_key(address) in recipients:",
        "if address:",
        "tests/ports/test_ports_notices.py",
    ),
    SeededBug(
        "a stalled acceptor commits what a worker dropped",
        f"{_DELIVERING}/deliver.py",
        "result.outcome is Outcome.DROPPED and",
        "result.outcome is Outcome.SENT and",
        f"{_UNIT}_faults.py",
    ),
    SeededBug(
        "a hand-over begins in the last seconds of a worker",
        f"{_DELIVERING}/deliver.py",
        "if not self.has_time():",
        "if not self.has_time:",
        "tests/contract/test_worker.py",
    ),
    SeededBug(
        "an hour that just ended is not rolled up",
        f"{_LAYER}/application/history/aggregate.py",
        "granularity.end(start) <= newest",
        "granularity.end(start) < newest",
        "tests/unit/history",
    ),
    SeededBug(
        "a retried change leaves its old copy in the ledger",
        f"{_DYNAMODB}/history/ledger.py",
        "for other in [*revisions, *([old] if old else [])]:",
        "for other in [old] if old else []:",
        "tests/unit/history",
    ),
    SeededBug(
        "a revoked key is remembered as valid",
        f"{_LAYER}/application/authentication.py",
        "    key, account = directory.key, directory.account\n",
        "    key, account = directory.key, directory.account\n"
        "    if key is not None:\n"
        "        key = vars(make_principal).setdefault(key.digest, key)\n",
        "tests/contract/test_authentication.py",
    ),
    SeededBug(
        "a mail is sent at the moment of its expiry",
        f"{_DELIVERING}/deliver.py",
        _DEADLINE,
        "        job = replace(job, deadline=job.deadline + timedelta(microseconds=1))\n"
        + _DEADLINE,
        f"{_UNIT}_delivery.py",
    ),
)
