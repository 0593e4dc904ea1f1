"""Name the layer's release in a template that was built.

SAM makes a new version of a function when the function changes. To a change of the layer
alone, where most of the code is, it is blind, and the alias `live` would stay with the old one.
So the built template says among the functions' settings which layer they were built with.
"""

import hashlib
import sys
from pathlib import Path
from typing import Final

_LAYER: Final = Path(__file__).parent
_UNBUILT: Final = "RELEASE: unbuilt"


def release(layer: Path = _LAYER) -> str:
    """A digest of what the layer is made from, in hex: the same sources, the same release."""
    digest = hashlib.sha256()
    for path in sorted(layer.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(layer)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def stamp(template: Path) -> None:
    """Put the release into a template.

    Raises:
        ValueError: the template has no place for it.
    """
    text = template.read_text()
    if text.count(_UNBUILT) != 1:
        raise ValueError(f"{template} has not one {_UNBUILT!r}")
    template.write_text(text.replace(_UNBUILT, f"RELEASE: r-{release()}"))


if __name__ == "__main__":
    stamp(Path(sys.argv[1]))
