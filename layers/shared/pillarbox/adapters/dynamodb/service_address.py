"""What `pillarbox deploy` stores: the service's address, and the tenant of strangers."""

from datetime import datetime, timedelta
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Store, Table, to_attribute
from pillarbox.application.ports import Clock
from pillarbox.domain.errors import Unavailable

#: A process may run for hours, and a deployment may change the address meanwhile.
_REMEMBERED: Final = timedelta(minutes=5)
_REMEDY: Final = "Run `pillarbox deploy`, which stores the stack's address in its table."


class DynamoServiceAddress:
    """Reads the address when a link is written.

    CloudFormation knows the address only after it has created the functions, so no variable of a
    function can contain it.
    """

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._url = ""
        self._read_at: datetime | None = None

    def read(self) -> str:
        """Return the address of API and dashboard, without /api/v1."""
        now = self._clock()
        if self._read_at is None or now - self._read_at >= _REMEMBERED:
            url = self.stored()
            if url is None:
                error = Unavailable(
                    "address of the service",
                    f"The address of the service is not known yet. {_REMEDY}",
                )
                error.log_fields["remedy"] = _REMEDY
                raise error
            self._url, self._read_at = url, now
        return self._url

    def stored(self) -> str | None:
        item = self._table.get(keys.service_address())
        return item["url"] if item else None

    def store(self, url: str) -> None:
        self._table.put(keys.service_address() | {"url": to_attribute(url)})


class DynamoSharedTenant(Store):
    """Implements `accounts.ports.SharedTenant`."""

    def stored(self) -> str | None:
        item = self._table.get(keys.shared_tenant())
        return item["name"] if item else None

    def store(self, name: str | None) -> None:
        if name is None:
            self._table.delete(keys.shared_tenant())
        else:
            self._table.put(keys.shared_tenant() | {"name": to_attribute(name)})
