"""The identities of SES (API v2): the addresses and domains from which it sends."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, ignoring, operator_errors, service_errors
from pillarbox.domain.accounts.account_domain import DomainIdentity
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sesv2.type_defs import GetEmailIdentityResponseTypeDef

#: How errors name SES.
PROVIDER: Final = "provider of mail delivery"


class SesIdentities:
    """Implements `accounts.ports.SenderIdentities` and `accounts.ports.DomainStates`."""

    _ses: "SESV2Client" = client_of("sesv2")

    def ensure_identity(self, address: str) -> bool:
        """Look for the address, then for its domain and the parent domains; else create it.

        A verified domain verifies all addresses in it and in its subdomains (SES, "Verified
        identities"). They need no identity of their own, and often no mailbox receives email there.
        """
        verified = self._verified(address)
        if verified or any(map(self._verified, domain_and_parents(domain_of(address)))):
            return True
        return self._create(address) if verified is None else False

    def state(self, name: str) -> DomainState | None:
        """Look at the domain, then at its parent domains until one of them is verified."""
        found: DomainState | None = None
        for domain in domain_and_parents(name):
            response = find_identity(self._ses, domain)
            if response is None:
                continue
            if response["VerifiedForSendingStatus"]:
                return DomainState.VERIFIED
            failed = response.get("VerificationStatus") == "FAILED"
            found = found or (DomainState.FAILED if failed else DomainState.PENDING)
        return found

    def _verified(self, identity: str) -> bool | None:
        """Return whether an identity is verified, and stop its feedback mail; None if unknown."""
        response = find_identity(self._ses, identity)
        if response is None:
            return None
        if response.get("FeedbackForwardingStatus"):
            ensure_no_feedback_mail(self._ses, identity)
        return response["VerifiedForSendingStatus"]

    def _create(self, address: str) -> bool:
        with service_errors(PROVIDER), ignoring("AlreadyExistsException"):
            response = self._ses.create_email_identity(EmailIdentity=address)
            ensure_no_feedback_mail(self._ses, address)
            return response["VerifiedForSendingStatus"]
        return False  # another request created it


def find_identity(
    ses: "SESV2Client",
    identity: str,
    errors: Callable[[str], AbstractContextManager[None]] = service_errors,
) -> "GetEmailIdentityResponseTypeDef | None":
    """Read an address or a domain; return None if SES does not know it."""
    with errors(PROVIDER), ignoring("NotFoundException"):
        return ses.get_email_identity(EmailIdentity=identity)
    return None


def ensure_no_feedback_mail(ses: "SESV2Client", identity: str) -> bool:
    """Switch off that SES also mails bounces and complaints to the sender.

    This "email feedback forwarding" is on for each new identity. The event destination of the
    configuration set is what lets SES do without it. Return whether that worked: without it
    the identity can send too, and the doctor shows it.
    """
    try:
        with operator_errors(PROVIDER):
            ses.put_email_identity_feedback_attributes(
                EmailIdentity=identity, EmailForwardingEnabled=False
            )
    except ServiceError:
        return False
    return True


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
        with self._errors(PROVIDER), ignoring("NotFoundException"):
            self._ses.delete_email_identity(EmailIdentity=name)

    def set_mail_from(self, name: str, mail_from: str) -> None:
        """Set the MAIL FROM domain. Until SES finds its MX record, SES uses its own domain."""
        with self._errors(PROVIDER):
            self._ses.put_email_identity_mail_from_attributes(
                EmailIdentity=name,
                MailFromDomain=mail_from,
                BehaviorOnMxFailure="USE_DEFAULT_VALUE",
            )
