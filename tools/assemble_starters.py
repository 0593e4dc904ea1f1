"""Assemble the starter templates from their sources: `python -m tools.assemble_starters`.

Assembly resolves everything in square brackets (`[% extends %]`, the macros of parts.html) and
moves the CSS of inline.css into style attributes. `colour-link` becomes `{{ colour.link }}`, which
the brand of an account may change (rendering/palette.py). The result, `mail.html` beside each body,
is a Jinja2 template with `{{ value }}` and `<!--% if ... %-->`. The latter is a comment because the
inliner's HTML parser leaves comments in their place.

The result is committed, and a test fails if it differs from what the sources produce. Assembly
at run time would slow the first email of a new process: it takes over twice as long as compiling
the result (benchmarks/rendering.md), and the layer would have to contain the inliner.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from css_inline import CSSInliner
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pillarbox.rendering.starters import SLUGS, STARTERS

_COLOUR: Final = re.compile(r"\bcolour-([a-z]+(?:-[a-z]+)*)\b")


def assemble(slug: str) -> str:
    """Assemble the template of a starter from its sources."""
    html = _inliner().inline(_sources().get_template(f"{slug}/body.html").render())
    return _COLOUR.sub(lambda name: f"{{{{ colour.{name[1].replace('-', '_')} }}}}", html)


def write_all(folder: Path = STARTERS) -> None:
    """Write the `mail.html` of every starter."""
    for slug in SLUGS:
        (folder / slug / "mail.html").write_text(assemble(slug), encoding="utf-8")


@cache
def _sources() -> Environment:
    return Environment(
        loader=FileSystemLoader(STARTERS),
        autoescape=False,  # noqa: S701  it reads only our own sources and inserts no values
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
    )


@cache
def _inliner() -> CSSInliner:
    return CSSInliner(
        # The <style> of layout.html is for phones and dark mode: it stays unchanged.
        inline_style_tags=False,
        keep_style_tags=True,
        load_remote_stylesheets=False,
        extra_css=(STARTERS / "inline.css").read_text(encoding="utf-8"),
    )


if __name__ == "__main__":
    write_all()
