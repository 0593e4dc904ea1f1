"""Send the kept content of many emails again, through the API, as a client does.

Only the API's function may read kept content, so the operator's command makes a key, asks for each
email, and revokes the key. Quota, sender and suppressions are checked there, and the account's log
names the command's key.

An email goes out a second time only if the operator asks for that. Its copies in the records say
that it was sent again, also days later. While a copy is on its way into them, the Idempotency-Key
keeps a second run from making another one: it follows from the email and its last copy alone.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from typing import TYPE_CHECKING, Final, Self

from admin.use_cases.ports import ApiProbe, MessageRecords
from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.keys import KeyLimits, Keys
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.kept import kept_until
from pillarbox.domain.messages.message import EventKind, Message, Status
from pillarbox.domain.timing import milliseconds

if TYPE_CHECKING:
    from uuid import UUID

    from pillarbox.domain.accounts.issued_key import IssuedKey

#: How long a key works, if a killed run leaves it behind.
KEY_LIFE: Final = timedelta(hours=1)
#: How long a plan holds. The Idempotency-Keys of another run last for 24 hours.
_PLAN_LIFE: Final = timedelta(hours=23)
_MINUTE: Final = timedelta(minutes=1)
#: The pauses before an answer that may be another one soon is asked for again, in seconds.
_PAUSES: Final = (1.0, 2.0, 4.0)
_SOON: Final = frozenset({"service_unavailable", "idempotency_in_flight", "rate_limit_exceeded"})
#: The codes of emails that were stopped on purpose.
_STOPPED: Final = frozenset(
    {"account_suspended", "canceled", "key_revoked", "not_released", "sending_paused"}
)
#: The refusals that every other email of the account would get too.
_FINAL: Final = frozenset(
    {
        "plan_too_old",
        *("account_suspended", "daily_limit_exceeded", "monthly_limit_exceeded", "sending_paused"),
        *("invalid_api_key", "key_limit_exceeded", "rate_limit_exceeded", "service_unavailable"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResendSelection:
    """Which emails to send again."""

    status: Status
    since: datetime
    until: datetime
    #: What was last sent again before this is sent again once more; None: nothing is.
    again_since: datetime | None = None
    #: Whether this includes emails that may have been sent.
    uncertain: bool = False


@dataclass(frozen=True, slots=True)
class PlannedCopy:
    """An email to send again, and what keeps it from being sent twice."""

    message: Message
    idempotency_key: str


@dataclass(slots=True)
class ResendPlan:
    """The emails to send again, oldest first in each account, and how many not, by reason."""

    made_at: datetime
    copies: list[PlannedCopy] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    read: int = 0


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    """The id of the new email, or the code of the error for which there is none."""

    message: Message
    copy_id: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResend:
    """Plans and sends copies of failed emails, of one account or of all."""

    messages: MessageRecords
    accounts: AccountRecords
    keys: Keys
    api_probe: ApiProbe
    clock: Clock
    pause: Callable[[float], None]

    def plan(
        self, account_id: str | None, selection: ResendSelection, report: Callable[[int], None]
    ) -> ResendPlan:
        """Return what a run would send. `report` receives the number of messages read so far.

        Raises:
            ValidationFailed: on `since`, if the range is empty.
            ServiceError: `account_not_found`.
        """
        if selection.since >= selection.until:
            raise ValidationFailed(FieldError("since", "must be before until", "out_of_range"))
        accounts: Iterable[Account] = (
            self.accounts.all() if account_id is None else [find_account(self.accounts, account_id)]
        )
        plan = ResendPlan(self.clock())
        for account in accounts:
            of_account = [*self._copies(account, selection, plan, report)]
            plan.copies += reversed(of_account)
        return plan

    def run(
        self, plan: ResendPlan, rate: float, report: Callable[[int], None]
    ) -> Iterator[CopyOutcome]:
        """Send the copies of a plan, at most `rate` in a second, and yield what became of each.

        An email that has changed since the plan is not sent, and none after a plan's life.

        Raises:
            ServiceError: after all others, of a key that cannot be revoked; it ends in an hour.
        """
        done = 0
        errors: list[ServiceError] = []
        for account_id, copies in groupby(plan.copies, key=lambda copy: copy.message.account_id):
            final: str | None = None
            with _Key(self, account_id, errors) as key:
                for copy in copies:
                    error = final or self._change(copy, plan.made_at)
                    outcome = CopyOutcome(copy.message, None, error)
                    if error is None:
                        outcome = self._send(copy, key)
                        self.pause(1 / rate)
                    final = outcome.error if outcome.error in _FINAL else None
                    done += 1
                    report(done)
                    yield outcome
        if errors:
            raise errors[0]

    def _copies(
        self,
        account: Account,
        selection: ResendSelection,
        plan: ResendPlan,
        report: Callable[[int], None],
    ) -> Iterator[PlannedCopy]:
        """Yield the copies to make for an account, newest first: a copy comes before its email."""
        now = self.clock()
        since, until = milliseconds(selection.since), milliseconds(now) + 1
        earlier: defaultdict[UUID, list[Message]] = defaultdict(list)
        records = self.messages.newest_first(account.account_id, since, until, account.shards)
        for message in records:
            plan.read += 1
            report(plan.read)
            if message.origin.resend_of:
                earlier[message.origin.resend_of].append(message)
            if message.status is not selection.status or message.created_at >= selection.until:
                continue
            copies = [
                copy
                for copy in earlier[message.message_id]
                if {*copy.recipients} == {*message.recipients}
            ]
            reason = _reason(account, message, copies, selection, now)
            if reason is None:
                yield PlannedCopy(message, _idempotency_key(message, copies))
            else:
                plan.left_out[reason] += 1

    def _change(self, copy: PlannedCopy, made_at: datetime) -> str | None:
        """Return the code for what a plan did not know of an email; None if it still holds."""
        if self.clock() - made_at > _PLAN_LIFE:
            return "plan_too_old"
        message = copy.message
        present = self.messages.in_accounts([message.account_id], message.message_id)
        return None if message.revision in {one.revision for one in present} else "changed"

    def _send(self, copy: PlannedCopy, key: "_Key") -> CopyOutcome:
        path = f"/v1/emails/{copy.message.message_id}/resend"
        headers = {"Idempotency-Key": copy.idempotency_key}
        pauses = iter(_PAUSES)
        while True:
            try:
                status, reply = self.api_probe.request(
                    "POST", path, key=key.text(), headers=headers
                )
            except ServiceError as error:
                status, reply = HTTPStatus.SERVICE_UNAVAILABLE, {"error": {"code": error.code}}
            if status == HTTPStatus.OK:
                return CopyOutcome(copy.message, _text(reply, "messageId"), None)
            code = _text(reply.get("error") if isinstance(reply, dict) else None, "code")
            wait = next(pauses, None) if code in _SOON else None
            if wait is None:
                return CopyOutcome(copy.message, None, code or f"http_{int(status)}")
            # The quota of a minute is there again at its end.
            rest = _MINUTE - timedelta(seconds=self.clock().second)
            self.pause(rest.total_seconds() if code == "rate_limit_exceeded" else wait)


class _Key:
    """A key of an account during a block, made at its first use, and again when it ends."""

    def __init__(self, resend: BulkResend, account_id: str, errors: list[ServiceError]) -> None:
        self._resend = resend
        #: Those of keys that could not be revoked.
        self._errors = errors
        self._account_id = account_id
        self._issued: IssuedKey | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._revoke()

    def text(self) -> str:
        """Return the text of a key that works for some minutes yet."""
        soon = self._resend.clock() + 5 * _MINUTE
        if self._issued is None or not self._issued.record.works(lambda: soon):
            self._revoke()
            self._issued = self._resend.keys.issue_live(
                self._account_id,
                "message resend",
                Preset.SEND,
                limits=KeyLimits(expires_at=self._resend.clock() + KEY_LIFE),
            )
        return self._issued.text

    def _revoke(self) -> None:
        if self._issued is not None:
            key, self._issued = self._issued.record, None
            try:
                self._resend.keys.revoke(key.key_id)
            except ServiceError as error:
                message = f"The key {key.key_id} was not revoked and works for up to an hour"
                self._errors.append(ServiceError(error.code, f"{message}. {error.message}"))


def _reason(
    account: Account,
    message: Message,
    copies: list[Message],
    selection: ResendSelection,
    now: datetime,
) -> str | None:
    """Return why a message is not sent again; None if it is."""
    if message.origin.resend_of:
        return "is_copy"
    if message.error and message.error.code in _STOPPED:
        return "stopped"
    again_since = selection.again_since
    if any(again_since is None or copy.created_at >= again_since for copy in copies):
        return "sent_again"
    until = kept_until(replace(message, keep=min(message.keep, account.keep)))
    if until is None or until <= now:
        return "not_kept"
    if not selection.uncertain and message.error and message.error.kind is EventKind.UNCERTAIN:
        return "uncertain"
    return "partly_sent" if _was_partly_sent(message) else None


def _was_partly_sent(message: Message) -> bool:
    """Return whether some of several recipients may have the email.

    A report of a bounce that names none of them does not say which ones it is about.
    """
    named: defaultdict[EventKind, set[str | None]] = defaultdict(set)
    for event in message.events:
        named[event.kind].add(event.recipient)
    if None in named[EventKind.FAILED] or not named[EventKind.SENT]:
        return False
    bounced = named[EventKind.BOUNCED] | named[EventKind.BOUNCED_TRANSIENT]
    missed = (named[EventKind.FAILED] | bounced) - named[EventKind.DELIVERED]
    alone = len(message.recipients) == 1 and None in bounced
    return not alone and not missed.issuperset(message.recipients)


def _idempotency_key(message: Message, copies: list[Message]) -> str:
    """Return what a second run derives too, unless it knows of another copy."""
    last = max((str(copy.message_id) for copy in copies), default="")
    digest = hashlib.sha256(f"{message.message_id}\n{last}".encode()).hexdigest()
    return f"message-resend-{digest}"


def _text(reply: Json, name: str) -> str:
    value = reply.get(name) if isinstance(reply, dict) else None
    return value if isinstance(value, str) else ""
