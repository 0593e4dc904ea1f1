"""SES's own suppression lists: which list an email falls under, and what that list stops.

The rules are those of the developer guide (docs.aws.amazon.com/ses/latest/dg/, read on 2026-11-28),
pages lists-and-subscriptions, sending-email-global-suppression-list and
sending-email-suppression-list with -config-level, -tenant-level and -tenant-level-manage.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from local.ses.mail import CapturedMail, Outcome

type Reason = Literal["BOUNCE", "COMPLAINT"]
type Scope = Literal["ACCOUNT", "TENANT"]
type Owner = Literal["Account", "Tenant"]

REASONS: Final[tuple[Reason, ...]] = ("BOUNCE", "COMPLAINT")
SIMULATOR: Final = "simulator.amazonses.com"
_LISTED_FOR: Final[dict["Outcome", Reason]] = {"bounced": "BOUNCE", "complained": "COMPLAINT"}


@dataclass(frozen=True, slots=True)
class SuppressedDestination:
    """An address on a suppression list, and the email that brought it there, if one did."""

    address: str
    reason: Reason
    updated_at: datetime
    message_id: str | None = None
    feedback_id: str | None = None


class SuppressedDestinations(dict[str, SuppressedDestination]):
    """Addresses as they were written: operations want the exact case, a send ignores it."""

    def matching(self, recipient: str) -> SuppressedDestination | None:
        """Return the entry that stops mail to a recipient."""
        wanted = recipient.lower()
        return next((entry for key, entry in self.items() if key.lower() == wanted), None)

    def put(self, entry: SuppressedDestination) -> None:
        self[entry.address] = entry


@dataclass(slots=True, kw_only=True)
class SuppressionOptions:
    """What an account, a tenant or a configuration set says about suppression.

    None says nothing, so that what is above applies: a configuration set overrides the tenant, and
    the tenant the account. No reasons at all switch the list off.
    """

    reasons: tuple[Reason, ...] | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class SuppressionRule:
    """The list that an email falls under, and the reasons in force."""

    owner: Owner
    entries: SuppressedDestinations
    reasons: tuple[Reason, ...]
    global_list: "set[str]" = field(repr=False)

    def outcome(self, recipient: str) -> "Outcome | None":
        """Return how a list stops mail to a recipient; None if none does.

        An entry stops it only for a reason in force. What is not in force is left to the list that
        all customers of SES share, which knows hard bounces.
        """
        entry = self.entries.matching(recipient)
        if entry and entry.reason in self.reasons:
            return "suppressed" if entry.reason == "BOUNCE" else "suppressed after complaint"
        is_global = "BOUNCE" not in self.reasons and recipient.lower() in self.global_list
        return "globally suppressed" if is_global else None

    def learn(self, mail: "CapturedMail", feedback_id: str) -> None:
        """List the recipients of an email that bounced or complained, as SES does by itself."""
        for recipient, outcome in mail.outcomes.items():
            reason = _LISTED_FOR.get(outcome)
            if reason in self.reasons and not is_simulated(recipient):
                self.entries.put(
                    SuppressedDestination(
                        recipient, reason, datetime.now(UTC), mail.id, feedback_id
                    )
                )


def is_simulated(address: str) -> bool:
    """Return whether an address is one of SES's mailbox simulator."""
    return address.lower().endswith(f"@{SIMULATOR}")
