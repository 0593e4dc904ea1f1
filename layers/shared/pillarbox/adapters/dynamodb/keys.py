"""The keys of the tables. No other module knows the form of a key.

A partition key starts with the type of its records; `pk` and `sk` are strings. The table
`Credentials` has what proves who calls, the secrets of webhooks, and sign-ups.

| record      | pk                  | sk             |
|-------------|---------------------|----------------|
| API key     | KEY#<sha256>        | -              |
| key list    | KEYS#<account>      | <key id>       |
| webhook endpoint | HOOK#<account> | <endpoint id>  |
| its account's ids | HOOK#<account> | -             |
| user        | USER#<digest of the address> | -    |
| member      | TEAM#<account>      | <user>         |
| membership  | OF#<user>           | <account>      |
| session     | SESS#<user>         | <session>      |
| access token | SESS#<user>        | ~<session>#<sha256> |
| passkey     | PASSKEY#<user>      | <digest of the credential's id> |
| flow        | FLOW#<digest of the address> | <digest of its secret> |
| flow for a preview key | PREVIEW#<digest of the folded address> | <digest of its secret> |
| link for one use | LINK#<sha256>     | -              |
| count of codes | COUNT#<subject>#<seconds>#<window> | - |
| sign up     | SIGNUPS             | <digest of the folded address> |
| key of proof of work | POW        | -              |
| used proof  | PROOF#<sha256>      | -              |
| lease of a name | NAME#<sha256>   | -              |
| keys of reply tokens | REPLIES    | -              |

The first table has all other records:

| record      | pk                  | sk             |
|-------------|---------------------|----------------|
| account     | ACCT#<account>      | -              |
| account list| ACCTS               | <account>      |
| its log     | LOG#<account>       | <entry id>     |
| redrive of a queue | REDRIVES     | <entry id>     |
| claim       | IDEM#<account>#<digest> | -          |
| message     | MSG#<account>       | <message id>   |
| in shard n  | MSG#<account>#<n>   | <message id>   |
| quota       | QUOTA#<account>     | -              |
| of an agent's key | QUOTA#<account> | <key id>     |
| of a brake  | QUOTA#<account>     | brake#<scope>#<id> |
| use of a key| USED#<account>      | <key id>       |
| suppression | SUP#<account>       | <address>      |
| sender domain | DOMAIN#<account>  | <domain>       |
| template    | TPL#<account>       | <template id>  |
| its draft   | TPLD#<account>      | <template id>  |
| its versions| TPLV#<account>      | <template id>#<version> |
| domain of an account | DOM#<account> | <domain>    |
| account that proved a domain | PROVED#<domain> | <account> |
| heartbeat   | PULSE               | -              |
| last probe of it | PROBE          | -              |
| address of the service | ADDRESS  | -              |
| mail to strangers | STRANGERS     | <audience, its party or all>#<day> |
| tenant of strangers | TENANT      | -              |
| seen event  | SEEN#<account>#<message id> | -      |
| sending rate| RATE                | -              |
| entries     | STAT#<account>      | C#<ms>         |
| updates     | STAT#<account>      | U#<group>#<ms> |
| rollup      | STAT#<account>      | <granularity>#<ms> |
| subsets     | STAT#<account>      | subsets#<ms>   |
| their rollups | STAT#<account>#<kind>#<id> | <granularity>#<ms> |
| rebuild mark| REBUILD             | <account>#<ms> |
| by recipient| RCPT#<account>      | <mailbox>#<message id> |
| by tag      | TAG#<account>       | <name>=<value>#<message id> |
| delivery    | HOOKD#<account>#<endpoint>, …#<1-7> | <ms>-<event id> |
| waiting event | HOOKW#<account>#<endpoint>, …#<1-7> | <ms>-<event id> |
| health      | HOOKH#<account>#<endpoint> | -       |
| due task    | DUE#<minute>#<0-7>  | <account>#<endpoint>#<ms>-<event id> |
| due minute  | DUES                | -              |
| alert       | ALERT#<account>     | <alert id>     |
| what owners chose of them | ALERT#<account> | settings |
| last post to its chat | CHAT#<account> | -      |
| account to tell | TELL#<minute>#0 | <account>      |
| minute of it | TELLS              | -              |
| content that waits | LATER#<account> | <template or ->#<message id> |
| time of an email | WAKE#<minute>#<0-3> | <account>#<message id>#<ms> |
| minute of it | WAKES              | -              |
| received mail | RECD#<account>    | <received id>  |
| by the email that it answers | RECD#<account>#<message id> | <received id> |
| domain that receives | RECV#<domain> | -           |

The entries by recipient and by tag of a message in shard n have `#<n>` after the account, as the
message has. The value of a tag is percent-encoded. A copy has an entry by a tag without a name,
whose value is the id of the message that it repeats. The address of a suppression may be a hash.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from uuid import UUID
from zlib import crc32

from pillarbox.adapters.dynamodb.table import Item
from pillarbox.domain.ids import is_uuid, shard_of

if TYPE_CHECKING:
    from typing import Protocol

    from pillarbox.domain.messages.statistics import Granularity, SearchTerm, Subset, TimeRange

    class _Alone(Protocol):
        """Return the key of the one record that something has: an account, or a digest."""

        def __call__(self, owner: str) -> Item: ...

    class _OfList(Protocol):
        """Return the key of a record of somebody's list; without an id, of the list."""

        def __call__(self, owner: str, row_id: UUID | str | None = None) -> Item: ...

    class _Common(Protocol):
        """Return the key of a record of a list that all share; without an id, of the list."""

        def __call__(self, row_id: str = "") -> Item: ...


