"""Look after the service: count and move the messages of the queues, and check all.

A check reads nothing itself. It returns findings, and each problem comes with a remedy.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.operator.ports import (
    ConfigurationSet,
    ProviderAccount,
    QueueAges,
    QueueLog,
    Queues,
    QueueStatus,
    Redrive,
    SendingStatus,
)
from pillarbox.application.ports import Clock, StrangerMail
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.sign_in.strangers import ALL, Audience, StrangerDay, first_day, paused_until

#: The entries of the log that are shown.
LOG_LENGTH: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOperations:
    """The queues of the service; `urls` has their URLs by the names in `_QUEUES`."""

    queues: Queues
    ages: QueueAges
    log: QueueLog
    clock: Clock
    urls: Mapping[str, str]

    def dead_letters(self) -> Mapping[str, str]:
        """Return the URL of each dead-letter queue, by the first queue that uses it."""
        return _by_first(self._counted())

    def dead_letters_of(self, name: str) -> str:
        """Return the URL of the dead-letter queue of a queue."""
        found = self.dead_letters()
        if name not in found:
            message = f"must be {' or '.join(found)}, which have dead letters of their own"
            raise ValidationFailed(FieldError("queue", message, "unknown_queue"))
        return found[name]

    def status(self) -> Mapping[str, tuple[QueueStatus, QueueStatus | None]]:
        """Count the messages of each queue and of its dead-letter queue, if it has its own."""
        queues = self._counted()
        own = _by_first(queues)
        return {
            name: (queue, self.queues.status(own[name]) if name in own else None)
            for name, queue in queues.items()
        }

    def _counted(self) -> Mapping[str, QueueStatus]:
        return {name: self.queues.status(url) for name, url in self.urls.items()}

    def oldest_message_ages(self) -> Mapping[str, float | None]:
        """Return the age in seconds of each queue's oldest message; None if it is not known."""
        return {name: self.ages.oldest_message_age(url) for name, url in self.urls.items()}

    def redrives(self) -> Sequence[Redrive]:
        """Read the last `LOG_LENGTH` redrives, the newest first."""
        return self.log.newest(LOG_LENGTH)

    def redrive(self, name: str, at_most: int, *, by: str = COMMAND) -> int:
        """Move dead letters back into their queue and return how many.

        The log has the redrive before it begins, and the number when it has ended. `by` is the
        operator's address, or `COMMAND`.

        This is safe at any time: a job whose message is finished is dropped, and an event
        that was already processed changes nothing. Nor does a sweep task that runs twice.
        """
        source = self.dead_letters_of(name)
        now = self.clock()
        entry = Redrive(entry_id=str(new_id(now)), at=now, by=by, queue=name)
        self.log.put(entry)
        moved = self.queues.move(source, self.urls[name], at_most)
        self.log.put(replace(entry, moved=moved))
        return moved


def _by_first(queues: Mapping[str, QueueStatus]) -> Mapping[str, str]:
    found = dict[str, str]()
    for name, queue in queues.items():
        if queue.dead_letters_url and queue.dead_letters_url not in found.values():
            found[name] = queue.dead_letters_url
    return found


