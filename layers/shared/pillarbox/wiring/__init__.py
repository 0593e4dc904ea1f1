"""Where ports meet adapters: each use case, made from settings on its first use.

Importing this package reads no setting. A function imports and makes only what its handler names
for `load`, because each import costs cold start.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from pillarbox.adapters.aws import connect, use_direct_client
from pillarbox.adapters.secret_store import read_secret
from pillarbox.settings import Settings
from pillarbox.wiring.accounts import AccountWiring, CallerWiring, SignInWiring
from pillarbox.wiring.delivery import DeliveryWiring
from pillarbox.wiring.operator import OperationWiring
from pillarbox.wiring.stores import utc_now
from pillarbox.wiring.templates import TemplateWiring
from pillarbox.wiring.webhooks import WebhookWiring

__all__ = ["Wiring", "count_changes", "load", "read_secret", "services", "utc_now"]


@cache
def services() -> "Wiring":
    """Return the use cases of this process, with the settings of its environment."""
    wiring = Wiring(Settings(os.environ))
    wiring.choose_client()
    return wiring


def load(make: "Callable[[Wiring], object]", connections: int = 1) -> None:
    """Make what a function needs while Lambda loads its module, before any request.

    Loading has a whole processor, and a request only the share of the function's memory
    (docs/decisions/aws.md). In other programs everything is made on its first use.

    Args:
        make: makes it.
        connections: to a service, as many as a request uses at the same time.
    """
    if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        make(services())
        connect(connections)


class Wiring(
    AccountWiring,
    CallerWiring,
    DeliveryWiring,
    OperationWiring,
    SignInWiring,
    TemplateWiring,
    WebhookWiring,
):
    """The use cases that some settings describe; each is made once."""

    def choose_client(self) -> None:
        """Let the clients of this process be those of the settings."""
        use_direct_client(on=self.settings.aws_client == "direct")


def count_changes(records: Iterable[Mapping[str, Any]]) -> Mapping[str, int]:
    """Count the changes of messages in records of the table's stream, for metrics."""
    from pillarbox.adapters.dynamodb.history import message_log

    return message_log.count_changes(records)
