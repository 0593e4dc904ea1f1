"""Groups of SMTP messages: each message is checked by itself, and the promises hold for all."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.sending.smtp import SmtpMessage, SmtpSubmission
from pillarbox.domain.accounts.quota import Amount, Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Message
from tests.fakes import builders
from tests.fakes.world import Fault, Killed, World
from tests.refusals import refusal

SMALL = 50_000

TO = ("ann@example.com",)
KEY = "Idempotency-Key: k\r\n"


def prepare(
    world: World, number: int, sender: str = builders.SENDER, to: str = TO[0]
) -> SmtpMessage:
    octets = f"From: {sender}\r\nSubject: Number {number}\r\n\r\nHello\r\n".encode()
    return world.smtp_submission.prepare(world.live, (to,), bytearray(octets))


def submit(world: World, messages: Sequence[SmtpMessage]) -> Sequence[str | ServiceError]:
    return world.smtp_submission.submit_all(world.live, messages)


def codes(outcomes: Sequence[str | ServiceError]) -> list[str | None]:
    return [item.code if isinstance(item, ServiceError) else None for item in outcomes]


def limited(per_minute: int, per_day: int | None = None) -> World:
    limits = Limits(per_minute=per_minute, per_day=per_day, per_month=None)
    return World(builders.account(overrides=limits))


def test_a_group_is_accepted_in_one_call_for_each_step(world: World) -> None:
    """Five messages take one read, one reservation, one call of the queue and one commit."""
    ready = [prepare(world, number) for number in range(5)]
    world.gate.calls.clear()
    outcomes = submit(world, ready)
    assert [name.partition(".")[2] for name in world.gate.calls] == [
        "look_up",
        "reserve",
        "put_all",
        "commit_all",
    ]
    ids = [UUID(outcome) for outcome in outcomes if isinstance(outcome, str)]
    subjects = [world.store.messages[builders.ACCOUNT, message_id].subject for message_id in ids]
    assert subjects == [f"Number {number}" for number in range(5)]
    assert [job.message_id for job in world.store.queue] == ids
    assert world.used() == {5}


def test_each_message_of_a_group_is_checked_by_itself(world: World) -> None:
    """An unverified sender or a suppressed recipient refuses only its own message."""
    world.store.suppressed[builders.ACCOUNT, "bob@example.com"] = "bounced"
    outcomes = submit(
        world,
        [
            prepare(world, 0),
            prepare(world, 1, sender="stranger@shop.example"),
            prepare(world, 2, to="bob@example.com"),
            prepare(world, 3),
        ],
    )
    assert codes(outcomes) == [None, "no_verified_sender", "recipient_suppressed", None]
    assert {str(message_id) for _, message_id in world.store.messages} == {
        outcomes[0],
        outcomes[3],
    }
    assert world.used() == {2}


def test_a_group_of_refused_messages_makes_no_write(world: World) -> None:
    (outcome,) = submit(world, [prepare(world, 0, sender="stranger@shop.example")])
    assert isinstance(outcome, ServiceError)
    assert not world.store.queue
    assert not world.store.messages
    assert world.used() == {0}


def test_the_rest_of_a_quota_is_used() -> None:
    """If the quota is too small, it accepts messages in their order until it is full."""
    world = limited(3)
    outcomes = submit(world, [prepare(world, number) for number in range(5)])
    assert codes(outcomes) == [None] * 3 + ["rate_limit_exceeded"] * 2
    assert len(world.store.messages) == len(world.store.queue) == 3
    (refused,) = submit(world, [prepare(world, 6)])
    assert isinstance(refused, ServiceError)
    assert refused.code == "rate_limit_exceeded"


def test_a_refusal_names_the_quota_window_that_is_full() -> None:
    """Once a group uses up the day's quota, the refusals name the day, not the minute."""
    world = limited(5, 4)
    submit(world, [prepare(world, 0)])
    outcomes = submit(world, [prepare(world, number) for number in range(1, 7)])
    details = [item.details if isinstance(item, ServiceError) else None for item in outcomes]
    assert details == [None] * 3 + [{"limit_per_day": 4}] * 3


def test_a_group_without_room_names_the_quota_window_that_is_full() -> None:
    """If the day's quota has no room, each message of the next group gets the day's error."""
    world = limited(5, 3)
    submit(world, [prepare(world, number) for number in range(3)])
    outcomes = submit(world, [prepare(world, number) for number in range(3, 6)])
    refusals = [(item.code, item.details) for item in outcomes if isinstance(item, ServiceError)]
    assert refusals == [("daily_limit_exceeded", {"limit_per_day": 3})] * 3


@pytest.mark.parametrize("failing", ["jobs.put_all", "messages.commit_all"])
def test_a_message_over_quota_keeps_its_error_when_a_later_step_fails(failing: str) -> None:
    world = limited(2)
    ready = [prepare(world, number) for number in range(4)]
    port, _, call = failing.partition(".")

    def fail(*_: Any) -> None:
        raise ServiceError("service_unavailable", "planted")

    ports = world.ports
    vars(getattr(ports, port))[call] = fail
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert codes(outcomes) == ["service_unavailable"] * 2 + ["rate_limit_exceeded"] * 2


