"""Links that show the DNS records of a domain without signing in."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.accounts.domains import AccountDomains, CheckedDomain, domain_not_found
from pillarbox.application.accounts.ports import AccountDomainRecords
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account_domain import (
    LINK_TIME,
    DomainLink,
    new_domain_link,
    parse_domain_link,
)
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.quota import too_many_this_minute
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.session import digest_of

#: Looks at one domain by link: another budget than that of the account's members.
PER_MINUTE: Final = 10
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A new link. Only this has its address."""

    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainLinks:
    """Creates, revokes and opens links. `by` is who does it: see `LogEntry`."""

    domains: AccountDomains
    records: AccountDomainRecords
    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    #: Returns the address of the dashboard.
    base_url: Callable[[], str]
    log: ChangeLog
    clock: Clock

    def create(self, account_id: str, name: str, *, by: str) -> SharedLink:
        """Create a link to the records of a domain, in place of an earlier one."""
        domain = self.domains.get(account_id, name)
        token = new_domain_link(account_id, domain.name)
        link = DomainLink(digest_of(token.secret), self.clock() + LINK_TIME)
        url = f"{self.base_url()}/app/dns#{token}"
        if not self.records.set_link(account_id, domain.name, link):
            raise domain_not_found()
        self.log.note(account_id, AccountAction.DOMAIN_SHARED, domain.name, by=by)
        return SharedLink(url, link.expires_at)

    def revoke(self, account_id: str, name: str) -> None:
        domain = self.domains.get(account_id, name)
        self.records.set_link(account_id, domain.name, None)

    def open(self, text: str) -> CheckedDomain:
        """Return a domain with what DNS says of its records, by the text of its link.

        A link of nothing costs one read, and one of the wrong form none.
        """
        token, now = parse_domain_link(text), self.clock()
        domain = self.records.get(token.account_id, token.domain) if token else None
        if not token or domain is None or not domain.link or not domain.link.opens(token, now):
            message = "This link does not work, or no longer. Ask for a new one."
            raise ServiceError("domain_not_found", message)
        subject = f"domains#link#{token.account_id}"
        if not self.count(subject, _MINUTE, PER_MINUTE, now):
            message = f"The links of an account are opened {PER_MINUTE} times a minute at most."
            raise too_many_this_minute(message, PER_MINUTE, now)
        return self.domains.look(token.account_id, token.domain)
