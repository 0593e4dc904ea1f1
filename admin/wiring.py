"""The use cases of the operator's command, each made on its first use."""

from collections.abc import Iterable
from functools import cache, cached_property, partial
from time import sleep

from admin.aws.announced_addresses import DynamoAnnouncedAddresses
from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.aws.dead_letters import SqsDeadLetterQueues
from admin.aws.message_rewrite import DynamoMessageRewrite
from admin.aws.queue_policies import SqsQueuePolicies
from admin.aws.receipts import StackReceipts
from admin.aws.route53 import Route53Zones
from admin.aws.ses_plan import SesAccountPlan
from admin.aws.smtp_probe import SmtpProbe
from admin.aws.stack_capacity import read_capacity
from admin.aws.stack_shares import CloudFormationShares
from admin.aws.table_protection import DynamoTableProtection
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
        """Return the ids of all accounts."""
        return self.account_store.all_ids()

    @cached_property
    def region(self) -> str:
        """Return where the stack runs."""
        return SesDomains().region

    @cached_property
    def provider(self) -> SesAccount:
        return SesAccount(utc_now)

    @cached_property
    def domains(self) -> Domains:
        return Domains(
            identities=SesDomains(),
            dns=self.dns_records,
            zones=Route53Zones(),
            clock=utc_now,
            pause=sleep,
        )

    @cached_property
    def first_steps(self) -> FirstSteps:
        return FirstSteps(accounts=self.accounts, keys=self.api_keys, senders=self.senders)

    @cached_property
    def tenants(self) -> SesTenants:
        return SesTenants(self.settings.configuration_set, operator_errors)

    @cached_property
    def message_search(self) -> MessageSearch:
        return MessageSearch(
            messages=self.message_log,
            accounts=self.account_store,
            account_ids=self.account_ids,
            search=self.record_search,
        )

    @cached_property
    def record_search(self) -> RecordSearch:
        return RecordSearch(self.message_log, self.ledger, self.search_index, STANDARD)

    @cached_property
    def recipient_erasure(self) -> RecipientErasure:
        return RecipientErasure(
            accounts=self.account_store,
            log=self.message_log,
            rewrite=DynamoMessageRewrite(self.table),
            index=self.search_index,
            indexed_until=self.record_search.indexed_until,
            suppressions=self.suppression_store,
            free=cache(self.provider_suppressions.remove_spellings),
            announced=DynamoAnnouncedAddresses(self.table, self.credentials),
            remove_kept=lambda content: self.kept_contents.remove(content),  # noqa: PLW0108  made at first use
            remove_content=self.waiting_contents.remove,
            received=self.received_mails,
            remove_received=lambda mail: self.received_objects.remove(mail),  # noqa: PLW0108  made at first use
            clock=utc_now,
            pause=sleep,
        )

    @cached_property
    def suppression_files(self) -> SuppressionFiles:
        return SuppressionFiles(
            records=self.suppression_store,
            accounts=self.account_store,
            clock=utc_now,
            pause=sleep,
        )

    @cached_property
    def dead_letter_inspection(self) -> DeadLetterInspection:
        return DeadLetterInspection(
            queues=SqsDeadLetterQueues(),
            messages=self.message_store,
            urls=self.queue_operations.urls,
        )

    @cached_property
    def dead_letter_drop(self) -> DeadLetterDrop:
        return DeadLetterDrop(
            inspection=self.dead_letter_inspection,
            seen_events=self.seen_events,
            log=self.queue_operations.log,
            clock=utc_now,
        )

    @cached_property
    def statistics_audit(self) -> Audit:
        return Audit(
            log=self.message_log,
            ledger=self.ledger_audit,
            index=self.search_index,
            accounts=self.account_store,
            clock=utc_now,
        )

    @cached_property
    def doctor(self) -> Doctor:
        settings = self.settings
        relay = settings.relay
        return Doctor(
            provider=self.provider,
            plans=SesAccountPlan(),
            accounts=self.account_store,
            ledger=self.ledger,
            domains=self.domains,
            queues=self.queue_operations,
            strangers=self.stranger_mail,
            table=DynamoTableProtection(self.table),
            credentials=DynamoTableProtection(self.credentials),
            monitoring=CloudWatchMonitoring(settings.stack),
            queue_policies=SqsQueuePolicies(settings.stack),
            shares=CloudFormationShares(),
            receipts=StackReceipts(settings.stack, settings.spool_bucket),
            receiving=self.receiving_domains,
            api_probe=HttpApiProbe(settings.api_url),
            api_url=settings.api_url,
            stored_address=self.service_address.stored,
            certificate_probe=SmtpProbe(*relay) if relay else None,
            clock=utc_now,
            isolation=self.account_isolation,
            configuration_set=settings.configuration_set,
            preview_sender=settings.preview_sender,
            scale=Scale(settings.emails_per_second, settings.webhooks),
            share=settings.ses_rate_share,
            capacity=partial(read_capacity, settings.stack),
        )

    @cached_property
    def round_trip(self) -> RoundTrip:
        return RoundTrip(
            accounts=self.account_store,
            keys=self.api_keys,
            api_probe=HttpApiProbe(self.settings.api_url),
            clock=utc_now,
            pause=sleep,
        )
