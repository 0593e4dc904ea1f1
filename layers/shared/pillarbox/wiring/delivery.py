"""Delivering emails, recording events and sweeping."""

from functools import cached_property
from time import sleep
from typing import TYPE_CHECKING, Any

from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.wiring.operator import HistoryWiring
from pillarbox.wiring.stores import made

if TYPE_CHECKING:
    from pillarbox.adapters.sqs.sweep_tasks import SqsSweepTasks
    from pillarbox.application.delivery.deliver import Delivery
    from pillarbox.application.delivery.deliver_due import DueDelivery
    from pillarbox.application.delivery.feedback import Feedback
    from pillarbox.application.delivery.poison_jobs import PoisonJobs
    from pillarbox.application.delivery.sweep import Sweep, SweepPlan
    from pillarbox.application.delivery.tenant_pauses import TenantPauses
    from pillarbox.application.receiving import Receiving
    from pillarbox.domain.accounts.account import Account
    from pillarbox.domain.messages.mail import Mail
    from pillarbox.domain.messages.message import Message


class DeliveryWiring(HistoryWiring):
    """Makes each use case of this area once."""

    receiving: "Receiving" = made(
        "application.receiving",
        domains=lambda it: it.receiving_domains,
        objects=lambda it: it.received_objects,
        records=lambda it: it.received_mails,
        keys=lambda it: it.reply_keys.all,
        account_of=lambda it: it.account_store.get,
        limit=lambda it: it.receiving_limit,
    )
    sweep_plan: "SweepPlan" = made("application.delivery.sweep", tasks=lambda it: it.sweep_tasks)
    sweep_tasks: "SqsSweepTasks" = made(
        "adapters.sqs.sweep_tasks", queue_url=lambda it: it.settings.sweep_queue_url
    )

    @cached_property
    def delivery(self) -> "Delivery":
        from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
        from pillarbox.adapters.ses.mailer import SesMailer
        from pillarbox.adapters.sqs.event_queue import SqsEventQueue
        from pillarbox.application.delivery.build_message import build_raw, keeping
        from pillarbox.application.delivery.deliver import Delivery
        from pillarbox.application.delivery.holds import Holds
        from pillarbox.domain.ids import new_token

        def keep(message: "Message", raw: bytes) -> None:
            from pillarbox.domain.messages.kept import KeptContent

            self.kept_contents.put(KeptContent.of(message), raw)

        directory = DynamoDirectory(self.table)
        mailer = SesMailer(self.settings.configuration_set, self.settings.ses_rate_share)
        return self.fill(
            Delivery,
            directory=directory,
            holds=Holds(directory, self.clock),
            mailer=mailer,
            rate=DynamoSendingRate(
                Table(self.settings.table, retries=False),
                mailer.read_rate,
                self.clock,
                sleep,
            ),
            event_queue=SqsEventQueue(
                self.settings.events_queue_url, self.settings.events_dead_letters_url, self.clock
            ),
            build=lambda mail, message: build_raw(mail, message, *self._needed(mail)),
            keep=keeping(keep),
            pause=sleep,
            new_owner=lambda: new_token(16),
        )

    @cached_property
    def due_delivery(self) -> "DueDelivery":
        """Deliver messages that waited until they were due."""
        from dataclasses import fields

        from pillarbox.application.delivery.deliver import Delivery
        from pillarbox.application.delivery.deliver_due import DueDelivery

        keys = self.api_key_store

        def works(account_id: str, key_id: str) -> bool:
            key = keys.get(account_id, key_id)
            return key is not None and key.works(self.clock)

        same: Any = {one.name: getattr(self.delivery, one.name) for one in fields(Delivery)}
        return DueDelivery(**same, contents=self.waiting_contents, key_works=works)

    @cached_property
    def isolated_delivery(self) -> "Delivery":
        """Deliver messages that may have killed a worker: each is built in its own process."""
        return self._isolated(self.delivery)

    @cached_property
    def isolated_due_delivery(self) -> "Delivery":
        """Do the same for messages that waited until they were due."""
        return self._isolated(self.due_delivery)

    def _isolated(self, delivery: "Delivery") -> "Delivery":
        from dataclasses import replace

        from pillarbox.adapters.child_process import run_in_child
        from pillarbox.application.delivery.build_message import build_raw

        def build(mail: "Mail", message: "Message") -> bytes:
            needed = self._needed(mail)  # the child must not use connections
            return run_in_child(lambda: build_raw(mail, message, *needed))

        return replace(delivery, build=build)

    def _needed(self, mail: "Mail") -> "tuple[str, bytes | None]":
        """Return what building needs to read: an address for test mail, a key for answers.

        The address is that of the service, whose link stops such mail; the key makes the token of
        mail to which answers come back. Other mail has neither.
        """
        base_url = self.service_address.read() if mail.has_report_link else ""
        return base_url, self.reply_keys.for_new_tokens() if mail.reply_domain else None

    @cached_property
    def poison_jobs(self) -> "PoisonJobs":
        from pillarbox.adapters.sqs.queues import SqsDeadLetters
        from pillarbox.application.delivery.poison_jobs import PoisonJobs

        dead_letters = SqsDeadLetters(self.settings.jobs_dead_letters_url)
        return self.fill(PoisonJobs, dead_letters=dead_letters)

    @cached_property
    def feedback(self) -> "Feedback":
        from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoPreviewAccounts
        from pillarbox.adapters.ses.events import find_message, read_provider_event
        from pillarbox.application.delivery.feedback import Feedback

        return self.fill(
            Feedback,
            read=read_provider_event,
            find_message=find_message,
            tenant_of=self._tenant_of,
            suspend_preview=DynamoPreviewAccounts(None, self.table).suspend,
            sent_in_a_day=lambda: self.ses_account.sending_status().sent_last_24_hours,
            apply_tenant_change=lambda change: self.tenant_pauses.apply(change),  # noqa: PLW0108  made at first use
            pause=sleep,
        )

    def _tenant_of(self, account_id: str) -> str | None:
        account = self.account_store.get(account_id)
        return account.tenant if account else None

    @cached_property
    def tenant_pauses(self) -> "TenantPauses":
        from pillarbox.adapters.ses.tenants import SesTenants
        from pillarbox.application.delivery.tenant_pauses import TenantPauses

        return self.fill(
            TenantPauses,
            may_send=SesTenants(configuration_set="").may_send,
            shared_tenant=self.shared_tenant.stored,
        )

    @cached_property
    def sweep(self) -> "Sweep":
        from pillarbox.adapters.dynamodb.accounts.account_changes import DynamoSenderDomains
        from pillarbox.adapters.ses.identities import SesIdentities
        from pillarbox.application.accounts.account_list import AccountUsage
        from pillarbox.application.accounts.alert_looks import QuotaLook, UnusedKeysLook
        from pillarbox.application.accounts.senders import SenderDomains
        from pillarbox.application.delivery.sweep import RecordRetention, Sweep, WaitingSweep

        quotas = self.fill(QuotaLook, usage=self.fill(AccountUsage).of)
        api_keys = self.api_key_store
        keys = self.fill(
            UnusedKeysLook,
            ids_of=api_keys.ids_of_account,
            last_uses=self.key_uses.last_uses,
            key_of=api_keys.get,
        )
        domains = self.fill(
            SenderDomains,
            records=DynamoSenderDomains(self.table),
            domains_of_members=self.account_domain_store.of_account,
            provider=SesIdentities(),
        )
        return self.fill(
            Sweep,
            log=self.message_log,
            statistics=self.ledger_check,
            waiting=WaitingSweep(
                contents=self.waiting_contents, messages=self.message_store, queue=self.jobs
            ),
            retention=RecordRetention(
                records=self.message_log,
                copies=self.search_index.copies,
                set_records_from=self.account_store.set_records_from,
                remove_kept=lambda content: self.kept_contents.remove(content),  # noqa: PLW0108  made at first use
            ),
            looks=(
                *(domains.look, self.tenant_pauses.look, quotas.look, keys.look),
                self._look_at_receiving,
            ),
            tasks=self.sweep_tasks,
        )

    def _look_at_receiving(self, account: "Account") -> None:
        """Import what reads mail only for an account that receives some."""
        if account.reply_domain:
            self.received_queue.read()  # an update of the stack may have ended that
            self.receiving_limit.look(account)