@pytest.mark.parametrize("withdrawing", [True, False])
def test_each_message_of_a_group_that_failed_in_part_has_its_outcome(
    world: World, *, withdrawing: bool
) -> None:
    """What was put before the error is accepted; the rest is refused and refunded.

    Nothing is accepted later under the ids of the rest, unless no tombstone can be put either.
    """
    ready, ports = [prepare(world, number) for number in range(3)], world.ports
    put, left = ports.messages.commit_all, list[Message]()

    def put_two(messages: Sequence[Message]) -> None:
        put(messages[:2])
        left.extend(messages[2:])
        raise ServiceError("service_unavailable", "planted")

    def fail(*_: Any) -> None:
        raise ServiceError("service_unavailable", "planted")

    vars(ports.messages)["commit_all"] = put_two
    if not withdrawing:
        vars(ports.messages)["withdraw"] = fail
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert codes(outcomes) == [None, None, "service_unavailable"]
    assert world.used() == {2}
    assert put(left) == {message.message_id for message in left if withdrawing}


def test_a_message_over_quota_keeps_its_error_when_the_next_reservation_fails() -> None:
    world = limited(2)
    ready = [prepare(world, number) for number in range(4)]
    ports = world.ports
    reserve = ports.quotas.reserve

    def fail_for_two(account_id: str, amount: Amount, *more: Any) -> None:
        if amount.messages == 2:
            raise ServiceError("service_unavailable", "planted")
        reserve(account_id, amount, *more)

    vars(ports.quotas)["reserve"] = fail_for_two
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert codes(outcomes) == ["service_unavailable"] * 2 + ["rate_limit_exceeded"] * 2


def test_a_refund_goes_to_the_minute_of_the_reservation(world: World) -> None:
    ready = [prepare(world, number) for number in range(2)]
    moments = iter([builders.NOW, builders.at(60)])
    ports = replace(world.ports, clock=lambda: next(moments))

    def refuse_first(pairs: Sequence[Any]) -> frozenset[UUID]:
        return frozenset({pairs[0][0].message_id})

    vars(ports.jobs)["put_all"] = refuse_first
    SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    world.now = builders.at(60)
    assert world.used() == {1}


def test_a_job_that_the_queue_refuses_fails_only_its_message(world: World) -> None:
    """If the queue refuses one message of a group, it gets an error and its quota back."""
    ports = world.ports
    put_all = ports.jobs.put_all

    def put_all_but_first(pairs: Sequence[Any]) -> frozenset[UUID]:
        put_all(pairs[1:])
        return frozenset({pairs[0][0].message_id})

    vars(ports.jobs)["put_all"] = put_all_but_first
    ready = [prepare(world, number) for number in range(3)]
    outcomes = SmtpSubmission(ports, world.seen).submit_all(world.live, ready)
    assert isinstance(outcomes[0], ServiceError)
    assert {str(message_id) for _, message_id in world.store.messages} == set(outcomes[1:])
    assert world.used() == {2}


def test_an_invalid_key_fails_the_whole_group(world: World) -> None:
    ready = [prepare(world, number) for number in range(2)]
    assert (
        refusal(world.smtp_submission.submit_all, builders.key_text(), ready).code
        == "invalid_api_key"
    )
    assert not world.store.queue


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fault_at_any_call_keeps_the_promises(when: str) -> None:
    undisturbed = World()
    ready = [prepare(undisturbed, number) for number in range(3)]
    undisturbed.gate.calls.clear()
    submit(undisturbed, ready)
    for position in range(len(undisturbed.gate.calls)):
        for error in (ServiceError("service_unavailable", "planted"), Killed()):
            world = World()
            ready = [prepare(world, number) for number in range(3)]
            world.gate.calls.clear()
            world.gate.fault = Fault(position, when, error)  # type: ignore[arg-type]
            outcomes: Sequence[Any] = ()
            with contextlib.suppress(ServiceError, Killed):
                outcomes = submit(world, ready)
            world.gate.fault = None
            committed = {str(message_id) for _, message_id in world.store.messages}
            world.settle()
            delivered = [str(message.message_id) for message, _, _ in world.mailer.taken]
            assert sorted(delivered) == sorted(committed)
            assert {item for item in outcomes if isinstance(item, str)} <= set(delivered)
            if outcomes:
                assert {item for item in outcomes if isinstance(item, str)} == committed
            assert max(world.used()) in {len(committed), 3}


@pytest.mark.parametrize(
    ("head", "size", "groupable"),
    [("", 100, True), ("", SMALL, True), ("", SMALL + 1, False), (KEY, 100, False)],
)
def test_only_small_messages_without_a_key_are_groupable(
    head: str, size: int, *, groupable: bool
) -> None:
    """Large messages and those with an idempotency key are accepted by themselves."""
    start = f"From: {builders.SENDER}\r\n{head}\r\n"
    octets = bytearray(f"{start}{'x' * (size - len(start))}".encode())
    world = World()
    assert world.smtp_submission.prepare(world.live, TO, octets).groupable is groupable


@pytest.mark.parametrize(
    ("head", "preparing", "submitting"),
    [("", ["domains.look_up"], []), (KEY, [], ["domains.look_up"])],
    ids=["groupable", "by itself"],
)
def test_the_domains_of_a_message_are_looked_up_once(
    world: World, head: str, preparing: list[str], submitting: list[str]
) -> None:
    """A message of a group is checked before it joins the group, another one under its claim."""
    octets = f"From: {builders.SENDER}\r\n{head}\r\nHello\r\n".encode()
    submission = world.smtp_submission
    ready = submission.prepare(world.live, TO, bytearray(octets))
    assert world.gate.calls == preparing
    world.gate.calls.clear()
    submission.submit(world.live, ready)
    assert [call for call in world.gate.calls if call == "domains.look_up"] == submitting
    if submitting:
        assert world.gate.calls.index("claims.put") < world.gate.calls.index("domains.look_up")
