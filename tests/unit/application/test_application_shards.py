"""Messages stay where they are while an account's number of shards is raised."""

import json
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.domain.accounts.account import Account, first_sharding
from pillarbox.domain.ids import shard_count
from tests.fakes.builders import DIGEST, account, request
from tests.fakes.world import Fault, Killed, World

FROM = first_sharding(World().now)


def sharded(shards: int = 8) -> Account:
    return account(shards=shards, sharded_from=FROM)


def submit(world: World, digest: str | None = None) -> UUID:
    return UUID(json.loads(world.send(digest=digest).body)["messageId"])


def submit_batch(world: World, digest: str | None = DIGEST) -> list[UUID]:
    answer = world.send_batch(*[request()] * 9, digest=digest)
    return [UUID(result["messageId"]) for result in json.loads(answer.body)["results"]]


def test_a_raise_takes_effect_at_its_time() -> None:
    """Ids made before the time have no shard, later ones have one, with and without a key."""
    world = World(sharded())
    world.now = FROM - timedelta(milliseconds=1)
    before = [submit(world), submit(world, DIGEST), *submit_batch(world, "b" * 64)]
    world.now = FROM
    after = [submit(world), submit(world, "e" * 64), *submit_batch(world, "c" * 64)]
    assert {shard_count(message_id) for message_id in before} == {1}
    assert {shard_count(message_id) for message_id in after} == {8}
    world.set_account(sharded(16))
    assert shard_count(submit(world)) == 16


def test_a_replay_after_the_raise_names_the_same_message() -> None:
    world = World(sharded())
    world.now = FROM - timedelta(hours=1)
    first = submit(world, DIGEST)
    world.now = FROM + timedelta(hours=22)
    assert submit(world, DIGEST) == first
    assert len(world.store.messages) == 1


@pytest.mark.parametrize(
    "calls", [["claims.put"], ["jobs.put_all"], ["messages.commit_all"]], ids=str
)
def test_a_retry_after_the_raise_accepts_each_message_once(world: World, calls: list[str]) -> None:
    world.now = FROM - timedelta(seconds=20)
    reference = World()
    reference.now = world.now
    submit_batch(reference)
    position = reference.gate.calls.index(calls[0])
    world.gate.fault = Fault(position, "after", Killed())
    with pytest.raises(Killed):
        submit_batch(world)
    accepted = {message_id for _, message_id in world.store.messages}
    world.gate.fault = None
    world.set_account(sharded())
    world.now = FROM + timedelta(seconds=50)

    ids = submit_batch(world)

    assert {shard_count(message_id) for message_id in ids} == {1 if accepted else 8}
    assert accepted <= set(ids)
    assert {message_id for _, message_id in world.store.messages} == set(ids)
    world.settle()
    assert sorted(m.message_id for m, _, _ in world.mailer.taken) == sorted(ids)
