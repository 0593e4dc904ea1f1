"""A link to the DNS records of one domain, for the person who manages its DNS."""

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
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
