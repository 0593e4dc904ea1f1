"""How the table's keys are spelled: here and nowhere else.

One table, entity first; `pk` and `sk` are strings.

| record      | pk                  | sk             |
|-------------|---------------------|----------------|
| API key     | KEY#<sha256>        | -              |
| key list    | KEYS#<account>      | <key id>       |
| account     | ACCT#<account>      | -              |
| account list| ACCTS               | <account>      |
| claim       | IDEM#<account>#<digest> | -          |
| message     | MSG#<account>       | <message id>   |
| quota       | QUOTA#<account>     | -              |
| suppression | SUP#<account>       | <address>      |
| template    | TPL#<account>       | <template id>  |
| pulse       | PULSE               | -              |
"""

from typing import Final
from uuid import UUID

from pillarbox.adapters.dynamodb.attributes import Item

#: The sort key of records that stand alone under their partition key.
_ALONE: Final = "-"


def api_key(digest: str) -> Item:
    """The record of an API key."""
    return _key(f"KEY#{digest}")


def key_list(account_id: str, key_id: str = "") -> Item:
    """The entry of a key in its account's list; without a key id, the list."""
    return _key(f"KEYS#{account_id}", key_id)


def account(account_id: str) -> Item:
    """The record of an account."""
    return _key(f"ACCT#{account_id}")


def account_list(account_id: str = "") -> Item:
    """The entry of an account in the list of all; without an id, the list."""
    return _key("ACCTS", account_id)


def claim(account_id: str, digest: str) -> Item:
    """The claim of an idempotency key."""
    return _key(f"IDEM#{account_id}#{digest}")


def message(account_id: str, message_id: UUID) -> Item:
    """The record of a message."""
    return _key(f"MSG#{account_id}", str(message_id))


def quota(account_id: str) -> Item:
    """The counts of an account's sends."""
    return _key(f"QUOTA#{account_id}")


def suppression(account_id: str, address: str = "") -> Item:
    """The suppression of an address; without one, the account's list."""
    return _key(f"SUP#{account_id}", address)


def template(account_id: str, template_id: UUID | None = None) -> Item:
    """A saved template; without an id, the account's list."""
    return _key(f"TPL#{account_id}", str(template_id) if template_id else "")


def pulse() -> Item:
    """The newest event that has arrived from the provider."""
    return _key("PULSE")


def _key(pk: str, sk: str = _ALONE) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
