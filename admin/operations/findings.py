"""What the doctor makes of what it sees: each finding with its remedy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from admin.operations.ports import (
    ConfigurationSet,
    QueueStatus,
    SendingStatus,
    TableProtectionState,
)
from pillarbox.application.accounts.dns_records import State
from pillarbox.application.accounts.domains import Domain


class Verdict(StrEnum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105  no password
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; the remedy is empty when nothing is to be done."""

    check: str
    verdict: Verdict
    said: str
    remedy: str = ""


#: What `record_feedback` lives on; the other kinds only tell more.
_EVENTS: Final = frozenset({"SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT"})
#: The share of the day's quota beyond which it is time to ask for more.
_MUCH: Final = 0.8
#: A worker waits two seconds for its share of SES's rate (adapters/ses_rate.py).
_LEAST_SHARE: Final = 0.5
#: What one worker hands over in a second, at 120 ms a mail.
_WORKER_RATE: Final = 8
#: Functions at a time that are left for requests, events and statistics at the least.
_FREE: Final = 50
#: The alarms' own bounds, in seconds.
_LATE: Final = {"jobs": 3600, "events": 300}
_RENEW: Final = timedelta(days=21)
_RENEW_NOW: Final = timedelta(days=7)
#: AWS refuses what is signed five minutes off.
_SLOW_CLOCK, _WRONG_CLOCK = timedelta(seconds=30), timedelta(seconds=240)


def of_sending(standing: SendingStatus) -> Iterator[Finding]:
    """Whether SES lets the account send, and to whom."""
    if standing.enforcement == "SHUTDOWN" or not standing.sending:
        yield Finding(
            "sending",
            Verdict.FAIL,
            f"SES has paused sending (enforcement: {standing.enforcement}); mail waits.",
            "Answer the case that SES opened (console, SES, Account dashboard). Accepted mail"
            " goes out within 24 hours of its acceptance or fails.",
        )
    elif standing.enforcement != "HEALTHY":
        yield Finding(
            "sending",
            Verdict.WARN,
            f"SES reviews the account ({standing.enforcement}).",
            "Find the account whose mail bounces or is complained of, and revoke its keys.",
        )
    elif standing.sandbox:
        yield Finding(
            "sending",
            Verdict.WARN,
            "The account is in the SES sandbox: mail goes to verified addresses only.",
            "Request production access (console, SES, Account dashboard); it takes about a day.",
        )
    else:
        yield Finding("sending", Verdict.PASS, "Out of the sandbox, sending enabled.")


