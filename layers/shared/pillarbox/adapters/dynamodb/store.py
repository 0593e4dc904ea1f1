"""What most stores have."""

from pillarbox.adapters.dynamodb.table import Table


class Store:
    """A store of records in one table."""

    def __init__(self, table: Table) -> None:
        self._table = table
