"""Check whether a stack can do its work."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil

from admin.use_cases import checks, domain_checks
from admin.use_cases.capacity import Capacity, check_capacity
from admin.use_cases.ports import ApiProbe, Receipts, StackMonitoring, TableProtectionState
from admin.use_cases.queue_policies import QueuePolicy, check_policies
from admin.use_cases.scale import Scale, check_maximums
from admin.use_cases.ses_plans import ChosenPlan, check_plan
from pillarbox.application.accounts.domains import Domains
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.history.ports import Ledger
from pillarbox.application.operator.checks import (
    Finding,
    QueueOperations,
    ServiceChecks,
    Verdict,
    check_quota,
    run_checks,
)
from pillarbox.application.operator.isolation import AccountIsolation
from pillarbox.application.operator.ports import ProviderAccount
from pillarbox.application.ports import Clock, StrangerMail
from pillarbox.application.receiving_ports import ReceivingDomains
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.messages.statistics import Granularity, TimeRange
from pillarbox.domain.timing import milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """Runs the checks: reads what each one needs, and passes it to `checks`.

    Args:
        stored_address: reads the address of the service that links in emails have.
        certificate_expiry: of the relay; None without one.
        share: the percentage of SES's rate that the stack uses.
        capacity: reads what the stack may do; None to leave out what it says.
    """

    provider: ProviderAccount
    plan: Callable[[], ChosenPlan]
    accounts: AccountRecords
    ledger: Ledger
    domains: Domains
    queues: QueueOperations
    strangers: StrangerMail
    protections: Mapping[str, Callable[[], TableProtectionState]]
    monitoring: StackMonitoring
    queue_policies: Callable[[], Mapping[str, QueuePolicy]]
    shares: Callable[[], Mapping[str, int]]
    receipts: Callable[[], Receipts]
    receiving: ReceivingDomains
    api_probe: ApiProbe
    api_url: str
    stored_address: Callable[[], str | None]
    certificate_expiry: Callable[[], datetime] | None
    clock: Clock
    isolation: AccountIsolation
    configuration_set: str
    preview_sender: str
    scale: Scale
    share: int = 100
    capacity: Callable[[], Capacity] | None = None

    def run(
        self,
        not_applicable: Mapping[str, str],
        send_test_email: Callable[[], Finding] | None = None,
    ) -> Iterator[Finding]:
        """Run every check, even if others fail; skip those that are not applicable."""
        service = ServiceChecks(
            provider=self.provider,
            accounts=self.accounts,
            queues=self.queues,
            strangers=self.strangers,
            clock=self.clock,
            configuration_set=self.configuration_set,
            webhooks=self.scale.webhooks,
        ).runs()
        runs: dict[str, Callable[[], Iterator[Finding]]] = {
            "address": self._check_address,
            "clock": lambda: checks.check_clock(self.provider.sending_status()),
            "sending": service["sending"],
            "rate": self._check_quota_and_rate,
            "plan": lambda: check_plan(self.plan()),
            "functions": self._check_functions,
            "events": service["events"],
            "suppression": self._check_suppression,
            "domains": self._check_domains,
            "receiving": self._check_receiving,
            "tenants": self.isolation.check,
            "policies": lambda: check_policies(self.queue_policies()),
            "strangers": service["strangers"],
            "queues": service["queues"],
            "waiting": service["waiting"],
            "table": self._check_tables,
            "shards": self._check_shards,
            "limits": service["limits"],
            "alarms": self._check_alarms,
            "relay": self._check_relay,
            "mail": lambda: _check_mail(send_test_email),
        }
        for name, run in runs.items():
            if name in not_applicable:
                yield Finding(name, Verdict.SKIPPED, not_applicable[name])
            else:
                yield from run_checks({name: run})

    def _check_address(self) -> Iterator[Finding]:
        yield from checks.check_address(*self.api_probe.request("GET", "/v1/emails"))
        yield checks.check_stored_address(self.stored_address(), self.api_url)

    def _check_quota_and_rate(self) -> Iterator[Finding]:
        status = self.provider.sending_status()
        yield from check_quota(status)
        yield from checks.check_rate(status, self.scale, self.share)
        yield checks.check_shares(self.shares())
        if self.capacity is not None:
            capacity = self.capacity()
            for finding in check_capacity(ceil(capacity.max_rate), capacity):
                # `check_rate` says whether the workers can use the rate.
                if finding.verdict is Verdict.FAIL and finding.check != "workers":
                    yield replace(finding, check="rate", verdict=Verdict.WARN)

    def _check_suppression(self) -> Iterator[Finding]:
        configuration_set = self.provider.configuration_set(self.configuration_set)
        yield from checks.check_suppression(configuration_set, self.provider.sending_status())

    def _check_tables(self) -> Iterator[Finding]:
        for name, read in self.protections.items():
            yield from checks.check_table(read(), name)

    def _check_functions(self) -> Iterator[Finding]:
        limit = self.monitoring.function_concurrency()
        yield from checks.check_concurrency(limit, self.scale)
        yield from check_maximums(limit, self.scale)
        yield checks.check_reserve(self.scale)
        if not self.scale.webhooks:
            message = "Webhooks are off: no endpoint receives anything, and none can be created."
            yield Finding("functions", Verdict.PASS, message)

    def _check_alarms(self) -> Iterator[Finding]:
        now = self.clock()
        silent = {name: now - since for name, since in self.monitoring.silent_alarms().items()}
        yield from checks.check_alarms(
            self.monitoring.firing_alarms(), silent, self.monitoring.alarm_subscribers()
        )

    def _check_domains(self) -> Iterator[Finding]:
        senders = {
            address: account.account_id
            for account in self.accounts.all()
            for address, verified in account.senders.items()
            if verified
        }
        for name in sorted({domain_of(address) for address in {*senders, self.preview_sender}}):
            candidates = domain_and_parents(name)
            registered = [domain for domain in candidates if self.domains.identities.get(domain)]
            if registered:
                domain = self.domains.show(registered[0])
                dmarc = domain_checks.dmarc_in_force(self.domains.dns, name)
                yield from domain_checks.check_domain(name, domain, dmarc)
            else:
                yield domain_checks.unknown_domain(name)
        for address, account_id in sorted(senders.items()):
            own = self.domains.identities.get(address)
            if own and own.mails_feedback:
                remedy = f"pillarbox sender add --account {account_id} {address}"
                yield domain_checks.feedback_mail(address, remedy)

    def _check_receiving(self) -> Iterator[Finding]:
        names = {account.reply_domain for account in self.accounts.all()}
        domains = [self.receiving.get(name) for name in sorted(filter(None, names))]
        if not domains:
            yield Finding("receiving", Verdict.PASS, "No domain receives mail.")
            return
        receipts = self.receipts()
        if not receipts.may_write:
            message = "The policy of the bucket does not let SES store the mail that it receives."
            remedy = "Deploy again: `pillarbox deploy` writes the policy."
            yield Finding("receiving", Verdict.FAIL, message, remedy)
        for domain in filter(None, domains):
            values = self.domains.dns.look_up(domain.domain, "MX")
            yield domain_checks.check_receiving(domain, receipts, values)

    def _check_shards(self) -> Iterator[Finding]:
        now = self.clock()
        last_week = TimeRange(milliseconds(now - timedelta(days=7)), milliseconds(now))
        findings = [
            finding
            for account in self.accounts.all()
            for finding in checks.check_shards(account, self._busiest_hour(account, last_week))
        ]
        yield from findings or [
            Finding("shards", Verdict.PASS, "Each account has shards for its busiest hour.")
        ]

    def _busiest_hour(self, account: Account, starts: TimeRange) -> int:
        hours = self.ledger.rollups(account.account_id, Granularity.HOUR, starts)
        return max((hour.total for hour in hours), default=0)

    def _check_relay(self) -> Iterator[Finding]:
        if self.certificate_expiry is None:
            yield Finding("relay", Verdict.SKIPPED, "The stack has no relay.")
        else:
            yield from checks.check_certificate(self.certificate_expiry(), self.clock())


def _check_mail(send_test_email: Callable[[], Finding] | None) -> Iterator[Finding]:
    if send_test_email is None:
        yield Finding("mail", Verdict.SKIPPED, "Use --send to send a test email.")
    else:
        yield send_test_email()
