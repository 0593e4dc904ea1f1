"""Post alerts to the chats of accounts, whose incoming webhooks their owners set."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from pillarbox.application.alerts.ports import AlertRecords
from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.ports import PostResult, WebhookPoster
from pillarbox.domain.accounts.alert import AlertPost, ChatState

#: How often a post is tried, and after which time again. What a chat gets later helps nobody.
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
        """Post a text to the chat that the account has now; return the outcome.

        Raises:
            ServiceError: `service_unavailable`; the task can be repeated.
        """
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
        """Post a text, note how it went, and return it."""
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
