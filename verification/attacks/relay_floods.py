"""Flood the relay from one key or address, and count what its neighbours still send.

A server runs in this process, with real sockets and TLS, the real use case, fake stores and a clock
that only the program moves. In each round of five seconds the flood does its worst. Two seconds
later two neighbours send a message each: one from the attacker's address, one from another. Every
second time they use a key that this server has not seen. Nobody tries again. So the figures are
counts and do not depend on the speed of the machine.
"""

import contextlib
import random
import select
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import digest_of_key
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World
from tests.relay.running_relay import (
    AUTHENTICATED,
    SENDER,
    Client,
    ManualClock,
    RunningRelay,
    plain,
    serve,
)
from verification.attacks.tally import Options, Tally

_MIB: Final = 1024 * 1024
#: Of five seconds each.
_ROUNDS: Final = 60
#: Seconds from the flood to the neighbours' messages, and from there to the next round.
_STEPS: Final = (2.0, 3.0)
_ATTACKER: Final = "127.0.0.2"
_SECOND: Final = "127.0.0.3"
_ELSEWHERE: Final = "127.0.0.4"
#: A small server: an account can hold two of its largest messages, an address four, all eight.
_LIMITS: Final[dict[str, Any]] = {
    "memory": 16 * _MIB,
    "message_size": _MIB,
    "connections": 80,
    "connections_of_address": 10,
}
_LINE: Final = b"x" * 98 + b"\r\n"
_HEADER: Final = f"From: {SENDER}\r\nSubject: Hello\r\n\r\n".encode()
#: A usual message, and one of 900 KB.
_MESSAGES: Final = (_HEADER + _LINE * 20, _HEADER + _LINE * 9_000)
#: What a neighbour must keep, in per cent.
_LEAST: Final = 90
#: The items that a login reads: key and account.
_ITEMS_OF_LOGIN: Final = 2


@dataclass(slots=True)
class Result:
    """What a flood did: the messages of the neighbours that were accepted, of so many rounds."""

    name: str
    rounds: int
    same_address: int = 0
    elsewhere: int = 0
    bad_inputs: int = 0
    #: Logins with forged keys, and the items that were read for them.
    forged: int = 0
    items: int = 0
    #: Rounds after which an account or address held more memory or connections than its share.
    over_share: int = 0

    @property
    def least(self) -> int:
        """What the worse off of the neighbours kept, in per cent of what it gets alone."""
        return min(self.same_address, self.elsewhere) * 100 // self.rounds


class Target:
    """A running relay with some accounts, and the connections of an attacker."""

    def __init__(self, relay: RunningRelay, world: World, clock: ManualClock) -> None:
        self.relay = relay
        self.world = world
        self.clock = clock
        self.open: list[Client] = []

    def new_key(self, account_id: str) -> str:
        """Create a key, and its account if it is new."""
        key = builders.key_text(account_id)
        self.world.store.keys[digest_of_key(key)] = builders.api_key(key, account_id)
        self.world.set_account(builders.account(account_id, plan=Plan.ENTERPRISE))
        return key

    def connect(self, address: str) -> Client | None:
        """Connect for the attacker, and keep the connection; None if it is refused."""
        client = self.relay.connect(address)
        if client.reply_or_end().startswith(b"220 "):
            self.open.append(client)
            return client
        client.sock.close()
        return None

    def connect_tls(self, address: str) -> Client | None:
        """Connect for the attacker and start TLS."""
        client = self.connect(address)
        if client is None:
            return None
        with _ended():
            client.start_tls()
            if client.command("EHLO attacker.example").startswith(b"250"):
                return client
        return None

    def log_in(self, address: str, key: str) -> Client | None:
        """Connect for the attacker and log in."""
        client = self.connect_tls(address)
        if client is None:
            return None
        with _ended():
            if client.command(f"AUTH PLAIN {plain(key)}") == AUTHENTICATED:
                return client
        return None

    def forget_ended(self) -> None:
        """Close the attacker's connections that the server has ended."""
        for client in self.open[:]:
            if select.select([client.sock], [], [], 0)[0]:
                self.open.remove(client)
                client.sock.close()

    def sends(self, address: str, key: str, message: bytes) -> bool:
        """Let a neighbour send a message in a session of its own; return whether it gets a 250."""
        with _ended(), self.relay.connect(address) as client:
            if not client.reply().startswith(b"220 "):
                return False
            client.start_tls()
            client.command("EHLO neighbour.example")
            if client.command(f"AUTH PLAIN {plain(key)}") != AUTHENTICATED:
                return False
            if not client.command(f"MAIL FROM:<{SENDER}> SIZE={len(message)}").startswith(b"250"):
                return False
            client.command("RCPT TO:<ann@example.com>")
            if not client.command("DATA").startswith(b"354"):
                return False
            client.send(message + b".\r\n")
            return client.reply().startswith(b"250 ")
        return False

    def logins(self) -> int:
        """Return how often a key and its account were read."""
        return self.world.gate.calls.count("directory.look_up")

    def is_over_share(self) -> bool:
        """Return whether any account or address holds more than its share."""
        limits, budget = self.relay.context.limits, self.relay.budget
        ceilings = budget._ceilings
        connections = self.relay.context.connections
        return (
            any(used > ceilings[kind] for (kind, _), used in budget._used.items())
            or any(n > limits.connections_of_account for n in connections._of_account.values())
            or any(n > limits.connections_of_address for n in connections._anonymous_of.values())
            or connections.count > limits.connections
        )


@contextlib.contextmanager
def _ended() -> Iterator[None]:
    """Ignore that the server ends a connection."""
    with contextlib.suppress(ConnectionError, ssl.SSLError, AssertionError):
        yield


