"""`pillarbox recipient erase`: complete, repeatable, and safe to kill at any call."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest

from admin.aws.erasing import erase_announced, rewrite
from admin.use_cases.erasure import AccountErasure, RecipientErasure
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import added_events
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents
from pillarbox.adapters.dynamodb.records import account_item, message_item, message_of
from pillarbox.adapters.dynamodb.replies import DynamoReceivedMails
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.application.history.pagination import PageRequest
from pillarbox.application.history.queries import Bucket
from pillarbox.domain.accounts.suppression import Suppression, hashed_mailbox
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.messages.message import ERASED_ADDRESS, Event, EventKind, Message, Status
from pillarbox.domain.messages.statistics import TagTerm
from pillarbox.domain.replies import Answered
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import DeliveryState, WebhookDelivery
from pillarbox.domain.webhooks.events import suppression_added
from tests.fakes import builders
from tests.unit.history.search_world import SearchWorld
from tests.unit.history.world import START

ANN = "ann@example.com"


class Killed(BaseException):
    """The process ends here."""


class KilledAt:
    """The engine in which the process dies after one of its next calls."""

    def __init__(self, world: SearchWorld, call: int) -> None:
        self._engine = world.engine
        self.calls_left = call

    def __getattr__(self, name: str) -> Any:
        made = getattr(self._engine, name)

        def call(**request: Any) -> Any:
            self.calls_left -= 1
            try:
                return made(**request)
            finally:
                if self.calls_left == 0:
                    raise Killed

        return call


def killed_at_each_call(
    make: Callable[[], SearchWorld], act: Callable[[SearchWorld], object]
) -> Iterator[tuple[int, SearchWorld]]:
    """Yield a new world after a kill behind its first call, its second, and so on.

    A kill before a call leaves what one after the call before it leaves.
    """
    for call in count(1):
        world = make()
        vars(world.table)["client"] = KilledAt(world, call)
        try:
            act(world)
        except Killed:
            vars(world.table)["client"] = world.engine
            yield call, world
        else:
            return


def world_with_mail(shards: int = 1) -> SearchWorld:
    """Return an account with mail to Ann and others: old and new, pending and bounced."""
    world = SearchWorld(shards=shards)
    world.table.put(account_item(world.account))
    for number in range(3):
        bounced = world.send_to("Ann@example.com", "bob@example.com", tags={"order": str(number)})
        world.pass_time(60)
        recipient_event(world, bounced, EventKind.SENT, None)
        recipient_event(world, bounced, EventKind.BOUNCED, "Ann@example.com")
        world.send_to("bob@example.com", tags={"order": "ann"})
        world.pass_time(2400)
    world.aggregate()
    world.pass_time(60)
    last = world.send_to("cleo@example.com", ANN)
    receive(world, "Ann@example.com")
    receive(world, "bob@example.com", cc=(ANN,))
    receive(world, "ann-at-work@else.example", answered=Answered(message_id=last.message_id))
    receive(world, "bob@example.com")
    DynamoSuppressions(world.table).put(world.account_id, ANN, "bounced", START, None)
    announce(world, ANN)
    announce(world, "bob@example.com")
    return world


def receive(world: SearchWorld, sender: str, **changes: Any) -> None:
    """Store a record of a received mail."""
    of_world = {"received_id": new_id(world.now), "received_at": world.now, "sender": sender}
    mail = builders.received(world.account_id, **of_world | {"answered": None} | changes)
    DynamoReceivedMails(world.table).add(mail)


def announce(world: SearchWorld, address: str) -> None:
    """Store what an endpoint's log and its waiting events have of a suppression."""
    endpoint = keys.webhook_endpoint(world.account_id, "5c7e")
    world.table.put(endpoint)
    event = suppression_added(world.account_id, address, START, None).for_endpoint("5c7e")
    DynamoWebhookDeliveries(world.table).put(
        WebhookDelivery(event=event, state=DeliveryState.FAILED)
    )
    DynamoWaitingEvents(world.table, lambda: world.now).put(event)


def recipient_event(
    world: SearchWorld, target: Message, kind: EventKind, recipient: str | None
) -> None:
    event = Event(kind=kind, at=world.now, recipient=recipient, reason=f"550 no {recipient}")
    current = world.messages[target.message_id]
    world._put(replace(current.with_events([event]), revision=current.revision + 1))


def rewrite_and_stream(world: SearchWorld, message: Message) -> bool:
    """Rewrite a record; the table's stream reports it."""
    key = keys.message(message.account_id, message.message_id)
    partition = world.engine.partition(key["pk"]["S"])
    old = partition.get(key["sk"]["S"])
    try:
        return rewrite(world.table, message)
    finally:
        new = partition.get(key["sk"]["S"])
        if new != old:
            images: Any = {"dynamodb": {"OldImage": old, "NewImage": new}}
            world.stream.append(images)


