"""Authenticate callers: from the text of an API key to a principal (contract section 5)."""

from dataclasses import dataclass

from pillarbox.application.ports import Directory, DirectoryResult
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal, account_of_key, digest_of_key


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """A key of the right form; only the directory knows whether it exists."""

    account_id: str
    digest: str


def invalid_api_key() -> ServiceError:
    """Return the error for a key that does not work. It does not tell the reason."""
    return ServiceError("invalid_api_key", "The API key is not valid.")


def parse_key(text: str) -> ParsedKey:
    """Parse the text of a key. A malformed key is refused here, without a read.

    Raises:
        ServiceError: `invalid_api_key`.
    """
    account_id = account_of_key(text)
    if account_id is None:
        raise invalid_api_key()
    return ParsedKey(account_id, digest_of_key(text))


def make_principal(directory: DirectoryResult) -> Principal:
    """Return the principal of a key and an account that were just read.

    Raises:
        ServiceError: `invalid_api_key`, if one of them is absent or the key is revoked;
            `account_suspended`.
    """
    key, account = directory.key, directory.account
    if key is None or account is None or key.revoked_at is not None:
        raise invalid_api_key()
    if account.suspension is not None:
        raise ServiceError(
            "account_suspended", "The account is suspended. Ask the operator of the service why."
        )
    return Principal(key, account)


class Authentication:
    """Authenticate callers on the routes that need no other read at the same time."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def authenticate(self, key_text: str, scope: str | None = None) -> Principal:
        """Return the principal of a key, and check that it has a scope if one is given.

        Raises:
            ServiceError: `invalid_api_key`, `account_suspended`, `scope_required`.
        """
        key = parse_key(key_text)
        principal = make_principal(self._directory.look_up(key.account_id, key_digest=key.digest))
        if scope is not None:
            principal.require(scope)
        return principal
