"""Looking whether a stack can do its work: each check passes, warns or fails with a remedy."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from admin.operations import findings
from admin.operations.findings import Finding, Verdict
from admin.operations.ports import (
    ApiProbe,
    CertificateProbe,
    ProviderAccount,
    StackMonitoring,
    TableProtection,
)
from admin.operations.queues import QueueOperations
from pillarbox.application.accounts.dns_records import dmarc_records, dmarc_tags
from pillarbox.application.accounts.domains import Domains
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctor:
    """The checks of a stack.

    Args:
        certificates: the relay's; None without a relay.
        configuration_set: under which mail is handed to the provider.
        preview_sender: the address that mail of preview keys comes from.
        workers: how many deliver at a time at most.
    """

    provider: ProviderAccount
    accounts: AccountRecords
    domains: Domains
    queues: QueueOperations
    table: TableProtection
    watch: StackMonitoring
    door: ApiProbe
    certificates: CertificateProbe | None
    clock: Clock
    configuration_set: str
    preview_sender: str
    workers: int

    def examine(
        self, unasked: Mapping[str, str], trial: Callable[[], Finding] | None = None
    ) -> Iterator[Finding]:
        """Make every check, whatever becomes of the others.

        Args:
            unasked: the checks that cannot be made here, with the reason.
            trial: sends a mail, if one is to be sent.
        """
        checks: dict[str, Callable[[], Iterator[Finding]]] = {
            "address": self._address,
            "clock": lambda: findings.of_clock(self.provider.sending_status()),
            "sending": lambda: findings.of_sending(self.provider.sending_status()),
            "rate": lambda: findings.of_rate(self.provider.sending_status(), self.workers),
            "functions": lambda: findings.of_functions(
                self.watch.function_concurrency(), self.workers
            ),
            "events": lambda: findings.of_events(
                self.provider.configuration_set(self.configuration_set)
            ),
            "domains": self._domains,
            "queues": lambda: findings.of_queues(self.queues.status()),
            "waiting": self._waiting,
            "table": lambda: findings.of_table(self.table.read()),
            "alarms": lambda: findings.of_alarms(
                self.watch.firing_alarms(), self.watch.alarm_subscribers()
            ),
            "relay": self._relay,
            "mail": lambda: _tried(trial),
        }
        for name, check in checks.items():
            if name in unasked:
                yield Finding(name, Verdict.SKIPPED, unasked[name])
                continue
            try:
                yield from check()
            except ServiceError as error:
                remedy = "Mend what keeps it from being asked, and look again."
                yield Finding(name, Verdict.FAIL, error.message, remedy)

    def _address(self) -> Iterator[Finding]:
        """Without a key the API answers in its envelope, so everything before it works."""
        status, answer = self.door.request("GET", "/v1/emails")
        match answer:
            case {"error": {"code": "missing_api_key"}} if status == HTTPStatus.UNAUTHORIZED:
                yield Finding("address", Verdict.PASS, "The API answers at its public address.")
            case _:
                said = f"A request without a key got {status}, and not the API's 401."
                remedy = "Look at the edge, the firewall and the gateway, in this order."
                yield Finding("address", Verdict.FAIL, said, remedy)

    def _domains(self) -> Iterator[Finding]:
        senders = {
            address
            for account in self.accounts.all()
            for address, verified in account.senders.items()
            if verified
        }
        for name in sorted({domain_of(address) for address in {*senders, self.preview_sender}}):
            above = [each for each in _above(name) if self.domains.identities.get(each)]
            if above:
                domain = self.domains.show(above[0])
                yield from findings.of_domain(name, domain, self._policy(name))
            else:
                yield findings.of_no_identity(name)

    def _policy(self, name: str) -> Mapping[str, str] | None:
        """The DMARC record in force: the domain's own, or the nearest one above."""
        for each in _above(name):
            texts = self.domains.dns.look_up(f"_dmarc.{each}", "TXT")
            if texts is None:
                return None
            if found := dmarc_records(texts):
                tags = dmarc_tags(found[0])
                return tags if each == name else {**tags, "p": tags.get("sp", tags.get("p", ""))}
        return {}

    def _waiting(self) -> Iterator[Finding]:
        ages = {
            name: self.watch.oldest_message_age(urls.queue)
            for name, urls in self.queues.urls.items()
        }
        return findings.of_waiting(ages)

    def _relay(self) -> Iterator[Finding]:
        if self.certificates is None:
            yield Finding("relay", Verdict.SKIPPED, "There is no relay.")
        else:
            yield from findings.of_certificate(self.certificates.certificate_expiry(), self.clock())


def _tried(trial: Callable[[], Finding] | None) -> Iterator[Finding]:
    yield trial() if trial else Finding("mail", Verdict.SKIPPED, "Send one with --send.")


def _above(name: str) -> list[str]:
    """The domain and those above it, down to two labels."""
    labels = name.split(".")
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]
