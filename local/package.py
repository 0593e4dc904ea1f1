"""Packages the code for this machine, as `sam build` and `sam package` do for AWS.

Each function becomes an archive with byte code, and the template names each archive by its S3 URI
in the engine. The name of an archive contains a hash of its sources, so that only changed code is
packaged again.

The engine unpacks the layer again for each process of a function: 2,000 files, which it takes
long to write and to delete. So the layer's archive only leads to folders that all of them share.
What a function needs besides the layer is in the environment of the engine, whose Python runs it.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from local import template
from local.private import restrict_folder

BUCKET: Final = "pillarbox-deployment"

# Increase this number when the packaging itself changes.
_FORMAT: Final = b"6"
#: Where a layer may have packages, for Lambda and for the engine.
_SITE_PACKAGES: Final = (
    f"python/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
)
#: That of a clone, or the one that is installed with the command.
_UV: Final = next(
    folder / "uv"
    for folder in (template.ROOT / ".uv" / "bin", Path(sys.executable).parent)
    if (folder / "uv").exists() or folder == Path(sys.executable).parent
)


class PackagingFailed(Exception):
    """Dependencies could not be installed; the text is the installer's output."""


@dataclass(frozen=True, slots=True)
class Package:
    """What the engine deploys: the template (JSON) and the archives that it names."""

    template: str
    archives: tuple[Path, ...]


def package(build: Path, root: Path = template.ROOT) -> Package:
    """Package the project.

    Args:
        build: the folder that keeps archives and installed dependencies between runs.
        root: the project's folder.
    """
    build.mkdir(parents=True, exist_ok=True)
    # The engine does not support nested stacks.
    source = template.inlined(template.load(root / template.PATH.name), root)
    archives: list[Path] = []
    keep: set[Path] = set()
    for resource in source["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Serverless::Function":
            archive = _archive(build, root / properties["CodeUri"])
            properties["CodeUri"] = f"s3://{BUCKET}/{archive.name}"
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            content = root / properties["ContentUri"]
            folders = (_code(build, content), _install(build, content))
            archive = _layer_archive(build, folders)
            keep.update(folders)
            properties["ContentUri"] = f"s3://{BUCKET}/{archive.name}"
        else:
            continue
        archives.append(archive)
    translated = _translate(build, source)
    _delete_outdated(build, keep=keep.union(archives, [translated]))
    return Package(translated.read_text(), tuple(archives))


def _translate(build: Path, source: template.Template) -> Path:
    """Return the file with the template for the engine; the transform takes seconds and 40 MB."""
    text = json.dumps(source, default=str)
    digest = hashlib.sha256(Path(template.__file__).read_bytes() + text.encode())
    digest.update(_FORMAT + version("aws-sam-translator").encode())
    target = build / f"template-{digest.hexdigest()[:16]}.json"
    if not target.exists():
        unfinished = target.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(template.for_engine(template.translate(source))))
        unfinished.rename(target)
    return target


def build_layer(state: Path) -> tuple[str, Path]:
    """Build the layer for Lambda's runtime on this architecture, unless it is up to date.

    Returns:
        The architecture as Lambda calls it, and the layer's folder.
    """
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    source = template.ROOT / "layers" / "shared"
    target, mark = state / "layer", state / "layer.sources"
    sources = f"{machine} {_digest(source).hexdigest()}\n"
    if not (target.is_dir() and mark.is_file() and mark.read_text() == sources):
        tools = f"{_UV.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        unfinished = Path(tempfile.mkdtemp(prefix="layer-", dir=state))
        _run(
            *("make", "-C", source, "build-SharedLayer"),
            *(f"ARTIFACTS_DIR={unfinished}", f"PLATFORM={machine}-manylinux_2_34"),
            environment=os.environ | {"PATH": tools},
        )
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
        mark.write_text(sources)
    return {"aarch64": "arm64"}.get(machine, machine), target


def _install(build: Path, source: Path) -> Path:
    """Install the dependencies of the layer, and compile them; return their folder."""
    requirements, trim = source / "requirements.txt", source / "trim_sdk.py"
    digest = hashlib.sha256(_FORMAT + sys.version.encode())
    digest.update(requirements.read_bytes() + trim.read_bytes())
    target = build / f"dependencies-{digest.hexdigest()[:16]}"
    if target.exists():
        return target
    unfinished = target.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _run(
        *(_UV, "pip", "install", "--quiet", "--python", sys.executable),
        *("--target", unfinished, "--require-hashes", "--requirements", requirements),
    )
    _run(sys.executable, trim, unfinished)
    _compile(unfinished)
    restrict_folder(unfinished)
    unfinished.rename(target)
    return target


def _run(*command: str | Path, environment: Mapping[str, str] | None = None) -> None:
    process = subprocess.run(  # noqa: S603  our own commands
        command, env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise PackagingFailed(process.stderr)


def _archive(build: Path, source: Path) -> Path:
    """Put a function, with byte code, into an archive in the folder `build`; return its path."""
    target = build / f"{source.name}-{_digest(source).hexdigest()[:16]}.zip"
    if target.exists():
        return target
    code = _code(build, source)
    unfinished = target.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for path in filter(Path.is_file, code.rglob("*")):
            archive.write(path, path.relative_to(code))
    shutil.rmtree(code)
    unfinished.rename(target)
    return target


def _code(build: Path, source: Path) -> Path:
    """Copy the source files and compile them; return the folder of the copy."""
    target = build / f"{source.name}-{_digest(source).hexdigest()[:16]}"
    if target.exists():
        return target
    unfinished = build / f"{source.name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(source, unfinished, ignore=shutil.ignore_patterns("__pycache__"))
    _compile(unfinished)
    restrict_folder(unfinished)
    unfinished.rename(target)
    return target


def _layer_archive(build: Path, folders: Sequence[Path]) -> Path:
    """Make the archive of a layer that puts the folders at the start of Python's path."""
    line = f"import sys; sys.path[:0] = {[str(folder.resolve()) for folder in folders]!r}\n"
    target = build / f"layer-{hashlib.sha256(line.encode()).hexdigest()[:16]}.zip"
    if target.exists():
        return target
    unfinished = target.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w") as archive:
        # Lambda, too, reads the .pth files of this folder.
        archive.writestr(f"{_SITE_PACKAGES}/layer.pth", line)
    unfinished.rename(target)
    return target


def _digest(source: Path) -> "hashlib._Hash":
    """Return a digest of all source files in a folder, their names and this Python."""
    digest = hashlib.sha256(_FORMAT + sys.version.encode())
    for path in sorted(source.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes())
    return digest


def _compile(folder: Path) -> None:
    """Compile to byte code that stays valid when the archive changes the files' timestamps."""
    subprocess.run(  # noqa: S603  our own interpreter
        [
            *(sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
            *("-s", folder, folder),
        ],
        check=False,  # a dependency may carry files for other versions of Python
        stdout=subprocess.DEVNULL,
    )


def _delete_outdated(build: Path, keep: set[Path]) -> None:
    for path in set(build.iterdir()) - keep:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
