# ruff: noqa: SLF001  a script that prints a table and empties our caches
"""The cost of rendering, compared with its own cold path and with its peers.

    uv run --with premailer --with inscriptis --with minijinja python benchmarks/rendering.py

Every figure is a ratio of CPU times of one run. Each time is the best of several rounds in turn,
so the load of the machine affects both sides.
"""

import importlib.metadata
import time
from collections.abc import Callable, Mapping
from typing import Final

from css_inline import CSSInliner
from inscriptis import get_text
from minijinja import Environment as MiniJinja
from premailer import Premailer
from selectolax.lexbor import LexborHTMLParser

from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.rendering import engine, sandbox
from pillarbox.rendering.engine import Branding, render_saved, render_starter
from pillarbox.rendering.fuel import MAX_FUEL, MAX_REQUEST_FUEL, RequestFuel
from pillarbox.rendering.starters import SLUGS, STARTERS, find_starter
from pillarbox.rendering.template_check import check_template
from pillarbox.rendering.text import text_from_html
from pillarbox.rendering.values import values_or_samples
from tools import assemble_starters

ROUNDS: Final = 7
SECONDS_A_ROUND: Final = 0.15
REFERENCE_ROUNDS: Final = 10_000_000
BRANDING: Final = Branding("Harbour", "https://app.example.com/logo.png", attribution=True)
SAVED: Final = (
    "<h1>Hi {{ name | default('there') }}</h1><ul>"
    "{% for line in lines %}<li>{{ line.title }}: {{ line.price }}</li>{% endfor %}</ul>"
    "{% if vip %}<p>{{ note | upper }}</p>{% endif %}"
)
SAVED_VALUES: Final[Mapping[str, Json]] = {
    "lines": [{"title": f"Item {n}", "price": n} for n in range(10)],
    "vip": True,
    "note": "thanks",
}


def cost(*pieces: Callable[[], object]) -> list[float]:
    """Return the CPU seconds per call of each, the best of several rounds in turn."""
    best = [float("inf")] * len(pieces)
    for _ in range(ROUNDS):
        for position, work in enumerate(pieces):
            calls = 0
            started = time.process_time()
            while time.process_time() - started < SECONDS_A_ROUND:
                work()
                calls += 1
            best[position] = min(best[position], (time.process_time() - started) / calls)
    return best


def reading_all(mails: list[str], read: Callable[[str], object]) -> Callable[[], object]:
    """Return work that reads all mails, one after another."""
    return lambda: [read(mail) for mail in mails]


def clear_caches() -> None:
    """Clear all caches of rendering."""
    for cache in (
        engine._compile_starter,
        engine._starter_environment,
        engine._compile_saved,
        sandbox._environment,
    ):
        cache.cache_clear()


def values(slug: str) -> dict[str, Json]:
    """Return the sample values of a starter."""
    starter = find_starter(slug)
    if starter is None:
        raise LookupError(slug)
    return values_or_samples(starter, {})


def row(name: str, goal: str, ours: float, other: float, note: str = "") -> None:
    """Print one line of the table: both times and their ratio."""
    ratio = f"{ours / other:.4f} x"
    print(f"| {name} | {goal} | {ratio} | {ours * 1e6:.0f} us | {other * 1e6:.0f} us | {note} |")


def starters() -> None:
    """Compare warm renders of all ten starters with compiling and rendering them."""
    sample_values = {slug: values(slug) for slug in SLUGS}

    def warm() -> None:
        for slug in SLUGS:
            render_starter(slug, sample_values[slug], BRANDING)

    def cold() -> None:
        for slug in SLUGS:
            clear_caches()
            render_starter(slug, sample_values[slug], BRANDING)

    quick, slow = (seconds / len(SLUGS) for seconds in cost(warm, cold))
    row("warm render of a starter / compile + render", "<= 0.02", quick, slow)


def assembling() -> None:
    """Compare assembling a starter at its first use with compiling the stored one."""

    def assemble_again(slug: str) -> str:
        assemble_starters._sources.cache_clear()
        assemble_starters._inliner.cache_clear()
        return assemble_starters.assemble(slug)

    unassembled = assemble_starters._sources().get_template("otp/body.html").render()
    stored = assemble_starters.assemble("otp")
    first, inline, compiled = cost(
        lambda: assemble_again("otp"),
        lambda: assemble_starters._inliner().inline(unassembled),
        lambda: engine._starter_environment().from_string(stored),
    )
    row("assembling a first starter / compiling it", "", first, compiled)
    row("of that, inlining its CSS / compiling it", "", inline, compiled)


