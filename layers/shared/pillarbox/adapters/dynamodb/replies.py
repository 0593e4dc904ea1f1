"""Received mail: its records, the domains that receive, and the keys of the tokens."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    EXISTS,
    NEW,
    TIME,
    Store,
    Table,
    assigning,
    from_text,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.adapters.rows import TUPLE, UUID_TEXT, Codec, Column, Row, many, nested, one_of
from pillarbox.application.ports import Clock
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.replies import (
    Answered,
    Automatic,
    MailVerdict,
    ReceivedFile,
    ReceivedMail,
    Verdicts,
)

#: A key counts for as long again after it was replaced.
_KEY_LIFE: Final = timedelta(days=180)
_KEY_LENGTH: Final = 32
_READ_EVERY: Final = timedelta(hours=1)

_VERDICT: Final = one_of(MailVerdict)
_FILE: Final = Row(
    ReceivedFile,
    *("filename?", "size", "content_id?"),
    content_type="type",
    inline=Column("inline", absent=False),
)
_ANSWERED: Final = Row(
    Answered,
    "template?",
    message_id=("message", UUID_TEXT),
    tags=Column("tags", Codec(dict, dict), absent={}),
)
_MAIL: Final = Row(
    ReceivedMail,
    *("size", "days", "parsed", "recipient", "sender", "sender_name?", "subject"),
    *("message_id_header?", "authenticated"),
    received_at=("received", TIME),
    answered=("answered?", nested(_ANSWERED)),
    verdicts=(
        "verdicts",
        nested(
            Row(
                Verdicts,
                **{name: (name, _VERDICT) for name in ("spam", "virus", "spf", "dkim", "dmarc")},
            )
        ),
    ),
    automatic=("automatic?", one_of(Automatic)),
    files=Column("files", many(nested(_FILE)), absent=()),
    to=Column("to", TUPLE, absent=()),
    cc=Column("cc", TUPLE, absent=()),
    reply_to=Column("reply_to", TUPLE, absent=()),
)
_DOMAIN: Final = Row(
    ReceivingDomain,
    account_id="account",
    names=Column("names", Codec(frozenset, frozenset), absent=frozenset()),
    stopped_on=("stopped?", Codec(date.isoformat, date.fromisoformat)),
)
_OF_ACCOUNT: Final = "#account = :account"


class DynamoReceivedMails(Store):
    """Implements `ports.ReceivedMails`. The table's TTL deletes a record with its objects."""

    def add(self, mail: ReceivedMail) -> bool:
        """Put a record, unless it is there; before it its entry among the answers to its email."""
        expires = {"expires_at": to_ttl(mail.deleted_at)}
        if mail.answered:
            entry = keys.received(mail.account_id, mail.received_id, mail.answered.message_id)
            self._table.put(entry | to_item(expires))
        key = keys.received(mail.account_id, mail.received_id)
        return self._table.put_new(key | to_item(_MAIL.write(mail) | expires)) is None

    def get(self, account_id: str, received_id: UUID) -> ReceivedMail | None:
        item = self._table.get(keys.received(account_id, received_id))
        return received_of(account_id, item) if item else None

    def all(self, account_id: str) -> Iterator[ReceivedMail]:
        items = self._table.query(*keys.received_before(account_id, None))
        return (received_of(account_id, item) for item in items)

    def remove(self, mail: ReceivedMail) -> None:
        """Delete the entry, and then the record, by which an interrupted removal finds it again."""
        if mail.answered:
            message_id = mail.answered.message_id
            self._table.delete(keys.received(mail.account_id, mail.received_id, message_id))
        self._table.delete(keys.received(mail.account_id, mail.received_id))

    def of_account(
        self, account_id: str, before: UUID | None, limit: int
    ) -> Sequence[ReceivedMail]:
        first, last = keys.received_before(account_id, before)
        items = self._table.query(first, last, newest_first=True, limit=limit)
        return [received_of(account_id, item) for item in items]

    def answers_to(
        self, account_id: str, message_id: UUID, before: UUID | None, limit: int
    ) -> Sequence[ReceivedMail]:
        """Read a part of the entries, and then the records that are there."""
        bounds = keys.received_before(account_id, before, message_id)
        entries = self._table.query(*bounds, newest_first=True, limit=limit)
        records = [keys.received(account_id, UUID(entry["sk"])) for entry in entries]
        found = [received_of(account_id, item) for item in self._table.get_all(records)]
        return sorted(found, key=lambda mail: mail.received_id, reverse=True)


