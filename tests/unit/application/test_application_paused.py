"""Pauses of accounts, keys and templates: what is refused or goes on slowly, and what it costs."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.application.pauses import Pauses
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope, with_pause
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, DIGEST, NOW, account, request, starter_request
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.world import World
from tests.refusals import refusal

MAX_PAUSES = 20

DAY = timedelta(days=1)


def pause(scope: PauseScope, level: PauseLevel, about: str = "", **changes: Any) -> Pause:
    default = Pause(
        scope=scope,
        id=about,
        level=level,
        cause=PauseCause.BOUNCES,
        since=NOW,
        until=NOW + DAY,
    )
    return replace(default, **changes)


def set_pauses(world: World, *pauses: Pause) -> None:
    world.set_account(replace(world.store.accounts[ACCOUNT], pauses=pauses))


def key_id(world: World) -> str:
    return world.store.keys[digest_of_key(world.live)].key_id


def stopped_key(world: World, level: PauseLevel = PauseLevel.STOP) -> Pause:
    return pause(PauseScope.KEY, level, key_id(world))


@pytest.mark.parametrize(
    "send",
    [
        World.send,
        lambda world: world.send_batch(request()),
        World.send_smtp,
        lambda world: world.send_smtp(grouped=True),
    ],
)
def test_a_stopped_key_is_refused_by_every_route(
    world: World, send: Callable[[World], object]
) -> None:
    """Over HTTP, in a batch, over SMTP and in a group a stop is 403 and names scope and end."""
    send(world)
    set_pauses(world, stopped_key(world))
    error = refusal(send, world)
    assert (error.code, error.status) == ("sending_paused", 403)
    assert error.details == {"scope": "key", "until": "2026-03-15T15:09:26.535+00:00"}
    assert len(world.store.messages) == 1


def test_a_pause_costs_a_send_no_call(world: World) -> None:
    """With pauses of others an email makes the calls that it makes without; a stop makes fewer."""
    world.send(digest=DIGEST)
    usual, world.gate.calls[:] = [*world.gate.calls], []
    others = [pause(PauseScope.KEY, PauseLevel.STOP, f"key_{n}") for n in range(MAX_PAUSES - 1)]
    set_pauses(world, *others, pause(PauseScope.ACCOUNT, PauseLevel.WARN))
    world.send(digest="e" * 64)
    assert world.gate.calls == usual
    world.gate.calls.clear()
    set_pauses(world, stopped_key(world))
    assert refusal(world.send).code == "sending_paused"
    assert world.gate.calls == ["directory.look_up"]


def test_a_stop_refuses_before_the_dns_is_asked_and_frees_the_claim(world: World) -> None:
    """A refused request asks no name server, and its Idempotency-Key works after the pause."""
    set_pauses(world, stopped_key(world))
    assert refusal(world.send, digest=DIGEST).code == "sending_paused"
    assert "domains.look_up" not in world.gate.calls
    world.advance(DAY)
    assert not world.send(digest=DIGEST).replayed


def test_a_scope_stops_nothing_else(world: World) -> None:
    """A template's stop refuses its emails in a batch; other emails of the key are accepted."""
    template = UUID(int=7)
    set_pauses(world, pause(PauseScope.TEMPLATE, PauseLevel.STOP, "welcome"))
    welcome = starter_request(starter_template="welcome", variables={"app_name": "Shop"})
    answer = json.loads(world.send_batch(request(), welcome).body)
    codes = [result["error"] and result["error"]["code"] for result in answer["results"]]
    assert codes == [None, "sending_paused"]
    set_pauses(world, pause(PauseScope.TEMPLATE, PauseLevel.STOP, str(template)))
    world.send(welcome)


def test_codes_go_on_at_the_rate_of_a_brake(world: World) -> None:
    """A stopped key of 600 a minute still sends 60 codes a minute; a stopped account sends none."""
    set_pauses(world, stopped_key(world))
    for _ in range(60):
        world.send(starter_request())
    error = refusal(world.send, starter_request())
    assert (error.code, error.status) == ("rate_limit_exceeded", 429)
    assert error.details == {
        "limit_per_minute": 60,
        "scope": "key",
        "until": "2026-03-15T15:09:26.535+00:00",
    }
    world.advance(timedelta(minutes=1))
    world.send(starter_request())
    set_pauses(world, pause(PauseScope.ACCOUNT, PauseLevel.STOP))
    assert refusal(world.send, starter_request()).code == "sending_paused"


def test_a_brake_leaves_a_tenth_of_the_minute(world: World) -> None:
    """Of a batch of 10 with a brake of 4 a minute, 4 are accepted; another key has its own."""
    world.limit(40)
    set_pauses(world, stopped_key(world, PauseLevel.BRAKE))
    answer = json.loads(world.send_batch(*[request()] * 10).body)
    errors = [result["error"] and result["error"]["code"] for result in answer["results"]]
    assert errors == [None] * 4 + ["rate_limit_exceeded"] * 6
    assert refusal(world.send_batch, request()).code == "rate_limit_exceeded"
    other = builders.key_text()
    world.store.keys[digest_of_key(other)] = builders.api_key(other, key_id="key_other")
    world.send_batch(*[request()] * 10, key=other)


