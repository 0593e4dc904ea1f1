"""Endpoints in the AWS accounts of tenants: the use cases, and posting, over fakes."""

from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.application.webhooks.endpoints import Webhooks
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.application.webhooks.post import WebhookWorker
from pillarbox.domain.messages.message import EventKind
from pillarbox.domain.webhooks.endpoint import DeliveryState, EndpointHealth
from pillarbox.domain.webhooks.events import events_of
from tests.fakes.builders import ACCOUNT, event, message
from tests.fakes.webhook_world import WebhookWorld, one_after_another
from tests.refusals import faults
from tests.unit.application.test_application_webhooks import URL, UseCasesOfWebhooks

SERVICE, TENANT = "999999999999", "111122223333"
ROLE = f"arn:aws:iam::{TENANT}:role/pillarbox-events"
BUS = f"arn:aws:events:eu-west-1:{TENANT}:event-bus/mail"


@pytest.fixture
def world() -> UseCasesOfWebhooks:
    """Return the use cases of a service whose operator lets events go to AWS."""
    return UseCasesOfWebhooks(aws_webhooks_account=SERVICE)


def create(webhooks: Webhooks, url: str = BUS, role: str | None = ROLE) -> UUID:
    state = webhooks.create(ACCOUNT, url, ["*"], by="operator", role_arn=role)
    return UUID(state.endpoint.endpoint_id)


def test_without_the_operators_consent_no_event_goes_to_aws() -> None:
    """The address is then refused as one that is no https URL; nothing is stored."""
    world = UseCasesOfWebhooks()
    assert faults(create, world.webhooks) == [("url", "invalid_url")]
    assert world.webhook_queries.of_account(ACCOUNT) == []


def test_an_endpoint_stays_of_its_kind(world: UseCasesOfWebhooks) -> None:
    """A bus may become a bucket with another role of its account, but no URL, and no other way."""
    in_aws, https = create(world.webhooks), create(world.webhooks, URL, None)

    def change(found: UUID, url: str | None = None, role_arn: str | None = None) -> None:
        changes = EndpointChanges(url=url, role_arn=role_arn)
        world.webhooks.change(ACCOUNT, found, changes, by="operator")

    change(in_aws, url="s3://shop-events/", role_arn=f"{ROLE}-2")
    endpoint = world.webhook_queries.get(ACCOUNT, in_aws).endpoint
    assert (endpoint.url, endpoint.role_arn) == ("s3://shop-events/", f"{ROLE}-2")
    other = ROLE.replace(TENANT, "444455556666")
    change(in_aws, url=BUS)
    assert faults(change, in_aws, role_arn=other) == [("url", "invalid_url")]
    assert faults(change, in_aws, url=URL) == [("url", "not_allowed")]
    assert faults(change, https, url=BUS) == [("url", "not_allowed")]
    assert faults(change, https, url=BUS, role_arn=ROLE) == [("url", "not_allowed")]
    assert faults(change, https, role_arn=ROLE) == [("roleArn", "not_allowed")]


def test_an_event_is_tried_again_until_the_role_trusts_the_service() -> None:
    """Bus and bucket have the schedule, the log and the circuit of an endpoint with a URL."""
    world = WebhookWorld()
    endpoint = world.add_endpoint(url=BUS, role_arn=ROLE, secrets=())
    sent = world.change(message(), event(EventKind.SENT, 1))
    (announced,) = [one.for_endpoint(endpoint.endpoint_id) for one in events_of(sent)][-1:]
    worker = WebhookWorker(world.ports, one_after_another)
    assert worker.handle([announced]) == ["retry"]
    (task, wait) = world.queue.tasks[-1]
    assert timedelta(seconds=4) <= wait <= timedelta(seconds=6)
    assert world.healths.get(ACCOUNT, endpoint.endpoint_id) != EndpointHealth()
    world.aws.trusts[ROLE] = endpoint.endpoint_id
    world.now += wait
    assert worker.handle([task]) == ["delivered"]
    (delivery,) = world.deliveries_of(endpoint)
    assert [one.status_code for one in delivery.attempts] == [403, 200]
    assert delivery.attempts[0].error == "AWS refused AssumeRole"
    assert delivery.state is DeliveryState.DELIVERED
    assert [*world.aws.events] == [(BUS, announced.event_id)]
    assert world.poster.posts == []
