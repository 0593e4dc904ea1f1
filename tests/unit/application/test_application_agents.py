"""An agent's key over SMTP, and its own quota when something fails."""

from contextlib import suppress
from dataclasses import replace

import pytest

from pillarbox.domain.accounts.key import AgentSettings, Confirmation, digest_of_key
from pillarbox.domain.accounts.quota import window_name
from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.fakes.world import Fault, World
from tests.refusals import refusal


def world_of(agent: AgentSettings) -> World:
    world = World()
    digest = digest_of_key(world.live)
    world.store.keys[digest] = replace(world.store.keys[digest], agent=agent)
    return world


def off(*recipients: str, per_day: int = 10) -> AgentSettings:
    settings = AgentSettings(recipients=recipients, confirmation=Confirmation.OFF)
    return replace(settings, per_day=per_day)


def used_by_key(world: World) -> int:
    """Return how many messages of the day the key's own quota counts."""
    key = world.store.keys[digest_of_key(world.live)]
    name = (f"{builders.ACCOUNT}#{key.key_id}", window_name("day", world.now))
    return world.store.counts.get(name, 0)


def test_a_key_that_asks_cannot_log_in() -> None:
    for confirmation in (Confirmation.ASK, Confirmation.OWNER):
        world = world_of(AgentSettings(recipients=("*",), confirmation=confirmation))
        refused = refusal(world.smtp_submission.authenticate, world.live)
        assert refused.code == "confirmation_required", confirmation


@pytest.mark.parametrize("grouped", [False, True])
def test_recipients_hold_over_smtp(*, grouped: bool) -> None:
    """A message to another address is refused, alone and in a group; an allowed one is sent."""
    world = world_of(off("example.com"))
    refused = refusal(world.send_smtp, to="ann@other.example", grouped=grouped)
    assert refused.code == "recipient_not_allowed"
    assert not world.store.messages
    assert world.send_smtp(to="ann@example.com", grouped=grouped)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_daily_limit_holds_over_smtp(*, grouped: bool) -> None:
    world = world_of(off("*", per_day=1))
    assert world.send_smtp(to="ann@example.com", grouped=grouped)
    refused = refusal(world.send_smtp, to="ann@example.com", grouped=grouped)
    assert refused.code == "daily_limit_exceeded"
    assert (used_by_key(world), world.used()) == (1, {1})


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fault_at_any_call_keeps_both_quotas(when: str) -> None:
    """If any call fails, both quotas count what was accepted, or are too strict by one.

    The reservation itself may be counted although its answer is lost: that is too strict as well.
    """
    clean = world_of(off("*"))
    clean.send()
    for position, call in enumerate(clean.gate.calls):
        world = world_of(off("*"))
        world.gate.fault = Fault(position, "before" if when == "before" else "after")
        with suppress(ServiceError):
            world.send()
        accepted = len(world.store.messages)
        lost_answer = call == "quotas.reserve" and when == "after"
        assert used_by_key(world) - accepted in ({0, 1} if lost_answer else {0}), call


def test_a_key_over_its_limit_asks_no_dns() -> None:
    """A key without quota is refused before the domains of its recipients are looked up."""
    world = world_of(off("*", per_day=1))
    world.send()
    world.gate.calls.clear()
    with pytest.raises(ServiceError):
        world.send()
    assert "domains.look_up" not in world.gate.calls


def test_an_agents_send_reads_once() -> None:
    """Its own quota is in the one read of the directory: six rounds with an Idempotency-Key."""
    world = world_of(off("*"))
    world.send()
    world.gate.calls.clear()
    quota = world.send(digest="aa").quota
    calls = [call for call in world.gate.calls if not call.startswith("domains.")]  # the DNS
    assert calls == [
        "directory.look_up",
        "claims.put",
        "quotas.reserve",
        "quotas.reserve",
        "jobs.put",
        "messages.commit",
    ]
    assert quota is not None
    assert quota.of_key is not None
    assert quota.of_key.used["day"] == used_by_key(world) == 2
