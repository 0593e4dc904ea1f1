"""The settings, the tables and the queue of jobs, which all areas share."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.settings import Settings
from pillarbox.wiring.clock import utc_now

if TYPE_CHECKING:
    from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress
    from pillarbox.adapters.sqs.jobs import SqsJobs


class Stores:
    """Holds the settings and makes each store once."""

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is read yet."""
        self.settings = settings

    @cached_property
    def table(self) -> Table:
        """The table of everything but credentials."""
        return Table(self.settings.table)

    @cached_property
    def credentials(self) -> Table:
        """The table of API keys, secrets, users and sessions."""
        return Table(self.settings.credentials_table)

    @cached_property
    def service_address(self) -> "DynamoServiceAddress":
        """The address of API and dashboard, for links in emails."""
        from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress

        return DynamoServiceAddress(self.table, utc_now)

    @cached_property
    def jobs(self) -> "SqsJobs":
        """The queue of jobs, and the spool."""
        from pillarbox.adapters.sqs.jobs import SqsJobs

        return SqsJobs(
            self.settings.jobs_queue_url,
            self.settings.urgent_jobs_queue_url,
            self.settings.spool_bucket,
        )
