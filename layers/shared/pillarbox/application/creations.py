"""Create an object only beside those of its name that a program knows.

People may give two objects one name, so the service does not forbid it. A program that runs twice
at the same time would make its objects twice. So it says which ones it has seen.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, Protocol

from pillarbox.application.ports import Clock
from pillarbox.domain.errors import ServiceError, Unavailable

#: Longer than a request runs.
_LEASE: Final = timedelta(minutes=1)


class NameLeases(Protocol):
    """Who may create an object of a name at the moment.

    Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
    """

    def take(self, name: str, now: datetime, until: datetime) -> bool:
        """Lease a name, unless somebody has it."""

    def give_back(self, name: str, until: datetime) -> None:
        """End the lease that was taken until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creations:
    """Make equal creations wait for each other."""

    leases: NameLeases
    clock: Clock

    @contextmanager
    def beside(
        self, known: Collection[str] | None, kind: str, name: str, ids: Callable[[], Iterable[str]]
    ) -> Iterator[None]:
        """Create an object of a name, which no other request does at the same time.

        Args:
            known: the ids of those with the name that the caller knows. None lets others have it.
            kind: what it is, and of which account.
            ids: reads the ids of those with the name.
        """
        if known is None:
            yield
            return
        lease, now = sha256(f"{kind}\n{name}".encode()).hexdigest(), self.clock()
        until = now + _LEASE
        if not self.leases.take(lease, now, until):
            raise Unavailable("data store", "Another request creates it now. Try again.")
        try:
            if others := {*ids()} - {*known}:
                message = "Another request has created it already."
                raise ServiceError("already_exists", message, details={"ids": [*sorted(others)]})
            yield
        finally:
            with suppress(Unavailable):  # then it ends by itself
                self.leases.give_back(lease, until)
