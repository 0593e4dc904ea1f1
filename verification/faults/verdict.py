"""The verdict on a run that has come to an end: which promises it broke."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields

from pillarbox.domain.messages.message import Message, Status
from verification.faults.system import System


@dataclass
class Verdict:
    """How many mails were accepted, and how often each promise was broken, which must be 0."""

    accepted: int = 0
    #: The client got 200, but the provider never got the mail.
    lost: int = 0
    #: The provider got one mail more than once, or one key made two messages.
    doubled: int = 0
    #: The client got an error, but the provider got the mail.
    phantom: int = 0
    #: Pending at the end, or a dead letter, or the run did not come to an end.
    stuck: int = 0
    #: A status, provider id or suppression that does not match the events.
    wrong: int = 0
    #: A window of the quota counts less than was accepted, or more than that without an excuse.
    quota: int = 0
    #: Handed over after the deadline, or hidden in the queue or leased without a reason.
    late: int = 0
    #: A body is still in the spool.
    left: int = 0

    def __add__(self, other: "Verdict") -> "Verdict":
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Verdict(**sums)

    def __bool__(self) -> bool:
        """Whether a promise was broken."""
        return any(getattr(self, f.name) for f in fields(self) if f.name != "accepted")

    def __str__(self) -> str:
        counts = {f.name: getattr(self, f.name) for f in fields(self)}
        return ", ".join(f"{name} {n}" for name, n in counts.items())


def judge(
    system: System,
    expected: dict[str, set[Status]],
    *,
    at_rest: bool,
    exact: bool,
    spool: bool,
    excused: Callable[[Message], bool] = lambda _message: False,
) -> Verdict:
    """Judge a run.

    Args:
        system: the system after the run.
        expected: the final statuses of each message that the provider accepted, by subject.
        at_rest: whether the run came to an end.
        exact: whether the quota must be exact. Some faults may count a send twice: a quota
            that is too strict until its windows end breaks no promise, a lax one does.
        spool: whether the spool must be empty. Some faults may leave an object until it expires.
        excused: whether an accepted message failed for a reason that it must fail for.
    """
    messages = system.messages()
    verdict = Verdict(accepted=len(messages), stuck=(not at_rest) + len(system.dead))
    accepted = Counter(mail.subject for mail in system.provider_mails())
    failed_rightly = {str(message.message_id) for message in messages if excused(message)}
    for send in system.sends:
        for subject in (mail.subject or "" for mail in send.mails):
            answered, count = send.answers.get(subject, set()), accepted[subject]
            verdict.lost += bool(answered - failed_rightly) and count == 0
            verdict.doubled += max(count, len(answered), 1) - 1
            verdict.phantom += not answered and not send.outcome_unknown and count > 0
    for message in messages:
        if message.status is Status.PENDING:
            verdict.stuck += 1
        elif accepted[message.subject] and (
            message.status not in expected[message.subject] or not message.provider_message_id
        ):
            verdict.wrong += 1
    verdict.wrong += len(_bounced(system) ^ system.suppressed())
    recipients = sum(len(message.recipients) for message in messages)
    for window, counts in system.quota_counts().items():
        used, due = sum(counts), recipients if window == "recipients" else len(messages)
        verdict.quota += used < due or (exact and used > due)
        verdict.quota += min(counts, default=0) < 0
    verdict.left += len(system.spool_keys()) if spool else 0
    return verdict


def _bounced(system: System) -> set[str]:
    return {
        address
        for mail in system.provider_mails()
        for address, outcome in mail.outcomes.items()
        if outcome == "bounced"
    }