def received_of(account_id: str, item: dict[str, Any]) -> ReceivedMail:
    return _MAIL.read(item, account_id=account_id, received_id=UUID(item["sk"]))


class DynamoReceivingDomains(Store):
    """Implements `ports.ReceivingDomains`, and writes them."""

    def get(self, domain: str) -> ReceivingDomain | None:
        item = self._table.get(keys.receiving_domain(domain))
        return _DOMAIN.read(item, domain=domain, ended="expires_at" in item) if item else None

    def put(self, domain: ReceivingDomain) -> ReceivingDomain | None:
        """Set all but the day, unless another account has it and it has not ended."""
        of, names = domain.account_id, domain.names or None
        values = {"account": of, "names": names, "expires_at": None}
        new = f"{NEW} OR attribute_exists(expires_at) OR {_OF_ACCOUNT}"
        return self._update(domain.domain, *assigning(values), condition=new)

    def stop(self, domain: ReceivingDomain, day: date) -> bool:
        values = {":stopped": day.isoformat(), ":account": domain.account_id}
        goes_on = f"{_OF_ACCOUNT} AND attribute_not_exists(expires_at)"
        set_day = "SET #stopped = :stopped"
        return self._update(domain.domain, set_day, values, condition=goes_on) is not None

    def resume(self, domain: ReceivingDomain) -> None:
        values = {":stopped": _DOMAIN.write(domain)["stopped"], ":account": domain.account_id}
        same = f"{_OF_ACCOUNT} AND #stopped = :stopped"
        self._update(domain.domain, "REMOVE #stopped", values, condition=same)

    def end(self, domain: str, account_id: str, until: datetime) -> None:
        """Let the table's TTL delete one, if it is the account's."""
        values = {":until": to_ttl(until), ":account": account_id}
        end = "SET expires_at = :until REMOVE #stopped"
        self._update(domain, end, values, condition=_OF_ACCOUNT)

    def _update(
        self, domain: str, change: str, values: Mapping[str, object], *, condition: str
    ) -> ReceivingDomain | None:
        key = keys.receiving_domain(domain)
        item = self._table.try_update(key, change, values=values, condition=condition)
        return _DOMAIN.read(item, domain=domain, ended="expires_at" in item) if item else None


class DynamoReplyKeys:
    """The keys of tokens. A process reads them once in an hour."""

    def __init__(self, credentials: Table, clock: Clock) -> None:
        self._credentials = credentials
        self._clock = clock
        self._keys: Sequence[bytes] = ()
        self._read_at = datetime.min.replace(tzinfo=UTC)

    def all(self) -> Sequence[bytes]:
        return self._read(renew=False)

    def for_new_tokens(self) -> bytes:
        """Read the keys; one that is too old is replaced, and counts for as long again."""
        return self._read(renew=True)[0]

    def _read(self, *, renew: bool) -> Sequence[bytes]:
        now = self._clock()
        if now - self._read_at > _READ_EVERY:
            item = self._credentials.get(keys.reply_keys())
            if renew and (item is None or now - from_text(item["made"]) >= _KEY_LIFE):
                item = self._replace(item)
            if item is None:
                return ()
            # Nothing uses a new key before all processes have read it.
            is_new = now - from_text(item["made"]) < 2 * _READ_EVERY
            texts = reversed(item["keys"]) if is_new else item["keys"]
            self._keys = [bytes.fromhex(one) for one in texts]
            self._read_at = now
        return self._keys

    def _replace(self, item: dict[str, Any] | None) -> dict[str, Any]:
        before = item["made"] if item else None
        new = {
            "made": to_text(self._clock()),
            "keys": [secrets.token_hex(_KEY_LENGTH), *(item["keys"][:1] if item else ())],
        }
        key = keys.reply_keys()
        if before is None:
            return self._credentials.put_new(key | to_item(new)) or new
        replaced = self._credentials.try_update(
            key,
            "SET #made = :made, #keys = :keys",
            condition=f"{EXISTS} AND #made = :before",
            values={":made": new["made"], ":keys": new["keys"], ":before": before},
        )
        return replaced or self._credentials.get(key) or new
