"""The stores of a test on tables in this process, and fakes of what is outside of them."""

from base64 import b64encode
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID

from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.messages import claims
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.quotas import DynamoQuotas
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents
from pillarbox.adapters.dynamodb.table import Item, from_item, from_text, to_item, to_text
from pillarbox.adapters.sqs.jobs import read_payload
from pillarbox.application.delivery.ports import SeenEvent
from pillarbox.application.ports import (
    Claim,
    DirectoryResult,
    DomainVerdict,
    PayloadGone,
    StoredClaim,
)
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import HandOverResult, Job, Mail
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.upload import UploadedFile
from pillarbox.domain.templates.template import SavedTemplate
from tests.fakes.memory_tables import MemoryTable

#: How long the claim of an acceptor lasts before another one may take it over.
CLAIM_LEASE = timedelta(seconds=65)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)

type Found[K, V] = Iterable[tuple[K, V]]


class Records[K, V](MutableMapping[K, V]):
    """The records of a kind, as a test reads and writes them without the store."""

    def __init__(
        self,
        table: MemoryTable,
        kind: str,
        read: Callable[[list[str], dict[str, Any]], Found[K, V]],
        item: Callable[[K, V], Item],
    ) -> None:
        self._table, self._kind, self._read, self._item = table, kind, read, item
        #: What was read of each item, which stays as it is until another takes its place.
        self._known: dict[int, tuple[object, list[tuple[K, V]]]] = {}

    def _found(self) -> dict[K, V]:
        known, self._known = self._known, {}
        for item in self._table.all_items():
            kind, *ids = item["pk"]["S"].split("#")
            if kind != self._kind:
                continue
            if id(item) not in known:
                known[id(item)] = item, [*self._read(ids, from_item(item))]
            self._known[id(item)] = known[id(item)]
        return dict(entry for _, entries in self._known.values() for entry in entries)

    def __getitem__(self, key: K) -> V:
        return self._found()[key]

    def __setitem__(self, key: K, record: V) -> None:
        self._table.put(self._item(key, record))

    def __delitem__(self, key: K) -> None:
        item = self._item(key, self[key])
        self._table.delete({name: item[name] for name in ("pk", "sk")})

    def __iter__(self) -> Iterator[K]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


class _Counts(Records[tuple[str, str], int]):
    """What is counted for an account or a key, by window."""

    def __setitem__(self, key: tuple[str, str], count: int) -> None:
        of, window = key
        parts: Any = {"names": {"#window": window}, "values": {":count": count}}
        self._table.update(keys.quota(of), "SET #window = :count", **parts)


def _counts_of(ids: list[str], row: dict[str, Any]) -> Found[tuple[str, str], int]:
    of = ids[0] if row["sk"] == keys._ALONE else f"{ids[0]}#{row['sk']}"
    return [((of, name), count) for name, count in row.items() if isinstance(count, int)]


def _claim_of(ids: list[str], row: dict[str, Any]) -> Found[tuple[str, str], StoredClaim]:
    of = Claim(account_id=ids[0], digest=ids[1], body_hash="", generation=UUID(int=0), count=1)
    yield (ids[0], ids[1]), claims._stored(of, row)


def _claim_item(_: tuple[str, str], stored: StoredClaim) -> Item:
    assert stored.response is None
    return claims._item(stored.claim, stored.leased_until - CLAIM_LEASE, stored.expires_at)


def _messages_of(ids: list[str], row: dict[str, Any]) -> Found[tuple[str, UUID], Message]:
    if message := records.accepted_message(row):
        yield (ids[0], message.message_id), message


def _content_of(
    ids: list[str], row: dict[str, Any]
) -> Found[tuple[str, UUID], tuple[Mail, str | None]]:
    template, message_id = keys.of_waiting_content(row)
    yield (ids[0], message_id), (read_payload(row["payload"]), template)


