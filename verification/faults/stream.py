"""The table's stream: at the end of a run its changes are applied, and the statistics audited."""

from collections.abc import Iterator
from itertools import batched
from typing import Any, Final

import boto3

from admin.wiring import OperatorWiring
from pillarbox.wiring import services
from tests.contract.client import Invocation, handler

#: Records of one invocation.
_BATCH: Final = 50


class TableStream:
    """The changes of a table since the last look."""

    def __init__(self, table: str) -> None:
        """Switch the stream on."""
        self._streams = boto3.client("dynamodbstreams")
        boto3.client("dynamodb").update_table(
            TableName=table,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        (stream,) = self._streams.list_streams(TableName=table)["Streams"]
        description = self._streams.describe_stream(StreamArn=stream["StreamArn"])
        (shard,) = description["StreamDescription"]["Shards"]
        self._position = self._streams.get_shard_iterator(
            StreamArn=stream["StreamArn"],
            ShardId=shard["ShardId"],
            ShardIteratorType="TRIM_HORIZON",
        )["ShardIterator"]

    def wrong_statistics(self, account_id: str) -> int:
        """Apply the new changes, and return how much is wrong in an account's statistics."""
        for batch in batched(self.changes(account_id, "MSG"), _BATCH, strict=False):
            handler("aggregate_stats")({"Records": list(batch)}, Invocation())
        audit = OperatorWiring(services().settings).statistics_audit.verify(account_id)
        return audit.wrong_items + audit.lagging_messages

    def changes(self, account_id: str, *kinds: str) -> Iterator[dict[str, Any]]:
        """Return the new changes of some kinds of an account's records, as Lambda has them."""
        partitions = {f"{kind}#{account_id}" for kind in kinds}
        while True:
            page = self._streams.get_records(ShardIterator=self._position)
            self._position = page["NextShardIterator"]
            for record in page["Records"]:
                changes: dict[str, Any] = dict(record["dynamodb"])
                if changes["Keys"]["pk"]["S"] in partitions:
                    del changes["ApproximateCreationDateTime"]  # of another clock
                    yield {"dynamodb": changes}
            if not page["Records"]:
                return
