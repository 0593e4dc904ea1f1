"""The local stack finds the secrets that sign for a receiver."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from local.endpoint_secrets import EndpointSecrets
from pillarbox.adapters.dynamodb.webhooks import endpoints as webhook_endpoints
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint, WebhookSecret

NOW = datetime.now(UTC)


class Pages:
    """The part of a boto3 client that scans the table of credentials."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items
        self.request: dict[str, Any] = {}

    def get_paginator(self, operation: str) -> "Pages":
        assert operation == "scan"
        return self

    def paginate(self, **request: Any) -> list[Any]:
        self.request = request
        url = request["ExpressionAttributeValues"][":url"]
        return [{"Items": [item]} for item in self._items if item["url"] == url]


def endpoint(url: str, *secrets: tuple[str, timedelta | None]) -> Any:
    return webhook_endpoints._item(
        WebhookEndpoint(
            account_id="a1",
            endpoint_id="e1",
            url=url,
            types=frozenset({"*"}),
            secrets=tuple(
                WebhookSecret(
                    text=text, created_at=NOW, expires_at=None if ends is None else NOW + ends
                )
                for text, ends in secrets
            ),
            enabled=True,
            created_at=NOW,
        )
    )


def test_the_secrets_in_force_of_a_receivers_endpoints_are_found() -> None:
    url = "http://127.0.0.1:8025/hooks/shop"
    table = Pages(
        [
            endpoint(
                url, ("new", None), ("old", timedelta(hours=1)), ("ended", -timedelta(hours=1))
            ),
            endpoint(f"{url}2", ("other", None)),
            endpoint(url, ("second", None)),
        ]
    )
    secrets_of = EndpointSecrets(table, "Credentials", "http://127.0.0.1:8025")
    assert asyncio.run(secrets_of("shop")) == ["new", "old", "second"]
    assert asyncio.run(secrets_of("nobody")) == []
    assert table.request["TableName"] == "Credentials"
