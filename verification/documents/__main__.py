# ruff: noqa: T201  a program that is run by hand prints its results
"""Compare the text parts of random documents with what two parsers of HTML show.

`python -m verification.documents [--documents 10000] [--first 0] [--judge chromium|lexbor]`
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import batched
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from pillarbox.rendering.text import text_from_html
from tests.browser.engines import chromium, playwright
from verification.documents.judges import Seen, differences, seen_in_tree, urls_of
from verification.documents.random_html import random_html

_JUDGE: Final = Path(__file__).with_name("judge.js").read_text()
_BATCH: Final = 100

type Judged = tuple[int, Seen, dict[str, frozenset[str]]]


def in_tree(seeds: range) -> Iterator[Judged]:
    """Judge by lexbor's tree."""
    for seed in seeds:
        html = random_html(seed)
        seen = seen_in_tree(html)
        yield seed, seen, differences(text_from_html(html), seen)


def in_chromium(page: Page, seeds: range) -> Iterator[Judged]:
    """Judge by what Chromium lays out, and by its URLs."""
    for batch in batched(seeds, _BATCH, strict=False):
        documents = [random_html(seed) for seed in batch]
        texts = [text_from_html(html) for html in documents]
        asked = [
            {"html": html, "urls": urls_of(text)}
            for html, text in zip(documents, texts, strict=True)
        ]
        for seed, text, answer in zip(batch, texts, page.evaluate(_JUDGE, asked), strict=True):
            seen = Seen(
                words=frozenset(answer["words"]),
                links=frozenset(answer["links"]),
                labelled=frozenset(answer["labelled"]),
            )
            yield seed, seen, differences(text, seen, answer["urls"])


def main() -> int:
    """Print the figures, and return 1 if there is any difference."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--judge", choices=("chromium", "lexbor"), default="chromium")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.documents)
    if options.judge == "lexbor":
        return _counted(in_tree(seeds))
    with playwright() as program, chromium(program) as browser:
        page = browser.new_page()
        page.route("**", lambda route: route.abort())
        return _counted(in_chromium(page, seeds))


def _counted(judged: Iterator[Judged]) -> int:
    figures: Counter[str] = Counter()
    failed = 0
    for seed, seen, found in judged:
        figures["documents"] += 1
        figures["words"] += len(seen.words)
        figures["links"] += len(seen.links)
        if seen.items is not None:
            figures["numbered items"] += len(seen.items)
        for kind, values in found.items():
            figures[kind] += len(values)
        if different := {kind: sorted(values) for kind, values in found.items() if values}:
            failed += 1
            print(f"document {seed}: {different}", file=sys.stderr)
    for name, count in figures.items():
        print(f"{name}: {count:,}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
