"""The steps for each kind of object that an account has, in the order of their dependencies."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import Any, Final

from admin.use_cases.provision_file import KeyEntry, LocaleEntry, TemplateEntry, WebhookEntry
from admin.use_cases.provisioning_ports import Target
from pillarbox.application.accounts.domains import RecordState
from pillarbox.application.management import RefusedCall
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.key import PRESET_SCOPES, Preset
from pillarbox.domain.address import domain_and_parents, domain_of, mailbox_key
from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.domain.webhooks.endpoint import SECRET_PREFIX
from pillarbox.http.accounts.wire import AddDomainRequest, CreateKeyRequest
from pillarbox.http.provisioning import (
    DOMAIN,
    KEY,
    SENDER,
    TEMPLATE,
    WEBHOOK,
    DomainFields,
    Kind,
    Step,
    body_of,
    changes_of,
)
from pillarbox.http.templates.wire import CreateTemplateRequest, SaveDraftRequest
from pillarbox.http.webhooks.wire import CreateWebhookRequest

_VERIFIED: Final = "verified"


def _members(target: Target) -> Iterator[Step]:
    """Invite members and change their roles, or name what the key may not do.

    An operator's key may invite until the account has a key, and no other key makes owners.
    """
    roles = {one.email: one.role for one in target.entry.members or ()}
    is_new = bool(roles) and target.operates and not target.items(KEY)
    owners = {f"member {email}" for email, role in roles.items() if role is Role.OWNER}
    for step in target.member_steps(target.entry.members or ()):
        is_refused = target.operates or step.text.partition(":")[0] in owners
        if is_refused and not (is_new and step.mark == "+"):
            yield Step("?", f"{step.text}: an owner of the account can do that")
        else:
            yield step


def _domains(target: Target) -> Iterator[Step]:
    found = {one["domain"]: one for one in target.items(DOMAIN)}
    for entry in target.entry.domains:
        name, body = entry.domain, body_of(entry, AddDomainRequest)
        current = found.pop(name, None)
        if current is None:
            yield Step("+", f"domain {name}", partial(target.add, DOMAIN, body))
        elif body.get("mailFrom", current["mailFrom"]).lower() != current["mailFrom"]:
            text = f"domain {name} has the MAIL FROM domain {current['mailFrom']}.{name}"
            yield Step("?", f"{text}: accounts share it, so it stays")
        yield from _dns(target, name, current)
        yield from _receiving(target, entry, current)
    for name, one in found.items():
        if one["status"] == _VERIFIED or target.look(name)["status"] == _VERIFIED:
            target.verified.add(name)
    yield from _rest(target, DOMAIN, found.keys())
    for name, one in found.items():
        if target.prune and one["receives"]:  # it is removed only after that
            run = partial(target.change, DOMAIN, name, {"receive": ""})
            target.removals.insert(0, Step("-", f"receiving at {one['receives']}", run))


def _dns(target: Target, name: str, domain: Mapping[str, Any] | None) -> Iterator[Step]:
    """Ask DNS about a domain that is not verified, and name what it waits for."""
    if target.account_id is None:
        return  # the account is planned
    if domain is None or domain["status"] != _VERIFIED:
        try:
            domain = target.look(name)
        except RefusedCall as refused:
            if not refused.is_absence:
                raise
            return  # the domain is planned
    if domain["status"] == _VERIFIED:
        target.verified.add(name)
        return
    target.waiting.add(name)
    missing = [*_missing(domain)]
    yield from missing
    if not missing:
        yield Step("?", f"domain {name} has its DNS records: SES verifies it in a few minutes")
    if target.links:
        url = target.call("POST", f"{DOMAIN.path}/{name}/link")["url"]
        yield Step("?", f"domain {name}: the people who manage its DNS find the records at {url}")


def _missing(domain: Mapping[str, Any]) -> Iterator[Step]:
    for record in domain["records"]:
        if record["dns"]["status"] != RecordState.PRESENT:
            advice = f" ({record['dns']['advice']})" if record["dns"]["advice"] else ""
            text = f"{record['type']} {record['host']} {record['value']}{advice}"
            yield Step("?", f"domain {domain['domain']} waits for the DNS record {text}")


def _receiving(
    target: Target, entry: DomainFields, domain: Mapping[str, Any] | None
) -> Iterator[Step]:
    """Switch receiving on or off once a domain is verified, and name the record that is missing."""
    name = entry.domain
    if entry.receive is None and entry.receive_names is None:
        return
    if name not in target.verified:
        yield Step("?", f"domain {name} can receive mail once it is verified")
        return
    yield from target.receiving_steps(entry, domain or target.look(name))
    if entry.receive:
        shown = target.look(name)
        answers = [one for one in shown["records"] if one["purpose"] == "ANSWERS"]
        for step in _missing({**shown, "records": answers}):
            target.waiting.add(name)
            yield step


def _senders(target: Target) -> Iterator[Step]:
    found = {one["address"]: one["default"] for one in target.items(SENDER)}
    for entry in target.entry.senders:
        address, domain = entry.address, domain_of(entry.address)
        if address not in found and target.verified.isdisjoint(domain_and_parents(domain)):
            target.waiting.add(address)
            yield Step("?", f"sender {address} waits until DNS has the records of {domain}")
            continue
        if address not in found:
            run = partial(target.add, SENDER, {"address": address})
            yield Step("+", f"sender {address}", run)
            found[address] = not any(found.values())  # the first one becomes the default
        if entry.default and not found[address]:
            yield Step("~", f"default sender {address}", partial(target.set_default, address))
    wanted = {one.address for one in target.entry.senders}
    yield from _rest(target, SENDER, found.keys() - wanted)


def _templates(target: Target) -> Iterator[Step]:
    found, doubled = _by_title(target.items(TEMPLATE), TEMPLATE)
    for entry in target.entry.templates:
        is_rename = entry.name not in found and entry.was in found
        draft = found.pop(entry.was or "" if is_rename else entry.name, None)
        content = _content_of(target, entry)
        if draft is None:
            yield Step("+", f"template {entry.name}", _create_template(target, entry, content))
            continue
        state = target.call("GET", f"{TEMPLATE.path}/{draft['id']}/draft")
        changed = [name for name, new in content.items() if state[name] != new]
        if changed or state["changed"] or not state["publishedVersion"]:
            text = f"template {entry.name}: {', '.join(changed) or 'publish'}"
            yield Step("~", text, partial(target.publish, draft["id"], content))
    yield from _rest(target, TEMPLATE, found.keys() | doubled, _ids(found) | doubled)


def _content_of(target: Target, entry: TemplateEntry) -> dict[str, Any]:
    """Return the draft that an entry describes; what it leaves out stays."""
    content = body_of(entry, SaveDraftRequest) | _part_of(target, entry)
    content["kind"] = SourceKind.MJML if entry.file.endswith(".mjml") else SourceKind.HTML
    if entry.locales is not None:
        content["locales"] = {
            name: {"text": None} | _part_of(target, part) for name, part in entry.locales.items()
        }
    return content


def _part_of(target: Target, entry: TemplateEntry | LocaleEntry) -> dict[str, Any]:
    part = {"subject": entry.subject, "source": target.files.text(entry.file)}
    if entry.text_file is not None:
        part["text"] = target.files.text(entry.text_file)
    return part


def _create_template(
    target: Target, entry: TemplateEntry, content: dict[str, Any]
) -> Callable[[], object]:
    def create() -> None:
        if made := target.create(TEMPLATE, body_of(entry, CreateTemplateRequest)):
            target.publish(made["id"], content)

    return create


def _webhooks(target: Target) -> Iterator[Step]:
    items = target.items(WEBHOOK)
    urls = [one["url"] for one in items]
    found, doubled = _by_title(items, WEBHOOK)
    for entry in target.entry.webhooks:
        state, body = found.pop(entry.url, None), body_of(entry, CreateWebhookRequest)
        if state is None:
            yield Step("+", f"webhook {entry.url}", _with_secret(target, entry, body))
            continue
        if changes := changes_of(state, body):
            run = partial(target.change, WEBHOOK, state["id"], changes)
            yield Step("~", f"webhook {entry.url}: {', '.join(changes)}", run)
        is_doubled = target.prune and urls.count(entry.url) > 1
        has_none = entry.secret_to is not None and not _has_secret(target, entry.secret_to)
        if entry.secret_to is not None and (is_doubled or has_none):
            why = f"{entry.secret_to} has none" if has_none else "the endpoint was doubled"
            text = f"webhook {entry.url}: a new secret, because {why}"
            yield Step("~", text, _with_secret(target, entry, state["id"]))
    yield from _rest(target, WEBHOOK, found.keys() | doubled, _ids(found) | doubled)


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
            made = target.call("POST", f"{WEBHOOK.path}/{made_of}/rotate")
        else:
            made = target.create(WEBHOOK, made_of)
        if entry.secret_to is not None and made is not None:
            target.values.write(entry.secret_to, made["secret"])
        elif entry.secret_to and before and target.values.read(entry.secret_to) == pending:
            target.values.write(entry.secret_to, before)  # it may be that of the other run

    return run


def _has_secret(target: Target, place: str) -> bool:
    return (target.values.read(place) or "").startswith(SECRET_PREFIX)


def _keys(target: Target) -> Iterator[Step]:
    valid = [one for one in target.items(KEY) if not one["revokedAt"]]
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
    yield from _rest(target, KEY, names.keys() - staying, names)


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
    scopes = entry.scopes or () if entry.preset is Preset.CUSTOM else PRESET_SCOPES[entry.preset]
    expires = datetime.fromisoformat(key["expiresAt"]) if key["expiresAt"] else None
    is_old = entry.rotated and datetime.fromisoformat(key["createdAt"]) < entry.rotated
    return (
        key["name"] == entry.name
        and set(key["scopes"]) == set(scopes)
        and set(key["sources"]) == set(entry.sources or ())
        and expires == entry.expires_at
        and not is_old
    )


def _is_of(stored: str, key: dict[str, Any]) -> bool:
    """Return whether a stored value is that of a key: its account and its last characters."""
    account_id = key["id"].removeprefix("key_")[:-8]
    return stored.startswith(f"bx_live_{account_id}") and stored.endswith(key["ending"] or "-")


def _create_key(target: Target, entry: KeyEntry, known: list[str]) -> Callable[[], object]:
    def create() -> None:
        if made := target.create(KEY, body_of(entry, CreateKeyRequest), known):
            target.values.write(entry.value_to, made["key"])

    return create


def _revoke_replaced(target: Target, entry: KeyEntry, key: dict[str, Any]) -> Callable[[], object]:
    def revoke() -> None:
        # Another run may have made the new key, and not yet have stored it.
        if not _is_of(target.values.read(entry.value_to) or "", key):
            target.remove(KEY, key["id"])

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
    yield from target.suppression_steps(wanted)


def _by_title(
    items: list[dict[str, Any]], kind: Kind
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the oldest item of each title, and the ids of the others by what names them.

    Two runs at once may have made them.
    """
    found, doubled = dict[str, dict[str, Any]](), dict[str, str]()
    for item in sorted(items, key=lambda item: str(item["id"])):
        title = item[kind.title]
        if title in found:
            doubled[f"{title} ({item['id']}), doubled"] = item["id"]
        found.setdefault(title, item)
    return found, doubled


def _ids(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {title: one["id"] for title, one in found.items()}


def _rest(
    target: Target, kind: Kind, titles: AbstractSet[str], ids: dict[str, str] | None = None
) -> Iterator[Step]:
    """Remove what the file does not name after all other steps, or name what stays."""
    for title in sorted(titles):
        if target.prune:
            run = partial(target.remove, kind, ids[title] if ids else title)
            # A domain has no senders when it goes.
            target.removals.insert(0, Step("-", f"{kind.name} {title}", run))
        else:
            text = f"{kind.name} {title} is not in the file: it stays without --prune"
            yield Step("?", text)


OBJECTS: Final = (_members, _suppressions, _domains, _senders, _templates, _webhooks, _keys)
