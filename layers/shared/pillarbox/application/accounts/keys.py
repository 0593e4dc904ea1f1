"""Issue, list, find and revoke API keys (contract section 5); tell owners of those that manage."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, Invitations, KeyRecords
from pillarbox.application.authentication import invalid_api_key
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock, SendMail
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.account import (
    MAX_ADDED_MANAGEMENT_KEYS,
    MAX_KEYS,
    MAX_REVOKED_KEYS,
    Account,
    Plan,
    limit_exceeded,
)
from pillarbox.domain.accounts.account_log import COMMAND, AccountAction
from pillarbox.domain.accounts.key import (
    ACCOUNT_ID_LENGTH,
    KEY_ID_LENGTH,
    KEY_ID_PREFIX,
    MANAGEMENT_SCOPES,
    OPERATOR_SCOPES,
    PAID_SCOPES,
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    SCOPES,
    AgentSettings,
    ApiKey,
    KeyType,
    Preset,
    account_of_key,
    digest_of_key,
    ending_of_key,
    is_management,
    new_key_text,
)
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.key_terms import IssuedKey, KeyTerms
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import is_token, new_token
from pillarbox.domain.sign_in.session import Member, MemberPrincipal, Role
from pillarbox.rendering.notice import notice_source


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Until when a new key works, and from which blocks of addresses; none: from everywhere."""

    expires_at: datetime | None = None
    sources: tuple[str, ...] = ()


