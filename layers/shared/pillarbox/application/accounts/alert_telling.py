"""Tell owners about alerts, by email and chat: at once, and then once an hour of each kind.

What is raised within an hour of the last telling of its kind waits, and comes in one digest. So an
account whose endpoints all fail gets two emails and not fifty.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.accounts.alert_ports import AlertRecords, AlertTimes
from pillarbox.application.ports import Clock, Messages, SendMail
from pillarbox.application.webhooks.ports import PostResult, WebhookPoster
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import (
    AlertKind,
    AlertPost,
    AlertSettings,
    ChatState,
    StoredAlert,
)
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import named_id
from pillarbox.rendering.notice import notice_source

#: How long alerts of a kind wait after the last telling. The test that an owner asks for does not.
GATHERED: Final = timedelta(hours=1)
#: After an outage the owners are told after this time.
_PAUSE: Final = timedelta(minutes=5)
#: The most alerts of one digest that are written out.
MOST_TOLD: Final = 20
#: In an account with several shards, the ids of notices have the least such number. So they stay
#: the same if the account's number is raised between two tries.
_SHARDS: Final = 2
_CHOICE: Final = "Owners choose what they hear of on the dashboard's page Account."


@dataclass(frozen=True, slots=True)
class Digest:
    """What the owners read: one alert as it is, or several in short."""

    title: str
    paragraphs: Sequence[str]
    about: str
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTelling:
    """Takes accounts out of the timer, and writes to their owners and to their chats."""

    records: AlertRecords
    times: AlertTimes
    accounts: AccountReader
    #: Returns the addresses of an account's owners.
    owners_of: Callable[[str], Iterable[str]]
    messages: Messages
    send_mail: SendMail
    #: Queues posts to chats; None if the operator switched webhooks off.
    queue_post: Callable[[AlertPost], None] | None
    clock: Clock

    def tell_due(self) -> int:
        """Tell the owners of each account that is due, and return how many alerts they hear of.

        An account that fails stops no other. Its error is raised after all of them. It is tried
        again, unless its records cannot be read.
        """
        count, errors = 0, list[Exception]()
        for minute, tasks in self.times.due(self.clock()):
            for account_id in dict.fromkeys(tasks.values()):
                try:
                    count += self.tell(account_id)
                except Exception as error:  # noqa: BLE001  one account must not stop others
                    errors.append(error)
                    if isinstance(error, ServiceError):
                        self.times.put(account_id, self.clock() + _PAUSE)
            self.times.remove(minute, tasks)
        if errors:
            raise errors[0]
        return count

    def tell(self, account_id: str) -> int:
        """Tell the owners of an account what they want to hear, and return how many alerts it was.

        A repeated call writes no second email about the same alerts. A post may come twice.
        """
        account = self.accounts.get(account_id)
        if account is None:
            return 0
        now, stored = self.clock(), self.records.of_account(account_id)
        told = _last_told(stored)
        waiting = [one for one in stored if one.told_at is None]
        due = [one for one in waiting if _is_due(one, told, now)]
        if kinds := {one.alert.kind for one in waiting} - {one.alert.kind for one in due}:
            self.times.put(account_id, min(told[kind] for kind in kinds) + GATHERED)
        settings = self.records.settings(account_id)
        wanted = [one for one in due if one.alert.kind not in settings.off]
        if wanted:
            self._tell(account, settings, wanted)
        self.records.mark_told(account_id, [one.alert.alert_id for one in due], now)
        return len(wanted)

    def _tell(
        self, account: Account, settings: AlertSettings, alerts: Sequence[StoredAlert]
    ) -> None:
        digest = digest_of(alerts)
        if settings.mail:
            self._write(account, alerts, digest)
        if settings.chat_url is not None and self.queue_post is not None:
            lines = [f"{account.name}: {digest.title}", *digest.paragraphs, digest.about]
            lines += [digest.url] if digest.url else []
            self.queue_post(AlertPost(account.account_id, "\n".join(lines)))

    def _write(self, account: Account, alerts: Sequence[StoredAlert], digest: Digest) -> None:
        """Accept an email to each owner and to the contact, unless that was done before.

        It is another email once there are more alerts. So if the process dies after the first
        owner, and another alert is raised before the next try, that owner reads of the first twice.
        """
        addresses = [*self.owners_of(account.account_id), *filter(None, [account.contact])]
        at = max(one.raised_at for one in alerts)
        shards = min(account.shards_at(at), _SHARDS)
        name = hashlib.sha256(" ".join(one.alert.alert_id for one in alerts).encode()).hexdigest()
        values: dict[str, Json] = {
            "title": digest.title,
            "paragraphs": [*digest.paragraphs, _CHOICE],
            "about": digest.about,
            "url": digest.url or "",
            "account": account.name,
            "account_id": account.account_id,
        }
        for mailbox, address in {mailbox_key(one): one for one in addresses}.items():
            message_id = named_id(f"alerts {name} {mailbox}", at, shards)
            if self.messages.get(account.account_id, message_id) is None:
                self.send_mail(
                    address,
                    digest.title,
                    notice_source(),
                    values,
                    account=account,
                    message_id=message_id,
                )


def digest_of(alerts: Sequence[StoredAlert]) -> Digest:
    """Return what owners read of some alerts."""
    if len(alerts) == 1:
        (only,) = alerts
        return Digest(only.alert.title, only.alert.paragraphs, only.alert.about, only.alert.url)
    shown = [one.alert for one in alerts[:MOST_TOLD]]
    paragraphs = [
        f"{one.title} ({one.about}), {one.at:%-d %B, %H:%M} UTC. {one.paragraphs[0]}"
        for one in shown
    ]
    if more := len(alerts) - len(shown):
        paragraphs.append(f"There are {more} more.")
    return Digest(f"{len(alerts)} alerts about your account", paragraphs, f"Alerts: {len(alerts)}")


def _last_told(stored: Iterable[StoredAlert]) -> dict[AlertKind | None, datetime]:
    told: dict[AlertKind | None, datetime] = {}
    for one in stored:
        if one.told_at is not None:
            kind = one.alert.kind
            told[kind] = max(one.told_at, told.get(kind, one.told_at))
    return told


def _is_due(one: StoredAlert, told: dict[AlertKind | None, datetime], now: datetime) -> bool:
    kind = one.alert.kind
    return kind is None or kind not in told or now - told[kind] >= GATHERED


#: How often a post is tried, and after which time again. What a chat gets later is of no use.
TRIES: Final = 3
RETRY_AFTER: Final = timedelta(minutes=5)
#: In characters: the limit of Slack, https://docs.slack.dev/reference/methods/chat.postMessage.
MAX_TEXT: Final = 4_000
#: Where Teams has its incoming webhooks: those of workflows, and the older ones of connectors.
_TEAMS: Final = (".logic.azure.com", ".powerplatform.com", ".office.com")
_SUCCESS: Final = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPosts:
    """Does the tasks of the queue."""

    records: AlertRecords
    poster: Callable[[], WebhookPoster]
    #: Queues a task again, hidden for a time.
    queue_again: Callable[[AlertPost, timedelta], None]
    clock: Clock

    def post(self, task: AlertPost) -> str:
        """Post a text to the chat that the account has now; return the outcome."""
        url = self.records.settings(task.account_id).chat_url
        if url is None:
            return "alert_unwanted"
        error = self.post_now(task.account_id, url, task.text).error
        if error is None:
            return "alert_posted"
        if task.attempts + 1 == TRIES:
            return "alert_failed"
        self.queue_again(replace(task, attempts=task.attempts + 1), RETRY_AFTER)
        return "alert_retry"

    def post_now(self, account_id: str, url: str, text: str) -> ChatState:
        error = _error(self.poster().post(url, {}, chat_body(url, text)))
        state = ChatState(self.clock(), error)
        self.records.set_chat_state(account_id, state)
        return state


def chat_body(url: str, text: str) -> bytes:
    """Return the body for a chat: Teams takes a card, and Slack and others a text.

    Slack reads `&`, `<` and `>` as its own marks
    (https://docs.slack.dev/messaging/formatting-message-text), with which a text could notify all.
    Teams' card is that of https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors.
    """
    text = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
    if (urlsplit(url).hostname or "").endswith(_TEAMS):
        lines = [{"type": "TextBlock", "text": line, "wrap": True} for line in text.splitlines()]
        card = {"type": "AdaptiveCard", "version": "1.4", "body": lines}
        part = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
        return json.dumps({"type": "message", "attachments": [part]}).encode()
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return json.dumps({"text": escaped}).encode()


def _error(result: PostResult) -> str | None:
    if result.status_code is None:
        return result.error or "no response"
    if result.status_code in _SUCCESS:
        return None
    return f"{result.status_code} {result.body}".strip()
