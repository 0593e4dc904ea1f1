"""Change the secret that the edge sends, without refusing a request.

The origins accept both secrets while the edge changes from one to the other. Every step can be
repeated: a run reads how far the last one came.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Protocol

#: Seconds until a firewall follows a change everywhere; AWS says "a number of minutes".
_FIREWALLS_FOLLOW: Final = 300.0
#: Seconds that a request may be on its way from the edge to an origin.
_IN_FLIGHT: Final = 60.0


class EdgeParts(Protocol):
    """The secret, and the parts of a stack that send or accept it."""

    def stored(self) -> Sequence[str]:
        """Return the values in Secrets Manager: one, or two in the middle of a rotation."""

    def store(self, values: Sequence[str]) -> None:
        """Put values into Secrets Manager. Containers that start from now on accept them."""

    def sent(self) -> str:
        """Return what the edge sends."""

    def send(self, value: str) -> None:
        """Make the edge send a value, and wait until all of its servers do."""

    def accepted(self) -> Sequence[AbstractSet[str]]:
        """Return what each firewall accepts."""

    def accept(self, values: AbstractSet[str]) -> None:
        """Let the firewalls accept exactly these values. They follow within minutes."""

    def restart_containers(self) -> None:
        """Replace the containers one by one, and wait until all accept the stored values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRotation:
    """Rotates the secret, or finishes a rotation that was interrupted."""

    parts: EdgeParts
    make_secret: Callable[[], str]
    pause: Callable[[float], None]
    report: Callable[[str], None]

    def run(self) -> None:
        """Give the edge and its origins a new secret, and make them forget the old one."""
        parts = self.parts
        stored, sent = list(parts.stored()), parts.sent()
        if stored == [sent] and all(values == {sent} for values in parts.accepted()):
            stored = [sent, self.make_secret()]
        new = stored[-1]
        if sent != new:
            self.report("1 of 3: the origins accept the old and the new secret")
            parts.store([sent, new])
            parts.restart_containers()
            parts.accept({sent, new})
            self.pause(_FIREWALLS_FOLLOW)
            self.report("2 of 3: the edge sends the new secret")
        # An earlier run may have been interrupted while the edge changed.
        parts.send(new)
        self.pause(_IN_FLIGHT)
        self.report("3 of 3: the origins accept the new secret only")
        parts.store([new])
        parts.restart_containers()
        # Last, because it shows the next run that the rotation has ended.
        parts.accept({new})
