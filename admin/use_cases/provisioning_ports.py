"""What `pillarbox apply` needs beside the API: where secret values go, and files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from admin.use_cases.provision_file import AccountEntry
from pillarbox.application.management import ManagementApi, RefusedCall


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


@dataclass(frozen=True, slots=True)
class Step:
    """One change: `+` adds, `~` changes, `-` removes. `?` names what only a person can change."""

    mark: str
    text: str
    run: Callable[[], object] | None = None
    #: Whether it comes after all others: a domain has no senders when it goes.
    last: bool = False

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.run is not None

    def __str__(self) -> str:
        return f"{self.mark} {self.text}"


@dataclass(slots=True)
class Target:
    """An account that is provisioned, as the service has it now."""

    entry: AccountEntry
    api: ManagementApi
    values: Values
    files: Files
    prune: bool
    #: None until it is created.
    account_id: str | None
    #: The id for X-Account; None for the key's own account.
    acts_for: str | None = None
    #: The key of the run, which is never revoked by it, nor is one that it comes from.
    own_key_id: str = ""

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:  # noqa: ANN401  JSON
        """Make a request about the account."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.call(method, path, body, account=self.acts_for, headers=sent)

    def create(self, path: str, body: object, known: Sequence[str] = ()) -> Any:  # noqa: ANN401  JSON
        """Create an object beside those of its name that are known.

        Return None if another run has created it meanwhile: that one finishes it.
        """
        match = {"If_Match": ",".join(known)} if known else {"If_None_Match": "*"}
        try:
            return self.call("POST", path, body, **match)
        except RefusedCall as refused:
            if refused.refusal != "already_exists":
                raise
            return None

    def remove(self, path: str) -> None:
        """Delete an object, unless another run has."""
        try:
            self.call("DELETE", path)
        except RefusedCall as refused:
            if not refused.is_absence:
                raise

    def items(self, path: str) -> list[dict[str, Any]]:
        """Return a list of the account; a new account has none."""
        found: list[dict[str, Any]] = self.call("GET", path)["items"] if self.account_id else []
        return found
