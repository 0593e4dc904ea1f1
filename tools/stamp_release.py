"""Write the layer's release into a built template: `python -m tools.stamp_release TEMPLATE`.

SAM publishes a new version of a function only when the function itself changes. It ignores a
change of the layer, which contains most of the code, so the alias `live` would keep the old
version. The release is a setting of every function, so a new release changes every function.
"""

import hashlib
import sys
from pathlib import Path
from typing import Final

_LAYER: Final = Path(__file__).resolve().parents[1] / "layers" / "shared"
_UNBUILT: Final = "RELEASE: unbuilt"


def release(layer: Path = _LAYER) -> str:
    """Return a hex digest of the layer's sources: the same sources give the same release."""
    digest = hashlib.sha256()
    for path in sorted(layer.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(layer)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def stamp(template: Path) -> None:
    """Write the release into a template.

    Raises:
        ValueError: the template does not contain the placeholder exactly once.
    """
    text = template.read_text()
    if text.count(_UNBUILT) != 1:
        raise ValueError(f"{template} does not contain {_UNBUILT!r} exactly once")
    template.write_text(text.replace(_UNBUILT, f"RELEASE: r-{release()}"))


if __name__ == "__main__":
    stamp(Path(sys.argv[1]))
