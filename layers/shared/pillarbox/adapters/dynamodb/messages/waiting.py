"""Emails that wait: their contents, and the timer that wakes them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.aws import client_of, in_parallel, service_errors
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import message_of
from pillarbox.adapters.dynamodb.table import Item, Table, to_attribute, to_item, to_ttl
from pillarbox.adapters.dynamodb.timer import Timer, timer_key
from pillarbox.adapters.sqs.jobs import load_spooled, read_payload, write_payload
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import PayloadGone
from pillarbox.application.waiting_ports import WaitingContent
from pillarbox.domain.ids import created_at, new_token
from pillarbox.domain.messages.mail import Job, Mail
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.schedule import MAX_AHEAD
from pillarbox.domain.timing import milliseconds, to_datetime

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

#: In bytes. A larger content is cheaper in the bucket: a write unit of the table is 1 KB.
MAX_IN_TABLE: Final = 8_000
#: DynamoDB deletes what no worker and no sweep has deleted; so does the rule of the bucket.
KEPT: Final = MAX_AHEAD + timedelta(days=10)
#: How many contents a page of the sweep has.
_PAGE: Final = 100
#: Passes queue what is due in the next minutes. The next pass may come a minute late.
_AHEAD: Final = timedelta(minutes=2)
#: What puts a time into the table does so long before a pass reads its minute (`QUEUED_AHEAD`).
_CLOSED_AFTER: Final = -_AHEAD
#: Of the minute that a function has for all timers: most is for emails.
_PASS: Final = timedelta(seconds=30)
#: After each sort key that begins with one.
_AFTER: Final = "\x00"
_MILLISECOND: Final = timedelta(milliseconds=1)


class DynamoWaitingContents:
    """Implements `waiting.WaitingContents`; large contents are in the bucket of the spool."""

    _s3: "S3Client" = client_of("s3")

    def __init__(self, table: Table, bucket: str) -> None:
        self._table, self._bucket = table, bucket

    def put_all(self, mails: Sequence[tuple[Message, Mail]]) -> None:
        in_parallel(lambda mail: self._put(*mail), mails)

    def _put(self, message: Message, mail: Mail) -> None:
        payload = write_payload(mail)
        content: dict[str, object] = {"payload": payload}
        if len(payload) > MAX_IN_TABLE:
            # The key is that of a spooled email: the sweep deletes it when the message is final.
            name = f"{message.account_id}/{message.message_id}/{new_token(16)}"
            with service_errors("spool"):
                self._s3.put_object(Bucket=self._bucket, Key=name, Body=payload)
            content = {"spool": name}
        key = keys.waiting_content(
            message.account_id, message.origin.template_id, message.message_id
        )
        self._table.put(key | to_item(content | {"expires_at": to_ttl(message.created_at + KEPT)}))

    def load(self, message: Message) -> Mail:
        key = keys.waiting_content(
            message.account_id, message.origin.template_id, message.message_id
        )
        item = self._table.get(key)
        if item is None:
            raise PayloadGone
        if "payload" in item:
            return read_payload(item["payload"])
        return load_spooled(self._s3, self._bucket, item["spool"])

    def remove(self, account_id: str, message_id: UUID, template_id: str | None) -> None:
        """Delete the content. The next sweep deletes the object that it may have."""
        self._table.delete(keys.waiting_content(account_id, template_id, message_id))

    def of_account(self, account_id: str, cursor: str | None) -> ScanPage[WaitingContent]:
        """Read up to a hundred contents; the cursor is the last sort key before them."""
        first, last = keys.waiting_contents(account_id)
        if cursor is not None:
            first = first | {"sk": to_attribute(cursor + _AFTER)}
        items = [*self._table.query(first, last, limit=_PAGE)]
        found = []
        for item in items:
            template, message_id = keys.of_waiting_content(item)
            found.append(WaitingContent(account_id, message_id, template, created_at(message_id)))
        return ScanPage(found, items[-1]["sk"] if len(items) == _PAGE else None)

    def uses(self, account_id: str, template_id: str) -> bool:
        first, last = keys.waiting_contents(account_id, template_id)
        return any(True for _ in self._table.query(first, last, limit=1))


class DynamoWakeTimes(Timer[Job]):
    """Implements `waiting.WakeTimes`."""

    def __init__(self, table: Table) -> None:
        super().__init__(
            table,
            "WAKE",
            lambda job: _name(job, job.queued_at),
            _job_of,
            _attributes,
            kept=KEPT,
            ahead=_AHEAD,
            closed_after=_CLOSED_AFTER,
            at_most=_PASS,
        )

    def put_all(self, jobs: Sequence[Job]) -> None:
        self._put_all([(job, job.queued_at) for job in jobs])


def wake_keys(item: Mapping[str, Any]) -> Iterable[Item]:
    """Return the key of the job in the timer, if an item is the record of an email that waits."""
    message = message_of(item) if "schedule" in item else None
    if message and message.schedule and message.pending:
        due = message.schedule.due_at
        yield timer_key("WAKE", due, _name(message, due))


def _name(of: Job | Message, due: datetime) -> str:
    return f"{of.account_id}#{of.message_id}#{milliseconds(due)}"


def _attributes(job: Job) -> dict[str, object]:
    return {"hash": job.body_hash, "life": (job.deadline - job.queued_at) // _MILLISECOND}


def _job_of(item: Mapping[str, Any]) -> Job:
    account_id, message_id, due = item["sk"].split("#")
    due_at = to_datetime(int(due))
    return Job(
        account_id=account_id,
        message_id=UUID(message_id),
        body_hash=item["hash"],
        queued_at=due_at,
        deadline=due_at + item["life"] * _MILLISECOND,
        due_at=due_at,
    )
