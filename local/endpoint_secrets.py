"""The signing secrets of the webhook endpoints that point at a receiver of the inbox."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from boto3.dynamodb.types import TypeDeserializer


class EndpointSecrets:
    """Reads the secrets that are in force, of every account's endpoints.

    Only the local stack looks for endpoints by their URL, so it reads the whole table.
    """

    def __init__(self, dynamodb: Any, table: str, inbox_url: str) -> None:  # noqa: ANN401  a boto3 client
        """Look for endpoints below the inbox's address in the table of credentials."""
        self._dynamodb = dynamodb
        self._table = table
        self._inbox_url = inbox_url

    def url(self, receiver: str) -> str:
        """Return the URL of a receiver."""
        return f"{self._inbox_url}/hooks/{receiver}"

    async def __call__(self, receiver: str) -> list[str]:
        """Return the secrets of the endpoints with the receiver's URL."""
        return await asyncio.to_thread(lambda: [*self._read(self.url(receiver))])

    def _read(self, url: str) -> Iterator[str]:
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._table,
            ConsistentRead=True,
            FilterExpression="#url = :url",
            ExpressionAttributeNames={"#url": "url"},
            ExpressionAttributeValues={":url": {"S": url}},
        )
        now = datetime.now(UTC)
        for item in (item for page in pages for item in page["Items"]):
            for secret in TypeDeserializer().deserialize(item["secrets"]):
                if "expires" not in secret or datetime.fromisoformat(secret["expires"]) > now:
                    yield secret["text"]
