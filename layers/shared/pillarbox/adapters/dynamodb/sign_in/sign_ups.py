"""Sign-ups, and what proof of work needs to remember."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_log import entry_item
from pillarbox.adapters.dynamodb.attributes import from_text, to_attribute, to_item, to_text
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.adapters.dynamodb.sign_in.users import member_items
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table, TransactionConditionsFailed
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.sign_in.proof_of_work import KEY_LENGTH, CheckedProof
from pillarbox.domain.sign_in.session import Member, user_digest
from pillarbox.domain.sign_in.sign_up import SignUpRequest, SignUpState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: The clocks of two functions may differ by as much.
_MARGIN: Final = timedelta(minutes=5)


class DynamoSignUps:
    """Implements `sign_in.ports.SignUps`. They are in one partition, because there are few."""

    def __init__(self, credentials: Table, table: Table) -> None:
        self._credentials = credentials
        self._table = table

    def get(self, address: str) -> SignUpRequest | None:
        """Read one sign-up with strong consistency."""
        item = self._credentials.get(keys.sign_up(user_digest(address)))
        return _request_of(item) if item else None

    def all(self) -> Sequence[SignUpRequest]:
        """Read the partition."""
        requests = map(_request_of, self._credentials.query(keys.sign_up()))
        return sorted(requests, key=lambda one: (one.at, one.address))

    def put(self, request: SignUpRequest, before: SignUpRequest | None) -> bool:
        """Put one item on the condition that it is unchanged."""
        return self._transact(self._put(request, before))

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
        return self._transact(
            self._put(request, before),
            *(_put_new(self._table, item) for item in of_account),
            *(_put_new(self._credentials, item) for item in member_items(owner)),
        )

    def _put(
        self, request: SignUpRequest, before: SignUpRequest | None
    ) -> "TransactWriteItemTypeDef":
        put = _put_new(self._credentials, _item(request))
        if before:
            put["Put"] |= {
                "ConditionExpression": "#state = :state AND #at = :at",
                "ExpressionAttributeNames": {"#state": "state", "#at": "at"},
                "ExpressionAttributeValues": {
                    ":state": to_attribute(before.state.value),
                    ":at": to_attribute(to_text(before.at)),
                },
            }
        return put

    def _transact(self, *writes: "TransactWriteItemTypeDef") -> bool:
        try:
            self._credentials.transact(writes)
        except TransactionConditionsFailed:
            return False
        return True


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
        try:
            self._credentials.put(item, condition="attribute_not_exists(pk)")
        except ConditionFailed:
            return False
        return True

    def _put_key(self) -> Mapping[str, Any]:
        new = {"key": secrets.token_hex(KEY_LENGTH)}
        try:
            self._credentials.put(
                keys.proof_key() | to_item(new), condition="attribute_not_exists(pk)"
            )
        except ConditionFailed as failure:
            return failure.item or new
        return new


def _put_new(table: Table, item: dict[str, Any]) -> "TransactWriteItemTypeDef":
    return {
        "Put": {
            "TableName": table.name,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
        }
    }


def _item(request: SignUpRequest) -> dict[str, Any]:
    return keys.sign_up(user_digest(request.address)) | to_item(
        {
            "user": request.user_id,
            "address": request.address,
            "state": request.state.value,
            "at": to_text(request.at),
            "name": request.name,
            "account": request.account_id,
        }
    )


def _request_of(item: Mapping[str, Any]) -> SignUpRequest:
    return SignUpRequest(
        user_id=item["user"],
        address=item["address"],
        state=SignUpState(item["state"]),
        at=from_text(item["at"]),
        name=item.get("name"),
        account_id=item.get("account"),
    )
