"""Write the record of a message again, with fields that no worker changes."""

from dataclasses import replace

from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.messages.message import Message


class DynamoMessageRewrite:
    """Implements `operations.ports.MessageRewrite`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def replace(self, message: Message) -> bool:
        """Put the whole record under the condition that its revision is still the same."""
        item = message_item(replace(message, revision=message.revision + 1))
        try:
            self._table.put(item, condition="rev = :rev", values={":rev": message.revision})
        except ConditionFailed:
            return False
        return True