class Verdict(StrEnum):
    """The outcome of a check."""

    PASS = "pass"  # noqa: S105  not a password
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check. The remedy is empty if there is nothing to do."""

    check: str
    verdict: Verdict
    message: str
    remedy: str = ""


#: The event types that `record_feedback` needs; others only add detail.
_EVENTS: Final = frozenset({"SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT"})
#: The share of the daily quota from which the check warns.
_HIGH_USAGE: Final = 0.8
#: The maximum age in seconds of each queue's oldest message, as in its alarm if it has one, and the
#: function that empties it.
_QUEUES: Final = {
    "jobs": (3600, "DeliverMessage"),
    "urgent": (60, "DeliverMessage"),
    "events": (300, "RecordFeedback"),
    "sweep": (10_800, "SweepAccount"),
    "webhooks": (1200, "PostWebhooks"),
    "received": (300, "ReceiveEmail"),
}
#: What AWS did with the request for production access, and what to do then.
_REVIEWS: Final = {
    "PENDING": " AWS reviews the request for more.",
    "DENIED": " AWS denied the request for more, and wrote the reason into a support case.",
    "FAILED": " AWS could not review the request for more.",
}
_NEXT: Final = {
    "PENDING": "Wait: AWS usually answers within a day, in a support case.",
    "DENIED": "Add what the case asks for (a site that can be read, what is sent, why people get"
    " it), and ask again: pillarbox ses request DOMAIN.",
}


def check_sending(status: SendingStatus) -> Iterator[Finding]:
    """Check whether SES lets the AWS account send, and to whom."""
    if status.enforcement == "SHUTDOWN" or not status.sending:
        yield Finding(
            "sending",
            Verdict.FAIL,
            f"SES has paused sending (enforcement: {status.enforcement}). Emails wait.",
            "Answer the case that SES opened (console, SES, Account dashboard). Accepted emails"
            " fail if SES does not resume within 24 hours of their acceptance.",
        )
    elif status.enforcement != "HEALTHY":
        yield Finding(
            "sending",
            Verdict.WARN,
            f"SES reviews the AWS account ({status.enforcement}).",
            "Find the account whose emails bounce or get complaints, and suspend it:"
            " pillarbox stats top, pillarbox account suspend.",
        )
    elif status.sandbox:
        yield Finding(
            "sending",
            Verdict.WARN,
            "The AWS account is in the SES sandbox: it reaches verified addresses only."
            + _REVIEWS.get(status.review, ""),
            _NEXT.get(status.review, "Ask for production access: pillarbox ses request DOMAIN."),
        )
    else:
        yield Finding("sending", Verdict.PASS, "Out of the sandbox, sending is enabled.")


def check_quota(status: SendingStatus) -> Iterator[Finding]:
    # A quota of -1 means no limit.
    usage = status.sent_last_24_hours / status.daily_quota if status.daily_quota > 0 else 0.0
    message = f"{status.sent_last_24_hours:.0f} of {status.daily_quota:.0f} recipients in 24 hours."
    if usage >= 1:
        remedy = "Emails wait. Ask SES for a higher quota (Service Quotas)."
        yield Finding("quota", Verdict.FAIL, message, remedy)
    elif usage >= _HIGH_USAGE:
        remedy = "Ask SES for a higher quota (Service Quotas)."
        yield Finding("quota", Verdict.WARN, message, remedy)
    else:
        yield Finding("quota", Verdict.PASS, message)


def check_limits(accounts: Iterable[Account], status: SendingStatus) -> Iterator[Finding]:
    """Check whether one account can use up the daily quota of all."""
    if status.sandbox or status.daily_quota <= 0:
        yield Finding("limits", Verdict.SKIPPED, "SES grants no quota of a production account.")
        return
    large = [
        account.account_id
        for account in accounts
        if (limit := account.limits.of("recipients")) is None or limit >= status.daily_quota
    ]
    if large:
        yield Finding(
            "limits",
            Verdict.WARN,
            f"Each of these accounts can use up SES's {status.daily_quota:.0f} recipients of a day"
            f" alone: {', '.join(large)}.",
            "pillarbox account update ID --recipients-per-day N, or ask SES for a higher quota.",
        )
    else:
        yield Finding("limits", Verdict.PASS, "No account can use up SES's daily quota alone.")


#: Other change sets compare templates only, so a usual deploy leaves what somebody changed by hand
#: (CloudFormation user guide, "Using drift-aware change sets").
REVERT_DRIFT: Final = (
    "Deploy again with a drift-aware change set (console, CloudFormation, the stack, Create change"
    " set): somebody changed it by hand, and a usual deploy leaves that as it is."
)


def check_events(configuration_set: ConfigurationSet | None) -> Iterator[Finding]:
    """Check whether the configuration set allows sending and publishes SES's events."""
    if configuration_set is None:
        message = "SES does not know the configuration set, so it refuses every email."
        yield Finding("events", Verdict.FAIL, message, REVERT_DRIFT)
    elif not configuration_set.sending:
        message = "Sending is paused for the configuration set. Emails wait."
        remedy = "Enable it (console, SES, Configuration sets)."
        yield Finding("events", Verdict.FAIL, message, remedy)
    elif missing := sorted(_EVENTS - configuration_set.published):
        message = f"SES does not report {', '.join(missing)} to EventBridge."
        yield Finding("events", Verdict.FAIL, message, REVERT_DRIFT)
    else:
        yield Finding("events", Verdict.PASS, "SES reports all needed events to EventBridge.")


#: How a finding names each count.
_STRANGERS: Final = {
    Audience.INVITED.value: "invited members",
    Audience.NEWCOMERS.value: "newcomers",
    Audience.VISITORS.value: "visitors of the widget",
    ALL: "anybody, those of strangers alone,",
}


