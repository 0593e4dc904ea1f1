"""Names in product code: what a reader finds under a name is one thing."""

import ast
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


def class_names() -> dict[str, list[str]]:
    """Return where each class of the product is defined, by its name."""
    places: dict[str, list[str]] = defaultdict(list)
    for part in PRODUCT:
        for source in sorted((ROOT / part).rglob("*.py")):
            for node in ast.walk(ast.parse(source.read_bytes())):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(source.relative_to(ROOT)))
    return places


def test_no_class_name_stands_for_two_things() -> None:
    """Every class name of the product is defined once, private ones too."""
    assert len(class_names()) > 200
    repeated = {name: places for name, places in class_names().items() if len(places) > 1}
    assert repeated == {}
