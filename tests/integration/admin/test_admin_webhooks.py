"""The commands `pillarbox webhook …`."""

from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
from pillarbox.domain.ids import new_id
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
)
from pillarbox.domain.webhooks.events import webhook_test
from pillarbox.wiring import utc_now
from tests.fakes.builders import message
from tests.integration.admin.operator_command import Operator, failure

URL = "http://127.0.0.1:9000/hooks"


@pytest.fixture
def webhook(run: Operator, account: str) -> str:
    made: str = run("webhook", "create", "--account", account, URL)["id"]
    return made


def test_an_endpoint_is_created_changed_and_removed(run: Operator, account: str) -> None:
    of_account = ("--account", account)
    made = run(
        "webhook", "create", *of_account, URL, "--type", "email.sent", "--type", "email.failed"
    )
    secret = made.pop("secret")
    assert (made["url"], made["types"], made["enabled"]) == (
        URL,
        ["email.failed", "email.sent"],
        True,
    )
    assert run("webhook", "show", made["id"], *of_account) == made
    assert run("webhook", "list", *of_account) == {"items": [made]}
    changed = run("webhook", "change", made["id"], *of_account, "--type", "*", "--disable")
    assert changed == made | {"types": ["*"], "enabled": False}
    rotated = run("webhook", "rotate", made["id"], *of_account)
    assert rotated.pop("secret") not in {secret, None}
    assert rotated == changed
    remove = ("webhook", "remove", made["id"], *of_account)
    assert run.refused(*remove) == (2, "validation_failed")
    assert run(*remove, "--yes") == {"id": made["id"], "removed": True}
    assert run("webhook", "list", *of_account) == {"items": []}


def test_a_person_sees_the_secret_once_and_is_asked_before_a_removal(
    run: Operator, account: str, webhook: str
) -> None:
    created = run.plain("--local", "webhook", "create", "--account", account, URL)
    assert "whsec_" in created.stdout
    assert "cannot be shown a second time" in created.stderr
    listed = run.plain("--local", "webhook", "list", "--account", account)
    assert URL in listed.stdout
    assert "whsec_" not in listed.stdout
    remove = ("--local", "webhook", "remove", webhook, "--account", account)
    assert webhook in failure(run.plain(*remove, typed="n\n"))
    assert run("webhook", "show", webhook, "--account", account)["id"] == webhook
    assert run.plain(*remove, typed="y\n").exit_code == 0
    assert len(run("webhook", "list", "--account", account)["items"]) == 1


def test_deliveries_are_shown_and_replayed(
    run: Operator, table: Table, account: str, webhook: str
) -> None:
    now = utc_now()
    for seconds in range(3):
        event = webhook_test(account, now + timedelta(seconds=seconds)).for_endpoint(webhook)
        attempts = (
            DeliveryAttempt(at=event.at, status_code=None, milliseconds=8000, error="no answer"),
            DeliveryAttempt(at=event.at, status_code=503, milliseconds=41, error="busy"),
        )
        DynamoWebhookDeliveries(table).put(
            WebhookDelivery(event=event, state=DeliveryState.FAILED, attempts=attempts)
        )
    words = ("webhook", "deliveries", webhook, "--account", account)
    page = run(*words, "--limit", 2)
    rest = run(*words, "--limit", 2, "--cursor", page["nextCursor"])
    newest = page["items"][0]
    assert [len(page["items"]), len(rest["items"])] == [2, 1]
    assert newest["id"] == event.delivery_id
    assert [attempt["statusCode"] for attempt in newest["attempts"]] == [None, 503]
    plain = run.plain("--local", *words, "--limit", 2)
    assert newest["id"] in plain.stdout
    assert f"--cursor {page['nextCursor']}" in plain.stderr
    redeliver = ("webhook", "redeliver", webhook, "--account", account)
    replayed = run(*redeliver, newest["id"])
    assert replayed == {name: newest[name] for name in ("id", "eventId", "type")}
    assert run.refused(*redeliver, "x/y?z") == (1, "delivery_not_found")


def test_a_time_range_is_replayed(run: Operator, table: Table, account: str, webhook: str) -> None:
    accepted = message(account, new_id(utc_now() - timedelta(hours=1)))
    table.put(message_item(accepted))
    replay = ("webhook", "replay", webhook, "--account", account)
    assert run.refused(*replay) == (2, "validation_failed")
    replayed = run(*replay, "--since", "2h", "--type", "email.accepted")
    assert replayed == {"queued": 1, "nextTo": None}
    assert run.refused(*replay, "--since", "2h") == (1, "rate_limit_exceeded")


def test_a_test_is_queued(run: Operator, account: str, webhook: str) -> None:
    tested = run("webhook", "test", webhook, "--account", account)
    assert tested["type"] == "webhook.test"
    assert tested["id"].endswith(tested["eventId"])
