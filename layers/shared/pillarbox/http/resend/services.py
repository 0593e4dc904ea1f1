"""The use cases that routes in Resend's shape call; functions give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pillarbox.application.accounts.account_domains import AccountDomains
    from pillarbox.application.accounts.keys import Keys
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.ports import KeyUses
    from pillarbox.application.sign_in.authentication import CallerAuthentication
    from pillarbox.application.webhooks.endpoints import WebhookQueries, Webhooks
    from pillarbox.application.webhooks.replays import WebhookReplays


class Services(Protocol):
    """What `pillarbox.wiring` makes."""

    @property
    def caller_authentication(self) -> CallerAuthentication:
        """Who calls."""

    @property
    def account_domains(self) -> AccountDomains:
        """The domains of accounts."""

    @property
    def region(self) -> str:
        """Where the service runs."""

    @property
    def api_keys(self) -> Keys:
        """The keys of accounts."""

    @property
    def key_uses(self) -> KeyUses:
        """When keys were used."""

    @property
    def suppression_list(self) -> SuppressionList:
        """The suppressions of accounts."""

    @property
    def webhook_queries(self) -> WebhookQueries:
        """The endpoints of accounts, to read."""

    @property
    def webhook_replays(self) -> WebhookReplays:
        """What was sent to endpoints, to send it again."""

    @property
    def webhooks(self) -> Webhooks:
        """The endpoints of accounts, to write."""