#: The sort key of records that are alone under their partition key.
_ALONE: Final = "-"
#: The kinds of records in `Credentials`.
_CREDENTIALS: Final = frozenset(
    {
        "COUNT",
        "FLOW",
        "HOOK",
        "KEY",
        "KEYS",
        "LINK",
        "NAME",
        "OF",
        "PASSKEY",
        "POW",
        "PREVIEW",
        "PROOF",
        "REPLIES",
        "SESS",
        "SIGNUPS",
        "TEAM",
        "USER",
    }
)
#: The latest moment that a message id can contain (RFC 9562 section 5.7), in milliseconds.
LATEST: Final = 2**48 - 1
#: The versions of a template sort as text.
_VERSION_DIGITS: Final = 9
#: Sorts after every character of an address.
_AFTER_ASCII: Final = "\x7f"
#: A sort key is not empty, and none has a higher character.
_LOWEST: Final = "\x00"
_LAST: Final = "\U0010ffff"
#: The kinds of items that wait for their minute. Those of a minute are in so many partitions,
#: because one takes 1,000 writes a second.
TIMERS: Final = {"DUE": 8, "WAKE": 4, "TELL": 1}
#: So are the deliveries and the waiting events of an endpoint: an email has two events or more.
ENDPOINT_SHARDS: Final = 8


def _alone(kind: str) -> "_Alone":
    return lambda owner: _key(f"{kind}#{owner}")


def _of_list(kind: str) -> "_OfList":
    return lambda owner, row_id=None: _key(f"{kind}#{owner}", str(row_id) if row_id else "")


def _common(kind: str, sk: str = "") -> "_Common":
    return lambda row_id="": _key(kind, row_id or sk)


api_key: Final = _alone("KEY")
account: Final = _alone("ACCT")
user: Final = _alone("USER")
link: Final = _alone("LINK")
used_proof: Final = _alone("PROOF")
name_lease: Final = _alone("NAME")
webhook_endpoint_ids: Final = _alone("HOOK")
chat_state: Final = _alone("CHAT")
receiving_domain: Final = _alone("RECV")

