"""What the table's stream announces of messages, suppressions, accounts and sender domains."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.pauses import pauses_of
from pillarbox.adapters.dynamodb.accounts.suppressions import UNANNOUNCED, suppression_of
from pillarbox.adapters.dynamodb.history.message_log import is_restored
from pillarbox.adapters.dynamodb.records import message_of
from pillarbox.adapters.dynamodb.table import (
    NEW,
    TIME,
    Store,
    from_item,
    from_text,
    to_item,
)
from pillarbox.adapters.rows import Row, one_of
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.webhooks.events import (
    AccountEvent,
    account_paused,
    domain_changed,
    email_received,
    new_events,
    new_pauses,
    suppression_added,
)

_DOMAIN: Final = Row(
    SenderDomain, state=("state", one_of(DomainState)), changed_at=("changed?", TIME)
)


class DynamoSenderDomains(Store):
    """Implements `accounts.ports.SenderDomainRecords`."""

    def of_account(self, account_id: str) -> Iterable[SenderDomain]:
        return map(sender_domain_of, self._table.query(keys.sender_domain(account_id)))

    def replace(self, account_id: str, old: SenderDomain | None, new: SenderDomain) -> bool:
        condition, values = NEW, None
        if old is not None:
            condition, values = "#state = :old", {":old": old.state.value}
        item = keys.sender_domain(account_id, new.name) | to_item(_DOMAIN.write(new))
        return self._table.replace(item, condition=condition, values=values)


def sender_domain_of(item: Mapping[str, Any]) -> SenderDomain:
    return _DOMAIN.read(item, name=item["sk"])


def changed_account(record: Mapping[str, Any]) -> str:
    _, account_id = keys.kind_and_account(record["dynamodb"]["Keys"])
    return account_id


def added_events(record: Mapping[str, Any]) -> Sequence[AccountEvent]:
    """Return the events that a record's change adds; none if an operator put the row back."""
    images = record["dynamodb"]
    if "NewImage" not in images or is_restored(record):
        return ()
    kind, account_id = keys.kind_and_account(images["Keys"])
    new = from_item(images["NewImage"])
    old = from_item(images["OldImage"]) if "OldImage" in images else None
    match kind:
        case "MSG":
            return new_events(message_of(old) if old else None, message_of(new))
        # The hash of an erased person tells the account's owner nothing.
        case "SUP" if old is None and not is_hashed(str(new["sk"])) and UNANNOUNCED not in new:
            added = suppression_of(new)
            return [suppression_added(account_id, added.address, added.at, added.message_id)]
        case "ACCT":
            return _account_changes(account_id, old, new)
        case "RECD" if old is None and "received" in new:  # not an entry of an answered email
            at = from_text(new["received"])
            return [email_received(account_id, UUID(new["sk"]), at)]
        case "DOMAIN":
            return _domain_changes(account_id, sender_domain_of(old) if old else None, new)
    return ()


def _account_changes(
    account_id: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]
) -> Sequence[AccountEvent]:
    events = [
        account_paused(account_id, pause.since, pause)
        for pause in new_pauses(pauses_of(old) if old else (), pauses_of(new))
    ]
    if "suspended" in new and not (old and "suspended" in old):
        events.append(account_paused(account_id, from_text(new["suspended"])))
    return events


def _domain_changes(
    account_id: str, old: SenderDomain | None, image: Mapping[str, Any]
) -> Sequence[AccountEvent]:
    new = sender_domain_of(image)
    if new.changed_at is None or (old and old.changed_at == new.changed_at):
        return []
    event = domain_changed(account_id, new.name, new.state, new.changed_at)
    return [event] if event else []
