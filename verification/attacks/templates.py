# ruff: noqa: S311, T201  it makes random templates, and prints its results
"""Attack the rendering of saved templates with random templates and the worst values.

    .venv/bin/python -m verification.attacks.templates --seconds 600 --seed 1

Each template goes the way of a real one: it is saved, an email with it is accepted, and the
worker renders that email in a process that has not seen the template. The templates come from the
grammar of the allow-list and are as heavy as it permits. Some also have a piece that is not
allowed. The values use their whole size: long texts that filters read and do not show, letters
that grow, long numbers, 1,000 rows. Code of a template that opens a file, imports or
starts anything escapes; so does a piece that should have been refused.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from pillarbox.application.render import render
from pillarbox.application.sending.compose import AccountTerms, compose
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.brand import NO_BRAND
from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.domain.messages.mail import SavedBody
from pillarbox.http.json_body import canonical, depth_of
from pillarbox.http.messages.wire import MAX_VARIABLES_BYTES, MAX_VARIABLES_DEPTH
from pillarbox.rendering import engine
from pillarbox.rendering.allowlist import MAX_ROWS
from pillarbox.rendering.fuel import MAX_FUEL, MAX_REQUEST_FUEL, Fuel, RequestFuel
from pillarbox.rendering.template_check import check_template
from tests.fakes import builders

#: Pieces that no template may contain.
FORBIDDEN: Final = (
    *("{{ a.__class__ }}", "{{ a.__class__.__mro__ }}", "{{ self._TemplateReference__context }}"),
    *("{{ a['x'] }}", "{{ a() }}", "{{ a.format('x') }}", "{{ a | attr('x') }}", "{{ a ~ b }}"),
    *("{{ a * 9 }}", "{{ 9 ** 9 ** 9 }}", "{{ 'x' * 999999999 }}", "{{ a | replace('a', b) }}"),
    *("{% set a = 1 %}", "{% include 'a' %}", "{% macro m() %}{% endmacro %}", "{{ a == b }}"),
    *("{% for i in a %}{% for j in b %}{% endfor %}{% endfor %}", "{% if a in b %}{% endif %}"),
    *("{% for i in range(999999999) %}{% endfor %}", "{{ loop.index }}", "{{ a | safe }}"),
    *("{{ a | join }}", "{{ a | tojson }}", "{{ a | sort }}", "{{ cycler.__init__.__globals__ }}"),
)
_FILTERS: Final = ("capitalize", "lower", "trim", "upper")
#: How many tags each loop of a template has, about.
_LOOPS: Final[Sequence[Sequence[int]]] = (
    [1],
    [8],
    [30],
    [60],
    [100],
    [150],
    [200],
    [30] * 3,
    [10] * 10,
    [1] * 50,
    [],
)
_FORBIDDEN_SHARE: Final = 0.1
_SECONDS_ALLOWED: Final = 1.0
_TEMPLATE_ID: Final = UUID(int=1)
#: Events of the interpreter that no template causes. `compile` is Jinja2's own work.
_ESCAPES: Final = ("open", "import", "os.", "subprocess.", "socket.", "ctypes.", "code.__new__")


@dataclass(slots=True)
class Counts:
    """What the attack has found."""

    tried: int = 0
    refused_at_saving: int = 0
    refused_at_acceptance: int = 0
    slow: int = 0
    unsendable: int = 0
    escapes: int = 0
    largest_fuel: int = 0
    most_seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing broke a promise."""
        return not (self.slow or self.unsendable or self.escapes)

    def __str__(self) -> str:
        return (
            f"templates tried {self.tried}, refused at saving {self.refused_at_saving}, refused at"
            f" acceptance {self.refused_at_acceptance}, over 1 s of CPU {self.slow}, accepted but"
            f" unsendable {self.unsendable}, escapes {self.escapes}, largest fuel"
            f" {self.largest_fuel} of {MAX_FUEL}"
        )