flow: Final = _of_list("FLOW")
preview_flow: Final = _of_list("PREVIEW")
key_list: Final = _of_list("KEYS")
key_use: Final = _of_list("USED")
account_log: Final = _of_list("LOG")
suppression: Final = _of_list("SUP")
sender_domain: Final = _of_list("DOMAIN")
alert: Final = _of_list("ALERT")
account_domain: Final = _of_list("DOM")
#: An account that has proved a domain; without an account, of the list of them.
domain_owner: Final = _of_list("PROVED")
template: Final = _of_list("TPL")
template_draft: Final = _of_list("TPLD")
member: Final = _of_list("TEAM")
membership: Final = _of_list("OF")
passkey: Final = _of_list("PASSKEY")
#: The partition has the user's access tokens too, after the sessions.
session: Final = _of_list("SESS")

account_list: Final = _common("ACCTS")
redrive: Final = _common("REDRIVES")
sign_up: Final = _common("SIGNUPS")
proof_key: Final = _common("POW", _ALONE)
reply_keys: Final = _common("REPLIES", _ALONE)
heartbeat: Final = _common("PULSE", _ALONE)
#: The last probe for the heartbeat.
probe: Final = _common("PROBE", _ALONE)
service_address: Final = _common("ADDRESS", _ALONE)
#: The tenant of accounts that strangers make.
shared_tenant: Final = _common("TENANT", _ALONE)
#: A day of the service's mail to people who have not agreed to get any.
stranger_day: Final = _common("STRANGERS")


def accounts_from(account_id: str) -> tuple[Item, Item]:
    return _key("ACCTS", account_id or _LOWEST), _key("ACCTS", _LAST)


def claim(account_id: str, digest: str) -> Item:
    return _key(f"IDEM#{account_id}#{digest}")


def message(account_id: str, message_id: UUID) -> Item:
    return _in_shard(account_id, shard_of(message_id), message_id)


def quota(sender_id: str) -> Item:
    """Return the key of the counts of an account's sends, or of those of a key's own quota.

    The id of the latter is `Principal.own_quota_id`.
    """
    account_id, _, key_id = sender_id.partition("#")
    return _key(f"QUOTA#{account_id}", key_id or _ALONE)


def suppressions_from(account_id: str, start: str) -> tuple[Item, Item]:
    """Return the lowest and the highest key of the addresses that begin with a text."""
    return _key(f"SUP#{account_id}", start or _LOWEST), _key(f"SUP#{account_id}", f"{start}{_LAST}")


def template_version(account_id: str, template_id: UUID, version: int) -> Item:
    """Return the key of a template's version; 0 sorts before the first one."""
    return _key(f"TPLV#{account_id}", f"{template_id}#{version:0{_VERSION_DIGITS}}")


def template_versions(account_id: str, template_id: UUID) -> tuple[Item, Item]:
    last = 10**_VERSION_DIGITS - 1
    return (
        template_version(account_id, template_id, 0),
        template_version(account_id, template_id, last),
    )


def of_templates(account_id: str) -> tuple[Item, ...]:
    """Return the partitions of an account's templates, their drafts and their versions."""
    return (
        template(account_id),
        template_draft(account_id),
        _key(f"TPLV#{account_id}"),
    )


def webhook_endpoint(account_id: str, endpoint_id: str) -> Item:
    return _key(f"HOOK#{account_id}", endpoint_id)


def webhook_endpoints(account_id: str) -> tuple[Item, Item]:
    """Return the lowest and the highest key of an account's endpoints, whose ids are UUIDs."""
    return _key(f"HOOK#{account_id}", "0"), _key(f"HOOK#{account_id}", "g")


def account_and_endpoint(item: Item) -> tuple[str, str] | None:
    """Return the ids in the key of a webhook endpoint; None for every other record."""
    kind, account_id = kind_and_account(item)
    endpoint_id = item["sk"]["S"]
    return (account_id, endpoint_id) if kind == "HOOK" and endpoint_id != _ALONE else None


