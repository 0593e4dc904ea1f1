"""Whom an email went to, as To, Cc or Bcc, and what became of it."""

from email.utils import getaddresses
from typing import Final, Literal

from local.ses.headers import first
from local.ses.mail import CapturedMail, Outcome
from pillarbox.domain.errors import Json

type Kind = Literal["to", "cc", "bcc"]

#: Why an email did not arrive, or what its recipient did with it.
_REASONS: Final[dict[Outcome, str]] = {
    "bounced": "550 5.1.1 user unknown",
    "bounced for now": "452 4.2.2 mailbox full",
    "delayed": "the recipient's server cannot be reached",
    "complained": "the recipient called it spam",
    "auto-replied": "the recipient is out of office",
    "globally suppressed": "on the suppression list of SES",
    "suppressed": "on the account's suppression list after a bounce",
    "suppressed after complaint": "on the account's suppression list after a complaint",
    "rejected": "SES found a virus",
    "not rendered": "SES could not fill its template in",
}


def deliveries_of(mail: CapturedMail) -> list[Json]:
    """Return address, kind and outcome of each recipient, with the reason if there is one."""
    return [_delivery(mail, address) for address in mail.destination.addresses]


def _delivery(mail: CapturedMail, address: str) -> dict[str, Json]:
    outcome = mail.outcomes[address]
    delivery: dict[str, Json] = {
        "address": address,
        "kind": _kind(mail, address),
        "outcome": outcome,
    }
    if reason := mail.refusal or _REASONS.get(outcome):
        delivery["reason"] = reason
    return delivery


def _kind(mail: CapturedMail, address: str) -> Kind:
    """Return the kind. Pillarbox names all recipients as To to SES; the headers tell them apart."""
    if address in mail.destination.cc:
        return "cc"
    if address in mail.destination.bcc:
        return "bcc"
    to, cc = _named(mail, "to"), _named(mail, "cc")
    if address.lower() in to or not to | cc:
        return "to"
    return "cc" if address.lower() in cc else "bcc"


def _named(mail: CapturedMail, field: str) -> set[str]:
    value = first(mail.headers, field) or ""
    return {address.lower() for _, address in getaddresses([value]) if address}
