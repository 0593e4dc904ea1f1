"""Check whether the service can do its work, with what it may read itself."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.operator import checks
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.application.operator.ports import ProviderAccount
from pillarbox.application.operator.queues import QueueOperations
from pillarbox.application.ports import Clock, StrangerMail
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.strangers import ALL, Audience, first_day

#: The checks by their names.
type Checks = Mapping[str, Callable[[], Iterator[Finding]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceChecks:
    """The checks that need no right to the stack.

    Args:
        configuration_set: the name of the configuration set that emails are sent with.
        webhooks: whether they are on.
    """

    provider: ProviderAccount
    accounts: AccountReader
    queues: QueueOperations
    strangers: StrangerMail
    clock: Clock
    configuration_set: str
    webhooks: bool

    def runs(self) -> Checks:
        """Return the checks. Each reads what it needs when it is called."""
        return {
            "sending": lambda: checks.check_sending(self.provider.sending_status()),
            "quota": lambda: checks.check_quota(self.provider.sending_status()),
            "events": lambda: checks.check_events(
                self.provider.configuration_set(self.configuration_set)
            ),
            "strangers": self._check_strangers,
            "queues": lambda: checks.check_dead_letters(self.queues.status()),
            "waiting": self._check_queue_ages,
            "limits": lambda: checks.check_limits(
                self.accounts.all(), self.provider.sending_status()
            ),
        }

    def _check_queue_ages(self) -> Iterator[Finding]:
        switched_off = () if self.webhooks else ("webhooks",)
        yield from checks.check_queue_ages(self.queues.oldest_message_ages(), switched_off)

    def _check_strangers(self) -> Iterator[Finding]:
        now = self.clock()
        for name in (*Audience, ALL):
            yield from checks.check_strangers(name, self.strangers.since(name, first_day(now)), now)


def run_checks(runs: Checks) -> Iterator[Finding]:
    """Run every check, even if others fail."""
    for name, run in runs.items():
        try:
            yield from run()
        except ServiceError as error:
            remedy = "Fix the error that the message names, then run the doctor again."
            yield Finding(name, Verdict.FAIL, error.message, remedy)