def access_token(user_id: str, session_id: str, digest: str) -> Item:
    return _key(f"SESS#{user_id}", f"~{session_id}#{digest}")


def sessions(user_id: str) -> tuple[Item, Item]:
    """Return the bounds of a user's sessions, beyond which the access tokens are."""
    return session(user_id, "0"), session(user_id, "~")


def sign_in_count(subject: str, seconds: int, window: int) -> Item:
    """Return the key of the count of a subject in a window of so many seconds."""
    return _key(f"COUNT#{subject}#{seconds}#{window}")


def seen_event(account_id: str, message_id: UUID) -> Item:
    """Return the key of the mark of an event that could not be merged into its message yet."""
    return _key(f"SEEN#{account_id}#{message_id}")


def sending_rate() -> Item:
    return _key("RATE")


def messages_from(account_id: str, shard: int, moment: int) -> Item:
    """Return the lowest key of the messages in a shard created at or after a moment."""
    return _in_shard(account_id, shard, UUID(int=_clamp(moment) << 80))


def messages_before(account_id: str, shard: int, moment: int) -> Item:
    """Return the highest key of the messages in a shard created before a moment."""
    return _in_shard(account_id, shard, UUID(int=max((_clamp(moment) << 80) - 1, 0)))


def is_credential(item: Item) -> bool:
    """Return whether an item belongs in `Credentials`."""
    return kind_and_account(item)[0] in _CREDENTIALS


def is_message(item: Item) -> bool:
    pk: str = item["pk"]["S"]
    return pk.startswith("MSG#")


def message_ids(item: Item) -> tuple[str, UUID | None]:
    """Return the account and the message id in the key of a message's record.

    The id is None if the sort key is none.
    """
    account_id = item["pk"]["S"].split("#")[1]
    sort_key = item.get("sk", {}).get("S", "")
    return account_id, UUID(sort_key) if is_uuid(sort_key) else None


def kind_and_account(item: Item) -> tuple[str, str]:
    """Return the first part of a record's partition key, and the record's account.

    The account is empty if the record belongs to no single account.
    """
    kind, _, rest = item["pk"]["S"].partition("#")
    match kind:
        case "KEY":
            account_id: str = item["account"]["S"]
            return kind, account_id
        case "DUE" | "WAKE":
            return kind, str(item["sk"]["S"]).partition("#")[0]
        case "ACCTS" | "OF" | "PROVED":
            return kind, str(item["sk"]["S"])
        case "SIGNUPS" | "RECV":
            return kind, str(item.get("account", {}).get("S", ""))
        case "USER":
            return kind, ""
        case _:
            return kind, rest.partition("#")[0]


def entries(account_id: str, moment: int) -> Item:
    """Return the key of the index entries by time of creation."""
    return _key(f"STAT#{account_id}", f"C#{_text(moment)}")


def is_by_creation(sort_key: str) -> bool:
    """Return whether the sort key of an item of index entries is one by time of creation."""
    return sort_key.startswith("C#")


def updates(account_id: str, group: str, moment: int) -> Item:
    """Return the key of the index entries by time of update; each status has two groups."""
    return _key(f"STAT#{account_id}", f"U#{group}#{_text(moment)}")


def rollup(
    account_id: str, granularity: "Granularity", moment: int, subset: "Subset | None" = None
) -> Item:
    """Return the key of the rollup of the time that starts at a moment, for a subset or for all."""
    partition = rollups_of(account_id, subset) if subset else _key(f"STAT#{account_id}")
    return partition | {"sk": {"S": f"{granularity.value}#{_text(moment)}"}}


def rollups_of(account_id: str, subset: "Subset") -> Item:
    """Return the key of the partition of a subset's rollups."""
    return _key(f"STAT#{account_id}#{subset.kind.value}#{subset.id}")


