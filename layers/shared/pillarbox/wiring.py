"""Where ports meet adapters: each use case, made from settings on its first use.

Importing this module reads no setting. A function imports, configures and connects only what
its own use case needs, because each import costs cold start.
"""

import os
from datetime import UTC, datetime
from functools import cache, cached_property
from time import sleep
from typing import TYPE_CHECKING, Any

from pillarbox.adapters.dynamodb.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.authentication import Authentication
from pillarbox.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pillarbox.adapters.code_requests import LambdaCodeRequests
    from pillarbox.adapters.dynamodb.key_uses import DynamoKeyUses
    from pillarbox.adapters.sqs.jobs import SqsJobs
    from pillarbox.adapters.sqs.sweep_tasks import SqsSweepTasks
    from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue
    from pillarbox.application.accounts.account_domains import AccountDomains, MemberSenders
    from pillarbox.application.accounts.account_list import AccountList
    from pillarbox.application.accounts.accounts import Accounts
    from pillarbox.application.accounts.domains import DomainCheck
    from pillarbox.application.accounts.keys import Keys
    from pillarbox.application.accounts.senders import Senders
    from pillarbox.application.accounts.suppressions import SuppressionList
    from pillarbox.application.accounts.usage import AccountUsage
    from pillarbox.application.caller import CallerLookup
    from pillarbox.application.delivery.deliver import Delivery
    from pillarbox.application.delivery.feedback import Feedback
    from pillarbox.application.delivery.plan_sweep import SweepPlan
    from pillarbox.application.delivery.poison_jobs import PoisonJobs
    from pillarbox.application.delivery.sweep import Sweep
    from pillarbox.application.history.aggregate import Aggregation
    from pillarbox.application.history.ledger_check import LedgerCheck
    from pillarbox.application.history.lookup import MessageLookup
    from pillarbox.application.history.queries import HistoryQueries
    from pillarbox.application.operation.queues import QueueOperations
    from pillarbox.application.operation.ranking import AccountRates
    from pillarbox.application.operation.service_checks import ServiceChecks
    from pillarbox.application.sending.acceptance import SendingPorts
    from pillarbox.application.sending.batch import BatchSend
    from pillarbox.application.sending.single import SingleSend
    from pillarbox.application.sending.smtp import SmtpSubmission
    from pillarbox.application.sign_in.approval import SignUpApproval
    from pillarbox.application.sign_in.authentication import (
        CallerAuthentication,
        OperatorAuthentication,
        SessionAuthentication,
    )
    from pillarbox.application.sign_in.code_mail import CodeMail
    from pillarbox.application.sign_in.members import AccountMembers
    from pillarbox.application.sign_in.preview_keys import PreviewKeys
    from pillarbox.application.sign_in.sign_in import SignIn
    from pillarbox.application.sign_in.sign_up import SignUp
    from pillarbox.application.sign_in.team import Team
    from pillarbox.application.templates.authoring import TemplateAuthoring
    from pillarbox.application.templates.editing import TemplateEditing
    from pillarbox.application.templates.saved import TemplateLibrary
    from pillarbox.application.templates.trial import TemplateTrial
    from pillarbox.application.webhooks.announce import Announcement
    from pillarbox.application.webhooks.endpoints import WebhookQueries, Webhooks
    from pillarbox.application.webhooks.enqueue_due import DueTasks
    from pillarbox.application.webhooks.owner_notice import OwnerNotices
    from pillarbox.application.webhooks.ports import PayloadWriter, WebhookPoster
    from pillarbox.application.webhooks.post import WebhookWorker
    from pillarbox.application.webhooks.replays import WebhookReplays
    from pillarbox.domain.sign_in import CodeRequest
    from pillarbox.domain.sign_up import SignUpTerms

# Imports inside functions are the point of this module: see above.
# ruff: noqa: PLC0415


@cache
def services() -> "Wiring":
    """Return the use cases of this process, with the settings of its environment."""
    return Wiring(Settings(os.environ))