_NO_LIMITS: Final = KeyLimits()
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The API keys of all accounts. `by` is who creates or revokes one: see `LogEntry`."""

    records: KeyRecords
    accounts: AccountRecords
    members: Invitations
    log: ChangeLog
    #: Tells the owners of an account about a new key that manages it.
    tell_owners: Callable[[Account, ApiKey], None]
    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    clock: Clock

    def issue_preview(self, account_id: str, name: str, *, self_service: bool = False) -> IssuedKey:
        """Create a preview key, or one for self-service, whose emails are tests."""
        check_text("name", name)
        account = find_account(self.accounts, account_id)
        terms = KeyTerms(scopes=PREVIEW_SCOPES)
        return self._issue(account, name, KeyType.PREVIEW, None, terms, self_service=self_service)

    def issue_live(  # noqa: PLR0913  what a key has, and who makes it
        self,
        account_id: str,
        name: str,
        preset: Preset,
        scopes: Iterable[str] = (),
        agent: AgentSettings | None = None,
        *,
        limits: KeyLimits = _NO_LIMITS,
        creator: Principal | MemberPrincipal | None = None,
    ) -> IssuedKey:
        """Create a live key with the scopes of a preset, or with `scopes` for the preset `custom`.

        With `agent` it is a key for an agent, with these limits. A key that another one creates has
        no right that this lacks, and is revoked with it. Owners get an email about a management
        key, before it exists.

        Args:
            creator: the member or the key that creates it; None for the operator's command.
        """
        check_text("name", name)
        granted = _granted_scopes(preset, frozenset(scopes))
        account = find_account(self.accounts, account_id)
        terms = KeyTerms(scopes=granted, expires_at=limits.expires_at, sources=limits.sources)
        terms = _allowed(terms.checked(self.clock()), account, agent, creator)
        if refused := refused_scopes(account.plan, granted):
            details: list[Json] = [*refused]
            raise ServiceError(
                "SCOPE_NOT_ALLOWED_FOR_TIER",
                refusal(account.plan, refused),
                details={"scopes": details, "plan": account.plan.value},
            )
        return self._issue(account, name, KeyType.LIVE, preset, terms, agent=agent, creator=creator)

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        """Read an account's keys, oldest first, including the last revoked ones."""
        find_account(self.accounts, account_id)
        keys = self.records.of_account(account_id)
        return sorted(keys, key=lambda key: (key.created_at, key.key_id))

    def ids_of(self, account_id: str, name: str) -> Iterable[str]:
        """Read the ids of the keys of a name that are not revoked."""
        keys = self.records.of_account(account_id)
        return (key.key_id for key in keys if key.name == name and not key.revoked_at)

    def find(self, text: str) -> ApiKey:
        """Return the key that has a text, also if it is revoked."""
        account_id = account_of_key(text)
        if account_id is None:
            message = "is not a key: it is mistyped or cut off"
            raise ValidationFailed(FieldError("key", message, "invalid"))
        digest = digest_of_key(text)
        for key in self.records.of_account(account_id):
            if key.digest == digest:
                return key
        message = (
            f"The account {account_id} has no such key any more: it was revoked long ago, or the"
            " account was deleted. Requests with it are refused."
        )
        raise ServiceError("key_not_found", message)

    def revoke(self, key_id: str, caller: Principal | MemberPrincipal | None = None) -> ApiKey:
        """Revoke a key with those that it created. They stop at once, and this cannot be undone.

        No key can be created by one that is revoked, so after that its children are all known. The
        open invitations of each end too. A revocation that was interrupted goes on when it is
        repeated.

        Args:
            caller: who revokes a key of its account: a key without all scopes only itself and those
                that come from it. None: the operator's command.
        """
        if caller is None:
            return self._revoke(key_id, COMMAND)
        if account_of_key_id(key_id) != caller.account.account_id:
            raise _key_not_found()
        limited = caller.key if isinstance(caller, Principal) and not caller.key.is_full else None
        if limited and not self._comes_from(key_id, limited.key_id):
            message = "Only a key with all scopes revokes keys that do not come from it."
            raise ServiceError("scope_required", message)
        return self._revoke(key_id, caller.actor)

    def _comes_from(self, key_id: str, root: str) -> bool:
        children = self.records.children_of(root)
        return key_id == root or any(self._comes_from(key_id, child) for child in children)

    def _revoke(self, key_id: str, by: str) -> ApiKey:
        account_id = account_of_key_id(key_id)
        revoked = account_id and self.records.revoke(account_id, key_id, self.clock())
        if not revoked:
            raise _key_not_found()
        self.log.note(revoked.account_id, AccountAction.KEY_REVOKED, revoked.title, by=by)
        for member in self.members.of_account(revoked.account_id):
            if member.pending and member.invited_by == key_id:
                self._end_invitation(member, by)
        for child in self.records.children_of(key_id):
            self._revoke_child(child, by)
            self.records.forget_child(key_id, child)
        return revoked

    def _revoke_child(self, key_id: str, by: str) -> None:
        try:
            self._revoke(key_id, by)
        except ServiceError as error:
            if error.code != "key_not_found":  # its account was deleted
                raise

    def _end_invitation(self, member: Member, by: str) -> None:
        if self.members.change(member, None, None):
            changes = {"role": (member.role.value, None)}
            action = AccountAction.MEMBER_REMOVED
            self.log.note(member.account_id, action, member.address, by=by, changes=changes)

    def _issue(  # noqa: PLR0913  what two kinds of keys have
        self,
        account: Account,
        name: str,
        key_type: KeyType,
        preset: Preset | None,
        terms: KeyTerms,
        *,
        self_service: bool = False,
        agent: AgentSettings | None = None,
        creator: Principal | MemberPrincipal | None = None,
    ) -> IssuedKey:
        by = creator.actor if creator else COMMAND
        self._make_room(account.account_id)
        if creator and is_management(terms.scopes):
            self._count(account.account_id)
        text = new_key_text(account.account_id, key_type)
        record = ApiKey(
            key_id=f"{KEY_ID_PREFIX}{account.account_id}{new_token(KEY_ID_LENGTH)}",
            account_id=account.account_id,
            name=name,
            type=key_type,
            preset=preset,
            scopes=terms.scopes,
            digest=digest_of_key(text),
            ending=ending_of_key(text),
            created_at=self.clock(),
            self_service=self_service,
            agent=agent,
            created_by=by,
            expires_at=terms.expires_at,
            sources=terms.sources,
        )
        if record.manages:
            self.tell_owners(account, record)
        parent = creator.key if isinstance(creator, Principal) else None
        if not self.records.add(record, parent):
            raise invalid_api_key()
        self.log.note(account.account_id, AccountAction.KEY_CREATED, record.title, by=by)
        return IssuedKey(record, text)

    def _count(self, account_id: str) -> None:
        """Count a management key: each is an email of the service, and a revoked one was too."""
        if not self.count(f"keys#{account_id}", _DAY, MAX_ADDED_MANAGEMENT_KEYS, self.clock()):
            message = (
                f"An account can get {MAX_ADDED_MANAGEMENT_KEYS} management keys a day. Try again"
                " tomorrow."
            )
            raise ServiceError("rate_limit_exceeded", message)

    def _make_room(self, account_id: str) -> None:
        """Forget the keys that were revoked first, so that the list of an account stays short."""
        valid, revoked = 0, list[tuple[datetime, ApiKey]]()
        for key in self.records.of_account(account_id):
            if key.revoked_at is None:
                valid += 1
            else:
                revoked.append((key.revoked_at, key))
        if valid >= MAX_KEYS:
            raise limit_exceeded("key_limit_exceeded", MAX_KEYS, "keys that are not revoked")
        oldest = sorted(revoked, key=lambda one: one[0])
        for _, key in oldest[: max(len(oldest) - MAX_REVOKED_KEYS, 0)]:
            self.records.forget(key)


def _key_not_found() -> ServiceError:
    return ServiceError("key_not_found", "There is no such key.")


