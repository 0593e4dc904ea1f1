"""Create what a new stack needs before it can send: an account, a key and a sender."""

from dataclasses import dataclass

from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.senders import AccountSender, Senders
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.key import EMAILS_SEND, KeyType, Preset
from pillarbox.domain.accounts.key_terms import IssuedKey


@dataclass(frozen=True, slots=True)
class FirstStepsResult:
    """An account that can send, its new key if one was created, and the requested sender."""

    account: Account
    new_key: IssuedKey | None
    sender: AccountSender | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Creates only what is missing, so it is safe to run it again."""

    accounts: Accounts
    keys: Keys
    senders: Senders

    def run(self, name: str, sender: str | None = None) -> FirstStepsResult:
        """Make sure that an account with a live key for sending exists."""
        accounts = sorted(self.accounts.all(), key=lambda account: account.created_at)
        account = next(filter(self._has_sending_key, accounts), None)
        needs_key = account is None
        if account is None:
            # An earlier run may have failed after it created the account.
            account = accounts[0] if accounts else self.accounts.create(name, Plan.STANDARD)
        added = self.senders.add(account.account_id, sender) if sender else None
        account = self.accounts.get(account.account_id)
        new_key = None
        if needs_key:  # last, because the key is lost if a later step fails
            new_key = self.keys.issue_live(account.account_id, "First key", Preset.SEND)
        return FirstStepsResult(account, new_key, added)

    def _has_sending_key(self, account: Account) -> bool:
        return any(
            key.type is KeyType.LIVE and key.revoked_at is None and EMAILS_SEND in key.scopes
            for key in self.keys.of_account(account.account_id)
        )