#: What a flood does in each round; it returns the number of its bad inputs.
type Flood = Callable[[Target, Result], int]


def nothing(_: Target, __: Result) -> int:
    """Do nothing."""
    return 0


@dataclass
class SlowMessages:
    """Keep connections in the middle of large messages, just above the minimum rate."""

    senders: tuple[tuple[str, str], ...]
    connections: int
    size: int = 250_000
    keys: dict[str, str] = field(default_factory=dict)

    def __call__(self, target: Target, _: Result) -> int:
        """Fill up what is missing, and let the others drip."""
        for client in target.open:
            with _ended():
                client.send(_LINE * 26)
        missing = self.connections * len(self.senders) - len(target.open)
        for number in range(missing):
            account_id, address = self.senders[number % len(self.senders)]
            key = self.keys.setdefault(account_id, "") or target.new_key(account_id)
            self.keys[account_id] = key
            new = target.log_in(address, key)
            if new is None:
                continue
            with _ended():
                new.envelope()
                new.send(_HEADER + _LINE * (self.size // len(_LINE)))
        return max(missing, 0) + len(target.open)


def forged_logins(target: Target, result: Result) -> int:
    """Try sixty well-formed keys that do not exist, in twenty sessions of three."""
    before = target.logins()
    tried = 0
    for _ in range(20):
        client = target.connect_tls(_ATTACKER)
        for _ in range(3):
            if client is None:
                break
            with _ended():
                client.command(f"AUTH PLAIN {plain(builders.key_text())}")
                tried += 1
    result.forged += tried
    result.items += (target.logins() - before) * _ITEMS_OF_LOGIN
    return tried


def idle_connections(target: Target, _: Result) -> int:
    """Open connections that never log in, from the neighbour's address and from all others."""
    opened = 0
    for number in range(12):
        for address in (_ATTACKER, f"127.0.1.{number}"):
            opened += sum(target.connect(address) is not None for _ in range(10))
    return opened


@dataclass
class ManyConnections:
    """Log in from many addresses with one key, and keep all connections."""

    key: str = ""

    def __call__(self, target: Target, _: Result) -> int:
        """Open twenty more connections."""
        self.key = self.key or target.new_key("attacker0001")
        return sum(target.log_in(f"127.0.2.{number}", self.key) is None for number in range(1, 21))


@dataclass
class Junk:
    """Send octets that mean nothing, before TLS and after it, and leave them unfinished."""

    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def __call__(self, target: Target, _: Result) -> int:
        """Send ten inputs before TLS and ten within it."""
        for number in range(20):
            client = (target.connect if number % 2 else target.connect_tls)(_ATTACKER)
            if client is None:
                continue
            with _ended():
                client.send(self._junk(number))
        return 20

    def _junk(self, number: int) -> bytes:
        choices = (
            self.chance.randbytes(2_000),
            b"\x16\x03\x01\x40\x00" + self.chance.randbytes(200),
            b"A" * 100_000,
            b"AUTH LOGIN\r\n" + b"QUFB" * 3_000,
            b"NOOP\r\n" * 2_000,
            b"EHLO x\r\n" * 200 + b"\0",
            b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
        )
        return choices[number % len(choices)]


def floods() -> dict[str, Flood]:
    """Return every flood by its name."""
    four = tuple(
        (f"attacker000{number}", _ATTACKER if number < 2 else _SECOND) for number in range(4)
    )
    return {
        "no flood": nothing,
        "8 slow messages of one key": SlowMessages((("attacker0001", _ATTACKER),), 8, 1_000_000),
        "40 slow messages of four keys at two addresses": SlowMessages(four, 10),
        "60 forged keys from one address": forged_logins,
        "240 connections without a login": idle_connections,
        "connections of one key from 20 addresses": ManyConnections(),
        "junk": Junk(),
    }


def flooded(name: str, flood: Flood, rounds: int) -> Result:
    """Run one flood against a new server."""
    result, clock, world = Result(name, rounds), ManualClock(), World()
    service = ThreadedService(lambda: world.smtp_submission)

    async def skip(_: float) -> None:
        """Let the delay after a failed login pass at once."""

    with serve(service=service, clock=clock, sleep=skip, **_LIMITS) as relay:
        target = Target(relay, world, clock)
        neighbours = {
            address: target.new_key(f"neighbour{position:03}")
            for position, address in enumerate((_ATTACKER, _ELSEWHERE))
        }
        for number in range(rounds):
            target.forget_ended()
            result.bad_inputs += flood(target, result)
            result.over_share += target.is_over_share()
            clock.now += _STEPS[0]
            relay.check_deadlines()
            for position, (address, known) in enumerate(neighbours.items()):
                key = target.new_key(f"neighbour{position:03}") if number % 2 else known
                accepted = target.sends(address, key, _MESSAGES[number % 4 == 3])
                if address == _ATTACKER:
                    result.same_address += accepted
                else:
                    result.elsewhere += accepted
            clock.now += _STEPS[1]
            relay.check_deadlines()
        for client in target.open:
            client.sock.close()
    return result


def run(_: Options) -> Tally:
    """Run every flood; count those that took more than a tenth from a neighbour."""
    tally = Tally("neighbours with too little", "rounds over a share", "costly logins")
    for name, flood in floods().items():
        result = flooded(name, flood, _ROUNDS)
        tally["bad inputs tried"] += result.bad_inputs
        tally["logins with forged keys"] += result.forged
        tally["rounds over a share"] += result.over_share
        tally["costly logins"] += result.items > _ITEMS_OF_LOGIN * result.forged
        if result.least < _LEAST:
            tally.find("neighbours with too little", result)
    return tally
