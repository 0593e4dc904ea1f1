"""Feedback: provider events change the message and suppress addresses."""

from collections import deque
from dataclasses import replace
from datetime import timedelta
from itertools import count, cycle
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.application.delivery.feedback import (
    FeedbackOutcome,
    FeedbackResult,
    MessageContention,
)
from pillarbox.application.delivery.ports import (
    EventRecord,
    ProviderEvent,
    SeenEvent,
    TaggedMessage,
    UnreadableEvent,
)
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, at, event
from tests.fakes.world import Killed, World

ANN, BOB = "ann@example.com", "bob@example.com"
MESSAGE = builders.message()
BOUNCE = ProviderEvent(
    account_id=ACCOUNT,
    message_id=MESSAGE.message_id,
    at=at(5),
    events=(event(EventKind.BOUNCED, 5, ANN),),
    suppress=(("Ann@example.com", "bounced"),),
    provider_message_id="ses-1",
)


@pytest.fixture
def world() -> World:
    new_world = World()
    new_world.accept(MESSAGE)
    new_world.now = at(60)
    return new_world


def test_an_event_changes_the_message_and_suppresses(world: World) -> None:
    """A permanent bounce changes the message and suppresses the mailbox; a repeat is known."""
    assert world.record(BOUNCE)[0].outcome is FeedbackOutcome.CHANGED
    assert (world.message().status, world.message().provider_message_id) == ("bounced", "ses-1")
    assert world.store.suppressed == {(ACCOUNT, ANN): "bounced"}
    assert world.store.newest_event == at(5)
    assert not world.pauses
    assert world.record(BOUNCE)[0].outcome is FeedbackOutcome.KNOWN
    assert world.message().revision == 1


def test_a_repeated_event_leaves_a_removed_suppression_alone(world: World) -> None:
    world.record(BOUNCE)
    world.store.suppressed.clear()
    later = replace(BOUNCE, events=(event(EventKind.DELAYED, 6, ANN),), suppress=())
    assert [one.outcome for one in world.record(BOUNCE, later)] == [FeedbackOutcome.CHANGED] * 2
    assert world.record(BOUNCE, receives=2)[0].outcome is FeedbackOutcome.KNOWN
    assert not world.store.suppressed


@pytest.mark.parametrize(
    ("to", "suppressed"), [((ANN,), {ANN}), (("Ann@Example.com",), {ANN}), ((ANN, BOB), set())]
)
def test_a_report_cannot_suppress_or_add_a_stranger(
    to: tuple[str, ...], suppressed: set[str]
) -> None:
    """Whoever a recipient's server names, only recipients are suppressed and in the record."""
    world = World()
    world.accept(replace(MESSAGE, to=to))
    world.now = at(60)
    victims = [f"victim{n}@example.net" for n in range(3)]
    events = tuple(event(EventKind.BOUNCED, 5, victim) for victim in victims)
    suppress = tuple((victim, "bounced") for victim in victims)
    for _ in range(2):
        world.record(replace(BOUNCE, events=events, suppress=suppress))
    assert set(world.store.suppressed) == {(ACCOUNT, address) for address in suppressed}
    assert [e.recipient for e in world.message().events] == [to[0] if suppressed else None]
    assert world.message().status == "bounced"


def test_a_complaint_about_a_code_stops_only_its_recipient(world: World) -> None:
    """A report about the service's own mail cannot stop a stranger's codes of the widget."""
    code = builders.message(SERVICE_ACCOUNT_ID)
    world.accept(code)
    complaint = replace(
        BOUNCE,
        account_id=SERVICE_ACCOUNT_ID,
        message_id=code.message_id,
        suppress=(("victim@example.net", "complained"),),
    )
    world.record(complaint)
    assert set(world.store.suppressed) == {(PREVIEW_LIST, stopped_mailbox(ANN))}


def test_each_event_of_a_message_suppresses(world: World) -> None:
    """Two bounces of one email that arrive together suppress both addresses (promise 7)."""
    zoe = "zoe@example.com"
    world.store.messages.clear()
    world.accept(replace(MESSAGE, to=(ANN, zoe)))
    of_zoe = replace(
        BOUNCE, events=(event(EventKind.BOUNCED, 6, zoe),), suppress=((zoe, "bounced"),)
    )
    world.record(BOUNCE, of_zoe)
    assert set(world.store.suppressed) == {(ACCOUNT, ANN), (ACCOUNT, zoe)}


