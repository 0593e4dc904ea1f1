"""Let a domain of an account receive: a name below it, an MX record, and a rule of SES.

SES has one active set of rules for an account and region, which others may use too. So each domain
has a rule of its own in it, which names the domain: no rule of others is touched, and none catches
more than it should.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.accounts.domains import (
    AccountDomains,
    CheckedDomain,
    domain_not_found,
)
from pillarbox.application.accounts.ports import AccountRecords, DnsLookup
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.receiving_ports import (
    ReceiptRules,
    ReceivingDomain,
    ReceivingDomains,
)
from pillarbox.application.validation import normalize_domain
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

#: The local parts that a domain receives for, beside answers.
MAX_NAMES: Final = 20
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9._+-]{0,62}[a-z0-9])?")
#: What the addresses for answers begin with.
_OURS: Final = "r."
#: For how long a mail that SES stored may be read late: SQS keeps dead letters so long.
_IN_FLIGHT: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingSetup:
    """Switches receiving on and off. `by` is who does it: see `LogEntry`."""

    domains: AccountDomains
    accounts: AccountRecords
    receiving: ReceivingDomains
    rules: ReceiptRules
    #: Lets the queue of what SES stored be read, also if it is already.
    read_queue: Callable[[], None]
    dns: DnsLookup
    log: ChangeLog

    def change(
        self,
        account_id: str,
        name: str,
        label: str | None,
        names: Collection[str] | None,
        *,
        by: str,
    ) -> CheckedDomain:
        """Let `label` below a domain receive answers, and mail to some names; "" switches it off.

        None stays as it is. What a rule needs comes before the rule, and goes after it.
        """
        self.domains.slow_requests.take(account_id)
        domain = self.domains.get(account_id, name)
        before = domain.receives
        if label is None and not before:
            raise ValidationFailed(FieldError("receive", "is missing", "required"))
        label = domain.receive if label is None else label
        if not label:
            if before:
                self._end(domain, before)
                self.log.note(account_id, AccountAction.RECEIVING_ENDED, before, by=by)
            return self.domains.look(account_id, name)
        wanted = self._check(domain, label, domain.receive_names if names is None else names)
        self._put(wanted, is_new=not before)
        self.accounts.set_reply_domain(account_id, wanted.domain)
        label = wanted.domain.partition(".")[0]
        if not self.domains.records.set_receiving(domain, label, wanted.names):
            self._end(domain, wanted.domain)
            raise domain_not_found()  # it was removed meanwhile
        if not before:
            self.log.note(account_id, AccountAction.RECEIVING_BEGUN, wanted.domain, by=by)
        return self.domains.look(account_id, name)

    def _put(self, wanted: ReceivingDomain, *, is_new: bool) -> None:
        """Store a domain and its rule, in place of an account that has lost the domain."""
        known = self.receiving.get(wanted.domain)
        if known and not known.ended and known.account_id != wanted.account_id:
            held = self.domains.records.get(known.account_id, wanted.domain.partition(".")[2])
            if held is None:
                self._forget(wanted.domain, known.account_id)
            elif not held.proved_at:
                self._end(held, wanted.domain)
        stored = self.receiving.put(wanted)
        if stored is None:
            raise _in_use(wanted.domain)
        if stored.stopped_on:  # its limit is that of the day
            return
        try:
            self.read_queue()
            self.rules.put(wanted.domain)
        except ValidationFailed:
            if is_new:
                self._forget(wanted.domain, wanted.account_id)
            raise

    def _end(self, domain: AccountDomain, name: str) -> None:
        self.accounts.set_reply_domain(domain.account_id, None)
        self.rules.remove(name)
        self._forget(name, domain.account_id)
        self.domains.records.set_receiving(domain, None, frozenset())

    def _forget(self, name: str, account_id: str) -> None:
        """Keep the domain as long as mail that SES has stored may wait to be read."""
        self.receiving.end(name, account_id, self.domains.clock() + _IN_FLIGHT)

    def _check(self, domain: AccountDomain, label: str, names: Collection[str]) -> ReceivingDomain:
        """Check what a domain is to receive: only a name below it that receives nothing yet."""
        name = normalize_domain(f"{label}.{domain.name}", "receive")
        if name.removesuffix(f".{domain.name}").count("."):
            message = "must be one label, such as in"
            raise ValidationFailed(FieldError("receive", message, "invalid_domain"))
        if domain.state is not DomainState.VERIFIED:
            message = "needs a verified domain"
            raise ValidationFailed(FieldError("receive", message, "unverified_domain"))
        wrong = [one for one in names if not _NAME.fullmatch(one) or one.startswith(_OURS)]
        if wrong or len(names) > MAX_NAMES:
            message = f"must be at most {MAX_NAMES} names in small letters, such as support"
            raise ValidationFailed(FieldError("receiveNames", message, "invalid_value"))
        wanted = ReceivingDomain(name, domain.account_id, frozenset(names))
        if name == domain.receives:
            return wanted
        others = [one.receives for one in self.domains.records.of_account(domain.account_id)]
        if receiving := next(filter(None, others), None):
            message = (
                f"is not possible: answers come to {receiving}, and still come there after a"
                " change. Switch that off first"
            )
            raise ValidationFailed(FieldError("receive", message, "not_allowed"))
        if label.lower() == domain.mail_from:  # its MX record is that of bounces
            raise _in_use(name)
        values = self.dns.look_up(name, "MX")
        if values is None:
            message = "DNS gives no answer now. Try again in a minute."
            raise ServiceError("service_unavailable", message)
        if {value.split()[-1].lower() for value in values} - {domain.identity.inbound_host}:
            raise _in_use(name)
        return wanted


def _in_use(name: str) -> ValidationFailed:
    message = f"is not possible: {name} receives mail already. Choose another label"
    return ValidationFailed(FieldError("receive", message, "in_use"))