def _allowed(
    terms: KeyTerms,
    account: Account,
    agent: AgentSettings | None,
    creator: Principal | MemberPrincipal | None,
) -> KeyTerms:
    """Return the terms of a key that its creator may create."""
    of_operators, managing = terms.scopes & OPERATOR_SCOPES, terms.scopes & MANAGEMENT_SCOPES
    if of_operators and (not account.operates or isinstance(creator, MemberPrincipal)):
        message = "has scopes that only keys of an operator's own account have"
        raise ValidationFailed(FieldError("scopes", message, "not_allowed"))
    if agent and (of_operators or managing):
        message = "has scopes that manage an account, which an agent's key cannot have"
        raise ValidationFailed(FieldError("scopes", message, "not_allowed"))
    if isinstance(creator, Principal):
        return creator.check_grant(terms)
    if isinstance(creator, MemberPrincipal) and managing and creator.role is not Role.OWNER:
        raise ServiceError(
            "scope_required",
            "Only an owner of the account creates a key that manages it.",
            details={"required_permission": min(managing)},
        )
    return terms


def refused_scopes(plan: Plan, scopes: frozenset[str]) -> Sequence[str]:
    return () if plan.paid else sorted(scopes & PAID_SCOPES)


def refusal(plan: Plan, refused: Iterable[str]) -> str:
    return f"The {plan} plan does not allow {', '.join(refused)}."


def _granted_scopes(preset: Preset, scopes: frozenset[str]) -> frozenset[str]:
    if preset is not Preset.CUSTOM:
        if scopes:
            message = f"is only for the preset custom; {preset} has fixed scopes"
            raise ValidationFailed(FieldError("scopes", message, "not_allowed"))
        return PRESET_SCOPES[preset]
    if not scopes:
        raise ValidationFailed(
            FieldError("scopes", "is required with the preset custom", "required")
        )
    if unknown := sorted(scopes - SCOPES - OPERATOR_SCOPES):
        valid = ", ".join(sorted(SCOPES))
        raise ValidationFailed(
            *(
                FieldError("scopes", f"{scope!r} is not one of {valid}", "unknown_scope")
                for scope in unknown
            )
        )
    return scopes


def account_of_key_id(key_id: str) -> str | None:
    """Return the account id in the id of a key, or None if the text is not such an id."""
    token = key_id.removeprefix(KEY_ID_PREFIX)
    if token == key_id or not is_token(token, ACCOUNT_ID_LENGTH + KEY_ID_LENGTH):
        return None
    return token[:ACCOUNT_ID_LENGTH]


def key_tree(records: KeyRecords, account_id: str, key_id: str) -> frozenset[str]:
    """Return the ids of a key and of those that come from it, revoked ones too."""
    keys, found = [*records.of_account(account_id)], {key_id}
    if all(key.key_id != key_id for key in keys):
        raise _key_not_found()
    while new := {key.key_id for key in keys if key.created_by in found} - found:
        found |= new
    return frozenset(found)


_ADVICE: Final = (
    "If you did not expect this, revoke the key in the dashboard. The keys that it created stop"
    " with it. The log of the account shows what it changed."
)


@dataclass(frozen=True, slots=True)
class KeyNotices:
    """Writes to the owners of an account and to its contact."""

    #: Returns the addresses of an account's owners.
    owners_of: Callable[[str], Iterable[str]]
    send_mail: Callable[[], SendMail]

    def send(self, account: Account, key: ApiKey) -> None:
        """Accept an email about a new key to each of them."""
        addresses = [*self.owners_of(account.account_id), *filter(None, [account.contact])]
        if not addresses:
            return
        title = "A new key manages your account"
        paragraphs: list[Json] = [*_text(key)]
        values: dict[str, Json] = {
            "title": title,
            "paragraphs": paragraphs,
            "about": f"Key: {key.key_id}",
            "url": "",
            "account": account.name,
            "account_id": account.account_id,
        }
        send_mail = self.send_mail()
        for address in {mailbox_key(one): one for one in addresses}.values():
            send_mail(address, title, notice_source(), values)


def _text(key: ApiKey) -> tuple[str, ...]:
    from pillarbox.domain.accounts.key_terms import words_of  # noqa: PLC0415  few keys manage

    may = "; ".join(words_of(key.scopes & (MANAGEMENT_SCOPES | OPERATOR_SCOPES)))
    until = f" until {key.expires_at:%-d %B %Y, %H:%M} UTC" if key.expires_at else ""
    places = f", from {', '.join(key.sources)}" if key.sources else ""
    creator = "The operator of the service" if key.created_by == COMMAND else key.created_by
    return (
        f"{creator} is creating the API key \u201c{key.name}\u201d.",
        f"A program with it may do this{until}{places}: {may}.",
        _ADVICE,
    )
