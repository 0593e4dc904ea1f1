"""The service on a real engine with a simulated clock, used for one run after another.

The engine holds the table, the queue and the spool. Everything that runs is a process: one for
each try of a client, each delivery of a queue message and each event record. Processes run one
at a time. The clock jumps from one due action to the next. A process can be paused at a call
while others run.
"""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO
from itertools import count
from typing import Any, Final
from urllib.parse import unquote

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from local import template
from local.ses.account import StoredAccount
from local.ses.errors import SesError
from local.ses.events import records as event_records
from local.ses.mail import CapturedMail, timestamp
from local.ses.sending import accept, parse
from local.ses.store import MailStore
from local.ses.suppression import SuppressedDestination
from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.sqs.event_queue import Metric
from pillarbox.application.ports import StoredResponse
from pillarbox.domain.accounts.quota import WINDOWS, Window
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import Message
from tests.contract.client import Invocation, handler
from tests.contract.service import queue_record
from tests.fakes import builders
from verification.faults.processes import Process, Send
from verification.faults.stream import TableStream
from verification.faults.wire import Fault, Kind, Site, Wire, body_of, path_of, response
from verification.turns import Turns

TABLE: Final = "pillarbox"
CREDENTIALS: Final = "pillarbox-credentials"
BUCKET: Final = "pillarbox-spool"
#: The domains whose addresses bounce, and whose addresses SES listed before it got their email.
GONE: Final = "gone.example"
LISTED: Final = "listed.example"
_NOT_FOUND: Final = {"x-amzn-errortype": "NotFoundException"}
_SUPPRESSED: Final = "/v2/email/suppression/addresses/"
#: Nothing listens at this address: the stand-in answers on the wire.
SES: Final = "http://127.0.0.1:9"
EVENTS_QUEUE_URL: Final = "http://127.0.0.1:9/events"
EVENTS_DEAD_LETTERS_URL: Final = "http://127.0.0.1:9/events-dead-letters"
_RESOURCES: Final = template.load()["Resources"]
_JOBS: Final = _RESOURCES["JobsQueue"]["Properties"]
_EVENTS: Final = _RESOURCES["EventsQueue"]["Properties"]
VISIBILITY: Final = timedelta(seconds=_JOBS["VisibilityTimeout"])
MAX_RECEIVES: Final = int(_JOBS["RedrivePolicy"]["maxReceiveCount"])
_EVENTS_VISIBILITY: Final = timedelta(seconds=_EVENTS["VisibilityTimeout"])
#: SQS leaves a message that was received so often out of the age of the oldest one.
_COUNTED_RECEIVES: Final = 3
_EVENTS_RECEIVES: Final = int(_EVENTS["RedrivePolicy"]["maxReceiveCount"])
#: How often events of other mail arrive while jobs wait.
_HEARTBEAT: Final = timedelta(minutes=5)
#: After this time, or this many steps, a run has failed to come to an end.
_PATIENCE: Final = timedelta(hours=30)
_STEPS: Final = 10_000
#: From this receipt on a job waits for minutes, also if its worker has no time for it.
_MANY_RECEIVES: Final = 100


@dataclass(frozen=True, eq=False)
class Received:
    """A message that was received from the jobs queue."""

    body: str
    receipt: str
    sent_at: datetime


