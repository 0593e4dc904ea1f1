"""What `pillarbox apply` needs beside the API: where secret values go, and files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from admin.use_cases.provision_file import AccountEntry
from pillarbox.application.management import RefusedCall
from pillarbox.http.provisioning import Kind, ManagedAccount, Step


class Values(Protocol):
    """Where secret values go. No value is shown or logged."""

    def read(self, destination: str) -> str | None:
        """Return a stored value; None if there is none."""

    def write(self, destination: str, value: str) -> None:
        """Store a value."""


class Files(Protocol):
    """The files that the provision file names."""

    def text(self, path: str) -> str:
        """Return the text of a file."""

    def addresses(self, path: str) -> list[str]:
        """Return the addresses in a CSV file."""


@dataclass(slots=True, kw_only=True)
class Target(ManagedAccount):
    """An account that is provisioned, as the service has it now.

    Args:
        own_key_id: the key of the run, which is never revoked by it, nor is one that it comes from.
        links: whether to make a link to the records of each domain that waits for DNS.
    """

    entry: AccountEntry
    values: Values
    files: Files
    prune: bool
    own_key_id: str
    links: bool
    #: Whether the key is an operator's.
    operates: bool
    #: The domains of which senders may be added, and the domains and senders that wait for DNS.
    verified: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    removals: list[Step] = field(default_factory=list)

    def create(self, kind: Kind, body: object, known: Iterable[str] = ()) -> Any:  # noqa: ANN401  JSON
        """Create an object; return None if another run has done it meanwhile and finishes it."""
        try:
            return self.add(kind, body, known)
        except RefusedCall as refused:
            if refused.refusal != "already_exists":
                raise
            return None
