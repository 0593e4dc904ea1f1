"""The verdict on a run: which promises it broke, once everything is at rest."""

from collections import Counter
from dataclasses import dataclass, fields

from pillarbox.domain.message import Status
from verification.faults.system import System


@dataclass
class Verdict:
    """How many mails were accepted, and how often each promise was broken: that must stay 0."""

    accepted: int = 0
    #: Answered 200, and the provider never got it.
    lost: int = 0
    #: The provider got one send more than once, or one key made two messages.
    doubled: int = 0
    #: Refused, and yet the provider got it.
    phantom: int = 0
    #: Pending at rest, or among the dead letters, or never at rest.
    stuck: int = 0
    #: A status, provider id or suppression that is not what happened.
    wrong: int = 0
    #: Counted less than was accepted; or other than that, where nothing excuses it.
    quota: int = 0
    #: A body that is still in the spool.
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
    system: System, expected: dict[str, set[Status]], *, at_rest: bool, exact: bool, spool: bool
) -> Verdict:
    """Judge a run.

    Args:
        system: at rest.
        expected: by subject, what a message may show that the provider took.
        at_rest: whether it came to rest.
        exact: nothing happened that may count a send twice; a quota that is too
            strict for the rest of its windows is no broken promise, a lax one is.
        spool: nothing happened that may leave an object for the spool's own expiry.
    """
    messages = system.messages()
    verdict = Verdict(accepted=len(messages), stuck=(not at_rest) + len(system.dead))
    taken = Counter(mail.subject for mail in system.taken())
    for send in system.sends:
        for subject in (mail.subject or "" for mail in send.mails):
            answered, count = send.answers.get(subject, set()), taken[subject]
            verdict.lost += bool(answered) and count == 0
            verdict.doubled += max(count, len(answered), 1) - 1
            verdict.phantom += not answered and not send.unheard and count > 0
    for message in messages:
        if message.status is Status.PENDING:
            verdict.stuck += 1
        elif taken[message.subject] and (
            message.status not in expected[message.subject] or not message.provider_message_id
        ):
            verdict.wrong += 1
    verdict.wrong += len(_bounced(system) ^ system.suppressed())
    counted = system.counted()
    verdict.quota += counted < len(messages) or (exact and counted > len(messages))
    verdict.left += len(system.spooled()) if spool else 0
    return verdict


def _bounced(system: System) -> set[str]:
    return {
        address
        for mail in system.taken()
        for address, outcome in mail.outcomes.items()
        if outcome == "bounced"
    }
