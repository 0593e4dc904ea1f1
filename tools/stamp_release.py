"""Write the release into a built template: `python -m tools.stamp_release TEMPLATE [PARAMETERS]`.

SAM publishes a new version of a function only when its properties change, as the template writes
them. A change of the layer, which contains most of the code, does not change them, and neither does
another value of a parameter that they refer to. The alias `live` would keep the old version, with
the old settings. The release is a setting of every function, so a new release changes every
function. It is the version of the API too: whether the API has some of its paths depends on a
parameter, and a stage shows another API only after a new deployment.
"""

import hashlib
import re
import sys
from pathlib import Path
from typing import Final

_LAYER: Final = Path(__file__).resolve().parents[1] / "layers" / "shared"
_UNBUILT: Final = re.compile(r"\b(RELEASE|version): unbuilt\b")


def release(template: str, parameters: str = "", layer: Path = _LAYER) -> str:
    """Return a hex digest of all that functions run with: the same gives the same release.

    Args:
        template: the text of the template.
        parameters: a digest of the values that the template gets.
        layer: the layer, of whose sources it is.
    """
    digest = hashlib.sha256(f"{len(template)}\0{template}{len(parameters)}\0{parameters}".encode())
    for path in sorted(layer.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(layer)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def stamp(template: Path, parameters: str = "", layer: Path = _LAYER) -> None:
    """Write the release into a template.

    Raises:
        ValueError: the template does not contain each placeholder exactly once.
    """
    text = template.read_text()
    stamped, count = _UNBUILT.subn(rf"\1: r-{release(text, parameters, layer)}", text)
    if count != 2:  # noqa: PLR2004  the setting and the version
        raise ValueError(
            f"{template} does not contain RELEASE and version with 'unbuilt' once each"
        )
    template.write_text(stamped)


if __name__ == "__main__":
    stamp(Path(sys.argv[1]), "".join(sys.argv[2:]))
