# ruff: noqa: T201  a program that is run by hand prints its results
"""Source bombs: templates made to grow or to be slow when they are compiled.

Each has a fresh process, which shows it to its author as the API does: compiled in a process of its
own. Whatever the source is, that process lives and answers. The figures are those of both. Then a
viewer sends each as a request.
"""

import json
import multiprocessing
import os
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pillarbox.application.templates.rendered_source import render_source
from pillarbox.domain.accounts.brand import Brand
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.templates.draft import MAX_SOURCE, Source, SourceKind
from pillarbox.wiring.templates import compile_in_child
from tests.contract.client import Api
from tests.contract.service import Service
from verification.attacks.tally import Options, Tally, service_alone

#: The function that compiles has 1,024 MB for both processes.
MAX_MEMORY: Final = 512 * 1024 * 1024
#: What one preview may cost, the answer included.
MAX_CPU: Final = 5.0
_SPAWN: Final = multiprocessing.get_context("spawn")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of one bomb: the codes of its errors, if it was refused."""

    name: str
    died: bool = False
    errors: tuple[str, ...] = ()
    memory: int = 0
    seconds: float = 0.0


def _html(css: str, body: str) -> Source:
    return Source(kind=SourceKind.HTML, subject="s", source=f"<style>{css}</style>{body}")


def _mjml(body: str, head: str = "") -> Source:
    column = f"<mj-section><mj-column>{body}</mj-column></mj-section>"
    source = f"<mjml><mj-head>{head}</mj-head><mj-body>{column}</mj-body></mjml>"
    return Source(kind=SourceKind.MJML, subject="s", source=source)


def _carousel(images: int) -> Source:
    return _mjml(f"<mj-carousel>{'<mj-carousel-image src="a"/>' * images}</mj-carousel>")


def _defaults(name: str, attributes: str) -> str:
    return f"<mj-attributes><{name} {attributes}/></mj-attributes>"


_LONG: Final = "a" * 100_000
_ROWS: Final = "<i></i>" * 15_000
_ENTITIES: Final = "".join(f"<!ENTITY a{n + 1} '&a{n};&a{n};'>" for n in range(59))
SOURCES: Final[Mapping[str, Callable[[], Source]]] = {
    "a long value": lambda: _html(f"*{{font-family:{_LONG}}}", _ROWS),
    "a value of 20 KB": lambda: _html(f"*{{font-family:{_LONG[:20_000]}}}", "<i></i>" * 4_000),
    "many selectors in one rule": lambda: _html(
        ",".join(f":nth-last-child({n})" for n in range(4_000)) + "{color:red}", _ROWS
    ),
    "a carousel of 1,500 images": lambda: _carousel(1_500),
    "a carousel of 4,000 images": lambda: _carousel(4_000),
    "a long default of components": lambda: _mjml(
        "<mj-text/>" * 14_000, _defaults("mj-text", f'css-class="{_LONG}"')
    ),
    # A mark is short, and what it stands for is not.
    "a long tag in a rule": lambda: _html(f"*{{font-family:{{{{ {' ' * 100_000}a }}}}}}", _ROWS),
    "a long tag in a default": lambda: _mjml(
        "<mj-text/>" * 14_000, _defaults("mj-all", f'css-class="{{{{ {" " * 100_000}a }}}}"')
    ),
    # Braces in texts and comments end no rule.
    "a brace in a text": lambda: _html(f'*{{font-family:"}}no{{{_LONG}"}}', _ROWS),
    "a brace in a comment": lambda: _html(f"*{{font-family:/*}}no{{*/{_LONG}}}", _ROWS),
    "a selector in brackets": lambda: _html(f":is(b, i){{font-family:{_LONG}}}", _ROWS),
    "many long rules": lambda: _html(
        "".join(f"i{{--a{n}:{_LONG[:1_000]}}}" for n in range(100)), _ROWS
    ),
    "deep descendants": lambda: _html(
        "".join(f"{'i ' * 20}b{n}{{color:red}}" for n in range(100)),
        "<i>" * 190 + "<b0></b0>" * 10_000 + "</i>" * 190,
    ),
    "relatives that a rule looks for": lambda: _html(
        "".join(f"i:has(~ b{n}){{color:red}}" for n in range(200)), "<i></i>" * 12_000
    ),
    "siblings that a rule looks for": lambda: _html(
        "".join(f"{'i~' * 20}b{n}{{color:red}}" for n in range(20)), "<i></i>" * 12_000
    ),
    "declarations of a style attribute": lambda: _html(
        "i{" + ";".join(f"--a{n}:b" for n in range(9_000)) + "}",
        '<i style="' + ";".join(f"--b{n}:b" for n in range(9_000)) + '"></i>',
    ),
    "a class of long attributes": lambda: _mjml(
        '<mj-text mj-class="c"/>' * 6_000, _defaults("mj-class", f'name="c" css-class="{_LONG}"')
    ),
    "a base for all links": lambda: _mjml(
        f'<mj-navbar base-url="{_LONG}">{"<mj-navbar-link href='x'/>" * 5_000}</mj-navbar>'
    ),
    "a font for all icons": lambda: _mjml(
        f'<mj-social font-family="{_LONG}">'
        + "<mj-social-element name='x'>a</mj-social-element>" * 2_500
        + "</mj-social>"
    ),
    "inlined rules of MJML": lambda: _mjml(
        "<mj-text/>" * 5_000,
        f'<mj-style inline="inline">*{{font-family:{_LONG}}}</mj-style>',
    ),
    "heroes": lambda: _mjml("<mj-hero/>" * (MAX_SOURCE // 10 - 20)),
    "tables that are not closed": lambda: _html("td{color:red}", "<table><tr><td>" * 12_000),
    "rules in rules": lambda: _html(f"i{{{'&{' * 20_000}color:red{'}' * 20_001}", "<i></i>" * 3),
    "negations in negations": lambda: _html(
        f"{':not(' * 20_000}b{')' * 20_000}{{color:red}}", "<i></i>" * 3
    ),
    "media in media": lambda: _html(
        f"{'@media all{' * 15_000}i{{color:red}}{'}' * 15_000}", "<i></i>" * 3
    ),
    "brackets in a value": lambda: _html(f"i{{a:{'[' * 180_000}}}", "<i></i>"),
    "one property very often": lambda: _html(
        f"*{{{'color:red!important;' * 5_000}}}", "<i></i>" * 12_000
    ),
    "descendants that a rule looks for": lambda: _html(
        "*:has(* * * * * * b){color:red}", ("<i>" * 190 + "</i>" * 190) * 90
    ),
    "fonts that are used": lambda: _mjml(
        "".join(f"<mj-text font-family='f{n}'/>" for n in range(2_500)),
        "".join(f"<mj-font name='f{n}' href='http://x/{n}'/>" for n in range(2_500)),
    ),
    "columns of many widths": lambda: _mjml(
        f"</mj-column>{''.join(f'<mj-column width="{n}px"/>' for n in range(5_000))}<mj-column>"
    ),
    "an icon of all accordions": lambda: _mjml(
        f"<mj-accordion icon-wrapped-url='http://{_LONG[:3_000]}'>"
        + "<mj-accordion-element><mj-accordion-title>a</mj-accordion-title></mj-accordion-element>"
        * 400
        + "</mj-accordion>"
    ),
    "MJML that says it is HTML": lambda: replace(
        _mjml("<mj-text/>" * 14_000, _defaults("mj-text", f'css-class="{_LONG}"')),
        kind=SourceKind.HTML,
    ),
    "entities of entities": lambda: Source(
        kind=SourceKind.MJML,
        subject="s",
        source=f"<!DOCTYPE mjml [<!ENTITY a0 'aaaaaaaaaa'>{_ENTITIES}]>"
        + _mjml("<mj-text>&a59;</mj-text>").source,
    ),
}


def explode(*names: str) -> Iterator[Result]:
    """Show sources one after the other in one process of their own.

    The memory of the largest compiler counts for those after it too, so several sources give an
    upper bound.
    """
    with ProcessPoolExecutor(1, _SPAWN) as process:
        for name in names:
            try:
                yield process.submit(_show, name).result()
            except BrokenProcessPool:
                yield Result(name=name, died=True)


def _show(name: str) -> Result:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # VmHWM starts again
    before = _seconds()
    shown = render_source(SOURCES[name](), {}, Brand(), compile_in_child)
    compilers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Result(
        name=name,
        errors=tuple(problem.code for problem in shown.problems if problem.stops_publication),
        memory=_most_memory() + compilers.ru_maxrss * 1024,
        seconds=_seconds() - before,
    )


def _seconds() -> float:
    """Seconds of CPU of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def _most_memory() -> int:
    """Octets of this process at most. `getrusage` counts the process that started it, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def count(results: Iterable[Result]) -> Tally:
    """Print results as they come, and sum them up."""
    tally = Tally("deaths", "over 512 MB", "over 5 s of CPU")
    for result in results:
        tally["sources tried"] += 1
        tally["refused"] += bool(result.errors)
        tally["deaths"] += result.died
        tally["over 512 MB"] += result.memory > MAX_MEMORY
        tally["over 5 s of CPU"] += result.seconds > MAX_CPU
        print(
            f"{result.name:36} {','.join(result.errors) or 'rendered':18}"
            f" memory {result.memory >> 20:4} MB, {result.seconds:5.2f} s"
            f"{' DIED' * result.died}",
            flush=True,
        )
    return tally


def ask(service: Service, names: Iterable[str]) -> Tally:
    """Let a viewer preview each source; whatever it is, it gets an answer, and the next one too."""
    tally = Tally("5xx over HTTP")
    viewer = Api(session=service.session(service.account(), Role.VIEWER))
    for name in names:
        source = SOURCES[name]()
        body = {"kind": source.kind, "subject": source.subject, "source": source.source}
        answer = viewer.raw("POST", "/templates/render", json.dumps(body | {"variables": {}}))
        tally["asked over HTTP"] += 1
        tally["answered"] += answer.status == 200
        if answer.status >= 500:
            tally.find("5xx over HTTP", name)
    return tally


def run(_: Options) -> Tally:
    """Try every source."""
    tally = count(result for name in SOURCES for result in explode(name))
    with service_alone() as service:
        asked = ask(service, SOURCES)
    both = Tally("deaths", "over 512 MB", "over 5 s of CPU", "5xx over HTTP")
    both.update(tally)
    both.update(asked)
    return both
