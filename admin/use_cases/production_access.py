"""Ask AWS to let an account send to everybody, and for higher quotas."""

from dataclasses import dataclass
from typing import Final

from pillarbox.domain.accounts.account_domain import DomainIdentity
from pillarbox.domain.errors import FieldError, ValidationFailed

_TEXT: Final = """\
We send transactional email for {request.website}, and no marketing: {request.emails}

We expect up to {request.per_day:,} emails on a busy day, each to one person who has just done
something there or has an account. We have no mailing lists and buy no addresses.

{own}.

SES reports each bounce and complaint to our service (Pillarbox) through EventBridge. An address
that bounced permanently or complained gets no further email. When the bounce or complaint rate of
a sender rises, the service pauses that sender by itself, before it reaches the figures at which
SES reviews an account, and alarms us. Email that a person can do without has one-click unsubscribe
(RFC 8058)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """What AWS's reviewers read; AWS answers one to four contacts."""

    website: str
    contacts: tuple[str, ...]
    emails: str
    per_day: int
    domain: DomainIdentity
    has_dmarc: bool

    def describe(self) -> str:
        """Return the text of the request: the operator's part, and what the service does itself."""
        domain = self.domain
        if domain.dkim != "SUCCESS":
            message = f"is not verified in SES. First: pillarbox domain verify {domain.name}"
            raise ValidationFailed(FieldError("DOMAIN", message, "unverified"))
        own = [f"DKIM for {domain.name} is verified in SES"]
        own += ["the MAIL FROM domain is ours"] if domain.mail_from_status == "SUCCESS" else []
        own += ["the domain has a DMARC record"] if self.has_dmarc else []
        return _TEXT.format(request=self, own="; ".join(own))