@pytest.mark.parametrize("account", ["acct00000002", ACCOUNT])
def test_an_event_of_an_unknown_message_changes_nothing(world: World, account: str) -> None:
    foreign = replace(BOUNCE, account_id=account)
    if account == ACCOUNT:
        foreign = replace(foreign, message_id=UUID(int=7))
    assert world.record(foreign)[0].outcome is FeedbackOutcome.UNKNOWN
    assert not world.store.suppressed
    assert world.message() == MESSAGE


def test_a_record_that_is_not_visible_yet_is_read_again(world: World) -> None:
    """An event that arrives together with its record is not treated as unknown."""
    world.store.stale_messages[ACCOUNT, MESSAGE.message_id] = None
    assert world.record(BOUNCE)[0].outcome is FeedbackOutcome.CHANGED
    assert world.message().status == "bounced"


def test_endless_contention_returns_the_event_to_the_queue(world: World) -> None:
    """After ten lost races the event goes back to the queue."""

    def save_another(call: str) -> None:
        if call == "messages.save":
            name = (ACCOUNT, MESSAGE.message_id)
            current = world.store.messages[name]
            world.store.messages[name] = replace(current, revision=current.revision + 1)

    world.gate.watch = save_another
    with pytest.raises(MessageContention):
        world.record(BOUNCE)
    assert world.gate.calls.count("messages.save") == 10


def test_events_of_one_message_are_saved_together(world: World) -> None:
    """Ten events of a message that arrive together cost one write, and all are recorded."""
    people = [f"person{n}@example.com" for n in range(10)]
    world.store.messages.clear()
    world.accept(replace(MESSAGE, to=tuple(people)))
    events = [
        replace(BOUNCE, events=(event(EventKind.DELIVERED, n, person),), suppress=())
        for n, person in enumerate(people)
    ]
    results = world.record(*events)
    assert [result.outcome for result in results] == [FeedbackOutcome.CHANGED] * 10
    assert world.gate.calls.count("messages.save") == 1
    assert {e.recipient for e in world.message().events} == set(people)


def test_a_bad_record_does_not_stop_the_others(world: World) -> None:
    """A text that is no record and a message that cannot be saved fail alone, in their places."""
    other = replace(builders.message(), message_id=UUID(int=9))
    world.accept(other)
    foreign = replace(BOUNCE, message_id=other.message_id)
    gone = replace(BOUNCE, message_id=UUID(int=7))

    def read(text: str) -> ProviderEvent | None:
        if text == "bad":
            raise RecursionError
        return {"own": BOUNCE, "other": foreign, "gone": gone, "ignored": None}[text]

    class OneBrokenMessage(stores.Messages):
        def save(self, message: Message) -> bool:
            if message.message_id == other.message_id:
                raise KeyError("rev")
            return super().save(message)

    feedback = replace(world.feedback(read), messages=OneBrokenMessage(world.store))
    texts = ("bad", "other", "own", "ignored", "gone")
    results = feedback.record([EventRecord(text) for text in texts])
    assert [r.outcome if isinstance(r, FeedbackResult) else type(r) for r in results] == [
        RecursionError,
        KeyError,
        FeedbackOutcome.CHANGED,
        FeedbackOutcome.IGNORED,
        FeedbackOutcome.UNKNOWN,
    ]


def test_an_event_from_the_future_does_not_move_the_heartbeat_beyond_now(world: World) -> None:
    """A wrong clock of a mailbox provider must not show that later events are recorded."""
    world.record(replace(BOUNCE, at=at(86_400)))
    assert world.store.newest_event == world.now


@pytest.mark.parametrize("failing", ["messages.peek", "messages.save", "suppressions.put"])
def test_the_heartbeat_moves_only_after_an_event_is_recorded(world: World, failing: str) -> None:
    """If an event cannot be recorded, workers must not conclude that none is on its way."""
    world.gate.refuse(failing)
    with pytest.raises(ServiceError):
        world.record(BOUNCE)
    assert world.store.newest_event is None


OTHER = UUID(int=9)
MARK = {(ACCOUNT, MESSAGE.message_id): SeenEvent("ses-1", at(60))}


@pytest.mark.parametrize("marked", [{}, MARK], ids=["first receipt", "second receipt"])
@pytest.mark.parametrize("call", ["messages.peek", "messages.save", "suppressions.put"])
def test_an_event_that_is_received_again_leaves_its_mark_first(
    world: World, call: str, marked: dict[tuple[str, UUID], SeenEvent]
) -> None:
    """If the process dies at any call, the mark of each repeated event of the batch is there."""
    world.gate.refuse(call, error=Killed())
    other = replace(BOUNCE, message_id=OTHER)
    with pytest.raises(Killed):
        world.record(BOUNCE, other, receives=2 if marked else 1)
    also_marked = {(ACCOUNT, OTHER): SeenEvent("ses-1", at(60))} if marked else {}
    assert world.store.seen_events == marked | also_marked


