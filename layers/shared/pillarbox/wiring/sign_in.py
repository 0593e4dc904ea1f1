"""Signing in, signing up and the members of accounts."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import ServiceMailWiring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pillarbox.adapters.code_requests import LambdaCodeRequests
    from pillarbox.application.sending.service_mail import ServiceMail
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

    @cached_property
    def sign_in(self) -> "SignIn":
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.application.sign_in.sign_in import SignIn

        return SignIn(
            users=self.user_store,
            members=self.member_store,
            sessions=self.session_store,
            start=self.session_start,
            flows=self.flow_store,
            counts=self.sign_in_counts,
            queue=self.code_requests,
            policy=self.sign_up_policy,
            strangers=self.stranger_mail,
            previews=DynamoPreviewAccounts(None, self.table),
            clock=utc_now,
        )

    @cached_property
    def session_start(self) -> "SessionStart":
        from pillarbox.application.sign_in.session_start import SessionStart

        return SessionStart(
            members=self.member_store,
            accounts=self.account_store,
            sessions=self.session_store,
            operators_need_passkeys=self.settings.operator_passkeys == "required",
            clock=utc_now,
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
    def passkey_mail(self) -> "PasskeyMail":
        from pillarbox.application.sign_in.passkey_mail import PasskeyMail

        return PasskeyMail(
            messages=self.message_store,
            send_mail=self.send_urgent_mail,
            base_url=self.service_address.read,
        )

    @cached_property
    def sign_up_policy(self) -> "SignUpPolicy":
        from pillarbox.domain.sign_in.sign_up import SignUpMode, SignUpPolicy

        return SignUpPolicy(
            mode=SignUpMode(self.settings.sign_up),
            domains=frozenset(self.settings.sign_up_domains),
        )

    @cached_property
    def sign_up(self) -> "SignUp":
        from pillarbox.application.sign_in.sign_up import SignUp

        return SignUp(
            policy=self.sign_up_policy,
            sign_ups=self.sign_up_store,
            proofs=self.proof_store,
            counts=self.sign_in_counts,
            tenant=self.newcomers_tenant,
            clock=utc_now,
        )

    @cached_property
    def sign_up_approval(self) -> "SignUpApproval":
        from pillarbox.application.sign_in.approval import SignUpApproval

        return SignUpApproval(
            sign_ups=self.sign_up_store,
            team=self.team,
            policy=self.sign_up_policy,
            send_mail=self.send_mail,
            base_url=self.service_address.read,
            clock=utc_now,
        )

    @cached_property
    def code_requests(self) -> "LambdaCodeRequests":
        from pillarbox.adapters.code_requests import LambdaCodeRequests

        return LambdaCodeRequests(self.settings.mail_code_function)

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
    def code_mail(self) -> "CodeMail":
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.application.sign_in.code_mail import CodeMail

        return CodeMail(
            users=self.user_store,
            counts=self.sign_in_counts,
            policy=self.sign_up_policy,
            previews=DynamoPreviewAccounts(None, self.table),
            domains=lambda: self.mail_domains,
            messages=self.message_store,
            send_mail=self.send_urgent_mail,
            strangers=self._mail_to_strangers(self.send_urgent_mail),
            base_url=self.service_address.read,
            clock=utc_now,
        )

    def _mail_to_strangers(self, send_mail: "ServiceMail") -> "MailToStrangers":
        from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers

        return MailToStrangers(
            send_mail=send_mail,
            records=self.stranger_mail,
            proofs=self.proof_store,
            base_url=self.service_address.read,
            clock=utc_now,
        )

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

    @cached_property
    def team(self) -> "Team":
        from pillarbox.application.sign_in.team import Team

        return Team(
            users=self.user_store,
            members=self.member_store,
            accounts=self.account_store,
            sessions=self.session_store,
            flows=self.flow_store,
            clock=utc_now,
        )

    @cached_property
    def account_members(self) -> "AccountMembers":
        from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.application.sign_in.members import AccountMembers

        return AccountMembers(
            users=self.user_store,
            members=self.member_store,
            key_ids=DynamoApiKeys(self.credentials).ids_of_account,
            flows=self.flow_store,
            counts=self.sign_in_counts,
            previews=DynamoPreviewAccounts(None, self.table),
            domains=lambda: self.mail_domains,
            strangers=self._mail_to_strangers(self.send_mail),
            base_url=self.service_address.read,
            log=self.change_log,
            clock=utc_now,
        )