class Store:
    """Everything that the service stores."""

    def __init__(self) -> None:
        self.table = MemoryTable("table")
        self.credentials = MemoryTable("credentials", self.table)
        self.keys = Records[str, ApiKey](
            self.credentials,
            "KEY",
            lambda ids, row: [(ids[0], records.key_of(row))],
            lambda _, key: records.key_item(key),
        )
        self.accounts = Records[str, Account](
            self.table,
            "ACCT",
            lambda ids, row: [(ids[0], records.account_of(row))],
            lambda _, account: records.account_item(account),
        )
        self.templates = Records[tuple[str, UUID], SavedTemplate](
            self.table,
            "TPL",
            lambda ids, row: [((ids[0], UUID(row["sk"])), records.template_of(row))],
            lambda _, template: records.template_item(template),
        )
        self.suppressed = Records[tuple[str, str], str](
            self.table,
            "SUP",
            lambda ids, row: [((ids[0], row["sk"]), row["reason"])],
            lambda key, reason: (
                keys.suppression(*key) | to_item({"reason": reason, "at": to_text(_NOW)})
            ),
        )
        self.claims = Records(self.table, "IDEM", _claim_of, _claim_item)
        self.counts = _Counts(self.table, "QUOTA", _counts_of, NotImplemented)
        self.messages = Records(
            self.table, "MSG", _messages_of, lambda _, message: records.message_item(message)
        )
        #: The contents of messages that wait.
        self.contents = Records(
            self.table,
            "LATER",
            _content_of,
            lambda key, content: keys.waiting_content(key[0], content[1], key[1]),
        )
        self.seen_events = Records[tuple[str, UUID], SeenEvent](
            self.table,
            "SEEN",
            lambda ids, row: [
                (
                    (ids[0], UUID(ids[1])),
                    SeenEvent(row.get("provider_id"), from_text(row["at"])),
                )
            ],
            lambda key, seen: (
                keys.seen_event(*key)
                | to_item({"provider_id": seen.provider_message_id, "at": to_text(seen.at)})
            ),
        )
        self.queue: list[Job] = []
        #: Jobs of messages that wait: when each becomes visible, and when it was queued.
        self.hidden: list[tuple[datetime, datetime, Job]] = []
        #: The timer of emails: the minute of each job.
        self.wakes: dict[Job, datetime] = {}
        self.closed_minute = datetime(2026, 1, 1, tzinfo=UTC)
        self.spool: dict[str, Mail] = {}
        self.uploads: dict[tuple[str, UUID], UploadedFile] = {}
        self.bucket = _Bucket()
        #: When each event was queued that the events queue or its dead-letter queue holds.
        self.queued_events: list[datetime] = []
        #: The messages that an eventually consistent read (`peek`) returns; None: no record.
        self.stale_messages: dict[tuple[str, UUID], Message | None] = {}
        #: The largest number of addresses in one look-up of the directory.
        self.max_addresses = 0

    @property
    def tombstones(self) -> set[tuple[str, UUID]]:
        """The ids under which no message may be accepted any more."""
        return {
            (item["pk"]["S"].split("#")[1], UUID(item["sk"]["S"]))
            for item in self.table.all_items()
            if records.is_tombstone(item)
        }

    @property
    def newest_event(self) -> datetime | None:
        return DynamoHeartbeat(self.table).latest()

    @newest_event.setter
    def newest_event(self, at: datetime | None) -> None:
        self.table.delete(keys.heartbeat())
        if at is not None:
            DynamoHeartbeat(self.table).record(at)

    def find_uploads(
        self, account_id: str, upload_ids: Collection[UUID]
    ) -> dict[UUID, UploadedFile]:
        """Return those of an account's uploads that exist."""
        return {
            upload_id: self.uploads[account_id, upload_id]
            for upload_id in upload_ids
            if (account_id, upload_id) in self.uploads
        }


class Directory(DynamoDirectory):
    """The directory, which notes how many addresses it looks up."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.table, store.credentials)
        self._store = store

    def look_up(
        self, account_id: str, *, addresses: Iterable[str] = (), **named: Any
    ) -> DirectoryResult:
        mailboxes = {*addresses}
        self._store.max_addresses = max(self._store.max_addresses, len(mailboxes))
        return super().look_up(account_id, addresses=mailboxes, **named)


class Messages(DynamoMessages):
    """The messages, of which a test says what a stale read returns."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.table)
        self._stale = store.stale_messages

    def peek(self, account_id: str, message_id: UUID) -> Message | None:
        if (account_id, message_id) in self._stale:
            return self._stale[account_id, message_id]
        return super().peek(account_id, message_id)


class Quotas(DynamoQuotas):
    """The counts, also with the table of calls that are not repeated."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.table)
        self._refunds = store.table


class WaitingContents(DynamoWaitingContents):
    """The contents of emails that wait, with a bucket in this process."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.table, "bucket")
        vars(self)["_s3"] = store.bucket