class Wiring:
    """The use cases that some settings describe; each is made once."""

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is read yet."""
        self.settings = settings

    @cached_property
    def table(self) -> Table:
        """The table of everything but identities."""
        return Table(self.settings.table)

    @cached_property
    def identities(self) -> Table:
        """The table of API keys, secrets, users and sessions."""
        return Table(self.settings.identities_table)

    @cached_property
    def jobs(self) -> "SqsJobs":
        """The queue of jobs, and the spool."""
        from pillarbox.adapters.sqs.jobs import SqsJobs

        return SqsJobs(
            self.settings.jobs_queue_url,
            self.settings.urgent_jobs_queue_url,
            self.settings.spool_bucket,
        )

    @cached_property
    def authentication(self) -> Authentication:
        """Authenticate the caller of a route that takes keys only."""
        return Authentication(DynamoDirectory(self.table, self.identities))

    @cached_property
    def caller_authentication(self) -> "CallerAuthentication":
        """Authenticate the caller of a route that takes keys and sessions."""
        from pillarbox.application.sign_in.authentication import CallerAuthentication

        return CallerAuthentication(self.authentication, self.session_authentication)

    @cached_property
    def session_authentication(self) -> "SessionAuthentication":
        """Authenticate the caller of a route that takes sessions only."""
        from pillarbox.adapters.dynamodb.sessions import DynamoSessions
        from pillarbox.application.sign_in.authentication import SessionAuthentication

        return SessionAuthentication(DynamoSessions(self.identities, self.table), utc_now)

    @cached_property
    def operator_authentication(self) -> "OperatorAuthentication":
        """Authenticate the caller of a route that only operators may use."""
        from pillarbox.adapters.dynamodb.users import DynamoUsers
        from pillarbox.application.sign_in.authentication import OperatorAuthentication

        users = DynamoUsers(self.identities)
        return OperatorAuthentication(self.session_authentication, users)

    @cached_property
    def account_list(self) -> "AccountList":
        """List all accounts of the service."""
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.application.accounts.account_list import AccountList

        return AccountList(
            records=DynamoAccounts(self.table), usage=self.account_usage, for_each=in_parallel
        )

    @cached_property
    def account_rates(self) -> "AccountRates":
        """Count what each account sends."""
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.application.operation.ranking import AccountRates

        return AccountRates(
            accounts=DynamoAccounts(self.table),
            queries=self.history_queries,
            clock=utc_now,
            for_each=in_parallel,
        )

    @cached_property
    def queue_operations(self) -> "QueueOperations":
        """Work on the queues."""
        from pillarbox.adapters.sqs.queue_ages import SqsQueueAges
        from pillarbox.adapters.sqs.queues import SqsQueues
        from pillarbox.application.operation.queues import QueueOperations, QueueUrls

        return QueueOperations(
            queues=SqsQueues(),
            ages=SqsQueueAges(utc_now),
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
    def service_checks(self) -> "ServiceChecks":
        """Check whether the service can do its work."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.ses.account import SesAccount
        from pillarbox.application.operation.service_checks import ServiceChecks

        return ServiceChecks(
            provider=SesAccount(utc_now),
            accounts=DynamoAccounts(self.table),
            queues=self.queue_operations,
            configuration_set=self.settings.configuration_set,
        )

    @cached_property
    def sign_in(self) -> "SignIn":
        """Sign users in."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.sessions import DynamoSessions
        from pillarbox.adapters.dynamodb.sign_in import DynamoFlows, DynamoSignInCounts
        from pillarbox.adapters.dynamodb.users import DynamoMembers, DynamoUsers
        from pillarbox.application.sign_in.sign_in import SignIn

        return SignIn(
            users=DynamoUsers(self.identities),
            members=DynamoMembers(self.identities),
            accounts=DynamoAccounts(self.table),
            sessions=DynamoSessions(self.identities, self.table),
            flows=DynamoFlows(self.identities),
            counts=DynamoSignInCounts(self.identities),
            queue=self.code_requests,
            terms=self.sign_up_terms,
            clock=utc_now,
        )

    @cached_property
    def sign_up_terms(self) -> "SignUpTerms":
        """Return who may create an account."""
        from pillarbox.domain.sign_up import SignUpMode, SignUpTerms

        return SignUpTerms(
            mode=SignUpMode(self.settings.sign_up),
            domains=frozenset(self.settings.sign_up_domains),
        )

    @cached_property
    def sign_up(self) -> "SignUp":
        """Create the accounts of users."""
        from pillarbox.adapters.dynamodb.sign_in import DynamoSignInCounts
        from pillarbox.adapters.dynamodb.sign_ups import DynamoProofs, DynamoSignUps
        from pillarbox.application.sign_in.sign_up import SignUp
        from pillarbox.domain.account import Plan

        return SignUp(
            terms=self.sign_up_terms,
            plan=Plan(self.settings.plan_of_new_accounts),
            sign_ups=DynamoSignUps(self.identities, self.table),
            proofs=DynamoProofs(self.identities),
            counts=DynamoSignInCounts(self.identities),
            clock=utc_now,
        )

    @cached_property
    def sign_up_approval(self) -> "SignUpApproval":
        """Approve sign-ups, for the operator."""
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.sign_ups import DynamoSignUps
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.sign_in.approval import SignUpApproval
        from pillarbox.domain.account import Plan

        return SignUpApproval(
            sign_ups=DynamoSignUps(self.identities, self.table),
            team=self.team,
            terms=self.sign_up_terms,
            plan=Plan(self.settings.plan_of_new_accounts),
            jobs=SqsJobs(self.settings.jobs_queue_url, "", bucket=""),
            messages=DynamoMessages(self.table),
            sender=self.settings.preview_sender,
            base_url=self.settings.api_url,
            clock=utc_now,
        )

    @cached_property
    def code_requests(self) -> "LambdaCodeRequests":
        """The one-time codes to send."""
        from pillarbox.adapters.code_requests import LambdaCodeRequests

        return LambdaCodeRequests(self.settings.mail_code_function)

    @cached_property
    def read_code_request(self) -> "Callable[[Mapping[str, Any]], CodeRequest]":
        """Read the event with which a one-time code was requested."""
        from pillarbox.adapters.code_requests import read_request

        return read_request

    @cached_property
    def code_mail(self) -> "CodeMail":
        """Send one-time codes."""
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.preview_accounts import DynamoPreviewAccounts
        from pillarbox.adapters.dynamodb.sign_in import DynamoSignInCounts
        from pillarbox.adapters.dynamodb.users import DynamoUsers
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.sign_in.code_mail import CodeMail

        # A code is small and always urgent, so it needs neither spool nor the other queue.
        jobs = SqsJobs("", self.settings.urgent_jobs_queue_url, bucket="")
        return CodeMail(
            users=DynamoUsers(self.identities),
            counts=DynamoSignInCounts(self.identities),
            terms=self.sign_up_terms,
            previews=DynamoPreviewAccounts(None, self.table),
            jobs=jobs,
            messages=DynamoMessages(self.table),
            sender=self.settings.preview_sender,
            base_url=self.settings.api_url,
            clock=utc_now,
        )

    @cached_property
    def preview_keys(self) -> "PreviewKeys":
        """Give preview keys to visitors of other sites."""
        from pillarbox.adapters.disposable_domains import is_disposable
        from pillarbox.adapters.dns import DnsMailDomains
        from pillarbox.adapters.dynamodb import keys
        from pillarbox.adapters.dynamodb.preview_accounts import DynamoPreviewAccounts
        from pillarbox.adapters.dynamodb.sign_in import DynamoFlows, DynamoSignInCounts
        from pillarbox.adapters.dynamodb.sign_ups import DynamoProofs
        from pillarbox.application.sign_in.preview_keys import PreviewKeys

        return PreviewKeys(
            is_open=bool(self.settings.widget_origins),
            per_day=self.settings.preview_keys_per_day,
            accounts=DynamoPreviewAccounts(self.identities, self.table),
            flows=DynamoFlows(self.identities, keys.preview_flow),
            proofs=DynamoProofs(self.identities),
            counts=DynamoSignInCounts(self.identities),
            queue=self.code_requests,
            domains=DnsMailDomains(self.settings.dns_servers),
            is_disposable=is_disposable,
            clock=utc_now,
        )

    @cached_property
    def team(self) -> "Team":
        """Work on users and members, for the operator."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.sessions import DynamoSessions
        from pillarbox.adapters.dynamodb.sign_in import DynamoFlows
        from pillarbox.adapters.dynamodb.users import DynamoMembers, DynamoUsers
        from pillarbox.application.sign_in.team import Team

        return Team(
            users=DynamoUsers(self.identities),
            members=DynamoMembers(self.identities),
            accounts=DynamoAccounts(self.table),
            sessions=DynamoSessions(self.identities, self.table),
            flows=DynamoFlows(self.identities),
            clock=utc_now,
        )

    @cached_property
    def account_members(self) -> "AccountMembers":
        """Work on the members of the caller's account."""
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.sign_in import DynamoFlows, DynamoSignInCounts
        from pillarbox.adapters.dynamodb.users import DynamoMembers, DynamoUsers
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.sign_in.invitation_mail import InvitationMail
        from pillarbox.application.sign_in.members import AccountMembers

        # An invitation is small, and does not expire within an hour.
        jobs = SqsJobs(self.settings.jobs_queue_url, "", bucket="")
        return AccountMembers(
            users=DynamoUsers(self.identities),
            members=DynamoMembers(self.identities),
            flows=DynamoFlows(self.identities),
            counts=DynamoSignInCounts(self.identities),
            mail=InvitationMail(
                jobs=jobs,
                messages=DynamoMessages(self.table),
                sender=self.settings.preview_sender,
                base_url=self.settings.api_url,
                clock=utc_now,
            ),
            clock=utc_now,
        )

    @cached_property
    def api_keys(self) -> "Keys":
        """Work on the API keys of an account."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.api_keys import DynamoApiKeys
        from pillarbox.application.accounts.keys import Keys

        return Keys(
            records=DynamoApiKeys(self.identities, self.table),
            accounts=DynamoAccounts(self.table),
            clock=utc_now,
        )

    @property
    def upgrade_url(self) -> str:
        """Return where a user chooses a larger plan."""
        return self.settings.upgrade_url

    @property
    def submission_server(self) -> "tuple[str, int] | None":
        """Return where programs submit email over SMTP, if there is a relay."""
        return self.settings.relay

    @cached_property
    def key_uses(self) -> "DynamoKeyUses":
        """Read when keys were last used."""
        from pillarbox.adapters.dynamodb.key_uses import DynamoKeyUses

        return DynamoKeyUses(self.table)

    @cached_property
    def accounts(self) -> "Accounts":
        """Change the caller's account."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.application.accounts.accounts import Accounts

        return Accounts(records=DynamoAccounts(self.table), clock=utc_now)

    @cached_property
    def account_usage(self) -> "AccountUsage":
        """Read what is used of an account's limits."""
        from pillarbox.application.accounts.usage import AccountUsage

        return AccountUsage(DynamoDirectory(self.table, self.identities), utc_now)

    @cached_property
    def caller_lookup(self) -> "CallerLookup":
        """Describe the caller."""
        from pillarbox.adapters.dynamodb.key_uses import DynamoKeyUses
        from pillarbox.application.caller import CallerLookup

        return CallerLookup(
            directory=DynamoDirectory(self.table, self.identities),
            key_uses=DynamoKeyUses(self.table),
            clock=utc_now,
        )

    @cached_property
    def sending_ports(self) -> "SendingPorts":
        """Everything that sending needs."""
        from pillarbox.adapters.dns import DnsMailDomains
        from pillarbox.adapters.dynamodb.claims import DynamoClaims
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.quota_refusals import DynamoRefusals
        from pillarbox.adapters.dynamodb.quotas import DynamoQuotas
        from pillarbox.application.sending.acceptance import SendingPorts
        from pillarbox.application.sending.prepare import PreviewTerms
        from pillarbox.domain.preview_key import PreviewRecipients

        return SendingPorts(
            directory=DynamoDirectory(self.table, self.identities),
            claims=DynamoClaims(self.table),
            quotas=DynamoQuotas(self.table),
            refusals=DynamoRefusals(self.table),
            jobs=self.jobs,
            messages=DynamoMessages(self.table),
            domains=DnsMailDomains(self.settings.dns_servers),
            clock=utc_now,
            preview=PreviewTerms(
                sender=self.settings.preview_sender,
                upgrade_url=self.settings.upgrade_url,
                recipients=PreviewRecipients(self.settings.preview_recipients),
            ),
        )

    @cached_property
    def single_send(self) -> "SingleSend":
        """Accept one email."""
        from pillarbox.application.sending.single import SingleSend

        return SingleSend(self.sending_ports)

    @cached_property
    def batch_send(self) -> "BatchSend":
        """Accept a batch of emails."""
        from pillarbox.application.sending.batch import BatchSend

        return BatchSend(self.sending_ports)

    @cached_property
    def smtp_submission(self) -> "SmtpSubmission":
        """Accept messages over SMTP."""
        from pillarbox.application.sending.smtp import SmtpSubmission

        return SmtpSubmission(self.sending_ports, self.settings.smtp_paid_plans_only)

    @cached_property
    def delivery(self) -> "Delivery":
        """Deliver accepted messages."""
        from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.seen_events import DynamoSeenEvents
        from pillarbox.adapters.dynamodb.sending_rate import DynamoSendingRate
        from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
        from pillarbox.adapters.ses.mailer import SesMailer
        from pillarbox.adapters.ses.rate import SesAccountRate
        from pillarbox.adapters.sqs.event_queue import SqsEventQueue
        from pillarbox.application.delivery.build_message import build_raw
        from pillarbox.application.delivery.deliver import Delivery
        from pillarbox.domain.ids import new_token

        base_url = self.settings.api_url
        return Delivery(
            messages=DynamoMessages(self.table),
            directory=DynamoDirectory(self.table),
            suppressions=DynamoSuppressions(self.table),
            jobs=self.jobs,
            mailer=SesMailer(self.settings.configuration_set),
            rate=DynamoSendingRate(
                Table(self.settings.table, retries=False), SesAccountRate().read, utc_now, sleep
            ),
            seen_events=DynamoSeenEvents(self.table),
            event_queue=SqsEventQueue(
                self.settings.events_queue_url, self.settings.events_dead_letters_url, utc_now
            ),
            heartbeat=DynamoHeartbeat(self.table),
            build=lambda mail, message: build_raw(mail, message, base_url),
            clock=utc_now,
            pause=sleep,
            new_owner=lambda: new_token(16),
        )

    @cached_property
    def isolated_delivery(self) -> "Delivery":
        """Deliver messages that may have killed a worker: each is built in its own process."""
        from dataclasses import replace

        from pillarbox.adapters.child_process import run_in_child

        build = self.delivery.build
        return replace(
            self.delivery,
            build=lambda mail, message: run_in_child(lambda: build(mail, message)),
        )

    @cached_property
    def poison_jobs(self) -> "PoisonJobs":
        """Set poison jobs aside."""
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.sqs.dead_letters import SqsDeadLetters
        from pillarbox.application.delivery.poison_jobs import PoisonJobs

        return PoisonJobs(
            messages=DynamoMessages(self.table),
            dead_letters=SqsDeadLetters(self.settings.jobs_dead_letters_url),
            clock=utc_now,
        )

    @cached_property
    def feedback(self) -> "Feedback":
        """Record provider events."""
        from pillarbox.adapters.dynamodb.heartbeat import DynamoHeartbeat
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.preview_accounts import DynamoPreviewAccounts
        from pillarbox.adapters.dynamodb.seen_events import DynamoSeenEvents
        from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
        from pillarbox.adapters.ses.events import read_provider_event
        from pillarbox.application.delivery.feedback import Feedback

        return Feedback(
            read=read_provider_event,
            messages=DynamoMessages(self.table),
            suppressions=DynamoSuppressions(self.table),
            suspend_preview=DynamoPreviewAccounts(None, self.table).suspend,
            seen_events=DynamoSeenEvents(self.table),
            heartbeat=DynamoHeartbeat(self.table),
            clock=utc_now,
            pause=sleep,
        )

    @cached_property
    def sweep_tasks(self) -> "SqsSweepTasks":
        """The queue of sweep tasks."""
        from pillarbox.adapters.sqs.sweep_tasks import SqsSweepTasks

        return SqsSweepTasks(self.settings.sweep_queue_url)

    @cached_property
    def sweep_plan(self) -> "SweepPlan":
        """Begin a pass of the sweep."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.rebuild_marks import DynamoRebuildMarks
        from pillarbox.adapters.s3_spool import S3Spool
        from pillarbox.application.delivery.plan_sweep import SweepPlan

        return SweepPlan(
            accounts=DynamoAccounts(self.table),
            spool=S3Spool(self.settings.spool_bucket),
            marks=DynamoRebuildMarks(self.table),
            tasks=self.sweep_tasks,
            clock=utc_now,
        )

    @cached_property
    def sweep(self) -> "Sweep":
        """Find what got stuck, account by account."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.sender_domains import DynamoSenderDomains
        from pillarbox.adapters.s3_spool import S3Spool
        from pillarbox.adapters.ses.identities import SesIdentities
        from pillarbox.application.accounts.sender_domains import SenderDomains
        from pillarbox.application.delivery.sweep import Sweep

        return Sweep(
            log=DynamoMessageLog(self.table),
            messages=DynamoMessages(self.table),
            spool=S3Spool(self.settings.spool_bucket),
            statistics=self.ledger_check,
            look_at_domains=SenderDomains(
                accounts=DynamoAccounts(self.table),
                records=DynamoSenderDomains(self.table),
                provider=SesIdentities(),
                clock=utc_now,
            ).look,
            tasks=self.sweep_tasks,
            clock=utc_now,
        )

    @cached_property
    def ledger_check(self) -> "LedgerCheck":
        """Check and repair recent or marked hours of the statistics."""
        from pillarbox.adapters.dynamodb.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.ledger_audit import DynamoLedgerAudit
        from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.rebuild_marks import DynamoRebuildMarks
        from pillarbox.adapters.dynamodb.search_index import DynamoSearchIndex
        from pillarbox.application.history.ledger_check import LedgerCheck

        return LedgerCheck(
            log=DynamoMessageLog(self.table),
            ledger=DynamoLedger(self.table),
            audit=DynamoLedgerAudit(self.table),
            marks=DynamoRebuildMarks(self.table),
            index=DynamoSearchIndex(self.table),
            clock=utc_now,
        )

    @cached_property
    def message_lookup(self) -> "MessageLookup":
        """Look one message up."""
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.application.history.lookup import MessageLookup

        return MessageLookup(DynamoMessages(self.table))

    @cached_property
    def history_queries(self) -> "HistoryQueries":
        """List and count an account's messages."""
        from pillarbox.adapters.dynamodb.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.search_index import DynamoSearchIndex
        from pillarbox.application.history.queries import HistoryQueries

        return HistoryQueries(
            log=DynamoMessageLog(self.table),
            ledger=DynamoLedger(self.table),
            index=DynamoSearchIndex(self.table),
            clock=utc_now,
        )

    @cached_property
    def aggregation(self) -> "Aggregation[Mapping[str, Any]]":
        """Apply the changes of messages to the statistics."""
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dynamodb.key_uses import DynamoKeyUses
        from pillarbox.adapters.dynamodb.ledger import DynamoLedger
        from pillarbox.adapters.dynamodb.message_log import (
            change_time,
            read_change,
            read_search_change,
        )
        from pillarbox.adapters.dynamodb.rebuild_marks import DynamoRebuildMarks
        from pillarbox.adapters.dynamodb.search_index import DynamoSearchIndex
        from pillarbox.application.history.aggregate import Aggregation
        from pillarbox.application.history.search_index import SearchIndexing

        return Aggregation(
            read=read_change,
            written_at=change_time,
            ledger=DynamoLedger(self.table),
            marks=DynamoRebuildMarks(self.table),
            key_uses=DynamoKeyUses(self.table),
            clock=utc_now,
            for_each=in_parallel,
            search=SearchIndexing(read_search_change, DynamoSearchIndex(self.table)),
        )

    @cached_property
    def webhook_poster(self) -> "WebhookPoster":
        """Send webhooks, and check the addresses of endpoints."""
        from pillarbox.adapters.webhook_poster import HttpsWebhookPoster

        return HttpsWebhookPoster(
            self.settings.dns_servers, allow_local=self.settings.local_webhooks
        )

    @cached_property
    def template_authoring(self) -> "TemplateAuthoring":
        """Write saved templates."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.template_drafts import (
            DynamoTemplateDrafts,
            DynamoTemplateVersions,
        )
        from pillarbox.adapters.dynamodb.templates import DynamoTemplates
        from pillarbox.application.templates.authoring import TemplateAuthoring

        return TemplateAuthoring(
            records=DynamoTemplates(self.table),
            drafts=DynamoTemplateDrafts(self.table),
            versions=DynamoTemplateVersions(self.table),
            accounts=DynamoAccounts(self.table),
            clock=utc_now,
        )

    @cached_property
    def template_editing(self) -> "TemplateEditing":
        """Edit the drafts of saved templates, and publish them."""
        from pillarbox.application.templates.editing import TemplateEditing

        return TemplateEditing(self.template_authoring)

    @cached_property
    def template_trial(self) -> "TemplateTrial":
        """Send tests of drafts."""
        from pillarbox.adapters.dynamodb.users import DynamoMembers
        from pillarbox.application.templates.trial import TemplateTrial

        return TemplateTrial(
            editing=self.template_editing,
            members=DynamoMembers(self.identities),
            ports=self.sending_ports,
        )

    @cached_property
    def template_library(self) -> "TemplateLibrary":
        """Read and delete saved templates, for callers of the API."""
        from pillarbox.application.templates.saved import TemplateLibrary

        return TemplateLibrary(self.template_authoring)

    @cached_property
    def suppression_list(self) -> "SuppressionList":
        """List the suppressions of an account."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
        from pillarbox.application.accounts.suppressions import SuppressionList

        return SuppressionList(
            records=DynamoSuppressions(self.table),
            accounts=DynamoAccounts(self.table),
            clock=utc_now,
        )

    @cached_property
    def domain_check(self) -> "DomainCheck":
        """Check the DNS records of a sending domain."""
        from pillarbox.adapters.aws import in_parallel
        from pillarbox.adapters.dns import DnsRecords
        from pillarbox.adapters.ses.domains import SesDomains
        from pillarbox.application.accounts.domains import DomainCheck

        return DomainCheck(SesDomains(), DnsRecords(self.settings.dns_servers), in_parallel)

    @cached_property
    def account_domains(self) -> "AccountDomains":
        """Work on the domains of accounts, for their members."""
        from pillarbox.adapters.aws import in_parallel, service_errors
        from pillarbox.adapters.dns import DnsRecords
        from pillarbox.adapters.dynamodb.account_domains import DynamoAccountDomains
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.ses.domains import SesDomains
        from pillarbox.application.accounts.account_domains import AccountDomains
        from pillarbox.application.accounts.domains import DomainCheck

        dns = DnsRecords(self.settings.dns_servers)
        return AccountDomains(
            records=DynamoAccountDomains(self.table),
            accounts=DynamoAccounts(self.table),
            check=DomainCheck(SesDomains(service_errors), dns, in_parallel),
            clock=utc_now,
        )

    @cached_property
    def senders(self) -> "Senders":
        """Work on senders."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.ses.identities import SesIdentities
        from pillarbox.application.accounts.senders import Senders

        return Senders(accounts=DynamoAccounts(self.table), identities=SesIdentities())

    @cached_property
    def member_senders(self) -> "MemberSenders":
        """Add senders, for members of an account."""
        from pillarbox.application.accounts.account_domains import MemberSenders

        return MemberSenders(self.senders, self.account_domains)

    @cached_property
    def webhook_queries(self) -> "WebhookQueries":
        """Read webhook endpoints and the deliveries to them."""
        from pillarbox.adapters.dynamodb.webhook_deliveries import DynamoWebhookDeliveries
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.adapters.dynamodb.webhook_health import DynamoEndpointHealths
        from pillarbox.application.webhooks.endpoints import WebhookQueries

        return WebhookQueries(
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            healths=DynamoEndpointHealths(self.table),
            deliveries=DynamoWebhookDeliveries(self.table),
        )

    @cached_property
    def webhooks(self) -> "Webhooks":
        """Write webhook endpoints."""
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.adapters.dynamodb.webhook_health import DynamoEndpointHealths
        from pillarbox.application.webhooks.endpoints import Webhooks

        return Webhooks(
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            healths=DynamoEndpointHealths(self.table),
            poster=self.webhook_poster,
            queue=self.webhooks_queue,
            clock=utc_now,
            switched_on=self.settings.webhooks,
        )

    @cached_property
    def webhooks_queue(self) -> "SqsWebhookQueue":
        """The queue of events for webhook endpoints."""
        from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue

        return SqsWebhookQueue(self.settings.webhooks_queue_url)

    @cached_property
    def announcement(self) -> "Announcement[Mapping[str, Any]]":
        """Queue what happens in accounts for their webhook endpoints."""
        from pillarbox.adapters.dynamodb.account_changes import added_events, changed_account
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.application.webhooks.announce import Announcement

        return Announcement(
            account_of=changed_account,
            read=added_events,
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            queue=self.webhooks_queue,
            clock=utc_now,
        )

    def webhook_worker(self, payloads: "PayloadWriter") -> "WebhookWorker":
        """Return a worker that posts events to webhook endpoints."""
        from random import random

        from pillarbox.adapters.dynamodb.due_times import DynamoDueTimes
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.suppressions import DynamoSuppressions
        from pillarbox.adapters.dynamodb.webhook_deliveries import (
            DynamoWaitingEvents,
            DynamoWebhookDeliveries,
        )
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.adapters.dynamodb.webhook_health import DynamoEndpointHealths
        from pillarbox.adapters.threads import in_threads
        from pillarbox.application.webhooks.attempts import PostingPorts
        from pillarbox.application.webhooks.post import WebhookWorker

        ports = PostingPorts(
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            healths=DynamoEndpointHealths(self.table),
            deliveries=DynamoWebhookDeliveries(self.table),
            waiting=DynamoWaitingEvents(self.table, utc_now),
            queue=self.webhooks_queue,
            due=DynamoDueTimes(self.table),
            messages=DynamoMessages(self.table),
            suppressions=DynamoSuppressions(self.table),
            poster=self.webhook_poster,
            payloads=payloads,
            clock=utc_now,
            random=random,
        )
        return WebhookWorker(ports, in_threads)

    @cached_property
    def due_tasks(self) -> "DueTasks":
        """Queue the tasks whose time has come."""
        from pillarbox.adapters.dynamodb.due_times import DynamoDueTimes
        from pillarbox.application.webhooks.enqueue_due import DueTasks

        return DueTasks(
            due=DynamoDueTimes(self.table),
            queue=self.webhooks_queue,
            notices=self.owner_notices,
            clock=utc_now,
        )

    @cached_property
    def owner_notices(self) -> "OwnerNotices":
        """Write to the contacts of accounts."""
        from pillarbox.adapters.dynamodb.accounts import DynamoAccounts
        from pillarbox.adapters.dynamodb.messages import DynamoMessages
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.adapters.dynamodb.webhook_health import DynamoEndpointHealths
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.webhooks.owner_notice import OwnerNotices

        # A notice is small and not urgent, so it needs neither spool nor urgent queue.
        jobs = SqsJobs(self.settings.jobs_queue_url, urgent_queue_url="", bucket="")
        return OwnerNotices(
            accounts=DynamoAccounts(self.table),
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            healths=DynamoEndpointHealths(self.table),
            jobs=jobs,
            messages=DynamoMessages(self.table),
            sender=self.settings.preview_sender,
            clock=utc_now,
        )

    @cached_property
    def webhook_replays(self) -> "WebhookReplays":
        """Queue tests and events of the past for webhook endpoints."""
        from pillarbox.adapters.dynamodb.message_log import DynamoMessageLog
        from pillarbox.adapters.dynamodb.webhook_deliveries import DynamoWebhookDeliveries
        from pillarbox.adapters.dynamodb.webhook_endpoints import DynamoWebhookEndpoints
        from pillarbox.application.webhooks.replays import WebhookReplays

        return WebhookReplays(
            endpoints=DynamoWebhookEndpoints(self.identities, self.table),
            deliveries=DynamoWebhookDeliveries(self.table),
            queue=self.webhooks_queue,
            log=DynamoMessageLog(self.table),
            clock=utc_now,
            switched_on=self.settings.webhooks,
        )


def utc_now() -> datetime:
    """Return the time in milliseconds, the precision of ids, records and responses."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def read_secret(name: str) -> str:
    """Return the newest text of a secret in Secrets Manager."""
    from pillarbox.adapters.aws import make_client, service_errors

    with service_errors("secret store"):
        text: str = make_client("secretsmanager").get_secret_value(SecretId=name)["SecretString"]
        return text


def count_changes(records: "Iterable[Mapping[str, Any]]") -> "Mapping[str, int]":
    """Count the changes of messages in records of the table's stream, for metrics."""
    from pillarbox.adapters.dynamodb import message_log

    return message_log.count_changes(records)
