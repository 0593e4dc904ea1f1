"""Tenants of the provider in memory."""

from collections.abc import Iterable, Mapping, Sequence

from pillarbox.domain.accounts.account import Isolation
from pillarbox.domain.errors import Unavailable


class FakeTenants:
    """Implements `accounts.ports.Tenants`.

    Attributes:
        associated: the addresses of each tenant.
        policies: the policy of each tenant.
        paused: the tenants that may not send.
        calls_left: after so many calls all others fail; None for no limit.
        lost: addresses that the provider forgets to associate.
        sharing: the tenants without a suppression list of their own.
    """

    def __init__(self) -> None:
        self.associated: dict[str, set[str]] = {}
        self.policies: dict[str, Isolation] = {}
        self.paused: set[str] = set()
        self.calls_left: int | None = None
        self.lost: set[str] = set()
        self.sharing: set[str] = set()
        self.calls = 0

    def create(self, name: str, isolation: Isolation) -> None:
        self._call()
        self.associated.setdefault(name, set())
        self.policies[name] = isolation
        self.sharing.discard(name)

    def associate(self, name: str, addresses: Iterable[str]) -> None:
        self._call()
        wanted = {*addresses}
        self._of(name).update(wanted - self.lost)
        if wanted & self.lost:
            raise Unavailable("provider", "not all is associated")

    def missing(self, name: str, addresses: Iterable[str]) -> Sequence[str]:
        self._call()
        return sorted({*addresses} - self._of(name))

    def suppresses_apart(self, name: str) -> bool:
        self._call()
        return name not in self.sharing

    def delete(self, name: str) -> None:
        self._call()
        self.associated.pop(name, None)
        self.policies.pop(name, None)

    def all(self) -> Mapping[str, bool]:
        self._call()
        return {name: name not in self.paused for name in self.associated}

    def _of(self, name: str) -> set[str]:
        if name not in self.associated:
            raise Unavailable("provider", f"there is no tenant {name}")
        return self.associated[name]

    def _call(self) -> None:
        self.calls += 1
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                raise Unavailable("provider")
