"""Fakes of the application's ports over plain dicts. They pass the tests in tests/ports."""

from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pillarbox.application.delivery.ports import SeenEvent, TaggedMessage
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import (
    Claim,
    DirectoryResult,
    DomainVerdict,
    LeaseRefusal,
    PayloadGone,
    StoredClaim,
    StoredResponse,
)
from pillarbox.application.waiting_ports import WaitingContent
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.quota import (
    NOTHING,
    WINDOWS,
    Amount,
    Limits,
    QuotaCounts,
    Window,
    first_full,
    refusals_name,
    window_name,
)
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import Withdrawn
from pillarbox.domain.ids import created_at, new_token
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import HandOverResult, Job, Mail
from pillarbox.domain.messages.message import EventKind, Lease, Message
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.messages.upload import UploadedFile
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox
from pillarbox.domain.templates.template import SavedTemplate

CLAIM_LEASE = timedelta(seconds=65)
CLAIM_WINDOW = timedelta(hours=24)
MESSAGE_LEASE = timedelta(seconds=30)


@dataclass
class Store:
    """Everything that the service stores."""

    keys: dict[str, ApiKey] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    templates: dict[tuple[str, UUID], SavedTemplate] = field(default_factory=dict)
    suppressed: dict[tuple[str, str], str] = field(default_factory=dict)
    claims: dict[tuple[str, str], StoredClaim] = field(default_factory=dict)
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    messages: dict[tuple[str, UUID], Message] = field(default_factory=dict)
    #: The ids under which no message may be accepted any more.
    tombstones: set[tuple[str, UUID]] = field(default_factory=set)
    queue: list[Job] = field(default_factory=list)
    #: Jobs of messages that wait: when each becomes visible, and when it was queued.
    hidden: list[tuple[datetime, datetime, Job]] = field(default_factory=list)
    #: The contents of messages that wait.
    contents: dict[tuple[str, UUID], tuple[Mail, str | None]] = field(default_factory=dict)
    #: The timer of emails: the minute of each job.
    wakes: dict[Job, datetime] = field(default_factory=dict)
    closed_minute: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    spool: dict[str, Mail] = field(default_factory=dict)
    uploads: dict[tuple[str, UUID], UploadedFile] = field(default_factory=dict)
    newest_event: datetime | None = None
    last_probe: datetime | None = None
    seen_events: dict[tuple[str, UUID], SeenEvent] = field(default_factory=dict)
    #: When each event was queued that the events queue or its dead-letter queue holds.
    queued_events: list[datetime] = field(default_factory=list)
    #: The messages that an eventually consistent read (`peek`) returns; None: no record.
    stale_messages: dict[tuple[str, UUID], Message | None] = field(default_factory=dict)
    #: The largest number of addresses in one look-up of the directory.
    max_addresses: int = 0

    def find_uploads(
        self, account_id: str, upload_ids: Collection[UUID]
    ) -> dict[UUID, UploadedFile]:
        """Return those of an account's uploads that exist."""
        return {
            upload_id: self.uploads[account_id, upload_id]
            for upload_id in upload_ids
            if (account_id, upload_id) in self.uploads
        }


class FakeDirectory:
    """Implements `ports.Directory`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def look_up(
        self,
        account_id: str,
        *,
        key_digest: str | None = None,
        addresses: Iterable[str] = (),
        template_ids: Iterable[UUID] = (),
        quota: bool = False,
        own_quota_id: str | None = None,
        preview: bool = False,
    ) -> DirectoryResult:
        store, mailboxes = self._store, set(addresses)
        store.max_addresses = max(store.max_addresses, len(mailboxes))
        account = store.accounts.get(account_id)
        stored = {mailbox: mailbox for mailbox in mailboxes}
        if account is not None and account.hashed_suppressions:
            stored |= {hashed_mailbox(account_id, mailbox): mailbox for mailbox in mailboxes}
        return DirectoryResult(
            key=store.keys.get(key_digest) if key_digest else None,
            account=account,
            suppressed={
                mailbox: store.suppressed[PREVIEW_LIST, text]
                for mailbox in mailboxes
                if preview
                and (text := stopped_mailbox(mailbox))
                and (PREVIEW_LIST, text) in store.suppressed
            }
            | {
                mailbox: store.suppressed[account_id, text]
                for text, mailbox in stored.items()
                if (account_id, text) in store.suppressed
            },
            templates={
                template_id: store.templates[account_id, template_id]
                for template_id in template_ids
                if (account_id, template_id) in store.templates
            },
            quota=self._counts(account_id if quota else None),
            own_quota=self._counts(own_quota_id),
        )

    def _counts(self, quota_id: str | None) -> QuotaCounts:
        counts = self._store.counts.items()
        return QuotaCounts({window: count for (of, window), count in counts if of == quota_id})


class FakeClaims:
    """Implements `ports.Claims`."""

    def __init__(self, store: Store) -> None:
        self._claims = store.claims

    def put(self, claim: Claim, now: datetime) -> StoredClaim | None:
        if stored := self._claims.get((claim.account_id, claim.digest)):
            return stored
        self._put(claim, now, now + CLAIM_WINDOW)
        return None

    def replace(self, stored: StoredClaim, claim: Claim, now: datetime) -> bool:
        if self._claims.get((claim.account_id, claim.digest)) != stored:
            return False
        keeps = stored.claim.body_hash == claim.body_hash and now < stored.expires_at
        self._put(claim, now, stored.expires_at if keeps else now + CLAIM_WINDOW)
        return True

    def _put(self, claim: Claim, now: datetime, expires_at: datetime) -> None:
        self._claims[claim.account_id, claim.digest] = StoredClaim(
            claim=claim, leased_until=now + CLAIM_LEASE, expires_at=expires_at
        )

    def finish(self, claim: Claim, response: StoredResponse) -> None:
        if stored := self._owned(claim):
            self._claims[claim.account_id, claim.digest] = replace(
                stored, response=StoredResponse(response.body)
            )

    def release(self, claim: Claim) -> None:
        if self._owned(claim):
            del self._claims[claim.account_id, claim.digest]

    def _owned(self, claim: Claim) -> StoredClaim | None:
        """Return the claim's record if it is pending and has the same owner."""
        stored = self._claims.get((claim.account_id, claim.digest))
        is_owned = stored is not None and stored.claim.generation == claim.generation
        return stored if is_owned and stored and stored.response is None else None