def erasure(
    world: SearchWorld,
    removed: list[KeptContent] | None = None,
    freed: list[tuple[str, str | None]] | None = None,
) -> RecipientErasure:
    return RecipientErasure(
        accounts=DynamoAccounts(world.table),
        log=world.log,
        rewrite=partial(rewrite_and_stream, world),
        index=world.index,
        indexed_until=world.queries.search.indexed_until,
        suppressions=DynamoSuppressions(world.table),
        free=lambda *of: None if freed is None else freed.append(of),
        erase_announced=partial(erase_announced, world.table, world.table),
        remove_content=DynamoWaitingContents(world.table, bucket="").remove,
        remove_kept=(lambda _: None) if removed is None else removed.append,
        received=DynamoReceivedMails(world.table),
        remove_received=lambda _: None,
        clock=lambda: world.now,
        pause=world.pass_time,
    )


def erase(world: SearchWorld, *, suppress: bool = False, named: bool = True) -> AccountErasure:
    """Erase Ann and return what the command says about the account."""
    (erased,) = erasure(world).erase(
        [world.account], ANN, lambda _: None, suppress=suppress, everywhere=named
    )
    return erased


def stored(world: SearchWorld) -> Iterator[str]:
    """Yield everything in the table as text."""
    for pk, partition in world.engine.partitions.items():
        for sort_key in partition.order:
            yield f"{pk} {sort_key} {partition.get(sort_key)}".lower()


def leftovers(world: SearchWorld) -> list[str]:
    """Return the items that still name Ann, or have what may name her."""
    named = ("ann@", "ann-at-work", "550 no", "order=0", "order=1", "order=2")
    return [text for text in stored(world) if any(part in text for part in named)]


def records(world: SearchWorld) -> list[Message]:
    return [
        message_of(item)
        for shard in range(world.shards)
        for item in world.table.query(keys.messages_from(world.account_id, shard, 0))
    ]


@pytest.mark.parametrize("shards", [1, 4])
def test_an_erasure_leaves_nothing_of_the_person(shards: int) -> None:
    world = world_with_mail(shards)
    window = (milliseconds(START) - 1000, milliseconds(world.now) + 1000)
    before = world.analytics(*window, Bucket.DAY)
    erased = erase(world)
    assert (erased.messages, erased.pending, erased.suppressed) == (4, 1, True)
    assert leftovers(world) == []
    world.aggregate()
    assert leftovers(world) == []
    assert world.analytics(*window, Bucket.DAY) == before
    messages = records(world)
    assert sorted(m.subject for m in messages) == ["Hello"] * 3 + ["[erased]"] * 4
    assert {m.to[0] for m in messages} == {ERASED_ADDRESS, "bob@example.com", "cleo@example.com"}
    assert world.search(PageRequest(tag=TagTerm("order", "ann"))).total == 3
    assert erased.received == 3
    (left,) = DynamoReceivedMails(world.table).all(world.account_id)
    assert left.sender == "bob@example.com"
    assert sum("hook" in text and "bob@example.com" in text for text in stored(world)) == 2
    assert len(world.found("bob@example.com")) == 6
    assert world.found(ANN) == []


@pytest.mark.slow
def test_an_erasure_that_was_killed_is_finished_by_the_next_run() -> None:
    call = 0
    for call, world in killed_at_each_call(world_with_mail, partial(erase, suppress=True)):
        erasure(world).erase([world.account], ANN, lambda _: None, suppress=True, everywhere=False)
        world.aggregate()
        assert leftovers(world) == [], call
        assert hashed(world) is not None, call
    assert call > 20


def hashed(world: SearchWorld) -> Suppression | None:
    address = hashed_mailbox(world.account_id, ANN)
    return DynamoSuppressions(world.table).get(world.account_id, address)


@pytest.mark.parametrize(
    ("had_mail", "named", "is_suppressed"),
    [(True, False, True), (False, True, True), (False, False, False)],
)
def test_suppressing_is_for_the_named_account_and_those_that_had_the_address(
    *, had_mail: bool, named: bool, is_suppressed: bool
) -> None:
    world = SearchWorld()
    world.table.put(account_item(world.account))
    world.send_to(ANN if had_mail else "bob@example.com")
    erased = erasure(world).erase(
        [world.account], ANN, lambda _: None, suppress=True, everywhere=named
    )
    assert [each.suppressed for each in erased] == [True] * is_suppressed
    suppression = hashed(world)
    assert (suppression is not None) == is_suppressed
    account = DynamoAccounts(world.table).get(world.account_id)
    assert account is not None
    assert account.hashed_suppressions == is_suppressed
    assert suppression is None or suppression.reason == "manual"


