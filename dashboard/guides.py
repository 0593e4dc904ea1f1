"""Writes docs/guides as data for the dashboard, whose policy lets no page take text as markup."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

#: A text, or a list of a tag, its attributes and what is in it.
type Node = str | list[object]

_DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
#: What the pages of the dashboard lead to, beside the guides: the language of templates.
_MORE: Final = (_DOCS / "templates.md",)
_TYPES: Final = """// Written by dashboard/guides.py from docs/guides.

export type Node = string | [tag: string, attributes: Record<string, string>, ...inside: Node[]];
export interface Guide {
  name: string;
  title: string;
  content: Node[];
}

"""


def sources() -> list[Path]:
    """Return the files of the guides, the index first."""
    index = _DOCS / "guides" / "README.md"
    return [index, *sorted({*index.parent.glob("*.md")} - {index}), *_MORE]


def guides() -> str:
    """Return the guides as a module in TypeScript."""
    read = [_guide(path) for path in sources()]
    return f"{_TYPES}export const GUIDES: Guide[] = {json.dumps(read, ensure_ascii=False)};\n"


def _name(path: Path) -> str:
    return "" if path.stem == "README" else path.stem


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _guide(path: Path) -> dict[str, object]:
    tree = SyntaxTreeNode(MarkdownIt().enable("table").parse(path.read_text(encoding="utf-8")))
    content = [node for child in tree.children[1:] for node in _nodes(child, path)]
    return {"name": _name(path), "title": _title(path), "content": content}


def _nodes(node: SyntaxTreeNode, path: Path) -> Iterator[Node]:
    """Yield what a part of a guide is in HTML, without its pictures and comments."""
    match node.type:
        case "text":
            yield node.content
        case "code_inline":
            yield ["code", {}, node.content]
        case "fence" | "code_block":
            yield ["pre", {}, node.content]
        case "softbreak":
            yield " "
        case "image" | "html_block" | "html_inline":
            return
        case "inline":
            yield from _inside(node, path)
        case "link":
            yield from _link(str(node.attrs["href"]), [*_inside(node, path)], path)
        case "heading":
            yield [node.tag, {"id": _anchor(node.children[0].content)}, *_inside(node, path)]
        case _:
            yield [node.tag, {}, *_inside(node, path)]


def _inside(node: SyntaxTreeNode, path: Path) -> Iterator[Node]:
    for child in node.children:
        yield from _nodes(child, path)


def _link(href: str, inside: list[Node], path: Path) -> Iterator[Node]:
    """Yield a link to another guide or site; of others, which lead nowhere there, only the text.

    Those are files of the repository, and servers of a stack on the reader's own machine.
    """
    file, mark, anchor = href.partition("#")
    target = (path.parent / file).resolve()
    if not file or href.startswith("https:"):
        yield ["a", {"href": href}, *inside]
    elif target in sources():
        # The name of a file says nothing to a reader of the page.
        text = [_title(target)] if inside == [target.name] else inside
        yield ["a", {"href": f"/app/guides/{_name(target)}".rstrip("/") + mark + anchor}, *text]
    else:
        yield from inside


def _anchor(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    kept = (char for char in title.lower() if char.isalnum() or char in " -_")
    return "".join(kept).replace(" ", "-")
