"""The memory of messages in transit: shares of accounts and addresses, and who gives way."""

import math
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.limits import ServerLimits
from relay.memory import MemoryBudget, MessageMemory
from tests.relay.running_relay import ManualClock

MIB = 1024 * 1024

#: A message of 1 octet may be the largest, so the shares are a quarter and half of the memory.
LIMITS = ServerLimits(memory=400 * MIB, message_size=1)
SHARE = 100 * MIB


@dataclass
class Senders:
    """Messages of clients, and which of them were disconnected."""

    limits: ServerLimits = LIMITS
    clock: ManualClock = field(default_factory=ManualClock)
    disconnected: list[MessageMemory] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.budget = MemoryBudget(self.limits, self.clock)

    def begin(self, account: str, address: str) -> MessageMemory:
        def disconnect() -> None:
            self.disconnected.append(message)
            message.release()

        message = self.budget.begin(account, address, disconnect)
        return message


@pytest.fixture
def senders() -> Senders:
    return Senders()


def test_share_of_an_account(senders: Senders) -> None:
    """An account can hold a quarter of the memory, from however many addresses."""
    for number in range(4):
        assert senders.budget.has_room("a", f"address {number}", SHARE // 4)
        assert senders.begin("a", f"address {number}").reserve(SHARE // 4)
    assert not senders.begin("a", "address 5").reserve(1)
    assert not senders.budget.has_room("a", "address 5", 1)
    assert senders.begin("b", "address 5").reserve(SHARE)
    assert senders.disconnected == []


def test_share_of_an_address(senders: Senders) -> None:
    """An address can hold half of the memory, so one account leaves its neighbours a share."""
    assert senders.begin("a", "shared").reserve(SHARE)
    assert senders.begin("b", "shared").reserve(SHARE)
    assert not senders.begin("c", "shared").reserve(1)
    assert senders.begin("c", "another").reserve(SHARE)


def test_slowest_message_gives_way(senders: Senders) -> None:
    slow, slower, fast = (senders.begin("a", f"address {number}") for number in range(3))
    other = senders.begin("b", "address 3")
    assert slower.reserve(30 * MIB)
    senders.clock.now = 5
    assert slow.reserve(30 * MIB)
    senders.clock.now = 15
    assert fast.reserve(30 * MIB)
    assert other.reserve(1)
    assert senders.begin("a", "address 4").reserve(30 * MIB)
    assert senders.disconnected == [slower]
    assert senders.budget.used == 90 * MIB + 1


def test_burst_does_not_make_a_message_fast(senders: Senders) -> None:
    burst, steady = senders.begin("a", "address 1"), senders.begin("a", "address 2")
    assert burst.reserve(90 * MIB)
    for second in range(60):
        senders.clock.now = second
        assert steady.reserve(100_000)
        assert burst.reserve(1)
    assert senders.begin("a", "address 3").reserve(9 * MIB)
    assert senders.disconnected == [burst]


def test_young_and_complete_messages_do_not_give_way(senders: Senders) -> None:
    """A message in its first ten seconds, or one that has arrived, is never disconnected."""
    complete = senders.begin("a", "address 1")
    assert complete.reserve(50 * MIB)
    complete.arriving = False
    senders.clock.now = 60
    young = senders.begin("a", "address 2")
    assert young.reserve(50 * MIB)
    senders.clock.now = 69.9
    assert not senders.budget.has_room("a", "address 3", 1)
    assert not senders.begin("a", "address 3").reserve(1)
    senders.clock.now = 70
    assert senders.budget.has_room("a", "address 3", 1)
    assert senders.begin("a", "address 3").reserve(1)
    assert senders.disconnected == [young]


def test_the_speed_of_a_message_fades(senders: Senders) -> None:
    """The speed is a fifth of the octets, of which 37 % (1/e) count five seconds later."""
    message = senders.begin("a", "address")
    assert message.speed(0) == 0
    assert message.reserve(1_000)
    assert [message.speed(0), message.speed(5)] == pytest.approx([200, 200 / math.e])
    senders.clock.now = 5
    assert message.reserve(500)
    assert message.speed(5) == pytest.approx(200 / math.e + 100)


@pytest.mark.parametrize("now", [10, 20])
def test_messages_of_the_same_speed_do_not_give_way(senders: Senders, now: float) -> None:
    first, second = senders.begin("a", "address 1"), senders.begin("a", "address 2")
    assert first.reserve(SHARE // 2)
    assert second.reserve(SHARE // 2)
    senders.clock.now = now
    assert not second.reserve(1)
    assert senders.disconnected == []


def test_only_as_many_messages_give_way_as_needed(senders: Senders) -> None:
    slow = [senders.begin("a", f"address {number}") for number in range(4)]
    for number, message in enumerate(slow):
        senders.clock.now = number
        assert message.reserve(SHARE // 4)
    senders.clock.now = 20
    assert senders.begin("a", "address 5").reserve(SHARE // 2)
    assert senders.disconnected == slow[:2]
    assert senders.budget.used == SHARE


def test_nobody_gives_way_in_vain(senders: Senders) -> None:
    slow, fast = senders.begin("a", "address 1"), senders.begin("a", "address 2")
    assert slow.reserve(10 * MIB)
    fast.arriving = False
    assert fast.reserve(80 * MIB)
    senders.clock.now = 20
    assert not senders.begin("a", "address 3").reserve(30 * MIB)
    assert senders.disconnected == []


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(("begin", "reserve", "complete", "release", "wait")),
        st.integers(0, 20),
        st.sampled_from(("a", "b", "c")),
        st.sampled_from(("1", "2")),
        st.integers(0, 40),
    ),
    max_size=120,
)


@given(ACTIONS)
def test_accounting(actions: list[tuple[str, int, str, str, int]]) -> None:
    """No count is negative, no share is exceeded, and everything is free in the end."""
    senders = Senders(ServerLimits(memory=100, message_size=-MIB))
    begun: list[tuple[str, str, MessageMemory]] = []
    ceilings = {"account": 25, "address": 50, "everyone": 100}
    for action, number, account, address, size in actions:
        match action:
            case "begin":
                begun.append((account, address, senders.begin(account, address)))
            case "wait":
                senders.clock.now += size
            case _ if begun:
                message = begun[number % len(begun)][2]
                if action == "reserve" and message not in senders.disconnected:
                    before = message.size
                    fits = message.reserve(size)
                    assert message.size == before + size * fits
                elif action == "complete":
                    message.arriving = False
                elif action == "release":
                    message.release()
        held: Counter[tuple[str, str]] = Counter()
        for account_id, host, message in begun:
            held["account", account_id] += message.size
            held["address", host] += message.size
            held["everyone", ""] += message.size
        assert +held == senders.budget._used
        assert all(0 <= used <= ceilings[kind] for (kind, _), used in held.items())
        assert all(message.arriving for message in senders.disconnected if message.size)
    for _, _, message in begun:
        message.release()
    assert senders.budget.used == 0
    assert not senders.budget._messages