class FakeQuotas:
    """Implements `ports.Quotas`."""

    def __init__(self, store: Store) -> None:
        self._counts = store.counts

    def reserve(self, account_id: str, amount: Amount, limits: Limits, now: datetime) -> None:
        used: dict[Window, int] = {
            window: self._counts.get((account_id, window_name(window, now)), 0)
            for window in WINDOWS
        }
        if full := first_full(limits, used, amount, now):
            raise full
        self._add(account_id, amount, now)

    def refund(
        self, account_id: str, amount: Amount, now: datetime, *, of_minute: bool = True
    ) -> None:
        self._add(account_id, NOTHING - amount, now, of_minute=of_minute)

    def _add(
        self, account_id: str, amount: Amount, now: datetime, *, of_minute: bool = True
    ) -> None:
        for window in WINDOWS if of_minute else [one for one in WINDOWS if one != "minute"]:
            name = (account_id, window_name(window, now))
            self._counts[name] = self._counts.get(name, 0) + amount.of(window)


class FakeRefusals:
    """Implements `ports.Refusals`."""

    def __init__(self, store: Store) -> None:
        self._counts = store.counts

    def count(self, account_id: str, count: int, now: datetime) -> None:
        name = (account_id, refusals_name(now))
        self._counts[name] = self._counts.get(name, 0) + count


