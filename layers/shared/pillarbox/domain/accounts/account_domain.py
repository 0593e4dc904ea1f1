"""A domain that a member added to an account, and the link to its DNS records."""

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import digest_of

#: How long a link works.
LINK_TIME: Final = timedelta(days=14)
_SECRET_LENGTH: Final = 32
_TOKEN: Final = re.compile(
    rf"pbd_([0-9a-z]{{{ACCOUNT_ID_LENGTH}}})([0-9a-z]{{{_SECRET_LENGTH}}})_([a-z0-9.-]{{1,253}})"
)


@dataclass(frozen=True, slots=True)
class DomainLinkToken:
    """The text of a link, in its parts. It names account and domain, so a look is one read."""

    account_id: str
    domain: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"pbd_{self.account_id}{self.secret}_{self.domain}"


def new_domain_link(account_id: str, domain: str) -> DomainLinkToken:
    """Return a link with a new secret."""
    return DomainLinkToken(account_id, domain, new_token(_SECRET_LENGTH))


def parse_domain_link(text: str) -> DomainLinkToken | None:
    """Return the parts of a link; None if the text is none."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        return None
    account_id, secret, domain = match.groups()
    return DomainLinkToken(account_id, domain, secret)


@dataclass(frozen=True, slots=True)
class DomainLink:
    """What is stored of a link. A domain has one at most; a new one ends the old one."""

    digest: str = field(repr=False)
    expires_at: datetime

    def opens(self, token: DomainLinkToken, now: datetime) -> bool:
        """Return whether a token is that of the link, which still works."""
        is_right = hmac.compare_digest(self.digest, digest_of(token.secret))
        return is_right and now < self.expires_at


#: Below a domain, of its MAIL FROM domain.
MAIL_FROM_LABEL: Final = "mail"
#: What the provider says of DKIM if it did not find the keys for days, or no longer finds them.
_FAILURES: Final = frozenset({"FAILED", "TEMPORARY_FAILURE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainIdentity:
    """A sending domain at the provider. Statuses are the provider's own words."""

    name: str
    verified: bool
    #: SUCCESS after the provider has found the public keys in DNS.
    dkim: str
    dkim_tokens: tuple[str, ...]
    #: The domain that holds the public keys of the tokens.
    dkim_zone: str
    #: The domain of the envelope sender; None for the provider's own domain.
    mail_from: str | None
    mail_from_status: str | None
    #: The host that accepts bounces to the MAIL FROM domain.
    feedback_host: str
    #: Whether the provider also mails each bounce and complaint to the sender.
    mails_feedback: bool = False

    @property
    def inbound_host(self) -> str:
        """The host of the provider that receives mail, in the region of `feedback_host`."""
        return inbound_host(self.feedback_host.split(".")[1])

    @property
    def is_registered(self) -> bool:
        """Whether the provider knew the domain when it was last asked."""
        return bool(self.dkim_zone)


def inbound_host(region: str) -> str:
    return f"inbound-smtp.{region}.amazonaws.com"


def unregistered(name: str) -> DomainIdentity:
    """Return what is known of a domain before the provider knows it."""
    return DomainIdentity(
        name=name,
        verified=False,
        dkim="NOT_STARTED",
        dkim_tokens=(),
        dkim_zone="",
        mail_from=None,
        mail_from_status=None,
        feedback_host="",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDomain:
    """A domain that a member added to an account, as the provider described it at `checked_at`."""

    account_id: str
    identity: DomainIdentity
    added_at: datetime
    checked_at: datetime
    #: When DNS first had the record that proves that the account controls the domain.
    proved_at: datetime | None = None
    #: When DNS last had it, as far as somebody looked.
    proof_seen_at: datetime | None = None
    #: The chosen label of its MAIL FROM domain, which counts if it is new to the provider.
    mail_from_label: str = MAIL_FROM_LABEL
    #: The link that shows its DNS records to others.
    link: DomainLink | None = None
    #: The label of the domain below it that receives answers, and the names that get other mail.
    receive: str | None = None
    receive_names: tuple[str, ...] = ()

    @property
    def receives(self) -> str | None:
        """The domain that receives; None if none does."""
        return f"{self.receive}.{self.name}" if self.receive else None

    @property
    def mail_from(self) -> str:
        """The label of its MAIL FROM domain: that of the provider, or the chosen one."""
        known = self.identity.mail_from
        return known.removesuffix(f".{self.name}") if known else self.mail_from_label

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def state(self) -> DomainState:
        """Whether members can add senders of the domain: DKIM works, and the account proved it."""
        if self.identity.dkim in _FAILURES:
            return DomainState.FAILED
        is_ready = self.identity.verified and self.identity.dkim == "SUCCESS"
        return DomainState.VERIFIED if is_ready and self.proved_at else DomainState.PENDING
