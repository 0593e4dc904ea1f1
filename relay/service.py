"""What the server needs of the service behind it."""

from dataclasses import dataclass
from typing import Protocol

from pillarbox.domain.key import Principal


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where a message comes from and goes to (RFC 5321 section 2.3.1); addresses parsed."""

    sender: str
    recipients: tuple[str, ...]


class Service(Protocol):
    """Keys, and the acceptance of messages."""

    async def authenticate(self, key_text: str) -> Principal:
        """Tell whose key it is, reading it anew.

        Raises:
            ServiceError: it is no live key that may send; `service_unavailable`.
        """
        ...

    async def submit(self, key_text: str, envelope: Envelope, octets: bytearray) -> str:
        """Accept a message for good; gives its id once that is committed.

        Raises:
            ServiceError: it is refused, or could not be committed.
        """
        ...
