"""Accounts with their keys, domains, senders and suppressions, who calls, and who signs in."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.application.authentication import Authentication, KeyCheck
from pillarbox.wiring.sending import ServiceMailWiring
from pillarbox.wiring.stores import Stores, made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pillarbox.adapters.code_requests import LambdaCodeRequests
    from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
    from pillarbox.adapters.ses.identities import SesDomains
    from pillarbox.application.accounts.account_list import AccountList, AccountUsage
    from pillarbox.application.accounts.accounts import Accounts
    from pillarbox.application.accounts.domain_links import DomainLinks
    from pillarbox.application.accounts.domains import AccountDomains, DomainCheck, MemberSenders
    from pillarbox.application.accounts.keys import KeyNotices, Keys
    from pillarbox.application.accounts.receiving_setup import ReceivingSetup
    from pillarbox.application.accounts.resuming import Resuming
    from pillarbox.application.accounts.senders import Senders
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.caller import CallerLookup
    from pillarbox.application.sign_in.authentication import (
        CallerAuthentication,
        OperatorAuthentication,
        SessionAuthentication,
    )
    from pillarbox.application.sign_in.code_mail import CodeMail
    from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers
    from pillarbox.application.sign_in.members import AccountMembers
    from pillarbox.application.sign_in.passkey_mail import PasskeyMail
    from pillarbox.application.sign_in.passkeys import UserPasskeys
    from pillarbox.application.sign_in.preview_keys import PreviewKeys
    from pillarbox.application.sign_in.session_start import SessionStart
    from pillarbox.application.sign_in.sign_in import SignIn
    from pillarbox.application.sign_in.sign_up import SignUp
    from pillarbox.application.sign_in.team import SignUpApproval, Team
    from pillarbox.domain.accounts.account import Account
    from pillarbox.domain.sign_in.codes import CodeRequest
    from pillarbox.domain.sign_in.passkey import PasskeyNotice
    from pillarbox.domain.sign_in.sign_up import SignUpPolicy


class AccountWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    account_list: "AccountList" = made(
        "application.accounts.account_list", records=lambda it: it.account_store
    )
    account_usage: "AccountUsage" = made("application.accounts.account_list")
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
    domain_identities: "SesDomains" = made("adapters.ses.identities")
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
    receiving_setup: "ReceivingSetup" = made(
        "application.accounts.receiving_setup",
        domains=lambda it: it.account_domains,
        receiving=lambda it: it.receiving_domains,
        rules=lambda it: it.receipt_rules,
        read_queue=lambda it: it.received_queue.read,
    )
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
        return os.environ["AWS_DEFAULT_REGION"]  # Lambda sets it

    @cached_property
    def account_domains(self) -> "AccountDomains":
        from pillarbox.adapters.aws import in_parallel, service_errors
        from pillarbox.adapters.public_suffixes import registrable_domain
        from pillarbox.adapters.ses.identities import SesDomains
        from pillarbox.application.accounts.domains import AccountDomains, DomainCheck

        return self.fill(
            AccountDomains,
            records=self.account_domain_store,
            check=DomainCheck(SesDomains(service_errors), self.dns_records, in_parallel),
            registrable_domain=registrable_domain,
        )

    @cached_property
    def senders(self) -> "Senders":
        from pillarbox.adapters.ses.identities import SesIdentities
        from pillarbox.adapters.ses.tenants import SesTenants
        from pillarbox.application.accounts.senders import Senders

        tenants = SesTenants(self.settings.configuration_set)
        return self.fill(Senders, identities=SesIdentities(), tenants=tenants)


class CallerWiring(Stores):
    """Makes each use case of this area once."""

    caller_authentication: "CallerAuthentication" = made(
        "application.sign_in.authentication", sessions=lambda it: it.session_authentication
    )
    caller_lookup: "CallerLookup" = made("application.caller")
    key_check: KeyCheck = made("application.authentication")
    operator_authentication: "OperatorAuthentication" = made(
        "application.sign_in.authentication",
        sessions=lambda it: it.session_authentication,
        users=lambda it: it.user_store,
    )
    session_authentication: "SessionAuthentication" = made("application.sign_in.authentication")

    @cached_property
    def authentication(self) -> Authentication:
        """Authenticate the caller of a route that takes keys only."""

        def service() -> "Account":
            from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT

            return SERVICE_ACCOUNT

        return Authentication(self.directory, self.key_check, service)


class SignInWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    account_members: "AccountMembers" = made(
        "application.sign_in.members",
        key_ids=lambda it: it.api_key_store.ids_of_account,
        previews=lambda it: it.preview_accounts,
        domains=lambda it: lambda: it.mail_domains,
        strangers=lambda it: it.mail_to_strangers,
    )
    code_mail: "CodeMail" = made(
        "application.sign_in.code_mail",
        previews=lambda it: it.preview_accounts,
        domains=lambda it: lambda: it.mail_domains,
        send_mail=lambda it: it.send_urgent_mail,
        strangers=lambda it: it.urgent_mail_to_strangers,
    )
    code_requests: "LambdaCodeRequests" = made(
        "adapters.code_requests", function=lambda it: it.settings.mail_code_function
    )
    mail_to_strangers: "MailToStrangers" = made(
        "application.sign_in.mail_to_strangers", records=lambda it: it.stranger_mail
    )
    passkey_mail: "PasskeyMail" = made(
        "application.sign_in.passkey_mail", send_mail=lambda it: it.send_urgent_mail
    )
    preview_accounts: "DynamoPreviewAccounts" = made(
        "adapters.dynamodb.sign_in.strangers", credentials=lambda _: None
    )
    session_start: "SessionStart" = made(
        "application.sign_in.session_start",
        operators_need_passkeys=lambda it: it.settings.operator_passkeys == "required",
    )
    sign_in: "SignIn" = made(
        "application.sign_in.sign_in",
        queue=lambda it: it.code_requests,
        previews=lambda it: it.preview_accounts,
    )
    sign_up: "SignUp" = made("application.sign_in.sign_up", sign_ups=lambda it: it.sign_up_store)
    sign_up_approval: "SignUpApproval" = made(
        "application.sign_in.team", sign_ups=lambda it: it.sign_up_store
    )
    team: "Team" = made("application.sign_in.team")
    urgent_mail_to_strangers: "MailToStrangers" = made(
        "application.sign_in.mail_to_strangers",
        send_mail=lambda it: it.send_urgent_mail,
        records=lambda it: it.stranger_mail,
    )

    @cached_property
    def passkeys(self) -> "UserPasskeys":
        from pillarbox.adapters.passkeys import LambdaPasskeyNotices, WebAuthnVerifier
        from pillarbox.application.sign_in.passkeys import UserPasskeys

        return self.fill(
            UserPasskeys,
            passkeys=self.passkey_store,
            verifier=WebAuthnVerifier(),
            notices=LambdaPasskeyNotices(self.code_requests.invoke),
        )

    @cached_property
    def sign_up_policy(self) -> "SignUpPolicy":
        from pillarbox.domain.sign_in.sign_up import SignUpMode, SignUpPolicy

        return SignUpPolicy(
            mode=SignUpMode(self.settings.sign_up),
            domains=frozenset(self.settings.sign_up_domains),
        )

    @cached_property
    def read_code_request(self) -> "Callable[[Mapping[str, Any]], CodeRequest]":
        """Read the event with which a one-time code was requested."""
        from pillarbox.adapters.code_requests import read_request

        return read_request

    @cached_property
    def read_passkey_notice(self) -> "Callable[[Mapping[str, Any]], PasskeyNotice]":
        """Read the event with which an email about a passkey was requested."""
        from pillarbox.adapters.passkeys import read_notice

        return read_notice

    @cached_property
    def preview_keys(self) -> "PreviewKeys":
        from pillarbox.adapters.dynamodb import keys
        from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.adapters.public_suffixes import is_disposable, registrable_domain
        from pillarbox.application.sign_in.preview_keys import PreviewKeys

        return self.fill(
            PreviewKeys,
            is_open=bool(self.settings.widget_origins),
            accounts=DynamoPreviewAccounts(self.credentials, self.table),
            flows=DynamoFlows(self.credentials, keys.preview_flow),
            queue=self.code_requests,
            domains=self.mail_domains,
            is_disposable=is_disposable,
            registrable_domain=registrable_domain,
        )
