"""Who is calling: from the text of an API key to a principal (contract section 5)."""

from dataclasses import dataclass

from pillarbox.application.ports import Directory, DirectoryResult
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal, account_of_key, digest_of_key


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """A key that has the right form; whether it exists is for the directory to say."""

    account_id: str
    digest: str


def invalid_api_key() -> ServiceError:
    """The one answer to every key that does not work, whatever is wrong with it."""
    return ServiceError("invalid_api_key", "The API key is not valid.")


def parse_key(text: str) -> ParsedKey:
    """Take a key's text apart; most of what is no key is refused here, without a read.

    Raises:
        ServiceError: `invalid_api_key`.
    """
    account_id = account_of_key(text)
    if account_id is None:
        raise invalid_api_key()
    return ParsedKey(account_id, digest_of_key(text))


def make_principal(found: DirectoryResult) -> Principal:
    """Make a principal of a key and account that were just read.

    Raises:
        ServiceError: `invalid_api_key`, when either is absent or the key is revoked.
    """
    if found.key is None or found.account is None or found.key.revoked_at is not None:
        raise invalid_api_key()
    return Principal(found.key, found.account)


class Authentication:
    """Authentication by itself, for the routes that need no other read with it."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def authenticate(self, key_text: str, scope: str | None = None) -> Principal:
        """Give the principal of a key that has the scope, before anything else is looked at.

        Raises:
            ServiceError: `invalid_api_key`, `scope_required`.
        """
        key = parse_key(key_text)
        principal = make_principal(self._directory.look_up(key.account_id, key_digest=key.digest))
        if scope is not None:
            principal.require(scope)
        return principal
