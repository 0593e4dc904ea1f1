"""The commands `pillarbox webhook …`: what the document does not say of them."""

from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
from pillarbox.domain.webhooks.endpoint import DeliveryState, WebhookDelivery
from pillarbox.domain.webhooks.events import webhook_test
from pillarbox.wiring import utc_now
from tests.integration.admin.operator_command import Operator, failure

URL = "http://127.0.0.1:9000/hooks"


@pytest.fixture
def webhook(run: Operator, account: str) -> str:
    made: str = run("webhook", "create", "--account", account, URL)["id"]
    return made


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
    assert run.refused(*remove[1:]) == (2, "validation_failed")
    assert webhook in failure(run.plain(*remove, typed="n\n"))
    assert run.plain(*remove, typed="y\n").exit_code == 0
    (left,) = run("webhook", "list", "--account", account)["items"]
    own = (left["id"], "--account", account)
    changed = run("webhook", "change", *own, "--type", "email.sent", "--disable")
    assert (changed["types"], changed["enabled"]) == (["email.sent"], False)
    assert run("webhook", "remove", *own, "--yes") == {"id": left["id"], "removed": True}


def test_deliveries_are_shown_and_replayed(
    run: Operator, table: Table, account: str, webhook: str
) -> None:
    now = utc_now()
    for seconds in range(3):
        event = webhook_test(account, now + timedelta(seconds=seconds)).for_endpoint(webhook)
        DynamoWebhookDeliveries(table).put(
            WebhookDelivery(event=event, state=DeliveryState.FAILED, attempts=())
        )
    of_endpoint = (webhook, "--account", account)
    words = ("webhook", "deliveries", *of_endpoint, "--limit", 2)
    page = run(*words)
    newest = page["items"][0]
    assert newest["id"] == event.delivery_id
    assert len(run(*words, "--cursor", page["nextCursor"])["items"]) == 1
    plain = run.plain("--local", *words)
    assert newest["id"] in plain.stdout
    assert f"--cursor {page['nextCursor']}" in plain.stderr
    replayed = run("webhook", "redeliver", *of_endpoint[:1], newest["id"], *of_endpoint[1:])
    assert replayed == {name: newest[name] for name in ("id", "eventId", "type")}
    strange = run.refused("webhook", "redeliver", webhook, "x/y?z", *of_endpoint[1:])
    assert strange == (1, "delivery_not_found")
    replay = ("webhook", "replay", *of_endpoint)
    assert run.refused(*replay) == (2, "validation_failed")
    assert run(*replay, "--since", "2h", "--type", "email.sent") == {"queued": 0, "nextTo": None}
    assert run.refused(*replay, "--since", "2h") == (1, "rate_limit_exceeded")