def test_a_repeated_event_that_kills_its_reader_leaves_its_mark_first(world: World) -> None:
    def read(_text: str) -> ProviderEvent | None:
        raise Killed

    tagged = TaggedMessage(ACCOUNT, MESSAGE.message_id, "ses-1")
    feedback = replace(world.feedback(read), find_message={"bad": tagged}.get)
    with pytest.raises(Killed):
        feedback.record([EventRecord("bad", receives=2)])
    assert world.store.seen_events == MARK


@pytest.mark.parametrize("receives", [1, 2])
def test_an_event_that_cannot_be_read_leaves_its_mark(world: World, receives: int) -> None:
    """A text that names its message and says nothing else shows that the provider took it."""

    def read(_text: str) -> ProviderEvent | None:
        raise UnreadableEvent("eventType New")

    tagged = TaggedMessage(ACCOUNT, MESSAGE.message_id, "ses-1")
    feedback = replace(world.feedback(read), find_message={"bad": tagged, "none": None}.get)
    bad, none = feedback.record([EventRecord("bad", receives), EventRecord("none", receives)])
    assert isinstance(none, UnreadableEvent)
    assert isinstance(bad, FeedbackResult)
    assert bad.outcome is FeedbackOutcome.UNREADABLE
    assert bad.provider_event
    assert bad.provider_event.unknown == ("eventType New",)
    assert world.store.seen_events == MARK
    assert world.store.newest_event is None


def test_an_unreadable_event_without_a_mark_is_tried_again(world: World) -> None:
    def read(_text: str) -> ProviderEvent | None:
        raise UnreadableEvent("eventType New")

    world.gate.refuse("seen_events.put_all")
    tagged = TaggedMessage(ACCOUNT, MESSAGE.message_id, "ses-1")
    feedback = replace(world.feedback(read), find_message={"bad": tagged}.get)
    assert [type(result) for result in feedback.record([EventRecord("bad")])] == [ServiceError]


def test_a_mark_that_cannot_be_put_does_not_stop_the_event(world: World) -> None:
    world.gate.refuse("seen_events.put_all")
    assert world.record(BOUNCE, receives=2)[0].outcome is FeedbackOutcome.CHANGED


