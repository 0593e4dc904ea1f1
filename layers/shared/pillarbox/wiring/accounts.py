"""Accounts with their keys, domains, senders and suppressions, and who calls."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.application.authentication import Authentication, KeyCheck
from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import ServiceMailWiring
from pillarbox.wiring.stores import Stores, made

if TYPE_CHECKING:
    from collections.abc import Callable

    from pillarbox.adapters.ses.domains import SesDomains
    from pillarbox.application.accounts.account_list import AccountList
    from pillarbox.application.accounts.accounts import Accounts
    from pillarbox.application.accounts.domain_links import DomainLinks
    from pillarbox.application.accounts.domains import AccountDomains, DomainCheck, MemberSenders
    from pillarbox.application.accounts.keys import KeyNotices, Keys
    from pillarbox.application.accounts.resuming import Resuming
    from pillarbox.application.accounts.senders import Senders
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.accounts.usage import AccountUsage
    from pillarbox.application.caller import CallerLookup
    from pillarbox.application.pauses import Pauses
    from pillarbox.application.sign_in.authentication import (
        CallerAuthentication,
        OperatorAuthentication,
        SessionAuthentication,
    )


class AccountWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    account_list: "AccountList" = made(
        "application.accounts.account_list", records=lambda it: it.account_store
    )
    account_usage: "AccountUsage" = made("application.accounts.usage")
    accounts: "Accounts" = made(
        "application.accounts.accounts", records=lambda it: it.account_store
    )
    api_keys: "Keys" = made(
        "application.accounts.keys",
        records=lambda it: it.api_key_store,
        tell_owners=lambda it: it.key_notices.send,
    )
    domain_check: "DomainCheck" = made(
        "application.accounts.domains", identities=lambda it: it.domain_identities
    )
    domain_identities: "SesDomains" = made("adapters.ses.domains")
    domain_links: "DomainLinks" = made(
        "application.accounts.domain_links",
        domains=lambda it: it.account_domains,
        records=lambda it: it.account_domain_store,
    )
    key_notices: "KeyNotices" = made(
        "application.accounts.keys", send_mail=lambda it: lambda: it.send_mail
    )
    member_senders: "MemberSenders" = made(
        "application.accounts.domains", domains=lambda it: it.account_domains
    )
    pauses: "Pauses" = made("application.pauses", records=lambda it: it.account_store)
    resuming: "Resuming" = made("application.accounts.resuming")
    suppression_list: "SuppressionList" = made(
        "application.accounts.suppressions", records=lambda it: it.suppression_store
    )

    @cached_property
    def key_tree(self) -> "Callable[[str, str], frozenset[str]]":
        """Return what finds the keys that come from one. It sends no mail, as `api_keys` does."""
        from functools import partial

        from pillarbox.application.accounts.keys import key_tree

        return partial(key_tree, self.api_key_store)

    @property
    def upgrade_url(self) -> str:
        """Return where a user chooses a larger plan."""
        return self.settings.upgrade_url

    @cached_property
    def region(self) -> str:
        """Return where the service runs."""
        return self.settings.region

    @cached_property
    def account_domains(self) -> "AccountDomains":
        from pillarbox.adapters.aws import in_parallel, service_errors
        from pillarbox.adapters.public_suffixes import registrable_domain
        from pillarbox.adapters.ses.domains import SesDomains
        from pillarbox.application.accounts.domains import AccountDomains, DomainCheck

        return AccountDomains(
            records=self.account_domain_store,
            accounts=self.account_store,
            check=DomainCheck(SesDomains(service_errors), self.dns_records, in_parallel),
            slow_requests=self.slow_requests,
            count=self.sign_in_counts.count,
            registrable_domain=registrable_domain,
            log=self.change_log,
            clock=utc_now,
        )

    @cached_property
    def senders(self) -> "Senders":
        from pillarbox.adapters.ses.identities import SesIdentities
        from pillarbox.adapters.ses.tenants import SesTenants
        from pillarbox.application.accounts.senders import Senders

        return Senders(
            accounts=self.account_store,
            identities=SesIdentities(),
            tenants=SesTenants(self.settings.configuration_set),
        )


class CallerWiring(Stores):
    """Makes each use case of this area once."""

    caller_authentication: "CallerAuthentication" = made(
        "application.sign_in.authentication", sessions=lambda it: it.session_authentication
    )
    caller_lookup: "CallerLookup" = made("application.caller")
    operator_authentication: "OperatorAuthentication" = made(
        "application.sign_in.authentication",
        sessions=lambda it: it.session_authentication,
        users=lambda it: it.user_store,
    )
    session_authentication: "SessionAuthentication" = made("application.sign_in.authentication")

    @cached_property
    def authentication(self) -> Authentication:
        """Authenticate the caller of a route that takes keys only."""
        return Authentication(self.directory, self.key_check)

    @cached_property
    def key_check(self) -> KeyCheck:
        """Decide whether a key that was read works."""
        return KeyCheck(utc_now, self.is_of_edge)
