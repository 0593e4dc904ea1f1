"""Saved templates without rendering: their variables, and the values that a send must have.

Accepting an email imports this module, so it needs no template engine.

Accounts write templates and values, and one worker renders them for all accounts. A
template's own size and the size of the email do not bound the time: filters can read
long values and leave nothing of them, and a row may have many conditions and no text.
So everything is charged before it happens. A unit is at most about 15 ns of CPU on the
machine of `benchmarks/rendering.md`, so the whole fuel is about half a second there.

Accepting an email imports this module, so it needs no template engine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.templates.template import MISSING_VALUE

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
        """Charge some work before it is done."""
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
        """Check that another email may be rendered."""
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


#: Characters of a text in a template, such as a default.
MAX_CONSTANT: Final = 500
#: Marks a step of a path that leads to a list. The rest of the path applies to each entry.
LIST_STEP: Final = "[]"
#: A filter makes of a character at most three, and an integer burns a unit for each bit.
_GROWTH: Final = 4


@dataclass(frozen=True, slots=True)
class TemplateVariables:
    """The variables that a saved template refers to.

    `names` are the members of `variables`, in order of appearance. `required` are
    the paths that the template uses at least once without `default`, such as
    `order.total`, or `lines[].price` for the price of every entry of lines. `references`
    has each path once, in order of appearance.
    """

    names: tuple[str, ...]
    required: tuple[str, ...]
    references: "tuple[TemplateReference, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReference:
    """A path that a template refers to, with the line of the body where it is first used.

    The line is None if only the subject uses it. `default` is the first one given.
    """

    path: str
    line: int | None
    required: bool
    default: Json = None
    is_list: bool = False


class TemplateFault(ValidationFailed):
    """A line of a body that is not allowed; `text` is the message without the line."""

    def __init__(self, line: int, text: str, code: str) -> None:
        super().__init__(FieldError("html", f"Line {line}: {text}", code))
        self.line = line
        self.text = text


def missing_values(required: Iterable[str], values: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the required paths without a value. Null is not a value."""
    return tuple(path for path in required if not _has_value(dict(values), path.split(".")))


def check_values(required: Iterable[str], values: Mapping[str, Json], prefix: str = "") -> None:
    """Check that each required path has a value."""
    if missing := missing_values(required, values):
        raise ValidationFailed(
            *(FieldError(f"{prefix}{path}", MISSING_VALUE, "missing_variable") for path in missing)
        )


def surely_renders(html: str, values: Mapping[str, Json]) -> bool:
    """Whether a template renders with values that have all required paths, by a simple rule.

    Most emails have only texts and numbers in a template without loops, so accepting
    them loads no template engine. The others are rendered to find out whether their
    lists, objects and nulls are where the template can use them, and whether the fuel
    suffices.
    The limit of an email's size is not part of this.
    """
    plain = all(isinstance(value, str | int | float) for value in values.values())
    if "endfor" in html or not plain:
        return False
    characters = sum(len(str(value)) for value in values.values())
    filters = html.count("|") * _GROWTH * (characters + MAX_CONSTANT)
    return len(html) * NODE + filters < MAX_FUEL


def sample_values(required: Iterable[str]) -> dict[str, Json]:
    """Create values for the required paths, to show a template outside a send.

    `order.total` becomes the text `[order.total]` within an object. A list gets one
    entry. If one path continues another, the shorter one becomes an object.
    """
    values: dict[str, Json] = {}
    # Start with the longest paths, so that no text takes the place of an object.
    for path in sorted(required, key=lambda path: -path.count(".") - path.count(LIST_STEP)):
        _put_sample(values, path.split("."), f"[{path.replace(LIST_STEP, '')}]")
    return values


def samples_of(references: Iterable[TemplateReference]) -> dict[str, Json]:
    """Create values as `sample_values` for the required ones, each list with an entry."""
    required = [one for one in references if one.required]
    entries = [f"{one.path}{LIST_STEP}" for one in required if one.is_list]
    return sample_values([*(one.path for one in required), *entries])


def _has_value(value: Json, steps: list[str]) -> bool:
    for position, step in enumerate(steps):
        member = value.get(step.removesuffix(LIST_STEP)) if isinstance(value, dict) else None
        if step.endswith(LIST_STEP):
            # The path of the list itself reports a missing list.
            rest = steps[position + 1 :]
            return member is None or (
                isinstance(member, list) and all(_has_value(entry, rest) for entry in member)
            )
        value = member
    return value is not None


def _put_sample(values: dict[str, Json], steps: list[str], sample: str) -> None:
    step, *rest = steps
    name = step.removesuffix(LIST_STEP)
    member: Json = {} if rest else sample
    if step.endswith(LIST_STEP):
        entries = values.setdefault(name, [member])
        member = entries[0] if isinstance(entries, list) else None
    else:
        member = values.setdefault(name, member)
    if rest and isinstance(member, dict):  # otherwise the template uses it as two types
        _put_sample(member, rest, sample)