class System:
    """The service, its queue and its provider; created once and used for many runs."""

    #: After how many seconds SES lists an address that bounced.
    listed_after = 0.0
    #: The recipients a second that SES grants.
    rate = 14.0
    #: For how many days the account keeps the content of its emails.
    keep = 0

    def __init__(self, queue_url: str, dead_url: str, stream: TableStream) -> None:
        self.stream = stream
        self.now = wiring.utc_now()
        self.wire = Wire(self.sleep)
        self.wire.before_call = self._switch
        self.wire.stand_in = self._stand_in
        self.wire.on_success = self._on_success
        self.wire.fate = self._fate
        #: After how many seconds a late call takes effect.
        self.late_by = 1.0
        self.wire.later = self._later
        self.mailbox = MailStore(keep=10_000, account=StoredAccount(review="GRANTED"))
        self.mailbox.create_configuration_set("pillarbox")
        self.mailbox.create_identity(builders.SENDER)
        #: Seconds that each copy of an event waits in its queue; () loses the event.
        self.arrivals: Callable[[dict[str, Any]], tuple[float, ...]] = lambda _record: (120.0,)
        #: Seconds until each copy of a job is delivered.
        self.copies: Callable[[], tuple[float, ...]] = lambda: (0.0,)
        #: Returns what the queue delivers in place of a job.
        self.receive_as: Callable[[str], str] = lambda body: body
        #: Makes the context of an invocation of the worker.
        self.context: Callable[[], Invocation] = Invocation
        #: The most jobs of an invocation, and how many seconds one waits for others.
        self.batch = 1
        self.gather: Callable[[], float] = lambda: 0.0
        #: Chooses the thread of a process that goes on.
        self.choose: Callable[[Sequence[Any]], Any] = lambda threads: threads[0]
        #: Called when an invocation of the worker has ended.
        self.on_delivered: Callable[[Process], None] = lambda _process: None
        #: Called with a job, the context of its invocation, and the seconds until it is visible.
        self.on_retry: Callable[[str, Invocation, float], None] = lambda *_: None
        #: Called with each mail that the provider accepts.
        self.on_hand_over: Callable[[CapturedMail], None] = lambda _mail: None
        #: The jobs that the worker itself put into the dead-letter queue.
        self.set_aside: list[str] = []
        #: When each object was put into the spool.
        self.spool_times: dict[str, datetime] = {}
        self.sends: list[Send] = []
        self.account_id = self.key = ""
        self.dead: list[Received | str] = []
        #: Returns how many seconds the clock of the next process is off.
        self.skew: Callable[[], float] = lambda: 0.0
        #: Called with the name of each call that took effect, inside the process that made it.
        self.on_call: Callable[[str], None] = lambda _name: None
        #: How often the worker dies with an event before it can merge it.
        self.deaths_of: Callable[[dict[str, Any]], int] = lambda _record: 0
        #: After how many seconds an operator moves an event back that EventBridge set aside; None
        #: if it could queue the event.
        self.set_aside_for: Callable[[dict[str, Any]], float | None] = lambda _record: None
        #: How many events of other mail are dead letters.
        self.letters_of_others = 0
        #: Whether events of other mail arrive.
        self.quiet = False
        #: Whether the running process is to die at its next call that is not a mark.
        self.doomed = False
        #: Creates the process for some work; by default a thread simulates it.
        self.process_of: Callable[[Callable[[], Any]], Process] = Process
        self.process: Process | None = None
        #: How many processes have not ended.
        self.alive = 0
        self._shown: list[Received] = []
        self._queue_url, self._dead_url = queue_url, dead_url
        self._sqs, self._s3 = boto3.client("sqs"), boto3.client("s3")
        self._due: list[tuple[datetime, int, Callable[[], object]]] = []
        self._order = count()
        self._visible: dict[str, datetime] = {}
        self._receives: dict[str, int] = {}
        self._first_receipts: dict[str, datetime] = {}
        #: The number of unfinished copies of each received message.
        self._waiting: Counter[str] = Counter()
        #: And for how many seconds a job stays hidden that a worker queued again, by its text.
        self._has_new_jobs, self._delays = False, dict[str, int]()
        #: The number of events in their queue, and those in its dead-letter queue.
        self._queued_events, self._dead_events = 0, list[str]()
        #: From when until when SQS counts each event in the age of the oldest one.
        self._counted: list[list[datetime]] = []
        self._last_heartbeat = self._started_at = self.now

    # The clock

    def clock(self) -> datetime:
        """Return the time in milliseconds, as the clock of the running process shows it."""
        now = self.now + timedelta(seconds=self.process.skew if self.process else 0)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def monotonic(self) -> float:
        """Return the seconds of a clock that nobody sets."""
        return self.now.timestamp()

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def sleep(self, seconds: float) -> None:
        """Let the running thread sleep while others of its process go on."""
        if self.process:
            self.process.turns.sleep(seconds)
        else:
            self.pass_time(seconds)

    def _switch(self) -> None:
        if self.process:
            self.process.turns.switch()

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Schedule an action in `seconds` seconds."""
        due = self.now + timedelta(seconds=seconds)
        heapq.heappush(self._due, (due, next(self._order), action))

    def _later(self, call: Callable[[], object]) -> None:
        def take_effect() -> None:
            call()

        self.after(self.late_by, take_effect)

    # A run

    def reset(self) -> None:
        """Start a new run, an hour later, with a new account and an empty queue."""
        self.pass_time(3600)
        self._started_at = self.now
        self.account_id = new_token(12)
        self.key = builders.key_text(self.account_id)
        account = builders.account(self.account_id, keep=self.keep)
        table = wiring.services().table
        table.put(records.account_item(account))
        key = builders.api_key(self.key, self.account_id)
        wiring.services().credentials.put(records.key_item(key))
        # What workers know and tell each other would make each run another one.
        for part in ("delivery", "isolated_delivery", "feedback"):
            vars(wiring.services()).pop(part, None)
        for item in (keys.heartbeat(), keys.probe(), keys.sending_rate()):
            table.delete(item)
        self._last_heartbeat = self.now
        self.sends.clear()
        self.dead.clear()
        self.set_aside.clear()
        self.spool_times.clear()
        self.mailbox.clear()
        self.mailbox.suppressions.clear()
        self._due.clear()
        self._visible.clear()
        self._receives.clear()
        self._first_receipts.clear()
        self._waiting.clear()
        self._shown.clear()
        self._delays.clear()
        self.alive = 0
        self._queued_events = 0
        self._dead_events[:] = [json.dumps(self._event_of_other())] * self.letters_of_others
        self._counted.clear()
        self.wire.calls.clear()
        self.wire.throttled = lambda _name, _body: False

    @contextmanager
    def disturbed(self, **hooks: Callable[..., Any] | float) -> Iterator[None]:
        """Use other hooks within a `with` block."""
        before = {name: getattr(self, name) for name in hooks}
        vars(self).update(hooks)
        try:
            yield
        finally:  # whoever has seen enough runs closes their generator here
            vars(self).update(before)

    def run_until_idle(self) -> bool:
        """Run until nothing is due; return False if that takes too long."""
        for _ in range(_STEPS):
            self._receive()
            if not self._due:
                return True
            due, _, action = heapq.heappop(self._due)
            self.now = max(self.now, due)
            if self.now - self._started_at > _PATIENCE:
                return False
            if self._waiting and not self.quiet and self.now - self._last_heartbeat > _HEARTBEAT:
                self._heartbeat()
            action()
        return False

    # Clients

    def client(self, send: Send) -> None:
        """Let a client send its emails and, with a key, retry until it is answered.

        A second call for the same send simulates another client with the same key.
        """
        if send not in self.sends:
            self.sends.append(send)
        self._try(send, iter(send.retry_waits))

    def _try(self, send: Send, waits: Iterator[float]) -> None:
        def retry() -> None:
            wait = next(waits, None)
            if wait is not None and send.digest is not None:
                self.after(wait, lambda: self._try(send, waits))

        def on_end(process: Process) -> None:
            if isinstance(process.result, StoredResponse):
                send.record(process.result)
            elif not isinstance(process.error, Exception):
                send.outcome_unknown = True
            if not send.answers:
                retry()

        self.start(lambda: send.submit(self.key), on_end, retry)

    # Processes

    def start(
        self,
        work: Callable[[], Any],
        on_end: Callable[[Process], None],
        on_pause: Callable[[], None] = lambda: None,
        ends_at: datetime | None = None,
    ) -> None:
        """Run a process; call `on_end` when it ends and `on_pause` if it is paused first."""
        process = self.process_of(work)
        process.turns = Turns(self.choose, lambda: self.now, self.pass_time)
        process.skew, process.ends_at = self.skew(), ends_at
        self.alive += 1
        self._run(process, on_end)
        if not process.done:
            on_pause()

    def pause(self, seconds: float) -> None:
        """Pause the running process for some seconds while others run."""
        process = self.process
        assert process
        self._paused_for = seconds
        process.pause()

    def _run(self, process: Process, on_end: Callable[[Process], None]) -> None:
        self.process, self.wire.live = process, True
        with redirect_stdout(StringIO()):  # metrics
            process.resume()
        self.process, self.wire.live = None, False
        if process.done:
            self.alive -= 1
            on_end(process)
        else:
            self.after(self._paused_for, lambda: self._run(process, on_end))

    def _fate(self, site: Site) -> Fault | None:
        """Kill a process whose time is over, or a doomed one at its first call without a mark."""
        ends_at = self.process.ends_at if self.process else None
        leaves_mark = any(caller.startswith("DynamoSeenEvents") for caller in site.callers)
        dies = (self.doomed and not leaves_mark) or (ends_at is not None and self.now >= ends_at)
        return Fault(Kind.KILL, "before") if dies else None

    # The jobs queue and its worker

    def _on_success(self, name: str, body: bytes) -> None:
        if name == "sqs.SendMessage" and json.loads(body)["QueueUrl"] == self._dead_url:
            self.set_aside.append(json.loads(body)["MessageBody"])
        elif name in {"sqs.SendMessage", "sqs.SendMessageBatch"}:
            self._has_new_jobs = True
        elif name == "sqs.ChangeMessageVisibility":
            request = json.loads(body)
            hidden = timedelta(seconds=request["VisibilityTimeout"])
            self._visible[request["ReceiptHandle"]] = self.now + hidden
        self.on_call(name)

    def _receive(self) -> None:
        """Receive the new jobs from the queue; from then on this clock keeps them hidden."""
        while self._has_new_jobs:
            answer = self._sqs.receive_message(
                QueueUrl=self._queue_url, MaxNumberOfMessages=10, VisibilityTimeout=43_200
            )
            self._has_new_jobs = bool(answer.get("Messages"))
            for message in answer.get("Messages", ()):
                body = self.receive_as(message["Body"])
                received = Received(body, message["ReceiptHandle"], self.now)
                delay = self._delays.get(message["Body"], 0)
                for seconds in self.copies():
                    self._waiting[received.receipt] += 1
                    self.after(delay + seconds, partial(self._show, received))

    def _show(self, received: Received) -> None:
        """Let a worker receive a message, with others that it waits for."""
        self._receives[received.receipt] = self._receives.get(received.receipt, 0) + 1
        if self._receives[received.receipt] > MAX_RECEIVES:
            self.dead.append(received)
            self._finish(received)
            return
        self._shown.append(received)
        if seconds := self.gather():
            self.after(seconds, self._deliver)
        else:
            self._deliver()

    def _deliver(self) -> None:
        batch, self._shown = self._shown[: self.batch], self._shown[self.batch :]
        if not batch:
            return
        event = {"Records": [self._record_of(n, received) for n, received in enumerate(batch)]}
        context = self.context()

        def on_end(process: Process) -> None:
            failures = () if process.error else process.result["batchItemFailures"]
            failed = {int(failure["itemIdentifier"]) for failure in failures}
            for number, received in enumerate(batch):
                if process.error or number in failed:
                    wait = (self._visible[received.receipt] - self.now).total_seconds()
                    if self._receives[received.receipt] < _MANY_RECEIVES:
                        self.on_retry(received.body, context, wait)
                    self.after(wait, partial(self._show, received))
                else:
                    self._finish(received)
            self.on_delivered(process)

        self.start(
            lambda: handler("deliver_message")(event, context),
            on_end,
            ends_at=getattr(context, "ends_at", None),
        )

    def _record_of(self, number: int, received: Received) -> dict[str, Any]:
        self._visible[received.receipt] = self.now + VISIBILITY
        record = queue_record(
            received.body,
            str(number),
            received.receipt,
            receives=self._receives[received.receipt],
            first_received_at=self._first_receipts.setdefault(received.receipt, self.now),
        )
        record["attributes"]["SentTimestamp"] = str(round(received.sent_at.timestamp() * 1000))
        return record

    def _finish(self, received: Received) -> None:
        """Delete a message from the queue once its last copy is done."""
        self._waiting[received.receipt] -= 1
        if not self._waiting[received.receipt]:
            del self._waiting[received.receipt]
            self._sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=received.receipt)

    # The provider and its events

    def _stand_in(self, request: AWSPreparedRequest) -> AWSResponse | None:
        """Answer requests to SES, and those that depend on the clock or on the queue of events."""
        if request.url.startswith(SES):
            return self._answer_as_ses(request)
        if EVENTS_QUEUE_URL.encode() in body_of(request):
            return self._answer_as_queue(request)
        if b"ChangeMessageVisibility" in request.headers.get("X-Amz-Target", b""):
            # The engine would show a job again by its own clock.
            headers = {"content-type": "application/x-amz-json-1.0"}
            return response(request.url, 200, b"{}", headers)
        if b'"DelaySeconds"' in body_of(request):
            # The engine would hide it by its own clock too.
            message = json.loads(body_of(request))
            self._delays[message["MessageBody"]] = message.pop("DelaySeconds")
            request.body = json.dumps(message).encode()
            request.headers["Content-Length"] = str(len(request.body))
        if request.method == "PUT" and path_of(request).startswith(f"/{BUCKET}/"):
            self.spool_times[path_of(request).removeprefix(f"/{BUCKET}/")] = self.now
        return None

    def _answer_as_queue(self, request: AWSPreparedRequest) -> AWSResponse:
        """Count the events in their queue or its dead-letter queue, or show those in the latter."""
        asked = json.loads(body_of(request))
        dead = self._dead_events if asked["QueueUrl"] == EVENTS_DEAD_LETTERS_URL else None
        answer: dict[str, Any]
        if dead is not None and b"ReceiveMessage" in request.headers["X-Amz-Target"]:
            answer = {"Messages": [{"Body": text} for text in dead[:10]]}
        else:
            counts = dict.fromkeys(asked["AttributeNames"], "0")
            count = self._queued_events if dead is None else len(dead)
            answer = {"Attributes": counts | {"ApproximateNumberOfMessages": str(count)}}
        headers = {"content-type": "application/x-amz-json-1.0"}
        return response(request.url, 200, json.dumps(answer).encode(), headers)

    def _answer_as_ses(self, request: AWSPreparedRequest) -> AWSResponse:
        headers = {"content-type": "application/json"}
        if path_of(request) == "/v2/email/account":
            quota = {"Max24HourSend": 50_000.0, "MaxSendRate": self.rate, "SentLast24Hours": 0.0}
            return response(request.url, 200, json.dumps({"SendQuota": quota}).encode(), headers)
        if path_of(request).startswith(_SUPPRESSED):
            address = unquote(path_of(request).removeprefix(_SUPPRESSED))
            found = self.mailbox.suppressions.pop(address, None)
            return response(request.url, 200 if found else 404, b"{}", headers | _NOT_FOUND)
        try:
            email = parse(body_of(request))
            recipients = email.destination.to_addresses
            for address in recipients:
                if address.endswith(f"@{LISTED}"):
                    self._list(address)
            gone = [address for address in recipients if address.endswith(f"@{GONE}")]
            mail = accept(self.mailbox, email, dict.fromkeys(gone, "bounce"))
        except SesError as refusal:
            response_of_refusal = refusal.response()
            return response(
                request.url,
                response_of_refusal.status_code,
                bytes(response_of_refusal.body),
                dict(response_of_refusal.headers),
            )
        for address in gone:
            self.after(self.listed_after, partial(self._list, address))
        self.mailbox.add(mail)
        self.on_hand_over(mail)
        for record in event_records(mail, self.mailbox):
            _stamp(record, self.now)
            for seconds in self.arrivals(record):
                self.report(record, seconds)
        return response(request.url, 200, json.dumps({"MessageId": mail.id}).encode(), headers)

    def _list(self, address: str) -> None:
        """Put an address on SES's own list."""
        self.mailbox.suppressions.put(SuppressedDestination(address, "BOUNCE", self.now))

    def report(self, record: dict[str, Any], seconds: float) -> None:
        """Put an event record into its queue; `record_feedback` receives it after some seconds."""
        text = json.dumps(record)
        set_aside_for = self.set_aside_for(record)
        if set_aside_for is None:
            self._queue_event(record, text, seconds)
            return
        letter = json.dumps({"detail-type": "Email Event", "detail": record})
        self._dead_events.append(letter)

        def move() -> None:
            self._dead_events.remove(letter)
            self._queue_event(record, letter, seconds)

        self.after(set_aside_for, move)

    def _queue_event(self, record: dict[str, Any], text: str, seconds: float) -> None:
        self._queued_events += 1
        counted, deaths = [self.now, datetime.max.replace(tzinfo=UTC)], self.deaths_of(record)
        self._counted.append(counted)
        self.after(seconds, lambda: self._record(text, 1, counted, deaths))

    def _record(self, text: str, receives: int, counted: list[datetime], deaths: int) -> None:
        if receives >= _COUNTED_RECEIVES:
            counted[1] = min(counted[1], self.now)
        if receives > _EVENTS_RECEIVES:
            self.dead.append(text)
            self._queued_events -= 1
            self._dead_events.append(text)
            return
        event = {"Records": [queue_record(text, receives=receives)]}

        def on_end(process: Process) -> None:
            if process.error or process.result["batchItemFailures"]:
                if process.error:
                    # The memory of the process is lost.
                    vars(wiring.services()).pop("feedback", None)
                wait = _EVENTS_VISIBILITY.total_seconds()
                self.after(wait, lambda: self._record(text, receives + 1, counted, deaths))
            else:
                self._queued_events -= 1
                counted[1] = min(counted[1], self.now)

        self.doomed = receives <= deaths
        self.start(lambda: handler("record_feedback")(event, Invocation()), on_end)
        self.doomed = False

    def reports(self, metric: Metric, since: datetime, until: datetime) -> dict[datetime, float]:
        """Return what SQS reports of the queue of events for each minute.

        Events of other mail are received all the time, and no dead letter moves back.
        """
        minutes = int((until - since) / timedelta(minutes=1))
        moments = [until - timedelta(minutes=n + 1) for n in range(minutes)]
        if metric != "ApproximateAgeOfOldestMessage":
            return dict.fromkeys(moments, float(metric == "NumberOfMessagesReceived"))
        ages = {}
        for moment in moments:
            counted = (put for put, end in self._counted if put <= moment < end)
            ages[moment] = (moment - min(counted, default=moment)).total_seconds()
        return ages

    def _heartbeat(self) -> None:
        """Report an event of another account's mail."""
        self._last_heartbeat = self.now
        event = {"Records": [queue_record(json.dumps(self._event_of_other()))]}
        with redirect_stdout(StringIO()):
            handler("record_feedback")(event, Invocation())
        del wiring.services().feedback  # that was another process with its own memory

    def _event_of_other(self) -> dict[str, Any]:
        return {
            "eventType": "Delivery",
            "mail": {
                "messageId": "other",
                "tags": {"account": [new_token(12)], "message": [str(new_id(self.now))]},
            },
            "delivery": {"timestamp": timestamp(self.now), "recipients": ["a@example.com"]},
        }

    # The state after a run

    def messages(self) -> list[Message]:
        """Return the messages that were accepted in the run."""
        partition = {"pk": {"S": f"MSG#{self.account_id}"}}
        items = wiring.services().table.query(partition)
        return [message for item in items if (message := records.accepted_message(item))]

    def provider_mails(self) -> list[CapturedMail]:
        """Return the mails that the provider accepted in this run."""
        return self.mailbox.newest_first()

    def quota_counts(self) -> dict[Window, list[int]]:
        """Return what the account's quota counts in each window."""
        item = wiring.services().table.get(keys.quota(self.account_id)) or {}
        return {
            window: [n for name, n in item.items() if name.startswith(f"{window}:")]
            for window in WINDOWS
        }

    def suppressed(self) -> set[str]:
        """Return the account's suppressed addresses."""
        return {
            item["sk"] for item in wiring.services().table.query(keys.suppression(self.account_id))
        }

    def listed(self) -> set[str]:
        """Return the addresses on SES's own list."""
        return {*self.mailbox.suppressions}

    def missing_contents(self) -> int:
        """Return how many emails have no kept content, though their records say so."""
        contents = wiring.services().kept_contents
        kept = (one for one in self.messages() if one.keep and one.attempt and not one.unkept)
        return sum(contents.get(KeptContent.of(message)) is None for message in kept)

    def spool_keys(self) -> list[str]:
        """Return the keys of the account's spool objects."""
        listed = self._s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{self.account_id}/")
        return [entry["Key"] for entry in listed.get("Contents", ())]


class ProcessLock(AbstractContextManager[None]):
    """A lock for the threads of a process. Each process has its own."""

    def __init__(self, system: System) -> None:
        self._system, self._holders = system, set[Process]()

    def __enter__(self) -> None:
        if process := self._system.process:
            process.turns.wait(lambda: process not in self._holders)
            self._holders.add(process)

    def __exit__(self, *_: object) -> None:
        if self._system.process:
            self._holders.discard(self._system.process)


def _stamp(record: dict[str, Any], now: datetime) -> None:
    """Replace the times of a record, which the stand-in takes from the real clock."""
    for part in record.values():
        if isinstance(part, dict) and "timestamp" in part:
            part["timestamp"] = timestamp(now)
