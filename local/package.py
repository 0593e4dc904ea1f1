"""The code as `sam build` and `sam package` would pack it, for the machine at hand.

The functions and the layer become archives, byte code and all, and the template names them by
their place in the engine's S3. Everything lies in the state directory under a hash of what it
was made from, so that only what changed is packed again.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local import template

BUCKET: Final = "pillarbox-deployment"

# A figure to raise when packing itself changes.
_FORMAT: Final = b"2"
_UV: Final = template.ROOT / ".uv" / "bin" / "uv"


class PackagingFailed(Exception):
    """What the layer depends on could not be installed; the text is the installer's."""


@dataclass(frozen=True, slots=True)
class Package:
    """What the engine deploys: the template (JSON) and the archives it names by file name."""

    template: str
    archives: tuple[Path, ...]


def package(build: Path, root: Path = template.ROOT) -> Package:
    """Pack the project.

    Args:
        build: where archives and installed dependencies are kept between runs.
        root: the project.

    Raises:
        PackagingFailed: the layer's dependencies cannot be installed.
    """
    build.mkdir(parents=True, exist_ok=True)
    # The engine knows no nested stacks.
    source = template.inlined(template.load(root / template.PATH.name), root)
    archives: list[Path] = []
    kept: set[Path] = set()
    for resource in source["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Serverless::Function":
            archive = _archive(build, root / properties["CodeUri"])
            properties["CodeUri"] = f"s3://{BUCKET}/{archive.name}"
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            content = root / properties["ContentUri"]
            dependencies = _install(build, content)
            archive = _archive(build, content, dependencies)
            kept.add(dependencies)
            properties["ContentUri"] = f"s3://{BUCKET}/{archive.name}"
        else:
            continue
        archives.append(archive)
    _forget(build, keep=kept.union(archives))
    translated = template.for_engine(template.translate(source))
    return Package(json.dumps(translated), tuple(archives))


def _install(build: Path, layer: Path) -> Path:
    """What the layer depends on, installed for this machine; byte code is made once, here."""
    requirements, trim = layer / "requirements.txt", layer / "trim_sdk.py"
    made_from = hashlib.sha256(_FORMAT + sys.version.encode())
    made_from.update(requirements.read_bytes() + trim.read_bytes())
    target = build / f"dependencies-{made_from.hexdigest()[:16]}"
    if target.exists():
        return target
    unfinished = target.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _run(
        *(_UV, "pip", "install", "--quiet", "--python", sys.executable),
        *("--target", unfinished, "--requirements", requirements),
    )
    _run(sys.executable, trim, unfinished)
    _compile(unfinished)
    unfinished.rename(target)
    return target


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  ours
    if done.returncode:
        raise PackagingFailed(done.stderr)


def _archive(build: Path, source: Path, dependencies: Path | None = None) -> Path:
    """The source's files in one archive, with their byte code.

    With dependencies it is a layer's: all of it under `python/`.
    """
    made_from = hashlib.sha256(_FORMAT + sys.version.encode())
    if dependencies:
        made_from.update(dependencies.name.encode())
    for path in sorted(source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            made_from.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes())
    target = build / f"{source.name}-{made_from.hexdigest()[:16]}.zip"
    if target.exists():
        return target
    staging = build / f"{source.name}.unfinished"
    shutil.rmtree(staging, ignore_errors=True)
    shutil.copytree(source, staging, ignore=shutil.ignore_patterns("__pycache__"))
    _compile(staging)
    unfinished = target.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for folder in filter(None, (staging, dependencies)):
            for path in filter(Path.is_file, folder.rglob("*")):
                place = path.relative_to(folder)
                archive.write(path, f"python/{place}" if dependencies else place)
    shutil.rmtree(staging)
    unfinished.rename(target)
    return target


def _compile(folder: Path) -> None:
    """Make byte code that holds whatever the files' times become in an archive."""
    subprocess.run(  # noqa: S603  our own interpreter
        [
            *(sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
            *("-s", folder, folder),
        ],
        check=False,  # a dependency may carry files for other versions of Python
        stdout=subprocess.DEVNULL,
    )


def _forget(build: Path, keep: set[Path]) -> None:
    for path in set(build.iterdir()) - keep:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
