"""Which changes of records invoke announce_events, by the filter of the template."""

from typing import Any
from unittest import mock

import boto3

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Item, to_item
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.key import SCOPES, Preset
from pillarbox.domain.accounts.pause import PauseSummary
from pillarbox.domain.webhooks.endpoint import WebhookEvent, WebhookType
from tests.contract.bodies import otp
from tests.contract.client import Api, Invocation, handler
from tests.contract.operations import in_an_hour
from tests.contract.service import HOOK_URL, Service
from tests.stream_filters import change, invokes


def _invokes(image: Item, event: str = "MODIFY") -> bool:
    """Return whether a change to this image passes the filter."""
    return invokes("AnnounceEvents", change(image, event))


def _send(service: Service, account: str, **more: object) -> Item:
    """Send an email, and return the record of the newest one."""
    sent = Api(service.key(account)).send(otp(**more))
    assert sent.status == 200, sent.text
    wanted = sent.json["messageId"]
    return next(to_item(item) for item in service.messages(account) if item["sk"] == wanted)


def _create_webhook(service: Service, account: str) -> str:
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    created = api.raw("POST", "/webhooks", {"url": HOOK_URL, "types": ["*"]})
    assert created.status == 201, created.text
    return str(created.json["id"])


def test_mail_without_an_endpoint_invokes_nothing(account: str, service: Service) -> None:
    """No change of a message passes the filter if its account never had an endpoint."""
    record = _send(service, account)
    assert not any(_invokes(record, event) for event in ("INSERT", "MODIFY", "REMOVE"))


def test_the_first_endpoint_lets_new_mail_be_announced(service: Service) -> None:
    account, other = service.account(), service.account()
    before = _send(service, account)
    _create_webhook(service, account)
    after = _send(service, account)
    assert not _invokes(before)
    assert _invokes(after, "INSERT")
    assert _invokes(after)
    assert not _invokes(after, "REMOVE")
    assert not _invokes(_send(service, other))


def test_mail_that_waits_is_always_announced(service: Service) -> None:
    account = service.account()
    assert _invokes(_send(service, account, scheduledAt=in_an_hour()))
    assert _invokes(_send(service, account, hold=True))


def test_the_mail_of_a_batch_is_announced(account: str, service: Service) -> None:
    _create_webhook(service, account)
    batch = {"messages": [otp(), otp()]}
    assert Api(service.key(account)).raw("POST", "/emails/batch", batch).status == 200
    records = [to_item(item) for item in service.messages(account)]
    assert [_invokes(record, "INSERT") for record in records] == [True, True]


def test_the_last_endpoint_ends_announcements(account: str, service: Service) -> None:
    """Mail that is accepted after the last endpoint is gone does not pass; a new one ends that."""
    webhook = _create_webhook(service, account)
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    assert api.raw("DELETE", f"/webhooks/{webhook}").status == 204
    assert not _invokes(_send(service, account))
    _create_webhook(service, account)
    assert _invokes(_send(service, account))


def test_only_announced_changes_of_domains_invoke(account: str) -> None:
    first = keys.sender_domain(account, "shop.example") | to_item({"state": "pending"})
    changed = first | to_item({"state": "verified", "changed": "2026-01-01T00:00:00.000Z"})
    assert not any(_invokes(first, event) for event in ("INSERT", "MODIFY", "REMOVE"))
    assert _invokes(changed, "INSERT")
    assert _invokes(changed)


def test_suppressions_and_pauses_are_always_announced(account: str) -> None:
    """A new suppression and a suspended account pass; other changes of both do not."""
    suppression = to_item({"pk": f"SUP#{account}", "sk": "ann@example.com", "reason": "bounced"})
    assert _invokes(suppression, "INSERT")
    assert not any(_invokes(suppression, event) for event in ("MODIFY", "REMOVE"))
    stored = wiring.services().table.get(keys.account(account)) or {}
    assert not _invokes(to_item(stored))
    assert _invokes(to_item(stored | {"suspended": "2026-01-01T00:00:00.000Z"}))


def test_a_pause_is_announced_once(account: str, service: Service) -> None:
    """An account with pauses passes; each new pause is one event, and one that ends is none."""
    endpoint = service.webhook(account)
    assert not _invokes(_account(account))
    key = Api(service.key(account))
    before = _account(account)
    with service.breaking():
        service.bounce(account, key)
    after = _account(account)
    assert _invokes(after)
    (event,) = _announced(before, after)
    assert (event.endpoint_id, event.type) == (endpoint, WebhookType.ACCOUNT_PAUSED)
    summary = PauseSummary.parse(event.pause or "")
    assert (summary.scope, summary.level, summary.cause) == ("key", "stop", "bounces")
    wiring.services().resuming.by_operator(account, COMMAND)
    assert _announced(after, _account(account)) == []


def _account(account: str) -> Item:
    table = boto3.client("dynamodb")
    item: Any = table.get_item(TableName="pillarbox", Key=keys.account(account))["Item"]
    return dict(item)


def _announced(old: Item, new: Item) -> list[WebhookEvent]:
    """Pass a change to the function, and return what it queued."""
    key = {name: new[name] for name in ("pk", "sk")}
    images = {"Keys": key, "OldImage": old, "NewImage": new}
    record = {"eventName": "MODIFY", "dynamodb": images}
    queued: list[WebhookEvent] = []
    with mock.patch.object(type(wiring.services().webhooks_queue), "put_all", _keep(queued)):
        handler("announce_events")({"Records": [record]}, Invocation())
    return queued


def _keep(queued: list[WebhookEvent]) -> Any:
    return lambda _, tasks: queued.extend(tasks)