def inlining() -> None:
    """Compare css-inline with premailer on the mail of a receipt."""
    css = (STARTERS / "inline.css").read_text()
    plain = assemble_starters._sources().get_template("payment_receipt/body.html").render()
    inliner = CSSInliner(extra_css=css, inline_style_tags=False, keep_style_tags=True)
    ours, other = cost(
        lambda: inliner.inline(plain),
        lambda: Premailer(
            plain, css_text=css, disable_leftover_css=True, cssutils_logging_level=50
        ).transform(),
    )
    row("css-inline / premailer", "<= 0.05", ours, other, importlib.metadata.version("premailer"))


def text() -> None:
    """Compare the text part with inscriptis, and with only building a tree."""
    version = importlib.metadata.version("inscriptis")
    mails = [render_starter(slug, values(slug), BRANDING) for slug in SLUGS]
    order = "<tr><td><p>Item <b>no. 7</b></p></td><td>1</td><td>12.50 EUR</td></tr>" * 100
    long = mails[0].replace("</h1>", f"</h1><table>{order}</table>")
    for name, read in (("the ten starters", mails), ("an order of 100 rows", [long])):
        ours, other, tree = (
            seconds / len(read)
            for seconds in cost(
                reading_all(read, text_from_html),
                reading_all(read, get_text),
                reading_all(read, LexborHTMLParser),
            )
        )
        row(f"text of {name} / inscriptis", "<= 0.10", ours, other, version)
        row("lexbor building its tree, no text yet / inscriptis", "", tree, other)


def hostile() -> None:
    """Compare with a tree builder on unclosed <font><p>, for an input and twice the input."""
    for size in (1000, 2000):
        html = "".join(f"<font a={n}><p>x" for n in range(size))
        started = time.process_time()
        text_from_html(html)
        ours = time.process_time() - started
        started = time.process_time()
        LexborHTMLParser(html)
        row(f"{size} unclosed font and p / lexbor", "", ours, time.process_time() - started)


def saved() -> None:
    """Compare a saved template, warm and cold, with MiniJinja."""
    mini = MiniJinja(templates={"mail.html": SAVED})

    def cold() -> str:
        clear_caches()
        return render_saved(SAVED, SAVED_VALUES)

    warm, first, mini_warm, mini_first = cost(
        lambda: render_saved(SAVED, SAVED_VALUES),
        cold,
        lambda: mini.render_template("mail.html", **SAVED_VALUES),
        lambda: MiniJinja(templates={"mail.html": SAVED}).render_template(
            "mail.html", **SAVED_VALUES
        ),
    )
    row("saved template, warm / MiniJinja", "", warm, mini_warm)
    row("saved template, first render / MiniJinja", "", first, mini_first)


def fuel() -> None:
    """Compare the heaviest loops that can be saved, with 1,000 rows, with a plain loop."""
    rows: list[Json] = [{}] * sandbox.MAX_ROWS
    for name, body in (
        ("numbers", "{{ n }}"),
        ("empty texts", "{{ e }}"),
        ("paths that lead nowhere", "{{ i" + ".a" * 12 + " | default('') }}"),
        ("16 filters", "{{ e" + " | trim" * 16 + " }}"),
        ("conditions", "{% if e or e or e == 'a' or i.a | default('') %}{% endif %}"),
    ):
        html = heaviest(body)
        burnt = RequestFuel()
        render_saved(html, {"rows": rows, "n": 7, "e": ""}, burnt)
        started = time.process_time()
        render_saved(html, {"rows": rows, "n": 7, "e": ""})
        ours = time.process_time() - started
        started = time.process_time()
        for _ in range(REFERENCE_ROUNDS):
            pass
        used = (MAX_REQUEST_FUEL - burnt.left) / MAX_FUEL
        note = f"{used:.2f} of the fuel, with compiling and output"
        row(f"{name} / {REFERENCE_ROUNDS:,} rounds", "", ours, time.process_time() - started, note)


def heaviest(body: str) -> str:
    """Return the longest loop over a repeated body that can be saved."""
    longest = ""
    for repetitions in range(1, sandbox.MAX_TAGS):
        html = "{% for i in rows %}" + body * repetitions + "{% endfor %}"
        try:
            check_template("s", html)
        except ValidationFailed:
            break
        longest = html
    return longest


if __name__ == "__main__":
    print("| what | goal | ratio | ours | other | |")
    print("|---|---|---|---|---|---|")
    starters()
    assembling()
    inlining()
    text()
    hostile()
    saved()
    fuel()
