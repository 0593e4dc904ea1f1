"""Webhooks on emulated AWS: what happens is announced, posted, and posted again."""

import json
from typing import Any

import pytest
import resend

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import Item, to_item
from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.adapters.ses.identities import SesIdentities
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import domain_of
from pillarbox.domain.webhooks.endpoint import DeliveryState, WebhookFormat, WebhookType, new_secret
from tests.contract.client import Invocation, handler
from tests.contract.service import SENDER, Service
from tests.contract.webhook_path import CONTACT, WebhookPath
from tests.fakes.builders import PREVIEW_SENDER
from tests.fakes.webhooks import endpoint


def _deliveries(path: WebhookPath) -> dict[str, DeliveryState]:
    log = DynamoWebhookDeliveries(wiring.services().table)
    page = log.newest_first(path.account, path.endpoint.endpoint_id, 20, None)
    return {delivery.event.type.value: delivery.state for delivery in page.items}


def test_what_happens_is_posted_once(service: Service) -> None:
    """A bounce, its suppression and a pause are posted once, with the data of the account alone."""
    path, other = WebhookPath(service), WebhookPath(service)
    path.announce("ann@example.com")
    assert path.work() == []
    assert path.work() == []
    assert _deliveries(other) == {}
    bodies = {body["type"]: body["data"] for body in map(json.loads, path.posted)}
    assert len(path.posted) == 3
    (record,) = service.messages(path.account)
    assert bodies["email.bounced"] == {
        "messageId": record["sk"],
        "status": "bounced",
        "recipient": "ann@example.com",
        "recipientStatus": "bounced",
        "messageIdHeader": "<0102-1@eu-west-1.amazonses.com>",
        "to": ["ann@example.com"],
        "subject": "Hello",
        "templateId": None,
        "starterTemplate": "otp",
        "tags": {"order": "10442"},
        "scheduledAt": None,
        "held": False,
        "error": {"code": None, "message": "Hello", "permanent": True},
        "revision": 0,
    }
    assert bodies["suppression.added"] == {
        "address": "ann@example.com",
        "reason": "bounced",
        "messageId": None,
    }
    assert bodies["account.paused"] == {
        "endpointId": path.endpoint.endpoint_id,
        "scope": "account",
        "id": None,
        "level": "stop",
        "cause": "operator",
        "until": None,
    }
    assert set(_deliveries(path).values()) == {DeliveryState.DELIVERED}


def test_an_endpoint_may_have_resends_shape(service: Service) -> None:
    """Resend's SDK verifies each post, whose signature has its names and ours."""
    path = WebhookPath(service, shape=WebhookFormat.RESEND)
    path.announce("ann@example.com")
    assert path.work() == []
    posted: dict[str, Any] = {}
    for body, headers in zip(path.posted, path.headers, strict=True):
        parts = ("id", "timestamp", "signature")
        given = {name: headers[f"svix-{name}"] for name in parts}
        assert given == {name: headers[f"webhook-{name}"] for name in parts}
        secret = path.endpoint.secrets[0].text
        options: Any = {"payload": body.decode(), "headers": given, "webhook_secret": secret}
        event: Any = resend.Webhooks.verify(options)
        posted[event["type"]] = event["data"]
    assert posted.keys() == {"email.bounced", "suppression.added", "account.paused"}
    assert posted["email.bounced"]["message_id"] == "<0102-1@eu-west-1.amazonses.com>"


def test_a_second_endpoint_receives_the_next_event(service: Service) -> None:
    """What happens right after its creation is posted, though others were announced just before."""
    path = WebhookPath(service)
    path.announce("ann@example.com")
    added = endpoint(path.account, secrets=(new_secret(wiring.utc_now()),))
    DynamoWebhookEndpoints(wiring.services().credentials, wiring.services().table).add(added, 10)
    path.announce("ben@example.com")
    path.work()
    log = DynamoWebhookDeliveries(wiring.services().table)
    page = log.newest_first(path.account, added.endpoint_id, 20, None)
    assert sorted(delivery.event.type for delivery in page.items) == [
        WebhookType.ACCOUNT_PAUSED,
        WebhookType.EMAIL_BOUNCED,
        WebhookType.SUPPRESSION_ADDED,
    ]


