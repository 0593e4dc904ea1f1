"""What an account has used of its quotas."""

from dataclasses import dataclass

from admin.use_cases.ports import UsedQuotas
from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.quota import QuotaState, WindowUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUsage:
    """The usage of all accounts."""

    counts: UsedQuotas
    accounts: AccountRecords
    clock: Clock

    def of_account(self, account_id: str) -> list[WindowUsage]:
        """Return the usage of each window that is open now, for the account's live keys.

        Raises:
            ServiceError: `account_not_found`.
        """
        limits = find_account(self.accounts, account_id).limits
        now = self.clock()
        return QuotaState(limits, self.counts.used(account_id, now), now).windows
