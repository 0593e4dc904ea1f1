"""What a new stack needs before it can send: an account, a key, a sender."""

from collections.abc import Iterator
from dataclasses import dataclass

from pillarbox.application.accounts.accounts import Accounts
from pillarbox.application.accounts.keys import IssuedKey, Keys
from pillarbox.application.accounts.senders import Sender, Senders
from pillarbox.domain.account import Account, Plan
from pillarbox.domain.key import KeyType, Preset

_SENDING = "emails:send"


@dataclass(frozen=True, slots=True)
class FirstStepsResult:
    """The account that can send, the key if one had to be made, the sender if one was given."""

    account: Account
    issued: IssuedKey | None
    sender: Sender | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Makes what is lacking and nothing else, so that it may be taken again and again."""

    accounts: Accounts
    keys: Keys
    senders: Senders

    def run(self, name: str, sender: str | None = None) -> FirstStepsResult:
        """See that some account has a live key that sends.

        Args:
            name: of the account, when there is none yet.
            sender: an address for that account, unless it has it.

        Raises:
            ValidationFailed: on `name` or `address`.
        """
        known = sorted(self.accounts.all(), key=lambda account: account.created_at)
        account = next(self._able(known), None)
        issued = None
        if account is None:
            # A run that died after it made the account left it without a key.
            account = known[0] if known else self.accounts.create(name, Plan.STANDARD)
            issued = self.keys.issue_live(account.account_id, "First key", Preset.SEND)
        added = self.senders.add(account.account_id, sender) if sender else None
        return FirstStepsResult(self.accounts.get(account.account_id), issued, added)

    def _able(self, accounts: list[Account]) -> Iterator[Account]:
        for account in accounts:
            keys = self.keys.of_account(account.account_id)
            if any(
                key.type is KeyType.LIVE and key.revoked_at is None and _SENDING in key.scopes
                for key in keys
            ):
                yield account