def test_a_failed_event_is_posted_again_by_the_timer(service: Service) -> None:
    """The contact of the account gets one email about the disabled endpoint, from the service."""
    path = WebhookPath(service)
    path.run_everything("ann@example.com", "Hello")
    (alert,) = (body for body in path.posted if b"is disabled" in body)
    assert len(path.posted) == 9 + 1
    assert json.loads(alert).keys() == {"text"}
    assert set(_deliveries(path).values()) == {DeliveryState.DELIVERED}
    (notice,) = (each for each in service.messages(path.account) if each.get("via") == "notice")
    assert (notice["to"], notice["from"]) == ([CONTACT], PREVIEW_SENDER)
    assert notice["subject"] == "Your webhook endpoint at shop.example is disabled"


def test_a_task_that_cannot_be_read_stays_in_the_queue(service: Service) -> None:
    """A message that is no task becomes a dead letter, and does not stop the others."""
    path = WebhookPath(service)
    path.announce("ann@example.com")
    assert path.work("x", '{"version": 2}') == ["0", "1"]
    assert len(path.posted) == 3


def test_a_deleted_message_ends_its_deliveries(service: Service) -> None:
    """Without the record there is no payload: the delivery fails, and nothing is posted."""
    path = WebhookPath(service)
    path.announce("ann@example.com")
    (record,) = service.messages(path.account)
    table = wiring.services().table
    table.delete({name: {"S": record[name]} for name in ("pk", "sk")})
    path.answer = PostResult(status_code=200)
    path.work()
    assert _deliveries(path)["email.bounced"] is DeliveryState.FAILED
    assert len(path.posted) == 2


def test_a_removed_suppression_leaves_no_address(service: Service) -> None:
    """If an address was erased before its event is posted, the delivery does not store it."""
    path = WebhookPath(service)
    path.announce("ann@example.com")
    table = wiring.services().table
    DynamoSuppressions(table).remove(path.account, "ann@example.com")
    path.work()
    log = DynamoWebhookDeliveries(table)
    page = log.newest_first(path.account, path.endpoint.endpoint_id, 20, None)
    (found,) = (each for each in page.items if each.event.type is WebhookType.SUPPRESSION_ADDED)
    assert (found.state, found.event.address) == (DeliveryState.FAILED, None)


def test_a_hash_of_an_erased_address_is_not_announced(service: Service) -> None:
    """What `recipient erase` and a late bounce store of an erased person is no event."""
    path = WebhookPath(service)
    path.announce(hashed_mailbox(path.account, "ann@example.com"))
    path.work()
    types = sorted(json.loads(body)["type"] for body in path.posted)
    assert types == ["account.paused", "email.bounced"]


def test_changes_of_a_sender_domain_are_posted(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep notices each change of the state at SES; a repeated record has the same id."""
    path, table = WebhookPath(service), wiring.services().table
    table.put(keys.account_list(path.account))
    states: dict[str, DomainState] = {}
    monkeypatch.setattr(SesIdentities, "state", lambda _, name: states.get(name))
    key = keys.sender_domain(path.account, domain_of(SENDER))
    old: Item | None = None
    for state in (DomainState.PENDING, DomainState.VERIFIED, DomainState.FAILED):
        states[domain_of(SENDER)] = state
        for _ in range(2):  # the second pass finds nothing new
            handler("sweep_messages")({}, Invocation())
            tasks = service.sweep_tasks()
            handler("sweep_account")({"Records": tasks}, Invocation(seconds_left=300))
            new = to_item(table.get(key) or {})
            images = {"Keys": key, "NewImage": new} | ({"OldImage": old} if old else {})
            record = {"eventName": "MODIFY", "dynamodb": images}
            for _ in range(2):
                handler("announce_events")({"Records": [record]}, Invocation())
                path.work()
            old = new
    table.delete(keys.account_list(path.account))
    bodies = [json.loads(body) for body in path.posted]
    assert [(body["type"], body["data"]) for body in bodies] == [
        ("domain.verified", {"domain": domain_of(SENDER)}),
        ("domain.failed", {"domain": domain_of(SENDER)}),
    ]
    stored = DynamoWebhookDeliveries(table).newest_first(
        path.account, path.endpoint.endpoint_id, 20, None
    )
    assert {delivery.event.domain for delivery in stored.items} == {domain_of(SENDER)}
