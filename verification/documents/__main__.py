# ruff: noqa: T201  a program that is run by hand prints its results
"""Compare the text parts of random documents with what Chromium shows.

`python -m verification.documents [--documents 10000] [--first 0]`
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import batched
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

from pillarbox.rendering.text import text_from_html
from tests.browser.engines import chromium, playwright
from verification.documents.random_html import random_html

_JUDGE: Final = Path(__file__).with_name("judge.js").read_text()
_BATCH: Final = 100
_WORD: Final = re.compile(r"[wcst]\d+q")
_URL: Final = re.compile(r"(?i:https?|myapp|javascript)://x.*?/end", re.DOTALL)

type Differences = dict[str, frozenset[str]]


def judged(page: Page, seeds: range) -> Iterator[tuple[int, Any, Differences]]:
    """Yield for each document its number, what Chromium shows, and how its text differs from it."""
    for batch in batched(seeds, _BATCH, strict=False):
        documents = [random_html(seed) for seed in batch]
        texts = [text_from_html(html) for html in documents]
        asked = [
            {"html": html, "urls": _URL.findall(text)}
            for html, text in zip(documents, texts, strict=True)
        ]
        for seed, text, shown in zip(batch, texts, page.evaluate(_JUDGE, asked), strict=True):
            yield seed, shown, _differences(frozenset(_WORD.findall(text)), shown)


def _differences(words: frozenset[str], shown: Any) -> Differences:
    """Return by its kind what a text part with these words has too much or too little."""
    return {
        "words lost": frozenset(shown["words"]) - words,
        "hidden words shown": frozenset(w for w in words.difference(shown["words"]) if w[0] == "w"),
        "markup shown": frozenset(word for word in words if word[0] != "w"),
        "links lost": frozenset(shown["labelled"]).difference(shown["urls"]),
        "links that are none": frozenset(shown["urls"]).difference(shown["links"]),
    }


def main() -> int:
    """Print the figures, and return 1 if there is any difference."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    figures: Counter[str] = Counter()
    failed = 0
    with playwright() as program, chromium(program) as browser:
        page = browser.new_page()
        page.route("**", lambda route: route.abort())
        seeds = range(options.first, options.first + options.documents)
        for seed, shown, found in judged(page, seeds):
            figures["documents"] += 1
            for kind in ("words", "links"):
                figures[kind] += len({*shown[kind]})
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
