"""What owners hear of emails of agents that wait for them."""

from datetime import timedelta

from pillarbox.application.alerts.held import held_alerts
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Message, MessageOrigin
from tests.fakes.builders import ACCOUNT, NOW, message


def from_key(key_id: str, seconds: int) -> Message:
    created = new_id(NOW + timedelta(seconds=seconds))
    return message(ACCOUNT, created, origin=MessageOrigin(key_id=key_id, for_owner=True))


def test_each_key_whose_emails_wait_raises_an_alert() -> None:
    """An alert has the link to the oldest email of its key; a later batch raises the same one."""
    first, second, other = from_key("k1", 0), from_key("k1", 9), from_key("k2", 5)
    alerts = held_alerts([second, other, first], "https://mail.example")
    assert {(one.name, one.url) for one in alerts} == {
        ("k1", f"https://mail.example/app/activity/{first.message_id}"),
        ("k2", f"https://mail.example/app/activity/{other.message_id}"),
    }
    (again,) = held_alerts([second], "https://mail.example")
    assert again.alert_id in {one.alert_id for one in alerts}