def subsets(account_id: str, moment: int) -> Item:
    """Return the key of the list of the subsets that have rollups of the day."""
    return _key(f"STAT#{account_id}", f"subsets#{_text(moment)}")


def rebuild_mark(account_id: str = "", moment: int = 0) -> Item:
    """Return the key of the mark of an hour to rebuild; without an account, of all marks."""
    return _key("REBUILD", f"{account_id}#{_text(moment)}" if account_id else "")


def marked_account(item: Mapping[str, Any]) -> str:
    return str(item["sk"].partition("#")[0])


def webhook_delivery(account_id: str, endpoint_id: str, delivery_id: str) -> Item:
    return in_log(account_id, endpoint_id, _endpoint_shard(delivery_id), delivery_id)


def in_log(account_id: str, endpoint_id: str, shard: int, delivery_id: str = "") -> Item:
    """Return the key of a delivery in a shard of an endpoint's log."""
    return _of_endpoint("HOOKD", account_id, endpoint_id, shard, delivery_id)


def waiting_event(account_id: str, endpoint_id: str, delivery_id: str) -> Item:
    """Return the key of an event that waits for an endpoint."""
    return among_waiting(account_id, endpoint_id, _endpoint_shard(delivery_id), delivery_id)


def among_waiting(account_id: str, endpoint_id: str, shard: int, delivery_id: str = "") -> Item:
    """Return the key of an event in a shard of those that wait for an endpoint."""
    return _of_endpoint("HOOKW", account_id, endpoint_id, shard, delivery_id)


def endpoint_health(account_id: str, endpoint_id: str) -> Item:
    return _key(f"HOOKH#{account_id}#{endpoint_id}")


def of_webhook_endpoint(account_id: str, endpoint_id: str) -> tuple[Item, ...]:
    """Return the partitions of the first table that are about one endpoint."""
    return (
        *(in_log(account_id, endpoint_id, shard) for shard in range(ENDPOINT_SHARDS)),
        *(among_waiting(account_id, endpoint_id, shard) for shard in range(ENDPOINT_SHARDS)),
        endpoint_health(account_id, endpoint_id),
    )


def timer_item(kind: str, minute: int, name: str = "", bucket: int | None = None) -> Item:
    """Return the key of what waits for a minute; without a name, of one of its buckets."""
    if bucket is None:
        bucket = crc32(name.encode()) % TIMERS[kind]
    return _key(f"{kind}#{minute}#{bucket}", name)


def timer_note(kind: str) -> Item:
    """Return the key of the note of the last minute that is over."""
    return _key(f"{kind}S")


def received(account_id: str, received_id: UUID, message_id: UUID | None = None) -> Item:
    """Return the key of a received mail, or of its entry among the answers to an email."""
    return _key(
        f"RECD#{account_id}#{message_id}" if message_id else f"RECD#{account_id}",
        str(received_id),
    )


def received_before(
    account_id: str, before: UUID | None, message_id: UUID | None = None
) -> tuple[Item, Item]:
    """Return the bounds of an account's received mail before an id, or of all."""
    last = UUID(int=before.int - 1) if before else UUID(int=(1 << 128) - 1)
    return received(account_id, UUID(int=0), message_id), received(account_id, last, message_id)


def waiting_content(account_id: str, template: str | None, message_id: UUID) -> Item:
    """Return the key of the content of an email that waits."""
    return _key(f"LATER#{account_id}", f"{template or _ALONE}#{message_id}")


def waiting_contents(account_id: str, template: str | None = None) -> tuple[Item, Item]:
    """Return the bounds of the contents that wait: of an account, or those of a template."""
    pk, start = f"LATER#{account_id}", f"{template}#" if template else ""
    return _key(pk, start or _LOWEST), _key(pk, f"{start}{_LAST}")


