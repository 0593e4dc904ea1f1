"""The origin of a message: its key, route, template and request are in its record."""

from dataclasses import replace
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.records import message_item, message_of
from pillarbox.adapters.dynamodb.table import from_item
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.domain.messages.mail import RawBody
from pillarbox.domain.messages.message import EventKind, Labels, MessageOrigin, SendRoute
from pillarbox.http.messages.replies import batch_result
from tests.fakes import builders
from tests.fakes.builders import event
from tests.fakes.world import World
from tests.refusals import faults

ANN = "ann@example.com"
TEMPLATE = UUID("0197a1b2-0000-7000-8000-000000000001")
REQUEST_ID = "8f6f3c2e-2b4e-4a7e-9a53-8f3a4f1f2c11"


def key_id(world: World) -> str:
    return world.store.keys[digest_of_key(world.live)].key_id


def test_a_batch_records_the_version_of_each_template(world: World) -> None:
    world.store.templates[builders.ACCOUNT, TEMPLATE] = builders.template(TEMPLATE, version=3)
    saved = builders.request(
        html=None, subject=None, template_id=TEMPLATE, variables={"name": "Ann"}
    )
    batch = BatchRequest(body_hash=builders.HASH, count=2, items=(saved, builders.request()))
    world.batch_send.submit(world.live, batch, None, batch_result, request_id=REQUEST_ID)
    common = MessageOrigin(route=SendRoute.BATCH, key_id=key_id(world), request_id=REQUEST_ID)
    origins = [message.origin for message in world.store.messages.values()]
    assert sorted(origins, key=lambda origin: origin.template_version or 0) == [
        common,
        replace(common, template_id=str(TEMPLATE), template_version=3, shape="{name}"),
    ]


def test_a_message_over_smtp_records_its_key(world: World) -> None:
    world.send_smtp()
    assert world.message().origin == MessageOrigin(route=SendRoute.SMTP, key_id=key_id(world))


def test_tags_over_smtp_are_not_delivered(world: World) -> None:
    """X-Tag fields become tags with names in lower case, and are removed from the message."""
    world.send_smtp("X-Tag-Order: =?utf-8?q?Gr=C3=BC=C3=9Fe?=", "x-tag-run_2: 7")
    assert world.message().origin.labels.tags == {"order": "Grüße", "run_2": "7"}
    (job,) = world.store.queue
    assert job.mail
    assert isinstance(job.mail.body, RawBody)
    assert b"tag" not in job.mail.body.octets.lower()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (["X-Tag-a: 1", "X-TAG-A: 2"], "bad_header"),
        (["X-Tag-: 1"], "invalid_tags"),
        (["X-Tag-a.b: 1"], "invalid_tags"),
        (["X-Tag-a:"], "invalid_tags"),
        ([f"X-Tag-{number}: x" for number in range(6)], "invalid_tags"),
    ],
)
def test_wrong_tags_over_smtp_are_refused(world: World, fields: list[str], code: str) -> None:
    """A name twice, a wrong name, a tag without a value and a sixth tag are refused."""
    assert faults(world.send_smtp, *fields) == [("X-Tag", code)]


def test_a_record_without_an_origin_can_be_read() -> None:
    item = from_item(message_item(builders.message(origin=MessageOrigin())))
    assert not item.keys() & {"via", "key", "starter", "template", "version", "request", "tags"}
    assert message_of(item).origin == MessageOrigin()


def test_a_delivered_message_fits_one_write_unit() -> None:
    """A record with a full origin stays below 1 KB after its email was delivered."""
    origin = MessageOrigin(
        route=SendRoute.BATCH,
        key_id=str(TEMPLATE),
        template_id=str(TEMPLATE),
        template_version=1_000,
        request_id=REQUEST_ID,
        labels=Labels(tags={"order": "10442", "campaign": "spring"}),
    )
    events = [event(EventKind.SENT, 1), event(EventKind.DELIVERED, 2, ANN)]
    message = builders.message(subject="Your receipt of 14 March from Shop", origin=origin)
    delivered = message.with_events(events, f"{TEMPLATE}-000000")
    item = from_item(message_item(delivered))
    assert size(item) < 800
    assert message_of(item) == delivered


def size(item: object) -> int:
    """Return about what DynamoDB counts: the octets of all names and values."""
    if isinstance(item, dict):
        return sum(len(name) + size(value) for name, value in item.items())
    if isinstance(item, list | tuple):
        return 3 + sum(size(value) for value in item)
    return len(str(item))