def of_rate(standing: SendingStatus, workers: int) -> Iterator[Finding]:
    """The day's quota, and whether the workers fit the rate; both count recipients."""
    # SES grants some accounts a day without bound, and says -1.
    used = standing.sent_of_day / standing.per_day if standing.per_day > 0 else 0.0
    said = f"{standing.sent_of_day:.0f} of {standing.per_day:.0f} recipients in 24 hours."
    if used >= 1:
        yield Finding("quota", Verdict.FAIL, said, "Mail waits: ask SES for a higher quota.")
    elif used >= _MUCH:
        yield Finding("quota", Verdict.WARN, said, "Ask SES for a higher quota (Service Quotas).")
    else:
        yield Finding("quota", Verdict.PASS, said)
    said = f"{standing.per_second:g} recipients a second for {workers} workers."
    if 0 < standing.per_second < workers * _LEAST_SHARE:
        # Two workers are the fewest that an event source can be given.
        fitting = max(int(standing.per_second / _LEAST_SHARE), 2)
        remedy = "Ask SES for a higher sending rate: each mail waits for its turn."
        if fitting < workers:
            remedy = f"Deploy with DeliveryConcurrency={fitting}, or ask SES for a higher rate."
        yield Finding("rate", Verdict.WARN, said, remedy)
    elif standing.per_second > workers * _WORKER_RATE:
        fitting = min(-int(-standing.per_second // _WORKER_RATE), 1000)
        remedy = f"Deploy with DeliveryConcurrency={fitting} to use the whole rate."
        yield Finding("rate", Verdict.WARN, said, remedy)
    else:
        yield Finding("rate", Verdict.PASS, said)


def of_functions(concurrency: int, workers: int) -> Iterator[Finding]:
    """Whether requests find a function that is free while all workers deliver."""
    said = f"{concurrency} functions at a time in this AWS account, {workers} of them deliver."
    if concurrency - workers < _FREE:
        yield Finding(
            "functions",
            Verdict.WARN,
            said,
            "Ask for more (Service Quotas, Lambda, Concurrent executions): new accounts have 10,"
            " and requests beyond them are refused.",
        )
    else:
        yield Finding("functions", Verdict.PASS, said)


def of_events(found: ConfigurationSet | None) -> Iterator[Finding]:
    """Whether mail can be handed over under the configuration set, and SES reports of it."""
    redeploy = "Deploy again; somebody changed it by hand (CloudFormation, Detect drift)."
    if found is None:
        said = "SES does not know the configuration set: every mail is refused."
        yield Finding("events", Verdict.FAIL, said, redeploy)
    elif not found.sending:
        said = "Sending is paused for the configuration set; mail waits."
        yield Finding("events", Verdict.FAIL, said, "Enable it (SES, Configuration sets).")
    elif missing := sorted(_EVENTS - found.published):
        said = f"SES does not report {', '.join(missing)} to EventBridge."
        yield Finding("events", Verdict.FAIL, said, redeploy)
    else:
        yield Finding("events", Verdict.PASS, "SES reports to EventBridge what becomes of mail.")


def of_queues(
    status: Mapping[str, tuple[QueueStatus, QueueStatus]],
) -> Iterator[Finding]:
    """What was set aside."""
    for name, (queue, dead) in status.items():
        if dead.waiting:
            yield Finding(
                "queues",
                Verdict.FAIL,
                f"{dead.waiting} {name} were set aside.",
                f"Mend what the functions' logs tell, then: pillarbox queue redrive {name}",
            )
        else:
            said = f"{name}: {queue.waiting} wait, {queue.in_flight} in flight, none set aside."
            yield Finding("queues", Verdict.PASS, said)


def of_waiting(ages: Mapping[str, float | None]) -> Iterator[Finding]:
    """How long the queues' oldest messages have waited."""
    for name, age in ages.items():
        if age is None:
            yield Finding("waiting", Verdict.SKIPPED, f"{name}: nothing was measured lately.")
        elif age > _LATE[name]:
            yield Finding(
                "waiting",
                Verdict.FAIL,
                f"{name}: the oldest has waited {age:.0f} seconds.",
                "Look at what SES says above, and at the worker's log and throttles.",
            )
        else:
            yield Finding("waiting", Verdict.PASS, f"{name}: the oldest is {age:.0f} seconds old.")


def of_table(state: TableProtectionState) -> Iterator[Finding]:
    """Whether the table can be lost."""
    redeploy = "Deploy again; somebody changed it by hand."
    if state.recovery:
        yield Finding("table", Verdict.PASS, "Any second of the last 35 days can be restored.")
    else:
        said = "Point-in-time recovery is off."
        yield Finding("table", Verdict.FAIL, said, redeploy)
    if state.deletion_protection:
        yield Finding("table", Verdict.PASS, "It refuses to be deleted.")
    else:
        remedy = "In production deploy with DeletionProtection=true."
        yield Finding("table", Verdict.WARN, "It can be deleted.", remedy)
    if state.expiry == "expires_at":
        yield Finding("table", Verdict.PASS, "What has expired is deleted.")
    else:
        said = f"Items do not expire by expires_at (but by: {state.expiry})."
        yield Finding("table", Verdict.FAIL, said, redeploy)


def of_alarms(firing: Sequence[str], listeners: int) -> Iterator[Finding]:
    """Whether something is wrong already, and whether anybody would be told."""
    for name in firing:
        remedy = "See docs/operations.md, Alarms."
        yield Finding("alarms", Verdict.FAIL, f"In alarm: {name}", remedy)
    if not firing:
        yield Finding("alarms", Verdict.PASS, "None is in alarm.")
    if listeners:
        yield Finding("alarms", Verdict.PASS, f"{listeners} subscribed to them.")
    else:
        remedy = "Subscribe to the topic AlarmTopic (SNS), and confirm the subscription."
        yield Finding("alarms", Verdict.WARN, "Nobody is told of alarms.", remedy)


def of_certificate(end: datetime, now: datetime) -> Iterator[Finding]:
    """How long SMTP clients will trust the relay."""
    left = end - now
    said = f"The relay's certificate ends on {end:%Y-%m-%d}, in {left.days} days."
    remedy = "Put a new certificate into the relay's secret; containers take it in minutes."
    if left < _RENEW_NOW:
        yield Finding("relay", Verdict.FAIL, said, remedy)
    elif left < _RENEW:
        yield Finding("relay", Verdict.WARN, said, remedy)
    else:
        yield Finding("relay", Verdict.PASS, said)


def of_clock(standing: SendingStatus) -> Iterator[Finding]:
    """How far this machine's clock is from AWS's."""
    if standing.their_time is None:
        yield Finding("clock", Verdict.SKIPPED, "The answer of SES had no date.")
        return
    offset = abs(standing.our_time - standing.their_time)
    said = f"{offset.total_seconds():.0f} seconds from AWS's."
    remedy = "Set this machine's clock (NTP): requests signed five minutes off are refused."
    if offset > _WRONG_CLOCK:
        yield Finding("clock", Verdict.FAIL, said, remedy)
    elif offset > _SLOW_CLOCK:
        yield Finding("clock", Verdict.WARN, said, remedy)
    else:
        yield Finding("clock", Verdict.PASS, said)


def of_no_identity(name: str) -> Finding:
    """A domain that mail comes from, and that is no identity of SES."""
    return Finding(
        "domains",
        Verdict.WARN,
        f"{name}: SES does not know the domain; receivers see mail of SES's, or none goes out.",
        f"pillarbox domain add {name}",
    )


def of_domain(name: str, domain: Domain, policy: Mapping[str, str] | None) -> Iterator[Finding]:
    """Whether receivers can tell that mail from a domain is its own (RFC 7489 section 3.1).

    Args:
        name: the domain of senders.
        domain: the identity that SES signs with: the same, or one above.
        policy: the tags of the DMARC record in force, empty without one; None when
            the DNS gave no answer.
    """
    identity, tags = domain.identity, policy or {}
    see = f"pillarbox domain show {identity.name}"
    gone = {each.record.purpose for each in domain.records if each.state in _NOT_THERE}
    if identity.dkim != "SUCCESS" or "DKIM" in gone:
        said = f"{name}: not signed with its own keys (DKIM: {identity.dkim})."
        yield Finding("domains", Verdict.FAIL, said, f"Create the CNAME records: {see}")
    elif tags.get("adkim") == "s" and identity.name != name:
        said = f"{name}: signed by {identity.name}, but its DMARC record wants itself (adkim=s)."
        yield Finding("domains", Verdict.FAIL, said, f"pillarbox domain add {name}")
    else:
        yield Finding("domains", Verdict.PASS, f"{name}: signed by {identity.name} (DKIM).")
    if identity.mail_from_status != "SUCCESS" or gone & {"MAIL FROM", "MAIL FROM SPF"}:
        said = f"{name}: bounces go to SES's own domain, so SPF does not speak for it."
        yield Finding("domains", Verdict.WARN, said, f"Create the MX and its TXT: {see}")
    elif tags.get("aspf") == "s" and identity.mail_from != name:
        said = f"{name}: its DMARC record (aspf=s) does not count SPF of {identity.mail_from}."
        yield Finding("domains", Verdict.WARN, said, "Nothing, as long as DKIM passes.")
    else:
        yield Finding("domains", Verdict.PASS, f"{name}: SPF speaks for {identity.mail_from}.")
    if policy is None:
        said = f"{name}: the DNS does not tell its DMARC record now."
        yield Finding("domains", Verdict.SKIPPED, said)
    elif not tags:
        said = f"{name}: no DMARC record; large receivers want one."
        yield Finding("domains", Verdict.WARN, said, f"Create the TXT record: {see}")
    else:
        said = f"{name}: DMARC asks receivers for {tags.get('p', 'nothing')}."
        yield Finding("domains", Verdict.PASS, said)


#: What the DNS does not answer may be there all the same.
_NOT_THERE: Final = frozenset({State.MISSING, State.DIFFERS})
