"""Announcements of records that cannot be read, over fakes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pillarbox.application.webhooks.announce import Announcement
from pillarbox.domain.webhook import WebhookEndpoint
from pillarbox.domain.webhook_events import account_paused
from tests.fakes.builders import ACCOUNT, NOW
from tests.fakes.webhooks import FakeWebhookEndpoints, FakeWebhookQueue, endpoint
from tests.unit.admin.fakes import OTHER_ACCOUNT


@dataclass
class _EndpointsOfAnotherVersion(FakeWebhookEndpoints):
    """Cannot read the endpoints of some accounts."""

    unreadable: set[str] = field(default_factory=set)

    def of_account(self, account_id: str) -> Sequence[WebhookEndpoint]:
        if account_id in self.unreadable:
            raise KeyError("types")
        return super().of_account(account_id)


def test_unreadable_endpoints_do_not_stop_other_accounts() -> None:
    """If an account's endpoints cannot be read, the batch goes on, and the error is reported."""
    endpoints = _EndpointsOfAnotherVersion(unreadable={OTHER_ACCOUNT})
    endpoints.add(endpoint(ACCOUNT), 1)
    queue = FakeWebhookQueue()
    announcement = Announcement[str](
        account_of=str,
        read=lambda record: [account_paused(record, NOW)],
        endpoints=endpoints,
        queue=queue,
        clock=lambda: NOW,
    )
    result = announcement.apply([OTHER_ACCOUNT, ACCOUNT])
    assert [event.account_id for event in queue.events] == [ACCOUNT]
    assert result.retry_from is None
    assert [type(error) for error in result.errors] == [KeyError]
