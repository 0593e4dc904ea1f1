"""Let a domain of an account receive: a name below it, an MX record, and a rule of SES.

SES has one active set of rules for an account and region, which others may use too. So each domain
has a rule of its own in it, which names the domain: no rule of others is touched, and none catches
more than it should.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pillarbox.application.accounts.domains import (
    AccountDomains,
    CheckedDomain,
    receiving_record,
)
from pillarbox.application.accounts.ports import AccountRecords, DnsLookup
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.receiving_ports import ReceiptRules, ReceivingDomain, ReceivingDomains
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingSetup:
    """Switches receiving on and off. `by` is who does it: see `LogEntry`."""

    domains: AccountDomains
    accounts: AccountRecords
    receiving: ReceivingDomains
    rules: ReceiptRules
    dns: DnsLookup
    log: ChangeLog

    def change(
        self, account_id: str, name: str, label: str, names: Collection[str], *, by: str
    ) -> CheckedDomain:
        """Let `label` below a domain receive answers, and mail to some names; "" switches it off.

        What a rule needs comes before the rule, and goes after it.

        Raises:
            ValidationFailed: on `receive` or `receiveNames`.
            ServiceError: `domain_not_found`, `rate_limit_exceeded`.
        """
        domain = self.domains.get(account_id, name)
        before = domain.receives
        if not label:
            if before:
                self._end(domain, before)
                self.log.note(account_id, AccountAction.RECEIVING_ENDED, before, by=by)
            return self.domains.look(account_id, name)
        wanted = self._check(domain, label, names)
        if before and before != wanted.domain:
            message = f"is {before} now; switch it off first, since answers still come there"
            raise ValidationFailed(FieldError("receive", message, "not_allowed"))
        if not self.receiving.put(wanted):
            raise _in_use(wanted.domain)
        self.rules.put(wanted.domain)
        self.accounts.set_reply_domain(account_id, wanted.domain)
        self.domains.records.set_receiving(domain, label, frozenset(names))
        if not before:
            self.log.note(account_id, AccountAction.RECEIVING_BEGUN, wanted.domain, by=by)
        return self.domains.look(account_id, name)

    def end(self, domain: AccountDomain) -> None:
        """Switch receiving off before a domain is removed."""
        if domain.receives:
            self._end(domain, domain.receives)

    def _end(self, domain: AccountDomain, name: str) -> None:
        self.accounts.set_reply_domain(domain.account_id, None)
        self.rules.remove(name)
        self.receiving.remove(name, domain.account_id)
        self.domains.records.set_receiving(domain, None, frozenset())

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
        account = self.accounts.get(domain.account_id)
        if account and account.reply_domain not in {None, name}:
            message = f"is not possible: answers come to {account.reply_domain} already"
            raise ValidationFailed(FieldError("receive", message, "not_allowed"))
        values = self.dns.look_up(name, "MX")
        if values is None:
            message = "DNS gives no answer now. Try again in a minute."
            raise ServiceError("service_unavailable", message)
        ours = receiving_record(domain.identity, name).value
        if {*values} - {ours}:
            raise _in_use(name)
        return ReceivingDomain(name, domain.account_id, frozenset(names))


def _in_use(name: str) -> ValidationFailed:
    message = f"is not possible: {name} receives mail already. Choose another label"
    return ValidationFailed(FieldError("receive", message, "in_use"))