def test_workers_that_contend_pause_before_the_next_try(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lost race is followed by a random pause whose limit doubles."""
    limits: list[tuple[float, float]] = []

    def uniform(least: float, most: float) -> float:
        limits.append((least, most))
        return most

    monkeypatch.setattr("random.uniform", uniform)

    def save_another(call: str) -> None:
        if call == "messages.save" and len(world.pauses) < 3:
            current = world.store.messages[ACCOUNT, MESSAGE.message_id]
            later = replace(current, revision=current.revision + 1)
            world.store.messages[ACCOUNT, MESSAGE.message_id] = later

    world.gate.watch = save_another
    assert world.record(BOUNCE)[0].outcome is FeedbackOutcome.CHANGED
    assert limits == [(0, 0.01), (0, 0.02), (0, 0.04)]
    assert world.pauses == [0.01, 0.02, 0.04]


#: SES did not send, because of a list of its own.
UNSENT = replace(
    BOUNCE,
    events=(replace(event(EventKind.FAILED, 5, "Ann@example.com"), code="suppressed_by_ses"),),
    suppress=(),
)
TENANT = "pillarbox-acct00000001"


@pytest.mark.parametrize("tenant", [None, TENANT])
@pytest.mark.parametrize("reported", [BOUNCE, UNSENT], ids=["bounce", "unsent"])
def test_the_providers_own_list_is_emptied(
    world: World, reported: ProviderEvent, tenant: str | None
) -> None:
    """A bounce is on our list alone, and what SES's list stopped may be sent again."""
    if tenant:
        world.tenants[ACCOUNT] = tenant
    others = {(None, BOB), ("pillarbox-acct00000002", "Ann@example.com")}
    world.provider_suppressions.listed = {(tenant, "Ann@example.com"), *others}
    (result,) = world.record(reported)
    assert (result.outcome, result.again) == (FeedbackOutcome.CHANGED, False)
    assert world.provider_suppressions.listed == others
    assert set(world.store.suppressed) == ({(ACCOUNT, ANN)} if reported is BOUNCE else set())
    assert world.complaints == []


def test_the_provider_may_list_an_address_after_its_event(world: World) -> None:
    assert world.record(BOUNCE)[0].again
    world.provider_suppressions.listed = {(None, "Ann@example.com")}
    assert not world.record(BOUNCE, receives=2)[0].again
    assert not world.provider_suppressions.listed
    assert not world.record(BOUNCE, receives=2)[0].again


@pytest.mark.parametrize(("seconds", "calls"), [(7.999, 2), (8, 1)])
def test_a_batch_frees_addresses_for_eight_seconds(
    world: World, seconds: float, calls: int
) -> None:
    def be_slow(call: str) -> None:
        if call == "provider_suppressions.remove":
            world.now += timedelta(seconds=seconds)

    world.gate.watch = be_slow
    world.accept(replace(MESSAGE, message_id=OTHER))
    world.record(BOUNCE, replace(BOUNCE, message_id=OTHER))
    assert world.gate.calls.count("provider_suppressions.remove") == calls


@pytest.mark.parametrize("seconds", [0, 9])
def test_a_throttled_provider_costs_no_event(world: World, seconds: int) -> None:
    """All events are merged first; the addresses wait for later receipts, four times at most."""
    other = replace(BOUNCE, message_id=OTHER)
    world.accept(replace(MESSAGE, message_id=OTHER))

    def throttle(call: str) -> None:
        if call == "provider_suppressions.remove":
            world.now += timedelta(seconds=seconds)
            if not seconds:
                raise ServiceError("service_unavailable", "planted")

    world.gate.watch = throttle
    results = world.record(BOUNCE, other)
    assert [one.outcome for one in results] == [FeedbackOutcome.CHANGED] * 2
    assert results[1].again
    assert world.gate.calls.count("provider_suppressions.remove") == 1
    repeated = [world.record(BOUNCE, other, receives=n)[1].again for n in (2, 3, 4, 5, 6)]
    assert repeated == [True, True, True, False, False]


def test_a_refused_call_is_an_error_until_the_fifth_receipt(world: World) -> None:
    """A missing right shows in the log, and leaves no dead letter."""
    world.gate.refuse("provider_suppressions.remove", error=PermissionError())
    for receives in (1, 4):
        with pytest.raises(PermissionError):
            world.record(BOUNCE, receives=receives)
    assert not world.record(BOUNCE, receives=5)[0].again
    assert world.message().status == "bounced"


def test_addresses_of_the_simulator_and_of_unknown_mail_are_left_alone(world: World) -> None:
    """SES lists no address of its simulator; an event of an unknown message shows nothing."""
    simulated = "bounce@simulator.amazonses.com"
    world.record(
        replace(BOUNCE, suppress=((simulated, "bounced"),)), replace(BOUNCE, message_id=OTHER)
    )
    assert "provider_suppressions.remove" not in world.gate.calls


SENT = replace(BOUNCE, events=(event(EventKind.SENT, 1),), suppress=())
DELAYED = replace(BOUNCE, events=(event(EventKind.DELAYED, 2, ANN),), suppress=())


@given(
    st.permutations([SENT, DELAYED, UNSENT, BOUNCE] * 2),
    st.integers(0, 8),
    st.lists(st.integers(1, 3), min_size=1),
)
def test_each_order_of_events_ends_alike(
    events: list[ProviderEvent], listed_after: int, batches: list[int]
) -> None:
    """Late, repeated and reordered events leave one message, one suppression and an empty list.

    SES lists the address some events after the start, and before an event comes again (promise 5).
    """
    world = World()
    world.accept(MESSAGE)
    world.now = at(60)
    waiting, again, sizes = deque(events), list[ProviderEvent](), cycle(batches)
    for position in count():
        if position == listed_after or not waiting:
            world.provider_suppressions.listed.add((None, "Ann@example.com"))
        if not waiting:
            break
        batch = [waiting.popleft() for _ in range(min(next(sizes), len(waiting)))]
        results = world.record(*batch)
        again += [one for one, result in zip(batch, results, strict=True) if result.again]
    world.record(*again, BOUNCE, receives=2)
    kinds = {EventKind.SENT, EventKind.DELAYED, EventKind.BOUNCED, EventKind.FAILED}
    assert {one.kind for one in world.message().events} == kinds
    assert world.message().status == "bounced"
    assert world.store.suppressed == {(ACCOUNT, ANN): "bounced"}
    assert not world.provider_suppressions.listed
