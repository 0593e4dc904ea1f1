"""What becomes of an accepted email, and what SES does by itself then."""

from collections.abc import Iterable, Mapping
from typing import Final

from local.ses.behaviour import OUTCOMES, Mode
from local.ses.feedback import feedback_id, forwarded
from local.ses.mail import CapturedMail, Outcome
from local.ses.store import MailStore
from local.ses.suppression import SIMULATOR, SuppressionRule

#: The addresses of the mailbox simulator; each accepts any +label.
_SIMULATED: Final[Mapping[str, Outcome]] = {
    "success": "delivered",
    "bounce": "bounced",
    "complaint": "complained",
    "ooto": "auto-replied",
    "suppressionlist": "globally suppressed",
}
#: The start of the EICAR test file in base64: SES accepts such an email and then rejects it.
_EICAR: Final = b"WDVPIVAlQEFQWzRcUFpYNTQoUF4pN0NDKTd9JEVJQ0FS"
#: Outcomes of the whole email: SES did not try any of its recipients.
_OF_ALL: Final[tuple[Outcome, ...]] = ("rejected", "not rendered")


def outcomes_of(
    recipients: Iterable[str],
    raw: bytes,
    suppression: SuppressionRule,
    modes: Mapping[str, Mode],
) -> dict[str, Outcome]:
    """Return the outcome for each recipient.

    Args:
        recipients: the envelope's.
        raw: the email.
        suppression: the list that the email falls under.
        modes: what a test asked for, by recipient.
    """
    found = {each: _outcome(each, suppression, modes.get(each, "accept")) for each in recipients}
    if _EICAR in raw:
        return dict.fromkeys(found, "rejected")
    for outcome in _OF_ALL:
        if outcome in found.values():
            return dict.fromkeys(found, outcome)
    return found


def take(mailbox: MailStore, mail: CapturedMail) -> None:
    """Keep an accepted email. List bad addresses, and send feedback to its sender, as SES does."""
    mailbox.add(mail)
    suppression = mailbox.suppression_rule(mail.tenant, mail.configuration_set)
    suppression.learn(mail, feedback_id(mail))
    published = mailbox.configuration_sets.get(mail.configuration_set or "")
    is_told = published is not None and published.publishes("BOUNCE")
    # Who is told of a bounce in no other way gets the mail even if the identity forwards nothing.
    if mailbox.forwards_feedback(mail.source) or not is_told:
        for notice in forwarded(mail):
            mailbox.add(notice)


def _outcome(recipient: str, suppression: SuppressionRule, mode: Mode) -> Outcome:
    if mode == "global-list":  # on command even while the account has a list of its own
        suppression.global_list.add(recipient.lower())
        return OUTCOMES[mode]
    if listed := suppression.outcome(recipient):
        return listed
    if mode in OUTCOMES:
        return OUTCOMES[mode]
    local, _, domain = recipient.lower().rpartition("@")
    simulated = _SIMULATED.get(local.partition("+")[0]) if domain == SIMULATOR else None
    return simulated or "delivered"
