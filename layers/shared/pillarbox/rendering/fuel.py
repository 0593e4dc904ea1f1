"""Fuel: what it may cost to render saved templates, counted in steps instead of seconds.

Accounts write templates and values, and one worker renders them for all accounts. A
template's own size and the size of the email do not bound the time: filters can read
long values and leave nothing of them, and a row may have many conditions and no text.
So everything is charged before it happens. A unit is at most about 15 ns of CPU on the
machine of `benchmarks/rendering.md`, so the whole fuel is about half a second there.

Accepting an email imports this module, so it needs no template engine.
"""

from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: The fuel of one email.
MAX_FUEL: Final = 32_000_000
#: The fuel of all emails of one request that are rendered when it is accepted.
MAX_REQUEST_FUEL: Final = 8 * MAX_FUEL
#: Units for a node of the syntax tree: a step of a path, a filter, a condition, an output.
#: A character that a filter reads costs one unit.
NODE: Final = 25
#: Units for a token of a template that is compiled.
TOKEN: Final = 750
#: Units for a character of a rendered email.
OUTPUT: Final = 2


class OutOfFuel(ValidationFailed):
    """The template needs too many steps with these values."""

    def __init__(self, message: str) -> None:
        super().__init__(FieldError("variables", message, "too_complex"))


@dataclass(slots=True)
class Fuel:
    """The fuel that is left for one email."""

    left: int = MAX_FUEL

    def burn(self, units: int) -> None:
        """Charge some work before it is done.

        Raises:
            OutOfFuel: not enough is left.
        """
        self.left -= units
        if self.left < 0:
            message = "make the template take too long to render"
            raise OutOfFuel(message)


@dataclass(slots=True)
class RequestFuel:
    """The fuel that is left for the other emails of a request; each has its own limit, too."""

    left: int = MAX_REQUEST_FUEL
    _compiled: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Check that another email may be rendered.

        Raises:
            OutOfFuel: the emails before it have used everything.
        """
        if self.left < 0:
            message = (
                "make the emails of this request take too long to render: send fewer at a time."
            )
            raise OutOfFuel(message)

    def charge_compiling(self, html: str, tokens: int) -> None:
        """Charge for compiling a template. Further emails with the same template are free."""
        if html not in self._compiled:
            self._compiled.add(html)
            self.left -= tokens * TOKEN

    def charge_rendering(self, fuel: Fuel, characters: int) -> None:
        """Charge what one email has used, and the characters that it has."""
        self.left -= MAX_FUEL - fuel.left + characters * OUTPUT
