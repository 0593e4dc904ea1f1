"""Signing in, signing up and the members of accounts."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import ServiceMailWiring
from pillarbox.wiring.stores import made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pillarbox.adapters.code_requests import LambdaCodeRequests
    from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
    from pillarbox.application.sign_in.approval import SignUpApproval
    from pillarbox.application.sign_in.code_mail import CodeMail
    from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers
    from pillarbox.application.sign_in.members import AccountMembers
    from pillarbox.application.sign_in.passkey_mail import PasskeyMail
    from pillarbox.application.sign_in.passkeys import UserPasskeys
    from pillarbox.application.sign_in.preview_keys import PreviewKeys
    from pillarbox.application.sign_in.session_start import SessionStart
    from pillarbox.application.sign_in.sign_in import SignIn
    from pillarbox.application.sign_in.sign_up import SignUp
    from pillarbox.application.sign_in.team import Team
    from pillarbox.domain.sign_in.codes import CodeRequest
    from pillarbox.domain.sign_in.passkey import PasskeyNotice
    from pillarbox.domain.sign_in.sign_up import SignUpPolicy


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
        "application.sign_in.approval", sign_ups=lambda it: it.sign_up_store
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

        return UserPasskeys(
            users=self.user_store,
            members=self.member_store,
            sessions=self.session_store,
            passkeys=self.passkey_store,
            proofs=self.proof_store,
            counts=self.sign_in_counts,
            verifier=WebAuthnVerifier(),
            notices=LambdaPasskeyNotices(self.code_requests.invoke),
            log=self.change_log,
            start=self.session_start,
            base_url=self.service_address.read,
            clock=utc_now,
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
        from pillarbox.adapters.disposable_domains import is_disposable
        from pillarbox.adapters.dynamodb import keys
        from pillarbox.adapters.dynamodb.sign_in.codes import DynamoFlows
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.adapters.public_suffixes import registrable_domain
        from pillarbox.application.sign_in.preview_keys import PreviewKeys

        return PreviewKeys(
            is_open=bool(self.settings.widget_origins),
            accounts=DynamoPreviewAccounts(self.credentials, self.table),
            flows=DynamoFlows(self.credentials, keys.preview_flow),
            proofs=self.proof_store,
            counts=self.sign_in_counts,
            queue=self.code_requests,
            domains=self.mail_domains,
            strangers=self.stranger_mail,
            is_disposable=is_disposable,
            registrable_domain=registrable_domain,
            tenant=self.newcomers_tenant,
            clock=utc_now,
        )
