"""The domain identities of SES (API v2), with Easy DKIM and a custom MAIL FROM domain."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, operator_errors
from pillarbox.adapters.ses.identities import PROVIDER, ensure_no_feedback_mail, find_identity
from pillarbox.domain.accounts.account_domain import DomainIdentity
from pillarbox.domain.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

#: The zone of the DKIM keys in regions for which SES names no zone of their own.
_DKIM_ZONE: Final = "dkim.amazonses.com"


class SesDomains:
    """Implements `accounts.ports.DomainIdentities`.

    Args:
        errors: translates AWS's errors, by default with AWS's message, which is for operators.
    """

    _ses: "SESV2Client" = client_of("sesv2")

    def __init__(
        self, errors: Callable[[str], AbstractContextManager[None]] = operator_errors
    ) -> None:
        self._errors = errors

    @property
    def region(self) -> str:
        """Return where SES sends from."""
        return self._ses.meta.region_name

    def get(self, name: str) -> DomainIdentity | None:
        """Read a domain; return None if SES does not know it."""
        response = find_identity(self._ses, name, self._errors)
        if response is None:
            return None
        dkim = response.get("DkimAttributes", {})
        mail_from = response.get("MailFromAttributes", {})
        return DomainIdentity(
            name=name,
            verified=response["VerifiedForSendingStatus"],
            dkim=dkim.get("Status", "NOT_STARTED"),
            dkim_tokens=tuple(dkim.get("Tokens", ())),
            dkim_zone=dkim.get("SigningHostedZone") or _DKIM_ZONE,
            mail_from=mail_from.get("MailFromDomain") or None,
            mail_from_status=mail_from.get("MailFromDomainStatus"),
            feedback_host=f"feedback-smtp.{self.region}.amazonses.com",
            mails_feedback=response.get("FeedbackForwardingStatus", False),
        )

    def add(self, name: str) -> DomainIdentity:
        """Create the identity with keys of 2048 bits unless it exists; stop its feedback mail."""
        with self._errors(PROVIDER):
            try:
                self._ses.create_email_identity(
                    EmailIdentity=name,
                    DkimSigningAttributes={"NextSigningKeyLength": "RSA_2048_BIT"},
                )
            except ClientError as error:
                if code_of(error) == "BadRequestException":
                    refused = FieldError("domain", "SES does not take it", "invalid_domain")
                    raise ValidationFailed(refused) from None
                if code_of(error) != "AlreadyExistsException":
                    raise
        identity = self.get(name)
        if identity is None:
            raise AssertionError("an identity that was just created exists")
        return self.ensure_no_feedback_mail(identity)

    def ensure_no_feedback_mail(self, identity: DomainIdentity) -> DomainIdentity:
        """Switch email feedback forwarding off, if it is on."""
        if identity.mails_feedback and ensure_no_feedback_mail(self._ses, identity.name):
            return replace(identity, mails_feedback=False)
        return identity

    def remove(self, name: str) -> None:
        """Delete the identity."""
        with self._errors(PROVIDER):
            try:
                self._ses.delete_email_identity(EmailIdentity=name)
            except ClientError as error:
                if code_of(error) != "NotFoundException":
                    raise

    def set_mail_from(self, name: str, mail_from: str) -> None:
        """Set the MAIL FROM domain. Until SES finds its MX record, SES uses its own domain."""
        with self._errors(PROVIDER):
            self._ses.put_email_identity_mail_from_attributes(
                EmailIdentity=name,
                MailFromDomain=mail_from,
                BehaviorOnMxFailure="USE_DEFAULT_VALUE",
            )