def test_a_brake_of_an_account_without_a_limit_has_one(world: World) -> None:
    """If a minute has no limit, a brake leaves a tenth of what is usual; of one message, one."""
    world.set_account(builders.account(plan=Plan.ENTERPRISE))
    set_pauses(world, stopped_key(world, PauseLevel.BRAKE))
    answer = json.loads(world.send_batch(*[request()] * 100).body)
    assert sum(result["error"] is None for result in answer["results"]) == 60
    world.advance(timedelta(minutes=1))
    world.limit(1)
    set_pauses(world, stopped_key(world, PauseLevel.BRAKE))
    world.send()


@pytest.mark.parametrize(("seconds", "held"), [(9.999, False), (10, True)])
def test_a_pause_holds_what_is_queued_within_ten_seconds(
    world: World, seconds: float, *, held: bool
) -> None:
    """A worker remembers an account for so long, since a queue may have thousands of its emails."""
    job = world.accept(builders.message())
    world.advance(timedelta(seconds=10))
    assert world.holds.find(job, world.message()) is None
    set_pauses(world, pause(PauseScope.ACCOUNT, PauseLevel.STOP))
    world.advance(timedelta(seconds=seconds))
    assert (world.holds.find(job, world.message()) is not None) == held
    assert world.gate.calls == ["directory.look_up"] * (1 + held)


def test_the_record_has_room_for_some_pauses() -> None:
    """Beyond the bound warnings are dropped first, then the oldest, and never the account's."""
    account = pause(PauseScope.ACCOUNT, PauseLevel.STOP, since=NOW - DAY)
    pauses: tuple[Pause, ...] = (pause(PauseScope.KEY, PauseLevel.WARN, "warned"), account)
    for number in range(MAX_PAUSES + 3):
        at = NOW + timedelta(seconds=number)
        pauses = with_pause(pauses, pause(PauseScope.KEY, PauseLevel.STOP, str(number), since=at))
        pauses = with_pause(pauses, pause(PauseScope.KEY, PauseLevel.STOP, str(number), since=at))
    assert len(pauses) == MAX_PAUSES
    kept = [str(number) for number in range(4, MAX_PAUSES + 3)]
    assert sorted(one.id for one in pauses) == sorted(["", *kept])


STOP = Pause(
    scope=PauseScope.KEY,
    id="key_1",
    level=PauseLevel.STOP,
    cause=PauseCause.BOUNCES,
    since=NOW,
    until=NOW + timedelta(days=1),
    counts_from=NOW,
    stopped_before=NOW,
    owner_resumed=NOW,
)
PROVIDER = Pause(
    scope=PauseScope.ACCOUNT, level=PauseLevel.STOP, cause=PauseCause.PROVIDER, since=NOW
)


def stored() -> DynamoAccounts:
    accounts = DynamoAccounts(MemoryTable("table"))
    accounts.add(account(pauses=(PROVIDER,)))
    return accounts


def test_pauses_are_stored_as_they_were() -> None:
    """Every field is read back, and the pause of another key stays."""
    accounts = stored()
    Pauses(accounts).put(ACCOUNT, STOP)
    read = accounts.get(ACCOUNT)
    assert read
    assert read.pauses == (PROVIDER, STOP)
    Pauses(accounts).remove(ACCOUNT, PROVIDER.key)
    Pauses(accounts).remove(ACCOUNT, STOP.key)
    assert accounts.get(ACCOUNT) == account()
    assert Pauses(accounts).put("unknown", STOP) is None


def test_a_change_in_between_is_kept() -> None:
    """If another pause is stored between the read and the write, both stay."""
    accounts = stored()
    late = mock.Mock(wraps=accounts)
    late.get.side_effect = [accounts.get(ACCOUNT), mock.DEFAULT]
    Pauses(accounts).put(ACCOUNT, STOP)
    other = Pause(scope=PauseScope.ACCOUNT, level=PauseLevel.WARN, cause=STOP.cause, since=NOW)
    Pauses(late).put(ACCOUNT, other)
    read = accounts.get(ACCOUNT)
    assert read
    assert {one.key for one in read.pauses} == {PROVIDER.key, STOP.key, other.key}
    late.get.side_effect = lambda _: account()
    assert refusal(Pauses(late).put, ACCOUNT, STOP).code == "service_unavailable"


def test_no_difference_is_not_written() -> None:
    """A pause that is stored already costs no write."""
    accounts = mock.Mock(wraps=stored())
    Pauses(accounts).put(ACCOUNT, PROVIDER)
    Pauses(accounts).remove(ACCOUNT, STOP.key)
    accounts.set_pauses.assert_not_called()
