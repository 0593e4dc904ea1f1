"""The limits of a server process without settings, as in the table of docs/relay.md."""

from dataclasses import asdict

from relay.limits import ServerLimits

MIB = 1024 * 1024


def test_default_limits() -> None:
    """Without settings a process has these sizes, counts, rates, and times in seconds."""
    sizes: dict[str, float] = {"message_size": 16_777_216, "memory": 268_435_456}
    counts: dict[str, float] = {"connections": 1_000, "connections_of_address": 50, "errors": 20}
    counts |= {"failed_logins": 3, "logins_of_address": 10, "idle_commands": 100}
    times: dict[str, float] = {
        "handshake": 30,
        "authentication": 60,
        "idle": 300,
        "content": 600,
        "session": 3_600,
    }
    times |= {"login_grace": 1, "failed_login_delay": 0.5, "drain": 100}
    rates: dict[str, float] = {"content_rate": 512, "content_stall": 60, "content_grace": 10}
    assert asdict(ServerLimits()) == sizes | counts | times | rates


def test_largest_message_counts_twice() -> None:
    assert ServerLimits(message_size=3 * MIB).largest_message == 8 * MIB


def test_shares_of_the_memory() -> None:
    limits = ServerLimits(memory=403 * MIB + 3, message_size=1)
    assert limits.memory_of_account == 105_644_032
    assert limits.memory_of_address == 211_288_065


def test_shares_hold_the_largest_message() -> None:
    limits = ServerLimits(memory=10 * MIB, message_size=3 * MIB)
    assert limits.memory_of_account == limits.memory_of_address == 8 * MIB
    limits = ServerLimits(memory=7 * MIB, message_size=3 * MIB)
    assert limits.memory_of_account == limits.memory_of_address == 7 * MIB


def test_shares_of_the_connections() -> None:
    limits = ServerLimits(connections=403, connections_of_address=1)
    assert limits.connections_of_account == 100
    assert limits.all_connections_of_address == 201


def test_shares_of_few_connections() -> None:
    limits = ServerLimits(connections=3, connections_of_address=2)
    assert limits.connections_of_account == 1
    assert limits.all_connections_of_address == 2
