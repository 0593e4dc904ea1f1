"""How the clients of AWS call: how long, how often and how many at a time."""

from typing import Final, Literal, NamedTuple

#: The pools of the clients keep ten connections.
MAX_PARALLEL: Final = 10


class CallLimits(NamedTuple):
    """How long a call waits, in seconds, and how often it is tried, in a mode of the SDK."""

    connect_timeout: float = 1
    read_timeout: float = 3
    attempts: int = 3
    mode: Literal["standard", "adaptive"] = "standard"
