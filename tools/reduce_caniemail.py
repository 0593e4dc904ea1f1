"""Reduce caniemail's data to what the checks of templates need: `python -m tools.reduce_caniemail`.

The argument is the folder of the npm package `caniemail`, as `npm pack` makes it. The result is
committed, with the licence of the package in it. The package's own matching needs Node.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).parents[1] / "layers/shared/pillarbox/rendering/client_support.json"

#: Mail programs by their names for people, with their family and platform in the data.
CLIENTS: Final = {
    "Apple Mail": ("apple-mail", "macos"),
    "Apple Mail (iOS)": ("apple-mail", "ios"),
    "Gmail": ("gmail", "desktop-webmail"),
    "Gmail (Android)": ("gmail", "android"),
    "Outlook (Windows)": ("outlook", "windows"),
    "Outlook (macOS)": ("outlook", "macos"),
    "Outlook.com": ("outlook", "outlook-com"),
    "Samsung Email": ("samsung-email", "android"),
    "Thunderbird": ("thunderbird", "macos"),
    "Yahoo! Mail": ("yahoo", "desktop-webmail"),
}
#: Mail programs replace it by another element, which harms nothing.
_HARMLESS: Final = frozenset({"body"})
_ELEMENT: Final = re.compile(r"<([a-z0-9]+)> element")
_PROPERTY: Final = re.compile(r"([a-z-]+)(?: (?:CSS )?(?:property|shorthand))?")
_FUNCTION: Final = re.compile(r"([a-z-]+)\(\)")
_DECLARATION: Final = re.compile(r"([a-z-]+): ?([a-z]+)")
_AT_RULE: Final = re.compile(r"@([a-z-]+)")


def reduce(data: dict[str, Any]) -> dict[str, Any]:
    """Return, by kind and name of a feature, the numbers of the clients that do not support it."""
    table: dict[str, dict[str, list[int]]] = {
        "elements": {},
        "properties": {},
        "functions": {},
        "declarations": {},
        "at_rules": {},
    }
    for feature in data["data"]:
        unsupported = _unsupported(feature["stats"])
        for kind, name in _names(feature["category"], feature["title"].strip()):
            if unsupported:
                table[kind][name] = unsupported
    rows = {kind: dict(sorted(features.items())) for kind, features in table.items()}
    return {"clients": [*CLIENTS], **rows}


def _names(category: str, title: str) -> list[tuple[str, str]]:
    """Return what a feature is called in a source; features without a plain name have none."""
    if category == "html":
        found = _ELEMENT.fullmatch(title)
        return [("elements", found[1])] if found and found[1] not in _HARMLESS else []
    if category != "css":
        return []
    if all(_PROPERTY.fullmatch(part) for part in title.split(", ")) and "combinator" not in title:
        matches = [_PROPERTY.fullmatch(part) for part in title.split(", ")]
        return [("properties", found[1]) for found in matches if found]
    for kind, pattern in (("functions", _FUNCTION), ("at_rules", _AT_RULE)):
        if found := pattern.fullmatch(title):
            return [(kind, found[1])]
    if found := _DECLARATION.fullmatch(title):
        return [("declarations", f"{found[1]}:{found[2]}")]
    return []


def _unsupported(stats: dict[str, Any]) -> list[int]:
    """Return the numbers of the clients whose newest tested version does not support a feature."""
    numbers = []
    for number, (family, platform) in enumerate(CLIENTS.values()):
        versions = [*stats.get(family, {}).get(platform, {}).values()]
        if versions and versions[-1].startswith("n"):
            numbers.append(number)
    return numbers


def main(package: Path) -> None:
    """Write the table with the licence of its data."""
    data = json.loads((package / "data/caniemail.json").read_text(encoding="utf-8"))
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    table = {
        "source": f"npm caniemail {version}, with the data of https://www.caniemail.com",
        "licence": (package / "LICENSE").read_text(encoding="utf-8").split("\n"),
        **reduce(data),
    }
    TARGET.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
