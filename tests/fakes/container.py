"""The product's container, on tables in this process and with a clock that a test moves."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pillarbox.application.sending.service_mail import ServiceMail
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.settings import Settings
from pillarbox.wiring import Wiring
from tests.fakes import stores
from tests.fakes.builders import NOW, PREVIEW_SENDER
from tests.fakes.memory_tables import MemoryTable

#: The address of the service.
BASE: Final = "https://mail.example"
_SETTINGS: Final = dict.fromkeys(("jobs_queue_url", "urgent_jobs_queue_url"), "-")


class Container(Wiring):
    """Fills each use case as the product does.

    What is `given` by the name of an attribute takes its place, such as a queue.
    """

    now: datetime

    def __init__(self, settings: Mapping[str, str] | None = None, **given: Any) -> None:
        variables = {**_SETTINGS, **(settings or {})}
        super().__init__(Settings({f"PILLARBOX_{n.upper()}": t for n, t in variables.items()}))
        table = MemoryTable("table")
        vars(self).update(
            now=NOW,
            clock=lambda: self.now,
            table=table,
            credentials=MemoryTable("credentials", table),
            mail_domains=stores.FakeDomains(),
            jobs=stores.FakeJobs(stores.Store()),
        )
        vars(self).update(given)
        self.service_address.store(BASE)

    def _service_mail(self, *_: str) -> ServiceMail:
        return ServiceMail(
            jobs=self.jobs, messages=self.message_store, sender=PREVIEW_SENDER, clock=self.clock
        )

    def log(self, account_id: str) -> Sequence[LogEntry]:
        """Return what the log of an account has, in the order of the entries' times."""
        return self.account_log_store.entries(account_id, 99)[::-1]
