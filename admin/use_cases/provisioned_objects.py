"""The steps for each kind of object that an account has, in the order of their dependencies."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from admin.use_cases.provision_file import KeyEntry, LocaleEntry, TemplateEntry, WebhookEntry
from admin.use_cases.provisioning_ports import Step, Target
from pillarbox.application.management import RefusedCall
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.key import PRESET_SCOPES, Preset
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.domain.webhooks.signature import SECRET_PREFIX

#: The most addresses of one request.
_MOST: Final = 1_000


def _domains(target: Target) -> Iterator[Step]:
    found = {one["domain"]: one["mailFrom"] for one in target.items("/v1/domains")}
    for entry in target.entry.domains:
        name, label = entry.name, (entry.mail_from or "").lower()
        current = found.pop(name, None)
        if current is None:
            body = {"domain": name} | ({"mailFrom": label} if label else {})
            yield Step("+", f"domain {name}", _call(target, "POST", "/v1/domains", body))
        elif label and label != current:
            text = f"domain {name} has the MAIL FROM domain {current}.{name}: accounts share it"
            yield Step("?", f"{text}, so it stays")
    yield from _rest(target, "domain", found.keys())


def _senders(target: Target) -> Iterator[Step]:
    ready = {one["domain"] for one in target.items("/v1/domains") if one["status"] == "verified"}
    found = {one["address"]: one["default"] for one in target.items("/v1/senders")}
    for entry in target.entry.senders:
        address = entry.address
        domain = address.rpartition("@")[2]
        if address not in found and not any(f".{domain}".endswith(f".{one}") for one in ready):
            yield Step("?", f"sender {address} waits until DNS has the records of {domain}")
            continue
        if address not in found:
            body = {"address": address}
            yield Step("+", f"sender {address}", _call(target, "POST", "/v1/senders", body))
            found[address] = not any(found.values())  # the first one becomes the default
        if entry.default and not found[address]:
            path = f"/v1/senders/{quote(address, safe='')}/default"
            yield Step("~", f"default sender {address}", _call(target, "PUT", path))
    wanted = {one.address for one in target.entry.senders}
    yield from _rest(target, "sender", found.keys() - wanted)


def _templates(target: Target) -> Iterator[Step]:
    found, doubled = _by_name(target.items("/v1/templates/drafts"), "name")
    for entry in target.entry.templates:
        is_rename = entry.name not in found and entry.was in found
        draft = found.pop(entry.was or "" if is_rename else entry.name, None)
        content = _content_of(target, entry)
        if draft is None:
            yield Step("+", f"template {entry.name}", _create_template(target, entry, content))
            continue
        path = f"/v1/templates/{draft['id']}"
        state = target.call("GET", f"{path}/draft")
        changed = [name for name, new in content.items() if state[name] != new]
        if changed or state["changed"] or not state["publishedVersion"]:
            text = f"template {entry.name}: {', '.join(changed) or 'publish'}"
            yield Step("~", text, _save_template(target, draft["id"], content))
    yield from _rest(target, "template", found.keys() | doubled, _ids(found) | doubled)


def _content_of(target: Target, entry: TemplateEntry) -> dict[str, Any]:
    """Return the draft that an entry describes; what it leaves out stays."""
    content = _part_of(target, entry) | {
        "name": entry.name,
        "category": entry.category,
        "kind": "mjml" if entry.file.endswith(".mjml") else "html",
    }
    if entry.keep_days is not None:
        content["keepDays"] = entry.keep_days
    if entry.locales is not None:
        content["locales"] = {
            name.lower(): {"text": None} | _part_of(target, part)
            for name, part in entry.locales.items()
        }
    return content


def _part_of(target: Target, entry: LocaleEntry) -> dict[str, Any]:
    part = {"subject": entry.subject, "source": target.files.text(entry.file)}
    if entry.text_file is not None:
        part["text"] = target.files.text(entry.text_file)
    return part


def _create_template(
    target: Target, entry: TemplateEntry, content: dict[str, Any]
) -> Callable[[], object]:
    def create() -> None:
        body = {"name": entry.name, "category": entry.category}
        if made := target.create("/v1/templates", body):
            _save_template(target, made["id"], content)()

    return create


def _save_template(
    target: Target, template_id: str, content: dict[str, Any]
) -> Callable[[], object]:
    def save() -> None:
        path = f"/v1/templates/{template_id}"
        state = target.call("GET", f"{path}/draft")
        try:
            if any(state[name] != new for name, new in content.items()):
                body = content | {"samples": state["samples"]}
                state = target.call("PUT", f"{path}/draft", body, If_Match=str(state["revision"]))
            target.call("POST", f"{path}/publish", If_Match=str(state["revision"]))
        except RefusedCall as refused:
            if refused.refusal != "draft_changed":
                raise
            save()  # somebody else has saved it meanwhile

    return save


def _webhooks(target: Target) -> Iterator[Step]:
    items = target.items("/v1/webhooks")
    found, doubled = _by_name(items, "url")
    urls = [one["url"] for one in items]
    for entry in target.entry.webhooks:
        state = found.pop(entry.url, None)
        if state is None:
            body: dict[str, Any] = {"url": entry.url, "types": entry.types}
            if entry.role_arn is not None:
                body["roleArn"] = entry.role_arn
            yield Step("+", f"webhook {entry.url}", _with_secret(target, entry, body))
            continue
        path = f"/v1/webhooks/{state['id']}"
        if set(state["types"]) != set(entry.types):
            body = {"types": entry.types}
            yield Step("~", f"webhook {entry.url}: types", _call(target, "PATCH", path, body))
        if entry.role_arn is not None and state["roleArn"] != entry.role_arn:
            body = {"roleArn": entry.role_arn}
            yield Step("~", f"webhook {entry.url}: roleArn", _call(target, "PATCH", path, body))
        is_doubled = target.prune and urls.count(entry.url) > 1
        has_none = entry.secret_to is not None and not _has_secret(target, entry.secret_to)
        if entry.secret_to is not None and (is_doubled or has_none):
            why = f"{entry.secret_to} has none" if has_none else "the endpoint was doubled"
            text = f"webhook {entry.url}: a new secret, because {why}"
            yield Step("~", text, _with_secret(target, entry, state["id"]))
    yield from _rest(target, "webhook", found.keys() | doubled, _ids(found) | doubled)


def _with_secret(
    target: Target, entry: WebhookEntry, made_of: dict[str, Any] | str
) -> Callable[[], object]:
    """Store the secret of an endpoint that is created, or a new one of an endpoint by its id."""

    def run() -> None:
        pending, before = f"pending-{new_token(32)}", ""
        if entry.secret_to is not None and _has_secret(target, entry.secret_to):
            # That of another endpoint. A run that is repeated must not take it for the new one,
            # and what the destination holds meanwhile cannot be guessed.
            before = target.values.read(entry.secret_to) or ""
            target.values.write(entry.secret_to, pending)
        if isinstance(made_of, str):
            made = target.call("POST", f"/v1/webhooks/{made_of}/rotate")
        else:
            made = target.create("/v1/webhooks", made_of)
        if entry.secret_to is not None and made is not None:
            target.values.write(entry.secret_to, made["secret"])
        elif entry.secret_to and before and target.values.read(entry.secret_to) == pending:
            target.values.write(entry.secret_to, before)  # it may be that of the other run

    return run


def _has_secret(target: Target, place: str) -> bool:
    return (target.values.read(place) or "").startswith(SECRET_PREFIX)


def _keys(target: Target) -> Iterator[Step]:
    valid = [one for one in target.items("/v1/keys") if not one["revokedAt"]]
    in_use = _in_use(target.own_key_id, valid)
    for entry in target.entry.keys:
        named = [one for one in valid if one["name"] in {entry.name, entry.was}]
        valid = [one for one in valid if one not in named]
        stored = target.values.read(entry.value_to) or ""
        good = [one for one in named if _is_wanted(one, entry) and _is_of(stored, one)]
        if not good and any(one["id"] in in_use for one in named):
            yield Step("?", f"key {entry.name}: this run has its rights from it, so it stays")
            continue
        if not good:
            mark = "~" if named else "+"
            text = f"key {entry.name}" + (": replaced by a new one" if named else "")
            known = [one["id"] for one in named if one["name"] == entry.name]
            yield Step(mark, text, _create_key(target, entry, known))
        for old in named:
            if old not in good[:1] and old["id"] not in in_use:
                text = f"key {old['name']} ({old['id']}), replaced"
                yield Step("-", text, _revoke_replaced(target, entry, old))
    names = {f"{one['name']} ({one['id']})": one["id"] for one in valid}
    staying = {name for name, key_id in names.items() if key_id in in_use}
    yield from _rest(target, "key", names.keys() - staying, names)


def _in_use(own_key_id: str, keys: list[dict[str, Any]]) -> set[str]:
    """Return the ids of the run's key and of those that it comes from.

    With one of them everything that the run created would be revoked.
    """
    creators = {one["id"]: one["createdBy"] for one in keys}
    found, key_id = set[str](), own_key_id
    while key_id not in found:
        found.add(key_id)
        key_id = creators.get(key_id, key_id)
    return found


def _is_wanted(key: dict[str, Any], entry: KeyEntry) -> bool:
    """Return whether a key is as the file says."""
    scopes = entry.scopes if entry.preset is Preset.CUSTOM else PRESET_SCOPES[entry.preset]
    expires = datetime.fromisoformat(key["expiresAt"]) if key["expiresAt"] else None
    is_old = entry.rotated and datetime.fromisoformat(key["createdAt"]) < entry.rotated
    return (
        key["name"] == entry.name
        and set(key["scopes"]) == set(scopes)
        and set(key["sources"]) == set(entry.sources)
        and expires == entry.expires
        and not is_old
    )


def _is_of(stored: str, key: dict[str, Any]) -> bool:
    """Return whether a stored value is that of a key: its account and its last characters."""
    account_id = key["id"].removeprefix("key_")[:-8]
    return stored.startswith(f"bx_live_{account_id}") and stored.endswith(key["ending"] or "-")


def _create_key(target: Target, entry: KeyEntry, known: list[str]) -> Callable[[], object]:
    def create() -> None:
        body: dict[str, object] = {"name": entry.name, "preset": entry.preset.value}
        if entry.scopes:
            body["scopes"] = entry.scopes
        if entry.expires:
            body["expiresAt"] = entry.expires.isoformat()
        if entry.sources:
            body["sources"] = entry.sources
        if made := target.create("/v1/keys", body, known):
            target.values.write(entry.value_to, made["key"])

    return create


def _revoke_replaced(target: Target, entry: KeyEntry, key: dict[str, Any]) -> Callable[[], object]:
    def revoke() -> None:
        # Another run may have made the new key, and not yet have stored it.
        if not _is_of(target.values.read(entry.value_to) or "", key):
            target.remove(f"/v1/keys/{key['id']}")

    return revoke


def _suppressions(target: Target) -> Iterator[Step]:
    if target.entry.suppressions is None:
        return
    name, wanted = target.entry.suppressions.file, set[str]()
    addresses = target.files.addresses(name)
    wrong = 0
    for address in addresses:
        try:
            wanted.add(mailbox_key(normalize_address(address)))
        except ValidationFailed:
            wrong += 1
    if wrong:
        yield Step("?", f"{name}: {wrong} of {len(addresses)} entries are not addresses")
    found, cursor = set[str](), ""
    while target.account_id and cursor is not None:
        page = target.call(
            "GET", "/v1/suppressions?limit=1000" + (f"&cursor={quote(cursor)}" if cursor else "")
        )
        found |= {one["address"] for one in page["items"]}
        cursor = page["nextCursor"]
    account_id = target.account_id or ""
    # Of a person whose address was erased the service has a hash.
    missing = sorted(one for one in wanted - found if hashed_mailbox(account_id, one) not in found)
    for start in range(0, len(missing), _MOST):
        part = missing[start : start + _MOST]
        body = {"addresses": part}
        text = f"{len(part)} suppressions"
        yield Step("+", text, _call(target, "POST", "/v1/suppressions", body))


_PATHS: Final = {
    "domain": "/v1/domains",
    "sender": "/v1/senders",
    "template": "/v1/templates",
    "webhook": "/v1/webhooks",
    "key": "/v1/keys",
}


def _by_name(
    items: list[dict[str, Any]], attribute: str
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the oldest item of each name, and the ids of the others by what names them.

    Two runs at once may have made them.
    """
    found, doubled = dict[str, dict[str, Any]](), dict[str, str]()
    for item in sorted(items, key=lambda item: str(item["id"])):
        name = item[attribute]
        if name in found:
            doubled[f"{name} ({item['id']}), doubled"] = item["id"]
        found.setdefault(name, item)
    return found, doubled


def _ids(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: one["id"] for name, one in found.items()}


def _rest(
    target: Target, kind: str, names: AbstractSet[str], ids: dict[str, str] | None = None
) -> Iterator[Step]:
    """Remove what the file does not name, or name what stays."""
    for name in sorted(names):
        if not target.prune:
            yield Step("?", f"{kind} {name} is not in the file: it stays without --prune")
            continue
        path = f"{_PATHS[kind]}/{quote(ids[name] if ids else name, safe='')}"
        yield Step("-", f"{kind} {name}", partial(target.remove, path), last=True)


def _call(target: Target, method: str, path: str, body: object = None) -> Callable[[], object]:
    return lambda: target.call(method, path, body)


OBJECTS: Final = (_domains, _senders, _templates, _webhooks, _keys, _suppressions)