@dataclass(slots=True)
class _RecordedFuel(RequestFuel):
    """Records what an email burns."""

    burnt: int = 0

    def charge_rendering(self, fuel: Fuel, characters: int) -> None:
        self.burnt = MAX_FUEL - fuel.left
        RequestFuel.charge_rendering(self, fuel, characters)


class _Audit:
    """Counts the events of the interpreter that a template must not cause."""

    def __init__(self) -> None:
        self.on = False
        self.events: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _arguments: object) -> None:
        if self.on and event.startswith(_ESCAPES):
            self.events.append(event)


@dataclass(frozen=True, slots=True)
class _Author:
    """Writes random templates. `t` is a text, `n` a number, `o` an object, and `r` has rows."""

    source: random.Random

    def template(self) -> str:
        one = self.source
        pieces = [self._loop(count) for count in one.choice(_LOOPS)]
        pieces += [self._tag("t") for _ in range(one.choice([0, 0, 1, 20]))]
        if one.random() < _FORBIDDEN_SHARE:
            pieces.insert(one.randrange(len(pieces) + 1), one.choice(FORBIDDEN))
        return "".join(pieces)

    def _loop(self, count: int) -> str:
        one = self.source
        different = one.randint(1, min(count, 8))
        body = "".join(self._tag("i") for _ in range(different)) * (count // different)
        rows = one.choice(["r", "r", "o.r | default([])"])
        return f"{{% for i in {rows} %}}{body}{{% endfor %}}"

    def _tag(self, entry: str) -> str:
        one = self.source
        match one.randrange(4):
            case 0:
                depth = one.choice([0, 0, 1, 1, 2, 3, 6, 9])
                inner = self._tag(entry) if depth < 2 and one.random() < 0.2 else ""
                return f"{{% if {self._condition(entry, depth)} %}}{inner}{{% endif %}}"
            case 1:
                return "x" * one.choice([1, 10, 300]) + f"{{{{ {self._value(entry)} }}}}"
            case _:
                filters = one.choices(_FILTERS, k=one.choice([0, 1, 1, 2, 4, 16]))
                return "{{ " + " | ".join([self._value(entry), *filters]) + " }}"

    def _condition(self, entry: str, depth: int) -> str:
        one = self.source
        if depth:
            sides = (self._condition(entry, depth - 1), self._condition(entry, depth - 1))
            return f"({one.choice([' and ', ' or ']).join(sides)})"
        constant = one.choice(["'x'", "''", "0", "true", f"'{'y' * 400}'", "9" * 400])
        ends = ["", "", f" == {constant}", f" != {constant}"]
        return f"{one.choice(['', 'not '])}{self._value(entry)}{one.choice(ends)}"

    def _value(self, entry: str) -> str:
        one = self.source
        absent = f"{entry}.{'.'.join('a' * one.choice([1, 3, 12]))}"
        return one.choice(
            [
                *("t", "t", "n", "e", f"o.{'.'.join('a' * (MAX_VARIABLES_DEPTH - 2))}", entry),
                *(f"{entry}.c | default('')", "u | default(0)"),
                f"{absent} | default('{'z' * one.choice([0, 1, 400])}')",
            ]
        )

    def values(self) -> dict[str, Json]:
        one = self.source
        entries: list[Json] = ["", " ", "a", 1, {}, {}, {"c": "&"}, {"c": " " * 100}]
        entry = one.choice(entries)
        rows: list[Json] = [entry] * one.choice([1, 10, MAX_ROWS, MAX_ROWS, MAX_ROWS])
        inner: Json = ""
        for _ in range(MAX_VARIABLES_DEPTH - 2):
            inner = {"a": inner}
        deep: dict[str, Json] = inner if isinstance(inner, dict) else {}
        number: Json = one.choice([0, 1.5, True, 10**4299])
        values: dict[str, Json] = {"t": "", "n": number, "e": "", "r": rows, "o": deep}
        if one.random() < 0.5:
            values["o"] = {**deep, "r": rows}
        letter = one.choice([" ", " ", "a", "&", "\u0390", "\u03a3", "\u3000", "\U0001f600"])
        size = one.choice([0, 1, 20, 1000, MAX_VARIABLES_BYTES])
        room = MAX_VARIABLES_BYTES - len(canonical(values))
        values["t"] = letter * (min(size, room) // len(letter.encode()))
        assert len(canonical(values)) <= MAX_VARIABLES_BYTES, "the API accepts the values"
        assert depth_of(values) <= MAX_VARIABLES_DEPTH, "the API accepts the values"
        return values


@dataclass(slots=True)
class Attack:
    """Try templates, and count what happens to them."""

    seed: int
    counts: Counts = field(default_factory=Counts)
    _audit: _Audit = field(default_factory=_Audit)

    def run(self, *, templates: int = sys.maxsize, seconds: float = float("inf")) -> Counts:
        """Try templates until their number or the time is reached."""
        until = time.monotonic() + seconds
        for position in range(templates):
            if time.monotonic() >= until:
                break
            author = _Author(random.Random(f"{self.seed}.{position}"))
            html = author.template()
            self.counts.tried += 1
            for failure in self._try(html, author.values()):
                self.counts.failures.append(f"seed {self.seed}, template {position}: {failure}")
        return self.counts

    def _try(self, html: str, values: dict[str, Json]) -> list[str]:
        counts = self.counts
        started = time.process_time()
        try:
            variables = check_template("Order", html)
        except ValidationFailed:
            counts.refused_at_saving += 1
            return self._timed("saving", started)
        if any(piece in html for piece in FORBIDDEN):
            counts.escapes += 1
            return ["a forbidden piece was saved"]
        failures = self._timed("saving", started)
        template = builders.template(
            _TEMPLATE_ID, html=html, variables=variables.names, required=variables.required
        )
        request = builders.request(html=None, template_id=_TEMPLATE_ID, variables=values)
        recipients = Recipients.parse(request.recipients)
        fuel = _RecordedFuel()
        engine._compile_saved.cache_clear()
        started = time.process_time()
        try:
            terms = AccountTerms(
                builders.SENDER, attribution=False, account_name="Shop", brand=NO_BRAND
            )
            mail = compose(request, template, terms, recipients, datetime.now(UTC), fuel=fuel)
        except ValidationFailed:
            counts.refused_at_acceptance += 1
            return failures + self._timed("acceptance", started)
        finally:
            counts.largest_fuel = max(counts.largest_fuel, fuel.burnt)
        failures += self._timed("acceptance", started)
        assert isinstance(mail.body, SavedBody), "the email has a saved template"
        engine._compile_saved.cache_clear()
        started = time.process_time()
        fuel = _RecordedFuel()
        try:
            self._audit.on = True
            render(mail.body, fuel)
        except ValidationFailed as error:
            counts.unsendable += 1
            failures.append(f"accepted but unsendable: {error}")
        finally:
            self._audit.on = False
        counts.largest_fuel = max(counts.largest_fuel, fuel.burnt)
        counts.escapes += len(self._audit.events)
        failures += self._audit.events
        self._audit.events.clear()
        return failures + self._timed("delivery", started)

    def _timed(self, step: str, started: float) -> list[str]:
        seconds = time.process_time() - started
        self.counts.most_seconds = max(self.counts.most_seconds, seconds)
        if seconds <= _SECONDS_ALLOWED:
            return []
        self.counts.slow += 1
        return [f"{step} took {seconds:.2f} s of CPU"]


def main() -> int:
    """Return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long to try")
    parser.add_argument("--seed", type=int, default=1, help="another seed tries other templates")
    options = parser.parse_args()
    counts = Attack(options.seed).run(seconds=options.seconds)
    print(*counts.failures, sep="\n")
    print(f"most CPU of one step: {counts.most_seconds:.2f} s")
    print(f"fuel of a request: {MAX_REQUEST_FUEL // MAX_FUEL} times that of one email")
    print(counts)
    return 0 if counts.passed else 1


if __name__ == "__main__":
    sys.exit(main())
