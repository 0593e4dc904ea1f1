"""What operators see, and the history of emails with its statistics."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.stores import Stores, made

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pillarbox.adapters.ses.tenants import SesTenants
    from pillarbox.application.history.aggregate import Aggregation, LedgerCheck
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.application.history.ranking import AccountRates
    from pillarbox.application.management import ManagementApi, SecretValues
    from pillarbox.application.operator.account_deletion import AccountDeletion
    from pillarbox.application.operator.checks import QueueOperations, ServiceChecks
    from pillarbox.application.operator.isolation import AccountIsolation
    from pillarbox.application.pauses import Pauses
    from pillarbox.domain.messages.message import Message
    from pillarbox.domain.messages.statistics import IndexEntry


class HistoryWiring(Stores):
    """Makes each use case of this area once."""

    history_queries: "HistoryQueries" = made(
        "application.history.queries", log=lambda it: it.message_log
    )
    ledger_check: "LedgerCheck" = made(
        "application.history.aggregate",
        log=lambda it: it.message_log,
        audit=lambda it: it.ledger_audit,
        index=lambda it: it.search_index,
    )
    message_lookup: "MessageLookup" = made("application.history.lookup")
    pauses: "Pauses" = made("application.pauses", records=lambda it: it.account_store)

    @cached_property
    def aggregation(self) -> "Aggregation[Mapping[str, Any]]":
        from pillarbox.adapters.dynamodb.history.message_log import (
            change_time,
            read_change,
            read_search_change,
        )
        from pillarbox.application.history.aggregate import Aggregation, SearchIndexing

        return self.fill(
            Aggregation,
            read=read_change,
            written_at=change_time,
            search=SearchIndexing(read_search_change, self.search_index),
            judge=self._judge,
            tell_owners=self._tell_of_held,
        )

    def _tell_of_held(self, account_id: str, messages: "Sequence[Message]") -> None:
        from pillarbox.application.accounts.held_alerts import held_alerts

        for alert in held_alerts(messages, self.service_address.read()):
            self.alerts.raise_alert(account_id, alert)

    @cached_property
    def _judge(self) -> "Callable[[str, Sequence[IndexEntry]], int]":
        """Return what looks at new entries of the ledger."""
        from pillarbox.application.history.breaker import Breaker, VolumeWatch

        breaker = self.fill(Breaker, may_pause=self.settings.strangers)
        volume = self.fill(VolumeWatch)

        def judge(account_id: str, entries: "Sequence[IndexEntry]") -> int:
            paused = breaker.judge(account_id, entries)
            volume.watch(account_id, entries)
            return paused

        return judge


class OperationWiring(HistoryWiring):
    """Makes each use case of this area once."""

    account_isolation: "AccountIsolation" = made(
        "application.operator.isolation",
        shared=lambda it: it.shared_tenant,
        begins_shared=lambda it: it.settings.strangers,
    )
    account_rates: "AccountRates" = made("application.history.ranking")
    service_checks: "ServiceChecks" = made(
        "application.operator.checks",
        provider=lambda it: it.ses_account,
        queues=lambda it: it.queue_operations,
        webhooks=lambda it: it.settings.webhooks,
    )
    tenants: "SesTenants" = made("adapters.ses.tenants")

    @cached_property
    def queue_operations(self) -> "QueueOperations":
        from pillarbox.adapters.dynamodb.queue_log import DynamoQueueLog
        from pillarbox.adapters.sqs.event_queue import SqsQueueAges
        from pillarbox.adapters.sqs.queues import SqsQueues
        from pillarbox.application.operator.checks import QueueOperations

        return QueueOperations(
            queues=SqsQueues(),
            ages=SqsQueueAges(self.clock),
            log=DynamoQueueLog(self.table),
            clock=self.clock,
            urls={
                "jobs": self.settings.jobs_queue_url,
                "urgent": self.settings.urgent_jobs_queue_url,
                "events": self.settings.events_queue_url,
                "sweep": self.settings.sweep_queue_url,
                "webhooks": self.settings.webhooks_queue_url,
                "received": self.settings.received_queue_url,
            },
        )

    @cached_property
    def account_deletion(self) -> "AccountDeletion":
        from pillarbox.adapters.dynamodb.accounts.account_data import DynamoAccountData
        from pillarbox.adapters.ses.tenants import SesTenants
        from pillarbox.application.operator.account_deletion import AccountDeletion

        return self.fill(
            AccountDeletion,
            count_pending=self.history_queries.count_pending,
            data=DynamoAccountData(self.table, self.credentials),
            remove_kept=lambda account_id: self.kept_contents.remove_all(account_id),  # noqa: PLW0108  made at first use
            tenants=SesTenants(configuration_set=""),  # it deletes only
            end_receiving=lambda domain: self.receipt_rules.remove(domain),  # noqa: PLW0108  made at first use
        )

    @cached_property
    def management_api(self) -> "ManagementApi":
        from pillarbox.adapters.management_api import DeployedApi
        from pillarbox.adapters.secret_store import read_secret

        key = self.settings.provisioning_key
        return DeployedApi(self.service_address.read, lambda: read_secret(key))

    @cached_property
    def provisioned_secrets(self) -> "SecretValues":
        from pillarbox.adapters.management_api import ProvisionedSecrets

        return ProvisionedSecrets(f"{self.settings.stack}/provisioned/")

    @property
    def answer_cloudformation(self) -> "Callable[[str, bytes], None]":
        from pillarbox.adapters.management_api import put_response

        return put_response
