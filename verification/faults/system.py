"""The service on a real engine, with a clock of its own: one life of some mails after another.

The engine holds the table, the queue and the spool. Everything that runs is a process: an
accepting one per try of a client, a worker per delivery of a queue message, one per event
record. They run one at a time, in the order of a clock that jumps from one due moment to the
next; a process can be paused at a call while others go on.
"""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from itertools import count
from typing import Any, Final

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from local.ses.errors import SesError
from local.ses.events import records as event_records
from local.ses.events import timestamp
from local.ses.sending import accept, parse
from local.ses.store import CapturedMail, MailStore
from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.application.ports import StoredResponse
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.message import Message
from tests.aws import declared
from tests.contract.client import Invocation, handler
from tests.contract.service import queue_record
from tests.fakes import builders
from verification.faults.processes import Process, Send
from verification.faults.wire import Wire, bytes_of, path_of, response

TABLE: Final = "pillarbox"
BUCKET: Final = "pillarbox-spool"
#: Nothing listens there: the stand-in answers on the wire.
SES: Final = "http://127.0.0.1:9"
VISIBILITY: Final = timedelta(seconds=declared("AWS::SQS::Queue")["VisibilityTimeout"])
MAX_RECEIVES: Final = int(declared("AWS::SQS::Queue")["RedrivePolicy"]["maxReceiveCount"])
_EVENTS_VISIBILITY: Final = timedelta(minutes=3)
_EVENTS_RECEIVES: Final = 10
#: How often other mail's events arrive while jobs wait.
_HEARTBEAT: Final = timedelta(minutes=5)
#: After so long, or so many steps, a run has not come to rest.
_PATIENCE: Final = timedelta(hours=30)
_STEPS: Final = 2_000


@dataclass(frozen=True, eq=False)
class Received:
    """A message of the jobs queue, as it was received once."""

    body: str
    receipt: str


