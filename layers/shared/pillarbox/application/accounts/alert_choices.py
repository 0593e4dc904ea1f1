"""What the owners of an account choose to hear of, and a test of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pillarbox.application.accounts.alert_ports import AlertRecords
from pillarbox.application.accounts.alert_telling import ChatPosts
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.alert import Alert, AlertChanges, AlertSettings, ChatState
from pillarbox.domain.errors import FieldError, ValidationFailed

_TEST: Final = "Somebody asked for this test on the dashboard's page Account."


@dataclass(frozen=True, slots=True)
class AlertTest:
    """What became of a test. `chat` is how the post went; None if there is no chat."""

    mail: bool
    chat: ChatState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChoices:
    """Reads and changes the settings of accounts."""

    records: AlertRecords
    posts: ChatPosts
    raise_alert: Callable[[str, Alert], None]
    slow_requests: SlowRequests
    log: ChangeLog
    clock: Clock
    #: False if the operator switched webhooks off: then nothing is posted.
    switched_on: bool

    def of(self, account_id: str) -> tuple[AlertSettings, ChatState | None]:
        return self.records.settings(account_id), self.records.chat_state(account_id)

    def change(self, account_id: str, changes: AlertChanges, *, by: str) -> AlertSettings:
        """Change the settings and return them. The log has the change without the URL."""
        if changes.chat_url:
            self._check(account_id, changes.chat_url)
        before = self.records.settings(account_id)
        after = before
        if changes.mail is not None:
            after = replace(after, mail=changes.mail)
        if changes.off is not None:
            after = replace(after, off=frozenset(changes.off))
        if changes.chat_url is not None:
            after = replace(after, chat_url=changes.chat_url or None)
        if after != before:
            self.records.set_settings(account_id, after)
            self.log.note(account_id, AccountAction.ALERTS_CHANGED, _words(after), by=by)
        return after

    def test(self, account: Account) -> AlertTest:
        """Post a test to the chat now, and raise one for the email."""
        account_id = account.account_id
        self.slow_requests.take(account_id)
        settings = self.records.settings(account_id)
        state = None
        title = f"A test of the alerts of {account.name}"
        if settings.chat_url is not None and self.switched_on:
            state = self.posts.post_now(account_id, settings.chat_url, f"{title}\n{_TEST}")
        if settings.mail:
            now = self.clock()
            test = Alert(
                kind=None, name="test", at=now, title=title, paragraphs=[_TEST], about="Test"
            )
            self.raise_alert(account_id, test)
        return AlertTest(settings.mail, state)

    def _check(self, account_id: str, url: str) -> None:
        if self.switched_on:
            self.slow_requests.take(account_id)
            refused = self.posts.poster().check(url)
        else:
            refused = "cannot be set: the operator of this service switched webhooks off"
        if refused:
            raise ValidationFailed(FieldError("chatUrl", refused, "invalid_url"))


def _words(settings: AlertSettings) -> str:
    """Return the settings as the log has them, without the secret."""
    ways = ["email"] * settings.mail + [settings.chat] * (settings.chat is not None)
    off = f"; not {', '.join(sorted(settings.off))}" if settings.off else ""
    return f"{' and '.join(filter(None, ways)) or 'nowhere'}{off}"
