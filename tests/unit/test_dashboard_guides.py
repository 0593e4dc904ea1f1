"""The guides that the dashboard shows are those of docs/guides."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard import guides


def read() -> dict[str, Any]:
    """Return the guides that the dashboard's module has, by name."""
    module = guides.guides().partition(" Guide[] = ")[2].removesuffix(";\n")
    return {guide["name"]: guide for guide in json.loads(module)}


def links_of(node: Any) -> set[str]:
    if isinstance(node, str):
        return set()
    _, attributes, *inside = node
    own = {attributes["href"]} if "href" in attributes else set()
    return own.union(*map(links_of, inside))


def test_links_lead_to_other_sites_and_to_guides_that_are_there() -> None:
    found = read()
    assert {"", "languages", "webhooks", "templates"} <= found.keys()
    assert found[""]["title"] == "Guides"
    links = {
        link for guide in found.values() for node in guide["content"] for link in links_of(node)
    }
    own = {link.partition("#")[0] for link in links if not link.startswith(("http", "#"))}
    assert own <= {f"/app/guides/{name}".rstrip("/") for name in found}
    table = next(node for node in found[""]["content"] if node[0] == "table")
    title = "Send from Python, Node, Laravel, Rails or Go"
    assert f'["a", {{"href": "/app/guides/languages"}}, "{title}"]' in json.dumps(table)


def test_a_guide_keeps_its_words_and_loses_pictures_and_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markup in a text stays text; of a link to a file of the repository the text stays."""
    path = tmp_path / "try.md"
    path.write_text(
        "# Try\n\n<!-- c -->\n## A *b* & `<i>`\n\n![p](p.png) See [it](../x.md#y).\n\n    a\n"
    )
    monkeypatch.setattr(guides, "sources", lambda: [path])
    assert read()["try"] == {
        "name": "try",
        "title": "Try",
        "content": [
            ["h2", {"id": "a-b--i"}, "A ", ["em", {}, "b"], " & ", ["code", {}, "<i>"]],
            ["p", {}, " See ", "it", "."],
            ["pre", {}, "a\n"],
        ],
    }