class System:
    """The service, its queue and its provider; made once, and used for many runs."""

    def __init__(self, queue_url: str) -> None:
        self.now = wiring.utc_now()
        self.wire = Wire(self.pass_time)
        self.wire.stand_in = self._answer_as_ses
        self.wire.heard = self._hear
        self.mailbox = MailStore(keep=10_000)
        self.mailbox.create_configuration_set("pillarbox")
        self.mailbox.create_identity(builders.SENDER)
        #: When each event of a mail arrives, by seconds; () loses it.
        self.arrivals: Callable[[dict[str, Any]], tuple[float, ...]] = lambda _record: (120.0,)
        #: How long after it is put each copy of a job is delivered.
        self.copies: Callable[[], tuple[float, ...]] = lambda: (0.0,)
        self.sends: list[Send] = []
        self.account_id = self.key = ""
        self.dead: list[Received | str] = []
        #: Makes what runs some work; a thread that plays a process.
        self.process_of: Callable[[Callable[[], Any]], Process] = Process
        self.process: Process | None = None
        self._queue_url = queue_url
        self._sqs, self._s3 = boto3.client("sqs"), boto3.client("s3")
        self._due: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = count()
        self._visible: dict[str, datetime] = {}
        self._receives: dict[str, int] = {}
        #: How many copies of each received message are not done.
        self._waiting: Counter[str] = Counter()
        self._put = False
        self._beat = self._began = self.now

    # The clock

    def clock(self) -> datetime:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something so many seconds from now."""
        due = self.now + timedelta(seconds=seconds)
        heapq.heappush(self._due, (due, next(self._order), action))

    # A run

    def begin(self) -> None:
        """Start over with a new account and an empty queue, an hour later."""
        self.pass_time(3600)
        self._began = self.now
        self.account_id = new_token(12)
        self.key = builders.key_text(self.account_id)
        account = builders.account(self.account_id)
        table_ = wiring.services().table
        table_.put(records.account_item(account))
        table_.put(records.key_item(builders.api_key(self.key, self.account_id)))
        self.sends.clear()
        self.dead.clear()
        self.mailbox.clear()
        self._due.clear()
        self._visible.clear()
        self._receives.clear()
        self._waiting.clear()
        self.wire.calls.clear()

    def rest(self) -> bool:
        """Go on until nothing is due any more; False when that does not come."""
        for _ in range(_STEPS):
            self._receive()
            if not self._due:
                return True
            due, _, action = heapq.heappop(self._due)
            self.now = max(self.now, due)
            if self.now - self._began > _PATIENCE:
                return False
            if self._waiting and self.now - self._beat > _HEARTBEAT:
                self._heartbeat()
            action()
        return False

    # Clients

    def client(self, send: Send) -> None:
        """Let a client send a mail and, under its key, try again until it is answered.

        Called again for the same send it is another client with the same key.
        """
        if send not in self.sends:
            self.sends.append(send)
        self._try(send, iter(send.patience))

    def _try(self, send: Send, waits: Iterator[float]) -> None:
        def again() -> None:
            wait = next(waits, None)
            if wait is not None and send.digest is not None:
                self.after(wait, lambda: self._try(send, waits))

        def ended(process: Process) -> None:
            if isinstance(process.result, StoredResponse):
                send.hear(process.result)
            elif not isinstance(process.error, Exception):
                send.unheard = True
            if not send.answers:
                again()

        self.start(lambda: send.submit(self.key), ended, again)

    # Processes

    def start(
        self,
        work: Callable[[], Any],
        ended: Callable[[Process], None],
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """Run a process; `ended` is called when it has, `waiting` if it is paused before."""
        process = self.process_of(work)
        self._run(process, ended)
        if not process.done:
            waiting()

    def pause(self, seconds: float) -> None:
        """Pause the process that runs, for so long; others go on meanwhile."""
        process = self.process
        assert process
        self._paused_for = seconds
        process.pause()

    def _run(self, process: Process, ended: Callable[[Process], None]) -> None:
        self.process, self.wire.live = process, True
        with redirect_stdout(StringIO()):  # metrics
            process.go_on()
        self.process, self.wire.live = None, False
        if process.done:
            ended(process)
        else:
            self.after(self._paused_for, lambda: self._run(process, ended))

    # The jobs queue and its worker

    def _hear(self, name: str, body: bytes) -> None:
        if name in {"sqs.SendMessage", "sqs.SendMessageBatch"}:
            self._put = True
        elif name == "sqs.ChangeMessageVisibility":
            asked = json.loads(body)
            hidden = timedelta(seconds=asked["VisibilityTimeout"])
            self._visible[asked["ReceiptHandle"]] = self.now + hidden

    def _receive(self) -> None:
        """Take from the queue what was put since; from now on this clock keeps it hidden."""
        while self._put:
            answer = self._sqs.receive_message(
                QueueUrl=self._queue_url, MaxNumberOfMessages=10, VisibilityTimeout=43_200
            )
            self._put = bool(answer.get("Messages"))
            for message in answer.get("Messages", ()):
                received = Received(message["Body"], message["ReceiptHandle"])
                for seconds in self.copies():
                    self._waiting[received.receipt] += 1
                    self.after(seconds, lambda received=received: self._deliver(received))  # type: ignore[misc]

    def _deliver(self, received: Received) -> None:
        self._receives[received.receipt] = self._receives.get(received.receipt, 0) + 1
        if self._receives[received.receipt] > MAX_RECEIVES:
            self.dead.append(received)
            self._finish(received)
            return
        self._visible[received.receipt] = self.now + VISIBILITY
        event = {"Records": [queue_record(received.body, receipt=received.receipt)]}

        def ended(process: Process) -> None:
            if process.error or process.result["batchItemFailures"]:
                wait = self._visible[received.receipt] - self.now
                self.after(wait.total_seconds(), lambda: self._deliver(received))
            else:
                self._finish(received)

        self.start(lambda: handler("deliver_message")(event, Invocation()), ended)

    def _finish(self, received: Received) -> None:
        """Delete a message from the queue once its last copy is done."""
        self._waiting[received.receipt] -= 1
        if not self._waiting[received.receipt]:
            del self._waiting[received.receipt]
            self._sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=received.receipt)

    # The provider and its events

    def _answer_as_ses(self, request: AWSPreparedRequest) -> AWSResponse | None:
        if not request.url.startswith(SES):
            return None
        headers = {"content-type": "application/json"}
        if path_of(request) == "/v2/email/account":
            quota = {"Max24HourSend": 50_000.0, "MaxSendRate": 14.0, "SentLast24Hours": 0.0}
            return response(request.url, 200, json.dumps({"SendQuota": quota}).encode(), headers)
        try:
            mail = accept(self.mailbox, parse(bytes_of(request)))
        except SesError as refusal:
            refused = refusal.response()
            return response(
                request.url, refused.status_code, bytes(refused.body), dict(refused.headers)
            )
        self.mailbox.add(mail)
        for record in event_records(mail, self.mailbox):
            _stamp(record, self.now)
            for seconds in self.arrivals(record):
                self.report(record, seconds)
        return response(request.url, 200, json.dumps({"MessageId": mail.id}).encode(), headers)

    def report(self, record: dict[str, Any], seconds: float) -> None:
        """Let an event record arrive at `record_feedback`."""
        text = json.dumps(record)
        self.after(seconds, lambda: self._record(text, 1))

    def _record(self, text: str, receives: int) -> None:
        if receives > _EVENTS_RECEIVES:
            self.dead.append(text)
            return
        event = {"Records": [queue_record(text)]}

        def ended(process: Process) -> None:
            if process.error or process.result["batchItemFailures"]:
                if process.error:
                    # What the process had in memory is gone.
                    vars(wiring.services()).pop("feedback", None)
                wait = _EVENTS_VISIBILITY.total_seconds()
                self.after(wait, lambda: self._record(text, receives + 1))

        self.start(lambda: handler("record_feedback")(event, Invocation()), ended)

    def _heartbeat(self) -> None:
        """Other accounts' mail is reported meanwhile."""
        self._beat = self.now
        other = {
            "eventType": "Delivery",
            "mail": {
                "messageId": "other",
                "tags": {"account": [new_token(12)], "message": [str(new_id(self.now))]},
            },
            "delivery": {"timestamp": timestamp(self.now), "recipients": ["a@example.com"]},
        }
        event = {"Records": [queue_record(json.dumps(other))]}
        with redirect_stdout(StringIO()):
            handler("record_feedback")(event, Invocation())
        del wiring.services().feedback  # it was another process, whose memory is its own

    # What is there at rest

    def messages(self) -> list[Message]:
        """The records of the run's accepted mail."""
        partition = {"pk": {"S": f"MSG#{self.account_id}"}}
        return list(map(records.message_of, wiring.services().table.query(partition)))

    def taken(self) -> list[CapturedMail]:
        """The mails that the provider took in this run."""
        return self.mailbox.newest_first()

    def counted(self) -> int:
        """What the account's quota says was sent in all days of the run."""
        item = wiring.services().table.get(keys.quota(self.account_id)) or {}
        return sum(n for name, n in item.items() if name.startswith("month:"))

    def suppressed(self) -> set[str]:
        """The account's suppressed addresses."""
        return {
            item["sk"] for item in wiring.services().table.query(keys.suppression(self.account_id))
        }

    def spooled(self) -> list[str]:
        """The spool's objects of the account."""
        listed = self._s3.list_objects_v2(Bucket=BUCKET, Prefix=f"{self.account_id}/")
        return [entry["Key"] for entry in listed.get("Contents", ())]


def _stamp(record: dict[str, Any], now: datetime) -> None:
    """Put the times of a record, which the stand-in takes from the real clock, on ours."""
    for part in record.values():
        if isinstance(part, dict) and "timestamp" in part:
            part["timestamp"] = timestamp(now)
