"""The identities of SES: the addresses and domains from which it sends."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, operator_errors, service_errors
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.errors import ServiceError

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
        try:
            with service_errors(PROVIDER):
                response = self._ses.create_email_identity(EmailIdentity=address)
        except ClientError as error:
            if code_of(error) == "AlreadyExistsException":  # another request created it
                return False
            raise
        ensure_no_feedback_mail(self._ses, address)
        return response["VerifiedForSendingStatus"]


def find_identity(
    ses: "SESV2Client",
    identity: str,
    errors: Callable[[str], AbstractContextManager[None]] = service_errors,
) -> "GetEmailIdentityResponseTypeDef | None":
    """Read an address or a domain; return None if SES does not know it.

    Args:
        ses: the client.
        identity: the address or the domain.
        errors: translates AWS's errors.
    """
    with errors(PROVIDER):
        try:
            return ses.get_email_identity(EmailIdentity=identity)
        except ClientError as error:
            if code_of(error) == "NotFoundException":
                return None
            raise


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
