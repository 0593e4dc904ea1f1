"""Puts the starter templates together from their sources: `python -m assemble_starters`.

What stands in square brackets is resolved here (`[% extends %]`, the macros of
parts.html), and the CSS of inline.css is put into style attributes. The result,
`mail.html` beside each body, is a Jinja2 template of its own, with `{{ value }}`
and `<!--% if ... %-->` (a comment, so that the inliner's HTML parser leaves it in
its place). It is kept with the sources, and a test fails when it is not what
they make: assembling at the first mail would cost a new process over twice what compiling
the result takes (benchmarks/rendering.md), and bring the inliner along.
"""

from functools import cache
from pathlib import Path

from css_inline import CSSInliner
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pillarbox.rendering.starters import SLUGS, STARTERS


def assembled(slug: str) -> str:
    """The template of a starter, made from its sources."""
    return _inliner().inline(_sources().get_template(f"{slug}/body.html").render())


def write_all(folder: Path = STARTERS) -> None:
    """Write the `mail.html` of every starter."""
    for slug in SLUGS:
        (folder / slug / "mail.html").write_text(assembled(slug), encoding="utf-8")


@cache
def _sources() -> Environment:
    return Environment(
        loader=FileSystemLoader(STARTERS),
        autoescape=False,  # noqa: S701  puts our own sources together, before any value is there
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
        # The <style> of layout.html is for phones and dark mode: it stays as it is.
        inline_style_tags=False,
        keep_style_tags=True,
        load_remote_stylesheets=False,
        extra_css=(STARTERS / "inline.css").read_text(encoding="utf-8"),
    )


if __name__ == "__main__":
    write_all()