class _Bucket:
    """The calls of S3 that write and read an object."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def put_object(self, **request: Any) -> None:
        self._objects[request["Key"]] = request["Body"]

    def get_object(self, **request: Any) -> Mapping[str, BytesIO]:
        return {"Body": BytesIO(self._objects[request["Key"]])}


class FakeJobs:
    """Implements `ports.Jobs`. Emails with attachments go to the spool."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, job: Job, mail: Mail) -> None:
        if not mail.attachments:
            self._store.queue.append(replace(job, mail=mail))
            return
        key = f"{job.message_id}/{new_token(16)}"
        self._store.spool[key] = mail
        self._store.queue.append(replace(job, spool_key=key))

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        for job, mail in jobs:
            self.put(job, mail)
        return frozenset()

    def wake_all(self, jobs: Collection[Job], now: datetime) -> None:
        self._store.hidden += [
            (min(max(job.queued_at, now), now + timedelta(minutes=15)), now, job) for job in jobs
        ]

    def put_result(self, job: Job, result: HandOverResult) -> None:
        self._store.queue.append(replace(job, mail=None, result=result))

    def load(self, job: Job) -> Mail:
        mail = job.mail or self._store.spool.get(job.spool_key or "")
        if mail is None:
            raise PayloadGone
        files = tuple(self._file(job.account_id, file) for file in mail.uploads)
        return replace(mail, attachments=mail.attachments + files, uploads=())

    def _file(self, account_id: str, file: UploadedFile) -> Attachment:
        stored = self._store.uploads.get((account_id, file.upload_id))
        if stored is None or stored.sha256 != file.sha256:
            raise PayloadGone
        content = b64encode(stored.first_octets).decode()
        return Attachment(
            file.filename, file.content_type, content, file.inline, content_id=file.content_id
        )

    def discard(self, job: Job) -> None:
        self._store.spool.pop(job.spool_key or "", None)


class FakeWakeTimes:
    """Implements `waiting.WakeTimes`: as the adapter, it closes a minute when it has read it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_all(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._store.wakes[job] = _next_minute(job.queued_at)

    def due(self, now: datetime) -> Iterator[tuple[datetime, Sequence[Job]]]:
        wakes = self._store.wakes
        until = now + timedelta(minutes=2)
        closed = self._store.closed_minute
        for minute in sorted({*wakes.values()}):
            if closed < minute <= until:
                yield minute, [job for job, of in wakes.items() if of == minute]
        self._store.closed_minute = max(closed, until.replace(second=0, microsecond=0))

    def remove(self, minute: datetime, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if self._store.wakes.get(job) == minute:
                del self._store.wakes[job]


def _next_minute(moment: datetime) -> datetime:
    minute = moment.replace(second=0, microsecond=0)
    return minute if minute == moment else minute + timedelta(minutes=1)


class FakeProviderSuppressions:
    """Implements `ProviderSuppressions`: entries by tenant, or None for the AWS account."""

    def __init__(self, *listed: tuple[str | None, str]) -> None:
        self.listed = {*listed}

    def remove(self, address: str, tenant: str | None) -> bool:
        found = self.listed & {(tenant, address), (None, address)}
        self.listed -= found
        return bool(found)


class FakeEventQueue:
    """Implements `delivery.ports.EventQueue`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def may_hold_older_than(self, moment: datetime, message: Message) -> bool:
        del message
        return any(queued_at < moment for queued_at in self._store.queued_events)


class FakeDomains:
    """Implements `ports.MailDomains`. Every domain without a verdict accepts email."""

    def __init__(self) -> None:
        self.verdicts: dict[str, DomainVerdict] = {}
        #: Every domain that was asked for, in order.
        self.asked: list[str] = []

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        names = list(domains)
        self.asked += names
        return {name: self.verdicts.get(name, DomainVerdict.ACCEPTS) for name in names}


class FakeSendingRate:
    """Implements `delivery.ports.SendingRate`. Each email waits for `wait`, if there is one."""

    def __init__(self) -> None:
        self.wait: timedelta | None = None
        self.taken: list[tuple[int, bool]] = []
        self.slowed_down = self.given_back = 0

    def acquire(
        self,
        account_id: str,
        recipients: int,
        *,
        urgent: bool,
        comes_back: bool = False,
        since: datetime | None = None,
    ) -> timedelta | None:
        del account_id, comes_back, since
        if self.wait is not None:
            return self.wait
        self.taken.append((recipients, urgent))
        return None

    def give_back(self, recipients: int) -> None:
        self.given_back += recipients

    def slow_down(self, account_id: str, recipients: int, *, urgent: bool) -> None:
        del account_id, recipients, urgent
        self.slowed_down += 1


class FakeMailer:
    """Implements `delivery.ports.Mailer`, and records the emails that it took."""

    def __init__(self) -> None:
        self.taken: list[tuple[Message, tuple[str, ...], bytes]] = []
        #: The errors of the next calls; None accepts the email.
        self.answers: list[Exception | None] = []
        #: The tenant of each call.
        self.tenants: list[str | None] = []
        #: The senders of the probes.
        self.probes: list[str] = []

    def send(
        self, message: Message, recipients: tuple[str, ...], raw: bytes, tenant: str | None
    ) -> str:
        self.tenants.append(tenant)
        if self.answers and (error := self.answers.pop(0)):
            raise error
        self.taken.append((message, recipients, raw))
        return f"ses-{len(self.taken)}"

    def send_probe(self, message: Message) -> None:
        self.probes.append(message.sender)
