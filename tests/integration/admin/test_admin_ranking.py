"""`pillarbox stats top`: who sends, bounces and gets complaints."""

from datetime import UTC, datetime, timedelta

from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind
from tests.fakes.builders import message
from tests.integration.admin.operator_command import Operator


def send(table: Table, account_id: str, hours_ago: int, *kinds: EventKind) -> None:
    """Store a message for each kind, with an event of this kind."""
    at = datetime.now(UTC) - timedelta(hours=hours_ago, minutes=1)
    for kind in kinds:
        accepted = message(account_id, new_id(at))
        table.put(message_item(accepted.with_events([Event(kind=kind, at=at)])))


def test_accounts_are_ranked(run: Operator, table: Table) -> None:
    names = ("Busy", "Bouncing", "Complained", "Silent")
    ids = {name: run("account", "create", "--name", name, "--plan", "free")["id"] for name in names}
    send(table, ids["Busy"], 1, *[EventKind.DELIVERED] * 5, EventKind.BOUNCED)
    send(table, ids["Bouncing"], 1, EventKind.DELIVERED, *[EventKind.BOUNCED] * 3, EventKind.FAILED)
    send(table, ids["Bouncing"], 50, *[EventKind.BOUNCED] * 9)
    send(table, ids["Complained"], 3, EventKind.COMPLAINED)

    def top(*words: str) -> list[str]:
        return [item["name"] for item in run("stats", "top", *words)["items"]]

    assert top() == ["Busy", "Bouncing", "Complained"]
    assert top("--by", "bounces") == ["Bouncing", "Busy"]
    assert top("--by", "complaints") == ["Complained"]
    assert top("--since", "2h") == ["Busy", "Bouncing"]
    assert top("--since", "3d") == ["Bouncing", "Busy", "Complained"]
    assert top("--limit", "1") == ["Busy"]
    (row, _) = run("stats", "top", "--by", "bounces")["items"]
    assert row == {
        "id": ids["Bouncing"],
        "name": "Bouncing",
        "plan": "free",
        "totalMessages": 5,
        "sent": 4,
        "delivered": 1,
        "bounced": 3,
        "deliveryRate": 0.25,
        "bounceRate": 0.75,
        "complained": 0,
        "complaintRate": 0.0,
        "unconfirmed": None,
        "suspendedAt": None,
    }
    assert run.refused("stats", "top", "--since", "2999-01-01") == (1, "validation_failed")
    assert ids["Busy"] in run.plain("--local", "stats", "top").stdout


def test_what_stays_sent_is_counted(run: Operator, table: Table) -> None:
    """SES may lose an event. A mail of a UTC day that ended a day ago, and is `sent`, counts."""
    account_id = run("account", "create", "--name", "Shop", "--plan", "free")["id"]
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    hours = (datetime.now(UTC) - today) // timedelta(hours=1)
    sent, delivered = EventKind.SENT, EventKind.DELIVERED
    send(table, account_id, hours + 1, sent)  # yesterday: that day has not ended a day ago
    send(table, account_id, hours + 25, sent, sent, delivered, EventKind.FAILED)
    send(table, account_id, hours + 49, sent, EventKind.BOUNCED, delivered)

    def unconfirmed(since: str) -> list[int | None]:
        top = run("stats", "top", "--since", since)
        (row,) = top["items"]
        assert top["allAccounts"]["unconfirmed"] == row["unconfirmed"]
        return [row["unconfirmed"], row["totalMessages"]]

    assert unconfirmed("7d") == [3, 8]
    assert unconfirmed(f"{hours + 2}h") == [None, 1]
