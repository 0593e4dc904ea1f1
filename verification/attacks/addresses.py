"""Ask for one-time codes from one network that says it is another one, or none.

The real functions run on emulated AWS. Each forgery sends from an address of its own, within one
minute, and may get no more than a network gets.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Final

from pillarbox.domain.sign_in.codes import PER_BLOCK_AND_MINUTE
from tests.contract.service import Service
from tests.contract.sign_in import Browser
from verification.attacks.tally import Options, Tally, service_alone

type Forge = Callable[[], Mapping[str, str]]

CLIENT: Final = "X-Pillarbox-Client"
_numbers: Final = count(1)
FORGERIES: Final[Mapping[str, Forge]] = {
    "no header": dict,
    "another address each time": lambda: {CLIENT: f"203.{next(_numbers) % 256}.113.1"},
    "this machine's address": lambda: {CLIENT: "127.0.0.1"},
    "no address": lambda: {CLIENT: "zzz"},
    "a guessed secret": lambda: {CLIENT: "127.0.0.1", "X-Pillarbox-Edge": "secret"},
}


def attack(service: Service, tries: int = 60) -> Tally:
    """Try each forgery, and a caller whose address the gateway does not know."""
    tally = Tally("past the limit of a network", "other answers")
    sources = [
        (name, f"198.51.{at}.7", forge) for at, (name, forge) in enumerate(FORGERIES.items())
    ]
    for name, source, forge in [*sources, ("an unknown source", "", dict)]:
        with service.at(datetime.now(UTC).replace(second=30)):
            statuses = [
                Browser()
                .post("/codes", {"email": f"n{next(_numbers)}@shop.example"}, source, **forge())
                .status
                for _ in range(tries)
            ]
        accepted = statuses.count(202)
        tally[f"202 with {name}"] = accepted
        tally["past the limit of a network"] += max(accepted - PER_BLOCK_AND_MINUTE, 0)
        tally["other answers"] += tries - accepted - statuses.count(429)
    service.codes()
    return tally


def run(_: Options) -> Tally:
    """Run the attack."""
    with service_alone() as service:
        return attack(service)
