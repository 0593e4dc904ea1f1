"""Names in product code: what a reader finds under a name is one thing."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = (
    "layers/shared",
    "functions",
    "relay",
    "front",
    "admin",
    "local",
    "openapi",
    "tools",
)
_CLASS: Final = re.compile(r"^ *class (\w+)[:(\[]", re.MULTILINE)


def class_names() -> dict[str, list[str]]:
    """Return where each class of the product is defined, by its name."""
    places: dict[str, list[str]] = defaultdict(list)
    for part in PRODUCT:
        for source in sorted((ROOT / part).rglob("*.py")):
            for name in _CLASS.findall(source.read_text(encoding="utf-8")):
                places[name].append(str(source.relative_to(ROOT)))
    return places


def test_no_class_name_stands_for_two_things() -> None:
    names = class_names()
    assert len(names) > 200
    repeated = {name: places for name, places in names.items() if len(places) > 1}
    assert repeated == {}