class FakeMessages:
    """Implements `ports.Messages`."""

    def __init__(self, store: Store) -> None:
        self._messages, self._tombstones = store.messages, store.tombstones
        self._stale_messages = store.stale_messages

    def commit(self, message: Message) -> None:
        if self.commit_all([message]):
            raise Withdrawn

    def commit_all(self, messages: Sequence[Message]) -> frozenset[UUID]:
        assert len(messages) <= 100, "a batch has at most 100 messages"
        for message in messages:
            name = (message.account_id, message.message_id)
            if name not in self._tombstones:
                self._messages.setdefault(name, message)
        return frozenset(
            message.message_id
            for message in messages
            if (message.account_id, message.message_id) in self._tombstones
        )

    def withdraw(
        self, account_id: str, message_ids: Sequence[UUID], now: datetime
    ) -> dict[UUID, Message]:
        del now  # a tombstone of this store stays
        found = self.get_all(account_id, message_ids)
        self._tombstones.update((account_id, id_) for id_ in message_ids if id_ not in found)
        return found

    def get_all(self, account_id: str, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
        messages = {message_id: self.get(account_id, message_id) for message_id in message_ids}
        return {message_id: message for message_id, message in messages.items() if message}

    def is_withdrawn(self, account_id: str, message_id: UUID) -> bool:
        return (account_id, message_id) in self._tombstones

    def get(self, account_id: str, message_id: UUID) -> Message | None:
        return self._messages.get((account_id, message_id))

    def peek(self, account_id: str, message_id: UUID) -> Message | None:
        name = (account_id, message_id)
        return (
            self._stale_messages[name] if name in self._stale_messages else self._messages.get(name)
        )

    def lease(
        self,
        account_id: str,
        message_id: UUID,
        body_hash: str,
        owner: str,
        now: datetime,
        *,
        schedule: Schedule | None = None,
        unkept: bool = False,
    ) -> Message | LeaseRefusal:
        message = self.get(account_id, message_id)
        if (
            message is None
            or message.rank != EventKind.ACCEPTED.rank
            or message.body_hash != body_hash
            or message.lease is not None
            or message.provider_message_id is not None
            or (schedule is not None and message.schedule != schedule)
        ):
            return LeaseRefusal(message)
        leased = replace(
            message,
            lease=Lease(owner=owner, taken_at=now, expires_at=now + MESSAGE_LEASE),
            attempt=message.attempt + 1,
            revision=message.revision + 1,
            unkept=message.unkept or unkept,
        )
        self._messages[account_id, message_id] = leased
        return leased

    def save(self, message: Message) -> bool:
        name = (message.account_id, message.message_id)
        current = self._messages.get(name)
        if current is None or current.revision != message.revision:
            return False
        self._messages[name] = replace(message, revision=message.revision + 1)
        return True


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


class FakeWaitingContents:
    """Implements `waiting.WaitingContents`."""

    def __init__(self, store: Store) -> None:
        self._contents = store.contents

    def put_all(self, mails: Sequence[tuple[Message, Mail]]) -> None:
        for message, mail in mails:
            content = (mail, message.origin.template_id)
            self._contents[message.account_id, message.message_id] = content

    def load(self, message: Message) -> Mail:
        content = self._contents.get((message.account_id, message.message_id))
        if content is None:
            raise PayloadGone
        return content[0]

    def remove(self, account_id: str, message_id: UUID, template_id: str | None) -> None:
        del template_id  # a part of the key of a table
        self._contents.pop((account_id, message_id), None)

    def of_account(self, account_id: str, cursor: str | None) -> ScanPage[WaitingContent]:
        assert cursor is None, "all are on the first page"
        contents = [
            WaitingContent(account_id, message_id, template, created_at(message_id))
            for (owner, message_id), (_, template) in self._contents.items()
            if owner == account_id
        ]
        return ScanPage(contents, None)

    def uses(self, account_id: str, template_id: str) -> bool:
        return any(
            owner == account_id and template == template_id
            for (owner, _), (_, template) in self._contents.items()
        )


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


class FakeSuppressions:
    """Implements `ports.Suppressions`."""

    def __init__(self, store: Store) -> None:
        self._suppressed = store.suppressed

    def put(
        self, account_id: str, address: str, reason: str, at: datetime, message_id: UUID | None
    ) -> None:
        del at, message_id  # operators read them; no use case does
        self._suppressed.setdefault((account_id, mailbox_key(address)), reason)

    def find_suppressed(
        self, account_id: str, addresses: Iterable[str], *, hashed: bool = False
    ) -> frozenset[str]:
        return frozenset(
            address
            for address in addresses
            if (account_id, address) in self._suppressed
            or (hashed and (account_id, hashed_mailbox(account_id, address)) in self._suppressed)
        )


class FakeProviderSuppressions:
    """Implements `ProviderSuppressions`: entries by tenant, or None for the AWS account."""

    def __init__(self, *listed: tuple[str | None, str]) -> None:
        self.listed = {*listed}

    def remove(self, address: str, tenant: str | None) -> bool:
        found = self.listed & {(tenant, address), (None, address)}
        self.listed -= found
        return bool(found)


class FakeSeenEvents:
    """Implements `delivery.ports.SeenEvents`."""

    def __init__(self, store: Store) -> None:
        self._seen_events = store.seen_events

    def put_all(self, messages: Collection[TaggedMessage], at: datetime) -> None:
        for message in messages:
            seen = SeenEvent(message.provider_message_id, at)
            self._seen_events[message.account_id, message.message_id] = seen

    def find(self, account_id: str, message_id: UUID) -> SeenEvent | None:
        return self._seen_events.get((account_id, message_id))


class FakeEventQueue:
    """Implements `delivery.ports.EventQueue`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def may_hold_older_than(self, moment: datetime, message: Message) -> bool:
        del message
        return any(queued_at < moment for queued_at in self._store.queued_events)


class FakeHeartbeat:
    """Implements `delivery.ports.EventHeartbeat`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, at: datetime) -> None:
        newest = self._store.newest_event
        self._store.newest_event = at if newest is None else max(newest, at)

    def latest(self) -> datetime | None:
        return self._store.newest_event

    def take_probe(self, now: datetime) -> bool:
        last = self._store.last_probe
        if last is not None and now < last + timedelta(minutes=10):
            return False
        self._store.last_probe = now
        return True


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
    """Implements `delivery.ports.SendingRate`. Urgent mail may take one token more than there is.

    Args:
        tokens: how many there are; by default enough for every email.

    Attributes:
        wait: what each email has to wait for, if there are no tokens at all.
    """

    def __init__(self, tokens: int = 10**6) -> None:
        self.wait: timedelta | None = None
        self.taken: list[tuple[int, bool]] = []
        self.slowed_down = self.given_back = 0
        self._tokens = tokens

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
        if self._tokens <= (-1 if urgent else 0):
            return timedelta(seconds=1)
        self._tokens -= recipients
        self.taken.append((recipients, urgent))
        return None

    def give_back(self, recipients: int) -> None:
        self._tokens += recipients
        self.given_back += recipients

    def slow_down(self) -> None:
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