def check_strangers(name: str, days: Sequence[StrangerDay], now: datetime) -> Iterator[Finding]:
    """Check whether too much of the service's mail to people who have not agreed bounced."""
    sent, bounced = sum(one.sent for one in days), sum(one.bounced for one in days)
    message = f"{bounced} of {sent} emails to {_STRANGERS[name]} bounced since yesterday."
    if until := paused_until(days, now):
        yield Finding(
            "strangers",
            Verdict.WARN,
            f"{message} No more are sent until {until:%Y-%m-%d %H:%M} UTC.",
            "Nothing needs to be done: users get their codes. If somebody tries addresses again and"
            " again, deploy with SignUp=invited, or without WidgetOrigins.",
        )
    else:
        yield Finding("strangers", Verdict.PASS, message)


def check_dead_letters(
    status: Mapping[str, tuple[QueueStatus, QueueStatus | None]],
) -> Iterator[Finding]:
    for name, (queue, dead_letters) in status.items():
        if queue.dead_letters_url is None:
            message = f"{name}: it has no redrive policy, so what fails is tried again and again."
            yield Finding("queues", Verdict.FAIL, message, REVERT_DRIFT)
        elif dead_letters and dead_letters.waiting:
            yield Finding(
                "queues",
                Verdict.FAIL,
                f"{name}: {dead_letters.waiting} dead letters.",
                f"Fix what the functions' logs report, then: pillarbox queue redrive {name}",
            )
        else:
            message = f"{name}: {queue.waiting} wait, {queue.in_flight} in flight, no dead letters."
            yield Finding("queues", Verdict.PASS, message)


def check_queue_ages(
    ages: Mapping[str, float | None], switched_off: Collection[str] = ()
) -> Iterator[Finding]:
    """Check how long the oldest message of each queue has waited.

    SQS leaves out messages that were received three times; the alarm Late tells of such mail. No
    worker reads a queue in `switched_off`, so what it still has may wait until SQS deletes it.
    """
    for name, age in ages.items():
        maximum, worker = _QUEUES[name]
        if name in switched_off:
            yield Finding("waiting", Verdict.SKIPPED, f"{name}: they are switched off.")
        elif age is None:
            yield Finding("waiting", Verdict.SKIPPED, f"{name}: CloudWatch has no recent metric.")
        elif age > maximum:
            yield Finding(
                "waiting",
                Verdict.FAIL,
                f"{name}: the oldest message has waited {age:.0f} seconds.",
                f"Check the findings about SES, and the log and throttles of {worker}.",
            )
        else:
            message = (
                f"{name}: the oldest message is {age:.0f} seconds old. Messages that were received"
                " three times do not count."
            )
            yield Finding("waiting", Verdict.PASS, message)


#: The checks by their names.
type Checks = Mapping[str, Callable[[], Iterator[Finding]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceChecks:
    """The checks that need no right to the stack."""

    provider: ProviderAccount
    accounts: AccountReader
    queues: QueueOperations
    strangers: StrangerMail
    clock: Clock
    configuration_set: str
    webhooks: bool

    def runs(self) -> Checks:
        """Return the checks. Each reads what it needs when it is called."""
        return {
            "sending": lambda: check_sending(self.provider.sending_status()),
            "quota": lambda: check_quota(self.provider.sending_status()),
            "events": lambda: check_events(self.provider.configuration_set(self.configuration_set)),
            "strangers": self._check_strangers,
            "queues": lambda: check_dead_letters(self.queues.status()),
            "waiting": self._check_queue_ages,
            "limits": lambda: check_limits(self.accounts.all(), self.provider.sending_status()),
        }

    def _check_queue_ages(self) -> Iterator[Finding]:
        switched_off = () if self.webhooks else ("webhooks",)
        yield from check_queue_ages(self.queues.oldest_message_ages(), switched_off)

    def _check_strangers(self) -> Iterator[Finding]:
        now = self.clock()
        for name in (*Audience, ALL):
            yield from check_strangers(name, self.strangers.since(name, first_day(now)), now)


def run_checks(runs: Checks) -> Iterator[Finding]:
    """Run every check, even if others fail."""
    for name, run in runs.items():
        try:
            yield from run()
        except ServiceError as error:
            remedy = "Fix the error that the message names, then run the doctor again."
            yield Finding(name, Verdict.FAIL, error.message, remedy)
