"""What operators see: rates, queues and checks."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.history import HistoryWiring

if TYPE_CHECKING:
    from collections.abc import Callable

    from pillarbox.application.management import ManagementApi, SecretValues
    from pillarbox.application.operator.account_deletion import AccountDeletion
    from pillarbox.application.operator.queues import QueueOperations
    from pillarbox.application.operator.ranking import AccountRates
    from pillarbox.application.operator.service_checks import ServiceChecks


class OperationWiring(HistoryWiring):
    """Makes each use case of this area once."""

    @cached_property
    def account_rates(self) -> "AccountRates":
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.application.operator.ranking import AccountRates

        return AccountRates(
            accounts=self.account_store,
            queries=self.history_queries,
            clock=utc_now,
            for_each=in_parallel,
        )

    @cached_property
    def queue_operations(self) -> "QueueOperations":
        from pillarbox.adapters.dynamodb.queue_log import DynamoQueueLog
        from pillarbox.adapters.sqs.queue_ages import SqsQueueAges
        from pillarbox.adapters.sqs.queues import SqsQueues
        from pillarbox.application.operator.queues import QueueOperations, QueueUrls

        return QueueOperations(
            queues=SqsQueues(),
            ages=SqsQueueAges(utc_now),
            log=DynamoQueueLog(self.table),
            clock=utc_now,
            urls={
                "jobs": QueueUrls(
                    self.settings.jobs_queue_url, self.settings.jobs_dead_letters_url
                ),
                "urgent": QueueUrls(self.settings.urgent_jobs_queue_url, None),
                "events": QueueUrls(
                    self.settings.events_queue_url, self.settings.events_dead_letters_url
                ),
                "sweep": QueueUrls(
                    self.settings.sweep_queue_url, self.settings.sweep_dead_letters_url
                ),
                "webhooks": QueueUrls(
                    self.settings.webhooks_queue_url, self.settings.webhooks_dead_letters_url
                ),
            },
        )

    @cached_property
    def account_deletion(self) -> "AccountDeletion":
        from pillarbox.adapters.dynamodb.accounts.account_data import DynamoAccountData
        from pillarbox.adapters.ses.tenants import SesTenants
        from pillarbox.application.operator.account_deletion import AccountDeletion

        return AccountDeletion(
            accounts=self.account_store,
            queries=self.history_queries,
            data=DynamoAccountData(self.table, self.credentials),
            remove_kept=lambda account_id: self.kept_contents.remove_all(account_id),  # noqa: PLW0108  made at first use
            tenants=SesTenants(configuration_set=""),  # it deletes only
            clock=utc_now,
        )

    @cached_property
    def management_api(self) -> "ManagementApi":
        from pillarbox.adapters.management_api import DeployedApi
        from pillarbox.adapters.secret_store import read_secret

        key = self.settings.provisioning_key
        return DeployedApi(self.service_address.read, lambda: read_secret(key))

    @cached_property
    def provisioned_secrets(self) -> "SecretValues":
        from pillarbox.adapters.provisioned_secrets import ProvisionedSecrets

        return ProvisionedSecrets(f"{self.settings.provisioned_secrets}/provisioned/")

    @property
    def answer_cloudformation(self) -> "Callable[[str, bytes], None]":
        from pillarbox.adapters.cloudformation_response import put_response

        return put_response

    @cached_property
    def service_checks(self) -> "ServiceChecks":
        from pillarbox.application.operator.service_checks import ServiceChecks

        return ServiceChecks(
            provider=self.ses_account,
            accounts=self.account_store,
            queues=self.queue_operations,
            strangers=self.stranger_mail,
            clock=utc_now,
            configuration_set=self.settings.configuration_set,
            webhooks=self.settings.webhooks,
        )
