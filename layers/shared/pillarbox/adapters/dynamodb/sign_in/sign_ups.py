"""Sign-ups, and what proof of work needs to remember."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_log import entry_item
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.adapters.dynamodb.sign_in.users import member_items
from pillarbox.adapters.dynamodb.table import NEW, TIME, Item, Table, to_item, to_text
from pillarbox.adapters.rows import Row, one_of
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.address import fold_address
from pillarbox.domain.sign_in.session import Member, user_digest
from pillarbox.domain.sign_in.sign_up import KEY_LENGTH, CheckedProof, SignUpRequest, SignUpState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: The clocks of two functions may differ by as much.
_MARGIN: Final = timedelta(minutes=5)


_REQUEST: Final = Row(
    SignUpRequest,
    *("address", "name?"),
    user_id="user",
    state=("state", one_of(SignUpState)),
    at=("at", TIME),
    account_id="account?",
)


class DynamoSignUps:
    """Implements `sign_in.ports.SignUps`. They are in one partition, because there are few."""

    def __init__(self, credentials: Table, table: Table) -> None:
        self._credentials = credentials
        self._table = table

    def get(self, address: str) -> SignUpRequest | None:
        return self._credentials.find(_key(address), _REQUEST.read)

    def all(self) -> Sequence[SignUpRequest]:
        requests = map(_REQUEST.read, self._credentials.query(keys.sign_up()))
        return sorted(requests, key=lambda one: (one.at, one.address))

    def put(self, request: SignUpRequest, before: SignUpRequest | None) -> bool:
        return self._credentials.try_transact(self._put(request, before))

    def create(
        self,
        request: SignUpRequest,
        before: SignUpRequest | None,
        account: Account,
        owner: Member,
        entry: LogEntry | None = None,
    ) -> bool:
        """Put everything in one transaction over both tables."""
        of_account = [account_item(account), keys.account_list(account.account_id)]
        if entry:
            of_account.append(entry_item(account.account_id, entry))
        return self._credentials.try_transact(
            self._put(request, before),
            *(self._table.to_put(item, condition=NEW) for item in of_account),
            *(self._credentials.to_put(item, condition=NEW) for item in member_items(owner)),
        )

    def _put(
        self, request: SignUpRequest, before: SignUpRequest | None
    ) -> "TransactWriteItemTypeDef":
        item = _key(request.address) | to_item(_REQUEST.write(request))
        if before is None:
            return self._credentials.to_put(item, condition=NEW)
        return self._credentials.to_put(
            item,
            condition="#state = :state AND #at = :at",
            values={":state": before.state.value, ":at": to_text(before.at)},
        )


class DynamoProofs:
    """Implements `sign_in.ports.Proofs`. A process reads the key once."""

    def __init__(self, credentials: Table) -> None:
        self._credentials = credentials
        self._key: bytes | None = None

    def key(self) -> bytes:
        """Read the key, or put a new one unless another process has."""
        if self._key is None:
            item = self._credentials.get(keys.proof_key()) or self._put_key()
            self._key = bytes.fromhex(item["key"])
        return self._key

    def use(self, proof: CheckedProof) -> bool:
        """Put a mark, which the table's TTL deletes when the proof is too old anyway."""
        expires = round((proof.expires_at + _MARGIN).timestamp())
        item = keys.used_proof(proof.digest) | to_item({"expires_at": expires})
        return self._credentials.put_new(item) is None

    def _put_key(self) -> Mapping[str, Any]:
        new = {"key": secrets.token_hex(KEY_LENGTH)}
        return self._credentials.put_new(keys.proof_key() | to_item(new)) or new


def _key(address: str) -> Item:
    """Return one key for all forms of an address, because a mailbox signs up once."""
    return keys.sign_up(user_digest(fold_address(address)))
