"""The port to the suppression lists that the provider keeps beside ours."""

from typing import Protocol


class ProviderSuppressions(Protocol):
    """The suppression lists that the provider keeps: of the AWS account, and of each tenant."""

    def remove(self, address: str, tenant: str | None) -> bool:
        """Take an address off the list of the AWS account, and of a tenant if one is given.

        Return False if it was on neither.

        Raises:
            ServiceError: `service_unavailable`. It may be off one of them.
        """
