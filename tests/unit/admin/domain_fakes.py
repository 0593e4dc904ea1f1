"""Fakes of the provider's domains and of DNS."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.accounts.account_domain import DomainIdentity

TOKENS = ("token1", "token2", "token3")


@dataclass
class FakeDomains:
    """Implements `DomainIdentities`. `verify` acts as SES does when it finds the records."""

    identities: dict[str, DomainIdentity] = field(default_factory=dict)

    def get(self, name: str) -> DomainIdentity | None:
        return self.identities.get(name)

    def add(self, name: str) -> DomainIdentity:
        return self.identities.setdefault(
            name,
            DomainIdentity(
                name=name,
                verified=False,
                dkim="PENDING",
                dkim_tokens=TOKENS,
                dkim_zone="dkim.amazonses.com",
                mail_from=None,
                mail_from_status=None,
                feedback_host="feedback-smtp.eu-west-1.amazonses.com",
            ),
        )

    def ensure_no_feedback_mail(self, identity: DomainIdentity) -> DomainIdentity:
        quiet = self.identities[identity.name] = replace(identity, mails_feedback=False)
        return quiet

    def remove(self, name: str) -> None:
        self.identities.pop(name, None)

    def set_mail_from(self, name: str, mail_from: str) -> None:
        self.identities[name] = replace(
            self.identities[name], mail_from=mail_from, mail_from_status="PENDING"
        )

    def verify(self, name: str) -> None:
        self.identities[name] = replace(
            self.identities[name], verified=True, dkim="SUCCESS", mail_from_status="SUCCESS"
        )


@dataclass
class FakeDns:
    """Implements `DnsLookup`. It gives no answer for `broken.example`."""

    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        return None if name.endswith("broken.example") else self.records.get((name, kind), [])

    def add(self, *records: DnsRecord) -> None:
        for record in records:
            self.records.setdefault((record.name, record.type), []).append(record.value)
