"""Add, list and remove the senders of an account, and choose its default sender."""

from dataclasses import dataclass

from pillarbox.application.account_lookup import account_not_found, find_account
from pillarbox.application.accounts.ports import AccountRecords, SenderIdentities, Tenants
from pillarbox.application.validation import normalize_address, normalize_sender
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True)
class AccountSender:
    """A sender address of an account. The account can send from it if it is verified."""

    address: str
    verified: bool
    default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Senders:
    """The senders of all accounts."""

    accounts: AccountRecords
    identities: SenderIdentities
    tenants: Tenants

    def add(
        self, account_id: str, address: str, *, verified: bool = False, default: bool = False
    ) -> AccountSender:
        """Add a sender, or check again whether an existing one is verified.

        If the account has a tenant at the provider, the tenant may send from it first.

        Args:
            account_id: the account that gets the sender.
            address: one bare address.
            verified: treat the address as verified, without asking the provider.
            default: make it the default sender if it is verified. If the account has no
                default, the first verified sender always becomes the default.
        """
        address = normalize_sender(address)
        before = find_account(self.accounts, account_id)
        verified = verified or self.identities.ensure_identity(address)
        if verified and before.tenant:
            self.tenants.associate(before.tenant, [address])
        account = self.accounts.put_sender(
            account_id, address, verified=verified, default=default and verified
        )
        if account is None:
            raise account_not_found()
        if verified and account.tenant and account.tenant != before.tenant:
            # It got the tenant meanwhile, from somebody who may not have seen the sender.
            self.tenants.associate(account.tenant, [address])
        return _sender(account, address)

    def of_account(self, account_id: str) -> tuple[AccountSender, ...]:
        """Read an account's senders, sorted by address."""
        account = find_account(self.accounts, account_id)
        return tuple(_sender(account, address) for address in sorted(account.senders))

    def remove(self, account_id: str, address: str) -> str:
        """Remove a sender from an account and return its normalized address.

        If it was the default sender, the account has none until you set another one. The
        provider keeps the address, because another account may use it.
        """
        address = normalize_address(address)
        find_account(self.accounts, account_id)
        if self.accounts.remove_sender(account_id, address) is None:
            raise _sender_not_found(address)
        return address

    def make_default(self, account_id: str, address: str) -> AccountSender:
        """Make a verified sender the default: emails without `from` use it."""
        address = normalize_address(address)
        account = find_account(self.accounts, account_id)
        if address not in account.senders:
            raise _sender_not_found(address)
        changed = self.accounts.set_default_sender(account_id, address)
        if changed is None:
            raise ServiceError(
                "no_verified_sender",
                f"{address} is not verified yet, so it cannot be the default sender.",
                details={"from": address},
            )
        return _sender(changed, address)


def _sender(account: Account, address: str) -> AccountSender:
    return AccountSender(address, account.senders[address], address == account.default_sender)


def _sender_not_found(address: str) -> ServiceError:
    return ServiceError("sender_not_found", f"The account has no sender {address}.")
