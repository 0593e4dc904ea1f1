"""The use cases of the operator's command, each made on its first use."""

from collections.abc import Iterable
from functools import cache, cached_property, partial
from time import sleep

from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.aws.dead_letters import SqsDeadLetterQueues
from admin.aws.erasing import erase_announced, rewrite
from admin.aws.queue_policies import SqsQueuePolicies
from admin.aws.readings import (
    read_capacity,
    read_certificate_expiry,
    read_protection,
    read_shares,
)
from admin.aws.receipts import StackReceipts
from admin.aws.route53 import Route53Zones
from admin.aws.ses_plan import SesAccountPlan
from admin.use_cases.audit import Audit
from admin.use_cases.dead_letters import DeadLetterDrop, DeadLetterInspection
from admin.use_cases.doctor import Doctor
from admin.use_cases.erasure import RecipientErasure
from admin.use_cases.first_steps import FirstSteps
from admin.use_cases.messages import MessageSearch, NoQueue
from admin.use_cases.round_trip import RoundTrip
from admin.use_cases.scale import Scale
from admin.use_cases.suppression_files import SuppressionFiles
from pillarbox.adapters.aws import operator_errors
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.adapters.ses.account import SesAccount
from pillarbox.adapters.ses.identities import SesDomains
from pillarbox.adapters.ses.suppressions import SesSuppressions
from pillarbox.adapters.ses.tenants import SesTenants
from pillarbox.application.accounts.domains import Domains
from pillarbox.application.history.queries import RecordSearch
from pillarbox.application.history.tuning import STANDARD
from pillarbox.application.waiting import WaitingMail
from pillarbox.wiring import Wiring, utc_now
from pillarbox.wiring.stores import made


class OperatorWiring(Wiring):
    """The use cases of a stack, and what only its operator does."""

    provider_suppressions: SesSuppressions = made(
        "adapters.ses.suppressions", errors=lambda _: operator_errors
    )
    tenants: SesTenants = made("adapters.ses.tenants", errors=lambda _: operator_errors)
    #: The command queues no jobs, so an email that waits has the timer alone.
    waiting_contents: DynamoWaitingContents = made(
        "adapters.dynamodb.messages.waiting", bucket=lambda _: ""
    )
    waiting_mail: WaitingMail = made(
        "application.waiting",
        contents=lambda it: it.waiting_contents,
        times=lambda it: it.wake_times,
        queue=lambda _: NoQueue(),
    )

    def account_ids(self) -> Iterable[str]:
        return self.account_store.all_ids()

    @cached_property
    def region(self) -> str:
        return SesDomains().region

    @cached_property
    def provider(self) -> SesAccount:
        return SesAccount(utc_now)

    @cached_property
    def domains(self) -> Domains:
        identities, zones = SesDomains(), Route53Zones()
        return self.fill(Domains, identities=identities, zones=zones, pause=sleep)

    @cached_property
    def first_steps(self) -> FirstSteps:
        return FirstSteps(accounts=self.accounts, keys=self.api_keys, senders=self.senders)

    @cached_property
    def message_search(self) -> MessageSearch:
        return self.fill(MessageSearch, messages=self.message_log, search=self.record_search)

    @cached_property
    def record_search(self) -> RecordSearch:
        return RecordSearch(self.message_log, self.ledger, self.search_index, STANDARD)

    @cached_property
    def recipient_erasure(self) -> RecipientErasure:
        return self.fill(
            RecipientErasure,
            log=self.message_log,
            rewrite=partial(rewrite, self.table),
            indexed_until=self.record_search.indexed_until,
            free=cache(self.provider_suppressions.remove_spellings),
            erase_announced=partial(erase_announced, self.table, self.credentials),
            remove_kept=lambda content: self.kept_contents.remove(content),  # noqa: PLW0108  made at first use
            remove_content=self.waiting_contents.remove,
            received=self.received_mails,
            remove_received=lambda mail: self.received_objects.remove(mail),  # noqa: PLW0108  made at first use
            pause=sleep,
        )

    @cached_property
    def suppression_files(self) -> SuppressionFiles:
        return self.fill(SuppressionFiles, records=self.suppression_store, pause=sleep)

    @cached_property
    def dead_letter_inspection(self) -> DeadLetterInspection:
        return self.fill(
            DeadLetterInspection,
            queues=SqsDeadLetterQueues(),
            operations=self.queue_operations,
        )

    @cached_property
    def dead_letter_drop(self) -> DeadLetterDrop:
        inspection, log = self.dead_letter_inspection, self.queue_operations.log
        return self.fill(DeadLetterDrop, inspection=inspection, log=log)

    @cached_property
    def statistics_audit(self) -> Audit:
        return self.fill(Audit, log=self.message_log, ledger=self.ledger_audit)

    @cached_property
    def doctor(self) -> Doctor:
        settings = self.settings
        relay = settings.relay
        return self.fill(
            Doctor,
            plan=SesAccountPlan().read,
            queues=self.queue_operations,
            protections={
                "The table": partial(read_protection, self.table),
                "The table Credentials": partial(read_protection, self.credentials),
            },
            monitoring=CloudWatchMonitoring(settings.stack),
            queue_policies=SqsQueuePolicies(settings.stack).read,
            shares=read_shares,
            receipts=StackReceipts(settings.stack, settings.spool_bucket).read,
            receiving=self.receiving_domains,
            api_probe=HttpApiProbe(settings.api_url),
            stored_address=self.service_address.stored,
            certificate_expiry=partial(read_certificate_expiry, *relay) if relay else None,
            isolation=self.account_isolation,
            scale=Scale(settings.emails_per_second, settings.webhooks),
            share=settings.ses_rate_share,
            capacity=partial(read_capacity, settings.stack),
        )

    @cached_property
    def round_trip(self) -> RoundTrip:
        api_probe = HttpApiProbe(self.settings.api_url)
        return self.fill(RoundTrip, keys=self.api_keys, api_probe=api_probe, pause=sleep)
