"""Messages over SMTP that are accepted together: each on its own merits, the promise for all."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.application.sending.smtp_message import SMALL, SmtpMessage
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.quota import Limits
from tests.fakes import builders
from tests.fakes.world import Fault, Killed, World

TO = ("ann@example.com",)


def prepared(
    world: World, number: int, sender: str = builders.SENDER, to: str = TO[0]
) -> SmtpMessage:
    octets = f"From: {sender}\r\nSubject: Number {number}\r\n\r\nHello\r\n".encode()
    return SmtpSubmission(world.ports).prepare((to,), bytearray(octets))


def submit(world: World, messages: Sequence[SmtpMessage]) -> Sequence[str | ServiceError]:
    return SmtpSubmission(world.ports).submit_all(world.live, messages)


def test_a_group_is_accepted_in_one_call_for_each_step() -> None:
    """Five messages are one read, one draw, one call of the queue and one of the records."""
    world = World()
    ready = [prepared(world, number) for number in range(5)]
    world.gate.calls.clear()
    outcomes = submit(world, ready)
    assert [name.partition(".")[2] for name in world.gate.calls] == [
        "look_up",
        "reserve",
        "put_all",
        "commit_all",
    ]
    ids = [UUID(outcome) for outcome in outcomes if isinstance(outcome, str)]
    subjects = [world.store.messages[builders.ACCOUNT, each].subject for each in ids]
    assert subjects == [f"Number {number}" for number in range(5)]
    assert [job.message_id for job in world.store.queue] == ids
    assert world.used() == {5}


def test_each_member_is_held_against_the_rules() -> None:
    """A sender that is not verified and a suppressed recipient refuse their own message alone."""
    world = World()
    world.store.suppressed[builders.ACCOUNT, "bob@example.com"] = "bounced"
    outcomes = submit(
        world,
        [
            prepared(world, 0),
            prepared(world, 1, sender="stranger@shop.example"),
            prepared(world, 2, to="bob@example.com"),
            prepared(world, 3),
        ],
    )
    codes = [each.code if isinstance(each, ServiceError) else None for each in outcomes]
    assert codes == [None, "no_verified_sender", "recipient_suppressed", None]
    assert {str(message_id) for _, message_id in world.store.messages} == {
        outcomes[0],
        outcomes[3],
    }
    assert world.used() == {2}


def test_a_group_of_refused_messages_is_no_call() -> None:
    """When no member is left, nothing is drawn, queued or recorded."""
    world = World()
    (outcome,) = submit(world, [prepared(world, 0, sender="stranger@shop.example")])
    assert isinstance(outcome, ServiceError)
    assert not world.store.queue
    assert not world.store.messages
    assert world.used() == {0}


def test_what_is_left_of_a_quota_is_used_up() -> None:
    """When not all fit, as many get in as there is room for, in their order."""
    world = World(builders.account(overrides=Limits(per_minute=3, per_day=None, per_month=None)))
    outcomes = submit(world, [prepared(world, number) for number in range(5)])
    codes = [each.code if isinstance(each, ServiceError) else None for each in outcomes]
    assert codes == [None] * 3 + ["rate_limit_exceeded"] * 2
    assert len(world.store.messages) == len(world.store.queue) == 3
    (again,) = submit(world, [prepared(world, 6)])
    assert isinstance(again, ServiceError)
    assert again.code == "rate_limit_exceeded"


def test_who_does_not_fit_hears_of_the_window_that_is_full() -> None:
    """Once some have taken what was left of the day, the others hear of it, not of the minute."""
    world = World(builders.account(overrides=Limits(per_minute=5, per_day=4, per_month=None)))
    submit(world, [prepared(world, 0)])
    outcomes = submit(world, [prepared(world, number) for number in range(1, 7)])
    details = [each.details if isinstance(each, ServiceError) else None for each in outcomes]
    assert details == [None] * 3 + [{"limit_per_day": 4}] * 3


def test_a_group_counts_in_the_minute_in_which_it_is_drawn() -> None:
    """A group that was read in the minute before gives its quota back to that of its draw."""
    world = World()
    ready = [prepared(world, number) for number in range(2)]
    moments = iter([builders.NOW, builders.at(60)])
    submission = replace(world.ports, clock=lambda: next(moments))

    def refuse(pairs: Sequence[Any]) -> frozenset[UUID]:
        return frozenset({pairs[0][0].message_id})

    vars(submission.jobs)["put_all"] = refuse
    SmtpSubmission(submission).submit_all(world.live, ready)
    world.now = builders.at(60)
    assert world.used() == {1}


def test_a_job_that_the_queue_refuses_fails_its_message_alone() -> None:
    """Of a group that is queued in part, the rest is told so and has its quota back."""
    world = World()
    submission = world.ports
    real = submission.jobs.put_all

    def partly(pairs: Sequence[Any]) -> frozenset[UUID]:
        real(pairs[1:])
        return frozenset({pairs[0][0].message_id})

    vars(submission.jobs)["put_all"] = partly
    ready = [prepared(world, number) for number in range(3)]
    outcomes = SmtpSubmission(submission).submit_all(world.live, ready)
    assert isinstance(outcomes[0], ServiceError)
    assert {str(message_id) for _, message_id in world.store.messages} == set(outcomes[1:])
    assert world.used() == {2}


def test_a_key_that_was_revoked_fails_all() -> None:
    """Who may send no more hears it for each message, and nothing is left behind."""
    world = World()
    ready = [prepared(world, number) for number in range(2)]
    with pytest.raises(ServiceError) as refusal:
        SmtpSubmission(world.ports).submit_all(builders.key_text(), ready)
    assert refusal.value.code == "invalid_api_key"
    assert not world.store.queue


@pytest.mark.parametrize("when", ["before", "after"])
def test_faults_at_every_call(when: str) -> None:
    """Whatever call fails or is the last: what was told is delivered once, the rest never."""
    calls = World()
    ready = [prepared(calls, number) for number in range(3)]
    calls.gate.calls.clear()
    submit(calls, ready)
    for position in range(len(calls.gate.calls)):
        for error in (ServiceError("service_unavailable", "planted"), Killed()):
            world = World()
            ready = [prepared(world, number) for number in range(3)]
            world.gate.calls.clear()
            world.gate.fault = Fault(position, when, error)  # type: ignore[arg-type]
            told: Sequence[Any] = ()
            with contextlib.suppress(ServiceError, Killed):
                told = submit(world, ready)
            world.gate.fault = None
            committed = {str(message_id) for _, message_id in world.store.messages}
            world.settle()
            delivered = [str(sent.message_id) for sent, _, _ in world.mailer.taken]
            assert sorted(delivered) == sorted(committed)
            assert {each for each in told if isinstance(each, str)} <= set(delivered)
            if told:
                assert {each for each in told if isinstance(each, str)} == committed
            assert max(world.used()) in {len(committed), 3}


@pytest.mark.parametrize(
    ("head", "size", "groupable"),
    [("", 0, True), ("", SMALL, False), ("Idempotency-Key: k\r\n", 0, False)],
)
def test_who_may_join_a_group(head: str, size: int, *, groupable: bool) -> None:
    """Large messages and those with a key of their own are accepted alone."""
    octets = f"From: {builders.SENDER}\r\n{head}\r\n{'x' * 98}\r\n".encode() + b"\r\n" * (size // 2)
    ready = SmtpSubmission(World().ports).prepare(TO, bytearray(octets))
    assert ready.groupable is groupable
