"""Tell the owner of an account by email that an endpoint fails or was disabled.

The email comes from the operator, not from the account. Its id follows from the notice, so a
notice that is sent again creates no second email.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.ports import Messages, SendMail
from pillarbox.application.webhooks.ports import EndpointHealths, WebhookEndpoints
from pillarbox.domain.errors import Json
from pillarbox.domain.ids import named_id
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import EndpointHealth, OwnerNotice, WebhookEndpoint
from pillarbox.domain.webhooks.retries import DISABLE_AFTER
from pillarbox.rendering.notice import notice_source

#: In an account with several shards, the ids of notices have the least such number. So they stay
#: the same if the account's number is raised between two tries.
_SHARDS: Final = 2
_WHERE_ERRORS_ARE: Final = "GET /v1/webhooks/{id}/deliveries shows the error of each delivery."


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerNotices:
    """Writes to the contacts of accounts."""

    accounts: AccountReader
    endpoints: WebhookEndpoints
    healths: EndpointHealths
    messages: Messages
    send_mail: SendMail

    def send(self, notice: OwnerNotice) -> None:
        """Accept the email of a notice, unless it was accepted before or is out of date.

        It is out of date if the endpoint works or was enabled again, was disabled after a
        warning, or was deleted. Without a contact there is no email.
        """
        account = self.accounts.get(notice.account_id)
        if account is None or account.contact is None:
            return
        endpoint = self.endpoints.get(notice.account_id, notice.endpoint_id)
        health = self.healths.get(notice.account_id, notice.endpoint_id)
        if endpoint is None or not _is_current(notice, health):
            return
        name = f"{notice.endpoint_id} {milliseconds(notice.at)}"
        shards = min(account.shards_at(notice.at), _SHARDS)
        message_id = named_id(name, notice.at, shards)
        if self.messages.get(account.account_id, message_id) is not None:
            return
        title, paragraphs = _text(endpoint, health)
        values: dict[str, Json] = {
            "title": title,
            "paragraphs": paragraphs,
            "about": f"Endpoint: {endpoint.endpoint_id}",
            "account": account.name,
            "account_id": account.account_id,
        }
        self.send_mail(
            account.contact, title, notice_source(), values, account=account, message_id=message_id
        )


def _is_current(notice: OwnerNotice, health: EndpointHealth) -> bool:
    """Return whether the health still is what the notice says."""
    told = health.warned_at if health.disabled_at is None else health.disabled_at
    return told is not None and milliseconds(told) == milliseconds(notice.at)


def _text(endpoint: WebhookEndpoint, health: EndpointHealth) -> tuple[str, list[Json]]:
    """Return title and paragraphs. Of the URL they have only the host: the rest may be secret."""
    host = urlsplit(endpoint.url).hostname or "?"
    write = _warning if health.disabled_at is None else _disabled
    title, *paragraphs = write(host, endpoint.endpoint_id, health)
    return title, [*paragraphs]


def _warning(host: str, endpoint_id: str, health: EndpointHealth) -> tuple[str, ...]:
    """Return the title and the paragraphs of the email about an endpoint that fails."""
    since = health.failing_since or health.warned_at
    end = f" on {_day_and_time(since + DISABLE_AFTER)}" if since else ""
    return (
        f"Webhooks to {host} have failed for a day",
        f"Your webhook endpoint at {host} has accepted nothing since {_day_and_time(since)}.",
        f"We keep trying. If it still accepts nothing, we disable it{end}.",
        f"Please repair the endpoint. {_WHERE_ERRORS_ARE.format(id=endpoint_id)}",
        "You need not do more: when it works again, the events that wait are sent to it.",
    )


def _disabled(host: str, endpoint_id: str, health: EndpointHealth) -> tuple[str, ...]:
    """Return the title and the paragraphs of the email about an endpoint that was disabled."""
    if health.disabled_for == "gone":
        reason = f"It answered 410 Gone on {_day_and_time(health.disabled_at)}."
    else:
        reason = f"It has accepted nothing since {_day_and_time(health.failing_since)}."
    enable = f'PATCH /v1/webhooks/{endpoint_id} with {{"enabled": true}}'
    return (
        f"Your webhook endpoint at {host} is disabled",
        f"We disabled your webhook endpoint at {host}. {reason}",
        "We send nothing to it now. Each new event waits for 7 days.",
        f"Please repair the endpoint. {_WHERE_ERRORS_ARE.format(id=endpoint_id)}",
        f"Then enable it again: {enable}. The events that wait are then sent to it.",
        "If you no longer need the endpoint, delete it.",
    )


def _day_and_time(moment: datetime | None) -> str:
    return f"{moment:%-d %B %Y, %H:%M} UTC" if moment else "an unknown time"
