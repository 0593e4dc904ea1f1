"""Compute an image's tag: the same sources on the same base get the same tag."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

#: What the build copies from the repository, and not from an earlier stage.
_COPY: Final = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)


def sources(dockerfile: Path) -> Iterator[str]:
    """Yield the paths that a Dockerfile copies from the folder of the build."""
    for words in _COPY.findall(dockerfile.read_text()):
        yield from words.split()


def image_tag(root: Path, dockerfile: Path, base: str) -> str:
    """Return a tag that changes with the sources, the Dockerfile and the base image."""
    digest = hashlib.sha256(base.encode())
    for path in sorted({dockerfile, *_files(root, dockerfile)}):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _files(root: Path, dockerfile: Path) -> Iterator[Path]:
    for source in sources(dockerfile):
        path = root / source
        found = path.rglob("*") if path.is_dir() else [path]
        yield from (file for file in found if file.is_file() and "__pycache__" not in file.parts)
