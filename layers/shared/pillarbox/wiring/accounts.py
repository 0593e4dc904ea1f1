"""Accounts with their keys, domains, senders and suppressions, and who calls."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.application.authentication import Authentication, KeyCheck
from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import ServiceMailWiring
from pillarbox.wiring.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Callable

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
    from pillarbox.application.sign_in.authentication import (
        CallerAuthentication,
        OperatorAuthentication,
        SessionAuthentication,
    )


class AccountWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    @cached_property
    def account_list(self) -> "AccountList":
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.application.accounts.account_list import AccountList

        return AccountList(
            records=self.account_store, usage=self.account_usage, for_each=in_parallel
        )

    @cached_property
    def api_keys(self) -> "Keys":
        from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
        from pillarbox.application.accounts.keys import Keys

        return Keys(
            records=DynamoApiKeys(self.credentials),
            accounts=self.account_store,
            members=self.member_store,
            log=self.change_log,
            tell_owners=self.key_notices.send,
            count=self.sign_in_counts.count,
            clock=utc_now,
        )

    @cached_property
    def key_tree(self) -> "Callable[[str, str], frozenset[str]]":
        """Return what finds the keys that come from one. It sends no mail, as `api_keys` does."""
        from functools import partial

        from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
        from pillarbox.application.accounts.keys import key_tree

        return partial(key_tree, DynamoApiKeys(self.credentials))

    @cached_property
    def key_notices(self) -> "KeyNotices":
        from pillarbox.application.accounts.keys import KeyNotices

        return KeyNotices(self.owners_of, lambda: self.send_mail)

    @property
    def upgrade_url(self) -> str:
        """Return where a user chooses a larger plan."""
        return self.settings.upgrade_url

    @cached_property
    def accounts(self) -> "Accounts":
        from pillarbox.application.accounts.accounts import Accounts

        return Accounts(records=self.account_store, entries=self.account_log_store, clock=utc_now)

    @cached_property
    def resuming(self) -> "Resuming":
        from pillarbox.application.accounts.resuming import Resuming
        from pillarbox.application.pauses import Pauses

        return Resuming(Pauses(self.account_store), self.change_log, utc_now)

    @cached_property
    def account_usage(self) -> "AccountUsage":
        from pillarbox.application.accounts.usage import AccountUsage

        return AccountUsage(self.directory, utc_now)

    @cached_property
    def suppression_list(self) -> "SuppressionList":
        from pillarbox.application.accounts.suppressions import SuppressionList

        return SuppressionList(
            records=self.suppression_store,
            provider_suppressions=self.provider_suppressions,
            accounts=self.account_store,
            slow_requests=self.slow_requests,
            clock=utc_now,
        )

    @cached_property
    def domain_check(self) -> "DomainCheck":
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.ses.domains import SesDomains
        from pillarbox.application.accounts.domains import DomainCheck

        return DomainCheck(SesDomains(), self.dns_records, in_parallel)

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
    def domain_links(self) -> "DomainLinks":
        from pillarbox.application.accounts.domain_links import DomainLinks

        return DomainLinks(
            domains=self.account_domains,
            records=self.account_domain_store,
            count=self.sign_in_counts.count,
            base_url=self.service_address.read,
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

    @cached_property
    def member_senders(self) -> "MemberSenders":
        from pillarbox.application.accounts.domains import MemberSenders

        return MemberSenders(self.senders, self.account_domains, self.change_log)


class CallerWiring(Stores):
    """Makes each use case of this area once."""

    @cached_property
    def authentication(self) -> Authentication:
        """Authenticate the caller of a route that takes keys only."""
        return Authentication(self.directory, self.key_check)

    @cached_property
    def key_check(self) -> KeyCheck:
        """Decide whether a key that was read works."""
        return KeyCheck(utc_now, self.is_of_edge)

    @cached_property
    def caller_authentication(self) -> "CallerAuthentication":
        """Authenticate the caller of a route that takes keys and sessions."""
        from pillarbox.application.sign_in.authentication import CallerAuthentication

        return CallerAuthentication(
            self.authentication, self.session_authentication, self.directory, self.change_log
        )

    @cached_property
    def session_authentication(self) -> "SessionAuthentication":
        """Authenticate the caller of a route that takes sessions only."""
        from pillarbox.application.sign_in.authentication import SessionAuthentication

        return SessionAuthentication(self.session_store, utc_now)

    @cached_property
    def operator_authentication(self) -> "OperatorAuthentication":
        """Authenticate the caller of a route that only operators may use."""
        from pillarbox.application.sign_in.authentication import OperatorAuthentication

        return OperatorAuthentication(
            self.session_authentication,
            self.user_store,
            self.authentication,
            self.change_log,
        )

    @cached_property
    def caller_lookup(self) -> "CallerLookup":
        from pillarbox.application.caller import CallerLookup

        return CallerLookup(
            directory=self.directory,
            key_uses=self.key_uses,
            clock=utc_now,
            check=self.key_check,
        )