def test_a_late_bounce_of_an_erased_message_will_be_found() -> None:
    """It suppresses a hash, so whoever had the mail looks for hashes, even without any yet."""
    world = SearchWorld()
    world.table.put(account_item(world.account))
    world.send_to(ANN)
    erase(world)
    assert hashed(world) is None
    account = DynamoAccounts(world.table).get(world.account_id)
    assert account is not None
    assert account.hashed_suppressions


def test_a_message_that_is_accepted_meanwhile_is_erased_too() -> None:
    """The second pass begins when no writer can be late any more, and erases what came."""
    world = world_with_mail()
    late: list[Message] = []

    def accept(seconds: float) -> None:
        late.append(world.send_to(ANN))
        assert seconds == 60  # the time-out of the function DeliverMessage
        world.pass_time(seconds)

    (erased,) = replace(erasure(world), pause=accept).erase([world.account], ANN, lambda _: None)
    assert (erased.messages, len(late)) == (5, 1)
    assert leftovers(world) == []


def test_a_message_that_a_worker_changes_meanwhile_is_erased() -> None:
    world = world_with_mail()
    made = world.engine.put_item
    changed: list[str] = []

    def put_item(**request: Any) -> Any:
        if request["Item"]["pk"]["S"].startswith("MSG#") and not changed:
            changed.append(request["Item"]["sk"]["S"])
            current = next(m for m in records(world) if str(m.message_id) == changed[0])
            recipient_event(world, current, EventKind.DELIVERED, "bob@example.com")
        return made(**request)

    world.engine.put_item = put_item  # type: ignore[method-assign]
    erased = erase(world)
    (overtaken,) = (m for m in records(world) if [str(m.message_id)] == changed)
    assert overtaken.is_erased
    assert EventKind.DELIVERED in {event.kind for event in overtaken.events}
    assert erased.messages == 4
    assert leftovers(world) == []


def test_a_late_event_of_an_erased_message_brings_no_address_back() -> None:
    world = world_with_mail()
    erase(world)
    late = next(m for m in records(world) if m.is_erased and "bob@example.com" in m.bcc)
    at = world.now + timedelta(hours=1)
    changed = late.with_events(
        [
            Event(kind=EventKind.COMPLAINED, at=at, recipient="Ann@Example.com", reason="ann@"),
            Event(kind=EventKind.DELIVERED, at=at, recipient="Bob@example.com", reason="ann@"),
            Event(kind=EventKind.DELAYED, at=at, code="expired"),
        ]
    )
    assert changed.status is Status.COMPLAINED
    added = {(e.kind, e.recipient, e.reason) for e in changed.events} - {
        (e.kind, e.recipient, e.reason) for e in late.events
    }
    assert added == {
        (EventKind.COMPLAINED, ERASED_ADDRESS, None),
        (EventKind.DELIVERED, "bob@example.com", None),  # as the message names it
        (EventKind.DELAYED, None, None),
    }


@pytest.mark.parametrize("is_erased", [False, True])
def test_webhooks_announce_no_hash(*, is_erased: bool) -> None:
    world = SearchWorld()
    address = hashed_mailbox(world.account_id, ANN) if is_erased else ANN
    DynamoSuppressions(world.table).put(world.account_id, address, "bounced", START, None)
    key = keys.suppression(world.account_id, address)
    image = world.engine.partition(key["pk"]["S"]).get(address)
    events = added_events({"dynamodb": {"Keys": key, "NewImage": image}})
    assert [event.address for event in events] == ([] if is_erased else [ANN])


def test_the_address_leaves_the_providers_lists_first() -> None:
    world = world_with_mail()
    freed: list[tuple[str, str | None]] = []

    def fail(*_: object) -> None:
        raise Unavailable("provider")

    with pytest.raises(Unavailable):
        replace(erasure(world), free=fail).erase([world.account], ANN, lambda _: None)
    assert hashed(world) is None
    tenant = replace(world.account, tenant="shop")
    (erased,) = erasure(world, freed=freed).erase([tenant], ANN, lambda _: None)
    assert erased.messages
    assert {*freed} == {(ANN, "shop")}


def test_an_erasure_deletes_kept_content_twice() -> None:
    """A worker that hands an email over during the first pass may keep it only after that."""
    world = world_with_mail()
    target = next(one for one in world.messages.values() if one.has_recipient(ANN))
    world._put(replace(target, keep=7, revision=target.revision + 1))
    world.table.put(message_item(replace(target, keep=7)))
    removed: list[KeptContent] = []
    erasure(world, removed).erase([world.account], ANN, lambda _: None)
    assert removed == [KeptContent.of(replace(target, keep=7))] * 2