def of_waiting_content(item: Mapping[str, Any]) -> tuple[str | None, UUID]:
    """Return the template and the message in the key of a content that waits."""
    template, _, message_id = item["sk"].partition("#")
    return (None if template == _ALONE else template), UUID(message_id)


def moment(item: Mapping[str, Any]) -> int:
    """Return the moment in the sort key of index entries, a rollup or a rebuild mark."""
    return int(item["sk"].rpartition("#")[2])


def search_entry(account_id: str, message_id: UUID, term: "SearchTerm") -> Item:
    """Return the key of the entry by which a message is found by a recipient or a tag."""
    pk, text = _search_place(account_id, shard_of(message_id), term)
    return _key(pk, f"{text}#{message_id}")


def search_entries(
    account_id: str, shard: int, term: "SearchTerm", created: "TimeRange"
) -> tuple[Item, Item]:
    """Return the first and the last key of the entries of a term, in a shard and a time range.

    The entries of several addresses that begin alike follow each other, so only those of a whole
    address or a tag are limited to the time range.
    """
    pk, text = _search_place(account_id, shard, term)
    if term.is_prefix:
        return _key(pk, text), _key(pk, f"{text}{_AFTER_ASCII}")
    first, last = (
        f"{text}#{UUID(int=max(number, 0))}"
        for number in (_clamp(created.since) << 80, (_clamp(created.until) << 80) - 1)
    )
    return _key(pk, first), _key(pk, last)


def search_lists(account_id: str, shard: int) -> tuple[Item, Item]:
    """Return the partition keys of a shard's entries by recipient and by tag."""
    shard_text = f"#{shard}" if shard else ""
    return _key(f"RCPT#{account_id}{shard_text}"), _key(f"TAG#{account_id}{shard_text}")


def found_message(item: Mapping[str, Any]) -> UUID:
    """Return the message id in the key of an entry by recipient or by tag."""
    return UUID(item["sk"].rpartition("#")[2])


def copies(account_id: str, shard: int) -> tuple[Item, Item]:
    """Return the bounds of a shard's copies: their entries are by a tag without a name."""
    pk = search_lists(account_id, shard)[1]["pk"]["S"]
    return _key(pk, "="), _key(pk, f"={_AFTER_ASCII}")


def original_and_copy(item: Mapping[str, Any]) -> tuple[UUID, UUID]:
    """Return the message ids in the key of the entry of a copy."""
    original, _, copy = item["sk"].removeprefix("=").partition("#")
    return UUID(original), UUID(copy)


def _search_place(account_id: str, shard: int, term: "SearchTerm") -> tuple[str, str]:
    """Return the partition key and the start of the sort key of a term's entries."""
    from pillarbox.domain.messages.statistics import TagTerm  # noqa: PLC0415  few functions search

    by_recipient, by_tag = search_lists(account_id, shard)
    if isinstance(term, TagTerm):
        return by_tag["pk"]["S"], f"{term.name}={quote(term.value, safe='')}"
    return by_recipient["pk"]["S"], term.text


def _endpoint_shard(delivery_id: str) -> int:
    """Return the shard of a delivery, from the last bits of the id of its event."""
    return int(delivery_id[-1], 16) % ENDPOINT_SHARDS


def _of_endpoint(kind: str, account_id: str, endpoint_id: str, shard: int, sk: str) -> Item:
    pk = f"{kind}#{account_id}#{endpoint_id}"
    return _key(f"{pk}#{shard}" if shard else pk, sk)


def _in_shard(account_id: str, shard: int, message_id: UUID) -> Item:
    """Shard 0 has the key of an account with one shard."""
    return _key(f"MSG#{account_id}#{shard}" if shard else f"MSG#{account_id}", str(message_id))


def _clamp(moment: int) -> int:
    return min(max(moment, 0), LATEST)


def _text(moment: int) -> str:
    return f"{_clamp(moment):015d}"


def _key(pk: str, sk: str = _ALONE) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
