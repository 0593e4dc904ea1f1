"""Limits on time, connections, login attempts and memory of one server process."""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024
#: Of all processes of a relay.
CONNECTIONS: Final = 1_000
#: For all messages in transit of all processes; each counts twice (see `framing.ContentBuffer`).
MESSAGES_MIB: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of one server process; times in seconds, sizes in octets."""

    #: A message as sent: two attachments of 5 MB in base64, with their text.
    message_size: int = 16 * MIB
    memory: int = MESSAGES_MIB * MIB
    connections: int = CONNECTIONS
    #: Of one address, as long as they have not logged in.
    connections_of_address: int = 50
    #: Younger connections that have not logged in do not make room for new ones.
    login_grace: float = 1
    handshake: float = 30
    #: From the greeting to a successful AUTH.
    authentication: float = 60
    #: From one command to the next (RFC 5321 section 4.5.3.2.7).
    idle: float = 300
    #: From DATA to the end of the message.
    content: float = 600
    #: Octets of a message that buy its client one more second, and how far ahead it can buy.
    content_rate: int = 512
    content_stall: float = 60
    #: Younger messages are not judged by their speed.
    content_grace: float = 10
    #: A whole session, once the client is logged in.
    session: float = 3_600
    #: Failed AUTH attempts in one session.
    failed_logins: int = 3
    #: Unknown keys of one address that are read at a time, and how long one that does not work
    #: keeps its place. So an address can try twenty keys a second.
    logins_of_address: int = 10
    failed_login_delay: float = 0.5
    #: Refused commands since the last accepted message.
    errors: int = 20
    #: Successful commands that led to no message, since the last accepted one.
    idle_commands: int = 100
    #: How long a shutdown waits for messages in progress.
    drain: float = 100

    @property
    def largest_message(self) -> int:
        """The memory of the largest message, and what a read may return beyond its end."""
        return 2 * self.message_size + 2 * MIB

    @property
    def memory_of_account(self) -> int:
        """A quarter, but enough for the largest message."""
        return max(self.memory // 4, min(self.memory, self.largest_message))

    @property
    def memory_of_address(self) -> int:
        """Half, so that one account does not use up the share of its neighbours."""
        return max(self.memory // 2, self.memory_of_account)

    @property
    def connections_of_account(self) -> int:
        """A quarter, from all addresses together."""
        return max(self.connections // 4, 1)

    @property
    def all_connections_of_address(self) -> int:
        """Half, with those that have logged in."""
        return max(self.connections // 2, self.connections_of_address)
