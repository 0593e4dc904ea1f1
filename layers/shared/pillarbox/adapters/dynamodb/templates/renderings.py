"""The renderings of a minute, in the quota record of their account."""

from datetime import datetime

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.minutes import count_in_minute
from pillarbox.adapters.dynamodb.store import Store


class DynamoRenderings(Store):
    """Implements `templates.ports.Renderings`."""

    def count(
        self, account_id: str, kind: str, now: datetime, most: int, *, times: int = 1
    ) -> bool:
        """Add to the count of the minute, or begin the count of a later minute."""
        return count_in_minute(self._table, keys.quota(account_id), kind, now, most, times=times)
