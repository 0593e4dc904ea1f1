"""A copy of the tree, in which the code may be changed while others work on the tree."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]


@contextmanager
def copied_tree() -> Iterator[Path]:
    """Copy the tree for a `with` block, with its byte code and without what is built.

    The environments are those of the tree.
    """
    places = ROOT / ".local" / "copies"
    places.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=places) as place:
        copy = Path(place) / ROOT.name
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "node_modules", "dist"))
        for environment in ROOT.glob(".venv*"):
            (copy / environment.name).symlink_to(environment)
        yield copy
