"""How the tests of the history read several shards."""

from collections.abc import Iterator

import pytest

from pillarbox.adapters.dynamodb.history import message_log


@pytest.fixture(autouse=True, scope="module")
def one_shard_after_another() -> Iterator[None]:
    """Read shards without threads, which would take longer than the reads from memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_log, "in_parallel", lambda call, shards: [*map(call, shards)])
        yield
