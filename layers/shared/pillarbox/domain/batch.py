"""The request of a batch (contract 4.2).

It has a module of its own because most functions need not load it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.mail import SendRequest

#: Contract 4.2 and 8.2.
MAX_MESSAGES: Final = 100
MAX_BATCH_RECIPIENTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """A batch of the right shape; an item may be the errors of its form.

    `count` is how many messages were sent; above the limit none of them is read.
    """

    body_hash: str
    count: int
    items: tuple[SendRequest | ServiceError, ...]

    @property
    def requests(self) -> Mapping[int, SendRequest]:
        """Return the well-formed requests by position."""
        return {
            position: item
            for position, item in enumerate(self.items)
            if isinstance(item, SendRequest)
        }

    def check_size(self) -> None:
        """Check the counts (contract 4.2).

        Raises:
            ServiceError: `batch_limit_exceeded`.
        """
        if self.count > MAX_MESSAGES:
            raise _too_many("messages", self.count, MAX_MESSAGES)
        recipients = sum(len(request.recipients) for request in self.requests.values())
        if recipients > MAX_BATCH_RECIPIENTS:
            raise _too_many("recipients", recipients, MAX_BATCH_RECIPIENTS)


def _too_many(what: str, count: int, limit: int) -> ServiceError:
    return ServiceError(
        "batch_limit_exceeded",
        f"A batch has at most {limit} {what}; this one has {count}.",
        details={"scope": what, "count": count, "limit": limit},
    )
