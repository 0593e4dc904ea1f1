"""Build the wheel of the command in `dist`: `make wheel`.

It has what a clone has, with a build of the service: `pillarbox deploy` and `pillarbox up` need
nothing else. The same sources give the same octets.
"""

import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools.pack_release import ROOT

_STAGE: Final = ROOT / ".aws-sam" / "wheel"
_UV: Final = ROOT / ".uv" / "bin" / "uv"
_SOURCES: Final = (
    *("admin", "front", "functions", "layers", "local", "relay", "stacks", "LICENSE"),
    *("api.yaml", "template.yaml", "samconfig.toml", "stack-policy.json", ".python-version"),
    *(".dockerignore", ".uv.txt", "pyproject.toml", "uv.lock"),  # for the relay's image
    *("docs/openapi.json", "openapi/__init__.py", "openapi/of_keys.py"),
)
_BUILT: Final = (".aws-sam/release", "dashboard/dist")
_EXPORT: Final = (
    *("export", "--locked", "--quiet", "--no-default-groups", "--group", "local"),
    *("--no-hashes", "--no-annotate", "--no-header", "--no-emit-project"),
)
_OF_ENGINE: Final = ("boto3==", "botocore==", "s3transfer==")
_PROJECT: Final = """\
[project]
name = "pillarbox"
version = {version}
description = {description}
readme = "README.md"
license = {license}
requires-python = {python}
dependencies = {dependencies}

[project.scripts]
pillarbox = "pillarbox_stack.admin.installed:main"

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build]
ignore-vcs = true
packages = ["pillarbox_stack"]
"""


def build() -> None:
    """Stage the files, and make the wheel of them."""
    shutil.rmtree(_STAGE, ignore_errors=True)
    stage(_STAGE)
    pack(_STAGE, ROOT / "dist")


def pack(project: Path, target: Path) -> None:
    """Let hatchling make the wheel of a project."""
    command = (_UV, "build", "--quiet", "--wheel", "--out-dir", target, project)
    subprocess.run(command, check=True)  # noqa: S603


def stage(folder: Path, built: Iterable[str] = _BUILT, clone: Path = ROOT) -> None:
    """Write the wheel's project into a folder: the sources, and folders that a clone has built."""
    package = folder / "pillarbox_stack"
    listed = subprocess.check_output(("git", "ls-files", *_SOURCES), cwd=ROOT, text=True)  # noqa: S603, S607
    for name in listed.splitlines():
        target = package / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    for name in built:
        shutil.copytree(clone / name, package / name)
    shutil.copyfile(ROOT / "README.md", folder / "README.md")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    exported = subprocess.check_output((_UV, *_EXPORT), cwd=ROOT, text=True)  # noqa: S603
    # The engine pins botocore. uv.lock overrides that, which a wheel cannot.
    dependencies = [line for line in exported.splitlines() if not line.startswith(_OF_ENGINE)]
    # The local stack installs the layer's dependencies with it.
    installer = (ROOT / ".uv.txt").read_text().split()[0]
    words = {
        "version": project["version"],
        "description": project["description"],
        "license": project["license"],
        "python": project["requires-python"],
        "dependencies": [*dependencies, "boto3", installer],
    }
    text = _PROJECT.format(**{name: json.dumps(value) for name, value in words.items()})
    (folder / "pyproject.toml").write_text(text)


if __name__ == "__main__":
    build()
