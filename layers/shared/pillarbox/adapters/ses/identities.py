"""The identities of SES: the addresses and domains that it sends mail from."""

from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, make_client, service_errors
from pillarbox.domain.address import domain_of

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client


class SesIdentities:
    """Fulfils `administration.ports.SenderIdentities`."""

    @cached_property
    def _ses(self) -> "SESV2Client":
        client: SESV2Client = make_client("sesv2")
        return client

    def ensure_identity(self, address: str) -> bool:
        """Look for the address, then for its domain and those above; else create the address.

        A verified domain verifies the addresses under it and under its
        subdomains (SES, "Verified identities"): they need no identity of
        their own, and mail to them often goes nowhere.
        """
        own = self._verified(address)
        if own or any(map(self._verified, _domains(address))):
            return True
        return self._create(address) if own is None else False

    def _verified(self, identity: str) -> bool | None:
        """Whether an identity is verified; None when SES does not know it."""
        try:
            with service_errors("provider of mail delivery"):
                answer = self._ses.get_email_identity(EmailIdentity=identity)
        except ClientError as error:
            if code_of(error) == "NotFoundException":
                return None
            raise
        return answer["VerifiedForSendingStatus"]

    def _create(self, address: str) -> bool:
        try:
            with service_errors("provider of mail delivery"):
                answer = self._ses.create_email_identity(EmailIdentity=address)
        except ClientError as error:
            if code_of(error) == "AlreadyExistsException":  # somebody was faster
                return False
            raise
        return answer["VerifiedForSendingStatus"]


def _domains(address: str) -> list[str]:
    labels = domain_of(address).split(".")
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]
