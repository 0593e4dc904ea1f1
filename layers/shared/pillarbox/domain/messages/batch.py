"""The request of a batch (contract 4.2).

It has a module of its own because most functions need not load it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.messages.mail import SendRequest

#: Contract 4.2 and 8.2.
MAX_MESSAGES: Final = 100
MAX_BATCH_RECIPIENTS: Final = 1_000
#: Ours: different domains of a batch's recipients. Each one is a query to the DNS.
MAX_DOMAINS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """A batch of the right shape; an item may be the errors of its form.

    `count` is how many messages were sent; above the limit none of them is read.
    """

    body_hash: str
    count: int
    items: tuple[SendRequest | ServiceError, ...]
    #: Whether nothing is sent if one message is refused. The contract's batch sends the others.
    whole: bool = False

    @property
    def requests(self) -> Mapping[int, SendRequest]:
        """Return the well-formed requests by position."""
        return {
            position: item
            for position, item in enumerate(self.items)
            if isinstance(item, SendRequest)
        }

    def check_size(self) -> None:
        """Check the counts (contract 4.2)."""
        _check_count("messages", self.count, MAX_MESSAGES)
        recipients = sum(request.recipient_count for request in self.requests.values())
        _check_count("recipients", recipients, MAX_BATCH_RECIPIENTS)


def refusal_of_all(position: int, refusal: ServiceError) -> ServiceError:
    """Return the error of a batch that is refused because of one message."""
    if isinstance(refusal, ValidationFailed):
        return refusal  # its fields name the message
    return ServiceError(
        refusal.code,
        f"The email at position {position}: {refusal.message}",
        details=refusal.details,
        headers=refusal.headers,
        upgrade_url=refusal.upgrade_url,
    )


def check_domains(domains: Collection[str]) -> None:
    """Check the number of the recipients' different domains."""
    _check_count("domains", len(domains), MAX_DOMAINS)


def _check_count(what: str, count: int, limit: int) -> None:
    if count > limit:
        raise ServiceError(
            "batch_limit_exceeded",
            f"A batch has at most {limit} {what}; this one has {count}.",
            details={"scope": what, "count": count, "limit": limit},
        )
