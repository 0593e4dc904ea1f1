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
| entries     | STAT#<account>      | C#<ms>         |
| updates     | STAT#<account>      | U#<home>#<ms> |
| rollup      | STAT#<account>      | <granularity>#<ms> |
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.domain.statistics import Granularity

#: The sort key of records that stand alone under their partition key.
_ALONE: Final = "-"
#: The latest moment that the id of a message can hold (RFC 9562 section 5.7), in milliseconds.
LATEST: Final = 2**48 - 1


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


def heartbeat() -> Item:
    """The newest event that has arrived from the provider."""
    return _key("PULSE")


def messages_from(account_id: str, moment: int) -> Item:
    """Where the messages created at or after a moment begin."""
    return message(account_id, UUID(int=_within_ids(moment) << 80))


def messages_before(account_id: str, moment: int) -> Item:
    """Where the messages created before a moment end."""
    return message(account_id, UUID(int=max((_within_ids(moment) << 80) - 1, 0)))


def is_message(item: Item) -> bool:
    """Whether an item is the record of a message."""
    pk: str = item["pk"]["S"]
    return pk.startswith("MSG#")


def entries(account_id: str, moment: int) -> Item:
    """The entries of messages by creation."""
    return _key(f"STAT#{account_id}", f"C#{_text(moment)}")


def updates(account_id: str, home: str, moment: int) -> Item:
    """The entries of messages by update, for each status two homes."""
    return _key(f"STAT#{account_id}", f"U#{home}#{_text(moment)}")


def rollup(account_id: str, granularity: Granularity, moment: int) -> Item:
    """The rollup of a bucket."""
    return _key(f"STAT#{account_id}", f"{granularity.value}#{_text(moment)}")


def moment(item: Mapping[str, Any]) -> int:
    """The moment in the sort key of one of the last three."""
    return int(item["sk"].rpartition("#")[2])


def _within_ids(moment: int) -> int:
    return min(max(moment, 0), LATEST)


def _text(moment: int) -> str:
    return f"{_within_ids(moment):015d}"


def _key(pk: str, sk: str = _ALONE) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
