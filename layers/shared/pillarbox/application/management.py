"""What programs need that manage accounts over the HTTP API, as `pillarbox apply` does."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from pillarbox.domain.errors import ServiceError

_NOT_FOUND: Final = 404
_BUSY: Final = (429, 503)


class RefusedCall(ServiceError):
    """The service refused a call. The message has the call, the status, the code and the faults."""

    def __init__(self, message: str, status: int, refusal: str) -> None:
        super().__init__("service_unavailable", message)
        self.refused_with = status
        self.refusal = refusal

    @property
    def is_busy(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.refused_with in _BUSY

    @property
    def is_absence(self) -> bool:
        """Whether what the call is about does not exist. An unknown route is no such answer."""
        return self.refused_with == _NOT_FOUND and self.refusal != "route_not_found"


class ManagementApi(Protocol):
    """The HTTP API with a management key."""

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        account: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401  JSON
        """Make a request and return the body of a success.

        Raises:
            RefusedCall: the error of the service.
            ServiceError: `service_unavailable`, if it cannot be reached.
        """


class SecretValues(Protocol):
    """Secrets that this service creates, by the id of what they belong to."""

    def store(self, owner: str, value: str) -> str:
        """Store a value, in place of an earlier one, and return the secret's ARN."""

    def find(self, owner: str) -> str | None:
        """Return the ARN of a secret that has a value; None if there is none."""

    def delete(self, owner: str) -> None:
        """Delete a secret, if there is one."""
