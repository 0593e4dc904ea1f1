"""The addresses that an account's mail goes out from."""

from dataclasses import dataclass

from pillarbox.application.accounts.lookup import account_not_found, find_account
from pillarbox.application.accounts.ports import AccountRecords, SenderIdentities
from pillarbox.application.validation import normalize_address, normalize_sender
from pillarbox.domain.account import Account
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Sender:
    """An address of an account; mail goes out from it once it is verified."""

    address: str
    verified: bool
    default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Senders:
    """The senders of all accounts."""

    accounts: AccountRecords
    identities: SenderIdentities

    def add(
        self, account_id: str, address: str, *, verified: bool = False, default: bool = False
    ) -> Sender:
        """Give an account a sender, or look again at one that it has.

        Args:
            account_id: whose sender it is.
            address: one bare address.
            verified: take it for verified without asking the provider.
            default: make it the default, which it only becomes when it is
                verified. Without a default the first verified sender becomes it.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`.
        """
        address = normalize_sender(address)
        find_account(self.accounts, account_id)
        verified = verified or self.identities.ensure_identity(address)
        account = self.accounts.put_sender(
            account_id, address, verified=verified, default=default and verified
        )
        if account is None:
            raise account_not_found()
        return _sender(account, address)

    def of_account(self, account_id: str) -> tuple[Sender, ...]:
        """Read an account's senders, in the order of their addresses.

        Raises:
            ServiceError: `account_not_found`.
        """
        account = find_account(self.accounts, account_id)
        return tuple(_sender(account, address) for address in sorted(account.senders))

    def remove(self, account_id: str, address: str) -> str:
        """Take a sender from an account and give its address in its one spelling.

        Was it the default, the account has none until another is made it. The
        provider still knows the address: another account may use it.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`, `sender_not_found`.
        """
        address = normalize_address(address)
        find_account(self.accounts, account_id)
        if self.accounts.remove_sender(account_id, address) is None:
            raise _sender_not_found(address)
        return address

    def make_default(self, account_id: str, address: str) -> Sender:
        """Make a verified sender the one that is used when a mail names none.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`, `sender_not_found`;
                `no_verified_sender`, when it is not verified.
        """
        address = normalize_address(address)
        account = find_account(self.accounts, account_id)
        if address not in account.senders:
            raise _sender_not_found(address)
        changed = self.accounts.set_default_sender(account_id, address)
        if changed is None:
            raise ServiceError(
                "no_verified_sender",
                f"{address} is not verified yet, so it cannot be the default.",
                details={"from": address},
            )
        return _sender(changed, address)


def _sender(account: Account, address: str) -> Sender:
    return Sender(address, account.senders[address], address == account.default_sender)


def _sender_not_found(address: str) -> ServiceError:
    return ServiceError("sender_not_found", f"{address} is no sender of this account.")
