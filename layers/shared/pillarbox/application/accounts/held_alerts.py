"""The alerts to the owners of an account that emails of its agents wait for them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.messages.message import Message
from pillarbox.domain.messages.schedule import RELEASE_TIME
from pillarbox.domain.timing import milliseconds, to_datetime

#: All emails of a key that begin to wait in this time raise one alert.
ALERT_TIME: Final = timedelta(minutes=10)
_TITLE: Final = "An agent's email waits for you"
_WHAT: Final = (
    "An agent of your account wants to send an email. It waits until an owner releases it; after"
    f" {RELEASE_TIME.days} days it fails."
)
_OTHERS: Final = (
    "Others may have come since. In the list of emails of the dashboard they are marked as held."
)


def held_alerts(messages: Sequence[Message], base_url: str) -> Sequence[Alert]:
    """Return an alert for each key whose new messages wait for an owner.

    It has no word of the agent's: neither subject nor recipients. They are in the dashboard, where
    owners sign in, read the message, and release or cancel it.
    """
    newest_first = sorted(messages, key=lambda message: message.created_at, reverse=True)
    oldest = {message.origin.key_id: message for message in newest_first}
    return [_alert(message, base_url) for message in oldest.values()]


def _alert(first: Message, base_url: str) -> Alert:
    length = ALERT_TIME // timedelta(milliseconds=1)
    start = milliseconds(first.created_at) // length * length
    return Alert(
        kind=AlertKind.AGENT,
        name=first.origin.key_id or "",
        at=to_datetime(start),
        title=_TITLE,
        paragraphs=(_WHAT, _OTHERS),
        about=f"API key: {first.origin.key_id}",
        url=f"{base_url}/app/activity/{first.message_id}",
    )
