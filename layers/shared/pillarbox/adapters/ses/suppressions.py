"""The suppression lists that SES keeps (API v2)."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, ignoring, service_errors
from pillarbox.adapters.ses.identities import PROVIDER
from pillarbox.domain.address import mailbox_key

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

#: SES answers the second for what it takes for no address, and perhaps for a tenant without a list.
_NOT_LISTED: Final = frozenset({"NotFoundException", "BadRequestException"})
#: What SES returns at a time, at most.
_PAGE: Final = 1000


class ListedAddress(NamedTuple):
    """An entry of a list. The reason is BOUNCE or COMPLAINT."""

    address: str
    reason: str
    at: datetime


class SesSuppressions:
    """Implements `ProviderSuppressions`."""

    _ses: "SESV2Client" = client_of("sesv2")

    def __init__(
        self, errors: Callable[[str], AbstractContextManager[None]] = service_errors
    ) -> None:
        self._errors = errors

    def remove(self, address: str, tenant: str | None) -> bool:
        """Delete the entries that are spelled as given, or in lower case.

        SES sends to no spelling of a listed address, but deletes only the entry that has the same
        letter case (developer guide, "Managing tenant suppression list entries", read on
        2026-11-28). It lists an address as the email had it.
        """
        spellings = sorted({address, mailbox_key(address)})
        return True in [self._delete(one, of) for of in _lists(tenant) for one in spellings]

    def remove_spellings(self, address: str, tenant: str | None) -> bool:
        """Delete the entries of an address in any letter case. For that it reads whole lists."""
        mailbox = mailbox_key(address)
        listed = {
            one.address
            for of in _lists(tenant)
            for one in self.all(of)
            if mailbox_key(one.address) == mailbox
        }
        return True in [self.remove(one, tenant) for one in sorted(listed)]

    def all(self, tenant: str | None) -> Iterable[ListedAddress]:
        """Read the list of the AWS account, or that of a tenant, page by page.

        A tenant that SES does not have lists nothing.
        """
        request = {**_of(tenant), "PageSize": _PAGE}
        while True:
            with self._errors(PROVIDER):
                try:
                    page = self._ses.list_suppressed_destinations(**request)
                except ClientError as error:
                    if tenant is None or code_of(error) not in _NOT_LISTED:
                        raise
                    return
            for entry in page["SuppressedDestinationSummaries"]:
                yield ListedAddress(entry["EmailAddress"], entry["Reason"], entry["LastUpdateTime"])
            if not page.get("NextToken"):
                return
            request["NextToken"] = page["NextToken"]

    def _delete(self, address: str, tenant: str | None) -> bool:
        with self._errors(PROVIDER), ignoring(*_NOT_LISTED):
            self._ses.delete_suppressed_destination(EmailAddress=address, **_of(tenant))
            return True
        return False


def _lists(tenant: str | None) -> list[str | None]:
    return [tenant, None] if tenant else [None]


def _of(tenant: str | None) -> dict[str, Any]:
    return {"TenantName": tenant} if tenant else {}
