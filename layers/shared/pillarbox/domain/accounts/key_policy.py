"""What each kind of key may do. No other module has a condition on a kind.

| kind         | may send what               | as whom        | to whom         | until when     |
|--------------|-----------------------------|----------------|-----------------|----------------|
| live         | everything                  | its account    | everybody       | its revocation |
| agent        | what somebody confirms      | its account    | its list        | its revocation |
| preview      | starters, one at a time     | a fixed sender | except stopped  | its revocation |
| self-service | a starter as a test, to one | a fixed sender | except stopped  | its revocation |
| widget       | the same, with a stop link  | a fixed sender | its own domain  | 90 idle days   |

The operator makes keys of the first four kinds, and the preview widget those of the last one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pillarbox.domain.accounts.account import PREVIEW_LIMITS, Account
from pillarbox.domain.accounts.key import (
    EMAIL_SCOPES,
    OPERATOR_SCOPES,
    ApiKey,
    Confirmation,
    KeyType,
    confirmation_required,
    owner_required,
)
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.preview_key import check_own_recipients, new_report

if TYPE_CHECKING:
    from pillarbox.domain.accounts.key_terms import KeyTerms
    from pillarbox.domain.messages.mail import SendRequest

#: The message to a caller of a suspended account, over every protocol.
SUSPENDED: Final = "The account is suspended. Ask the operator of the service why."
#: To somebody who has a key of the preview widget, and knows of no account.
PREVIEW_SUSPENDED: Final = (
    "The preview key of this address is suspended. Ask the operator of the service why."
)


#: Who an operator's key is in the log of another account, as `account_log.COMMAND`.
OPERATOR: Final = "operator"


class KeyKind(StrEnum):
    """The kinds of keys."""

    LIVE = "live"
    AGENT = "agent"
    PREVIEW = "preview"
    SELF_SERVICE = "self-service"
    WIDGET = "widget"


@dataclass(frozen=True, kw_only=True)
class KeyPolicy:
    """What the keys of one kind may do: the answers that `Principal` gives to four questions."""

    #: What: starter templates only, one email at a time, over HTTP.
    starters_only: bool = False
    #: What: as much as this, instead of the limits of its account.
    limits: Limits | None = None
    #: What: each email becomes a test with sample values, to one recipient.
    tests_only: bool = False
    #: As whom: the fixed sender of preview keys.
    fixed_sender: bool = False
    #: To whom: not to those who have stopped the mail of preview keys.
    obeys_stops: bool = False
    #: To whom: as the setting for keys of the widget says.
    own_recipients: bool = False
    #: Until when: until it sends nothing for a long time.
    ends_unused: bool = False
    #: Why requests are refused while the account is suspended.
    suspended: str = SUSPENDED


_PREVIEW: Final = KeyPolicy(
    starters_only=True, limits=PREVIEW_LIMITS, fixed_sender=True, obeys_stops=True
)
_SELF_SERVICE: Final = replace(_PREVIEW, tests_only=True)
POLICIES: Final = {
    KeyKind.LIVE: KeyPolicy(),
    #: The settings of an agent's key are its own, and not those of its kind.
    KeyKind.AGENT: KeyPolicy(),
    KeyKind.PREVIEW: _PREVIEW,
    KeyKind.SELF_SERVICE: _SELF_SERVICE,
    KeyKind.WIDGET: replace(
        _SELF_SERVICE, own_recipients=True, ends_unused=True, suspended=PREVIEW_SUSPENDED
    ),
}


def policy_of_text(text: str) -> KeyPolicy:
    """Return what the text of a key tells of its policy, before its record is read."""
    is_preview = text.startswith(KeyType.PREVIEW.prefix)
    return POLICIES[KeyKind.PREVIEW if is_preview else KeyKind.LIVE]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSettings:
    """The sender of preview keys, and where to upgrade."""

    sender: str
    upgrade_url: str

    def upgrade_required(self, message: str) -> ServiceError:
        """Return the error of a send for which a key of another kind is needed."""
        return ServiceError("upgrade_required", message, upgrade_url=self.upgrade_url)


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: a valid key, and its account or the one that an operator's key acts for."""

    key: ApiKey
    account: Account

    @property
    def actor(self) -> str:
        """Who it is in the log of the account."""
        return OPERATOR if self.acts_for_another else self.key.key_id

    @property
    def title(self) -> str:
        """Who it is for people whom it invites."""
        return self.account.name

    @property
    def user_id(self) -> str:
        """The id of its user: there is none."""
        return ""

    @property
    def acts_for_another(self) -> bool:
        """Whether this is an operator's key that acts for another account."""
        return self.key.account_id != self.account.account_id

    @property
    def rights(self) -> frozenset[str]:
        """Return the scopes that it may give to others; in another account none over its mail."""
        kept = OPERATOR_SCOPES | EMAIL_SCOPES if self.acts_for_another else frozenset()
        return self.key.scopes - kept

    def check_grant(self, terms: "KeyTerms") -> "KeyTerms":
        """Return the terms of a key that this one creates: they give no right that it lacks.

        Terms that are left out are its own.
        """
        for scope in sorted(terms.scopes - self.rights):
            self.require_right(scope)
        return terms.within(self.key.expires_at, self.key.sources)

    def require_right(self, scope: str) -> None:
        """Raise unless it may give a scope to others."""
        if scope not in self.rights:
            message = f"A key gives no right that it lacks: it lacks {scope}."
            if scope in self.key.scopes:
                message = f"An operator's key gives no right over another account's mail: {scope}."
            raise ServiceError(
                "scope_required",
                message,
                details={"required_permission": scope},
            )

    @property
    def kind(self) -> KeyKind:
        """Return the kind of the key."""
        if self.key.self_service:
            return KeyKind.WIDGET if self.account.widget_secret else KeyKind.SELF_SERVICE
        if self.key.type is KeyType.PREVIEW:
            return KeyKind.PREVIEW
        return KeyKind.AGENT if self.key.agent else KeyKind.LIVE

    @property
    def policy(self) -> KeyPolicy:
        """Return what the key may do."""
        return POLICIES[self.kind]

    @property
    def limits(self) -> Limits:
        """Return the limits that apply to this caller's sends."""
        return self.policy.limits or self.account.limits

    @property
    def own_limits(self) -> Limits | None:
        """Return the limits of the key's own quota; None if it has none."""
        return self.key.agent.limits if self.key.agent else None

    @property
    def own_quota_id(self) -> str:
        """Return the id under which the key's own quota is counted."""
        return f"{self.account.account_id}#{self.key.key_id}"

    @property
    def quotas(self) -> tuple[tuple[str, Limits], ...]:
        """Return the ids under which its messages are counted, with their limits."""
        shared = (self.account.account_id, self.limits)
        own = self.own_limits
        return ((self.own_quota_id, own), shared) if own else (shared,)

    def require(self, scope: str) -> None:
        """Raise unless the key has a scope."""
        is_of_operator = scope in OPERATOR_SCOPES
        if scope not in self.key.scopes or (is_of_operator and not self.account.operates):
            raise ServiceError(
                "scope_required",
                f"The key lacks the permission {scope}.",
                details={"required_permission": scope},
            )

    @property
    def sends_for_owner(self) -> bool:
        """Whether each of its emails waits until an owner of the account releases it."""
        agent = self.key.agent
        return agent is not None and agent.confirmation is Confirmation.OWNER

    def check_release(self, addresses: Iterable[str], *, over_mcp: bool, confirmed: bool) -> None:
        """Refuse the release of an email to some addresses, as a send of the key."""
        self.check_confirmed(over_mcp=over_mcp, confirmed=confirmed)
        if self.key.agent:
            self.key.agent.check_recipients(addresses)
        if self.sends_for_owner:
            raise owner_required("This key releases no email: an owner does, in the dashboard.")

    def check_change(self, sent_by: str | None) -> None:
        """Refuse that the key of an agent changes an email of another key: `sent_by` is its id."""
        if self.key.agent and sent_by != self.key.key_id:
            raise ServiceError(
                "not_cancelable", "An agent's key changes only what it sent; nothing was changed."
            )

    def check_smtp(self) -> None:
        """Refuse SMTP to a key whose emails a person must confirm."""
        self.check_confirmed(over_mcp=False, confirmed=False)
        if self.sends_for_owner:
            raise owner_required(
                "Emails of this key wait for an owner of the account, who could not read them:"
                " send over HTTP or MCP."
            )

    def check_confirmed(self, *, over_mcp: bool, confirmed: bool) -> None:
        """Refuse a send that needs a confirmation and has none.

        Args:
            over_mcp: whether it came over MCP. There, a key without settings asks as well.
            confirmed: whether somebody confirmed this request.
        """
        agent = self.key.agent
        asks = agent.confirmation is Confirmation.ASK if agent else over_mcp
        if asks and not confirmed:
            raise confirmation_required()

    def check_unconfirmed(self) -> None:
        """Refuse a send that a person must confirm, at a door that cannot ask one."""
        agent = self.key.agent
        if agent and agent.confirmation is not Confirmation.OFF:
            raise confirmation_required()

    def check_request(self, request: "SendRequest", preview: PreviewSettings) -> None:
        """Refuse an email that the key cannot send. Nothing is left out silently."""
        if self.policy.starters_only and request.starter_template is None:
            raise preview.upgrade_required("Preview keys send starter templates only.")
        if self.policy.starters_only and request.waits:
            raise preview.upgrade_required("Preview keys send at once: no scheduledAt, no hold.")
        if self.policy.tests_only and (refused := _refused_in_tests(request)):
            raise preview.upgrade_required(
                f"This key sends starter templates as tests. It cannot use {', '.join(refused)}."
            )

    def check_batch(self, preview: PreviewSettings) -> None:
        """Refuse a batch of a key that sends one email at a time."""
        if self.policy.starters_only:
            raise preview.upgrade_required("Preview keys send one email at a time.")

    def sender(
        self, requested: str | None, mailboxes: Iterable[str], preview: PreviewSettings
    ) -> str:
        """Return the sender of an email to some mailboxes (contract 2.1, `from`)."""
        if self.policy.fixed_sender or (requested is None and self._sends_first_to(mailboxes)):
            return preview.sender
        return self.account.sender(requested)

    def _sends_first_to(self, mailboxes: Iterable[str]) -> bool:
        """Whether an account without a sender writes only to the person who has it.

        That address is confirmed, or the operator's choice. So a new account can try a send before
        its domain is verified, and nobody else gets mail in the service's name.
        """
        account = self.account
        if account.contact is None or account.has_sender:
            return False
        return {*mailboxes} == {mailbox_key(account.contact)}

    def check_recipients(self, addresses: Iterable[str]) -> None:
        """Refuse parsed addresses that the key may not send to."""
        if self.key.agent:
            self.key.agent.check_recipients(addresses)
        if self.policy.own_recipients:
            check_own_recipients(self.account.contact or "", addresses)

    def stop_token(self, address: str) -> str | None:
        """Return the token by which the recipient of a test stops such mail, if it has a link."""
        account = self.account
        if not account.widget_secret:
            return None
        return str(new_report(account.account_id, account.widget_secret, address))


def _refused_in_tests(request: "SendRequest") -> list[str]:
    """Return what a test cannot have, by its name in the contract.

    Anyone with an email address gets a key for tests, and its emails have the operator's sender
    and signature. So no word, link, picture or file of the caller reaches the recipient.
    """
    given = {
        "more than one recipient in to": request.to[1:],
        "cc": request.cc,
        "bcc": request.bcc,
        "fromName": request.from_name,
        "a name in to": request.names,
        "subject": request.subject,
        "brandName": request.brand_name,
        "logoUrl": request.logo_url,
        "replyTo": request.reply_to,
        "attachments": request.attachments or request.uploads,
        "text": request.text,
        "headers or unsubscribe": request.headers,
    }
    return [name for name, value in given.items() if value not in (None, (), {})]
