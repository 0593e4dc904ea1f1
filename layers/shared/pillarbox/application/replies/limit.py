"""Stop the rule of a domain that gets too many mails in a day, and let it receive the next day."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC

from pillarbox.application.ports import Clock
from pillarbox.application.replies.ports import (
    ReceiptRules,
    ReceivingDomain,
    ReceivingDomains,
)
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert, AlertKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingLimit:
    """Stops and resumes. Each further mail costs, also one that is left out."""

    receiving: ReceivingDomains
    rules: ReceiptRules
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def stop(self, domain: ReceivingDomain, most: int) -> None:
        """Let SES refuse the mail of a domain until the next day (UTC), and tell the owners."""
        today = self.clock().astimezone(UTC).date()
        # What resumes it comes first: a rule that is stopped without it would stay so.
        self.receiving.put(replace(domain, stopped_on=today))
        self.rules.stop(domain.domain)
        midnight = self.clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        text = (
            f"{domain.domain} got {most:,} mails today, which is the limit of a day. Until midnight"
            " (UTC) each further one is refused, and its sender is told so."
        )
        alert = Alert(
            kind=AlertKind.QUOTA,
            name=f"received {domain.domain}",
            at=midnight,
            title=f"{domain.domain} receives no more mail today",
            paragraphs=[text],
            about=domain.domain,
        )
        self.raise_alert(domain.account_id, alert)

    def look(self, account: Account) -> None:
        """Let the domain of an account receive again, on a day after it stopped."""
        if account.reply_domain is None:
            return
        domain = self.receiving.get(account.reply_domain)
        today = self.clock().astimezone(UTC).date()
        if domain and domain.stopped_on and domain.stopped_on < today:
            self.rules.put(domain.domain)
            self.receiving.put(replace(domain, stopped_on=None))
