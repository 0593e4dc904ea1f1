"""The layer as `sam build` builds it, for the deployed architecture and for this machine.

All workers of a run share what is built.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
_UV = ROOT / ".uv" / "bin" / "uv"
_PROGRAMS: Final = (_UV.parent, ROOT / ".venv-sam" / "bin", ROOT / ".venv" / "bin")
_PATH: Final = os.pathsep.join((*map(str, _PROGRAMS), os.environ["PATH"]))
#: Where a build has what is deployed.
RELEASE: Final = ".aws-sam/release"
_BUILD: Final = """
import subprocess, sys
from pathlib import Path
from tools import pack_release, wheel
clone, release = Path(sys.argv[1]), sys.argv[2]
subprocess.run(["sam", "build"], cwd=clone, check=True)
pack_release.pack(clone / ".aws-sam" / "build", clone / release)
wheel.stage(clone / "project", [release], clone)
wheel.pack(clone / "project", clone / "dist")
"""
YEAR: Final = 365 * 24 * 3600


def clone(folder: Path, *, mode: int, age: int) -> Path:
    """Copy what `make build` reads; return the copy."""
    sources = ("api.yaml", "template.yaml", "samconfig.toml", "stacks", "functions", "layers")
    listed = subprocess.check_output(("git", "ls-files", *sources), cwd=ROOT, text=True)
    for name in listed.splitlines():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
        copy.chmod(mode)
        os.utime(copy, (age, age))
    return folder


def build(clone: Path, umask: int, **environment: str) -> None:
    """Do what `make build` and `make wheel` do, but for the dashboard."""
    settings = {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}
    subprocess.run(
        (sys.executable, "-c", _BUILD, clone, RELEASE),
        cwd=ROOT,
        env=os.environ | {"PATH": _PATH} | settings | environment,
        umask=umask,
        check=True,
        capture_output=True,
    )


def _make_here(folder: str, goal: str, target: Path) -> None:
    """Make something for this machine's architecture, read-only as in Lambda."""
    architecture = platform.machine().replace("arm64", "aarch64")
    subprocess.run(
        [
            *("make", "-C", ROOT / folder, goal),
            *(f"ARTIFACTS_DIR={target}", f"PLATFORM={architecture}-manylinux_2_34"),
        ],
        env=os.environ | {"PATH": _PATH},
        check=True,
        capture_output=True,
    )
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "packaging"
    folder.mkdir(exist_ok=True)
    return folder


def _once(target: Path, build: Callable[[Path], object]) -> Path:
    """Build in the folder `target`, unless another worker has done so. Return the folder."""
    with target.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done := target.with_suffix(".done")).exists():
            target.mkdir()
            build(target)
            done.touch()
    return target


@pytest.fixture(scope="session")
def built(shared: Path) -> Path:
    """Return a clone with what it has built for AWS, of old sources that a group may write."""

    def clone_and_build(target: Path) -> None:
        build(clone(target, mode=0o664, age=50 * YEAR), 0o022, TZ="UTC", LC_ALL="C.UTF-8")

    return _once(shared / "built", clone_and_build)


@pytest.fixture(scope="session")
def deployed_layer(built: Path) -> Path:
    """Return the folder of the layer for the architecture that the template declares."""
    return built / ".aws-sam" / "build" / "SharedLayer"


@pytest.fixture(scope="session")
def layer(shared: Path) -> Path:
    """Return the read-only folder of the layer, like /opt.

    It has no byte code: its users keep theirs beside it, and compile only what they load.
    """
    return _once(
        shared / "layer", lambda target: _make_here("layers/shared", "install-SharedLayer", target)
    )


@pytest.fixture(scope="session")
def editor(shared: Path) -> Path:
    """Return the read-only folder of edit_templates, which has packages of its own."""
    return _once(
        shared / "editor",
        lambda target: _make_here("functions/edit_templates", "build-EditTemplates", target),
    )


@pytest.fixture(scope="session")
def passkeys(shared: Path) -> Path:
    """Return the read-only folder of passkeys, which has packages of its own too."""
    return _once(
        shared / "passkeys",
        lambda target: _make_here("functions/passkeys", "build-Passkeys", target),
    )


@pytest.fixture(scope="session")
def runtime(shared: Path) -> Path:
    """Return the folder of the runtime's own client: only it and the code can be imported."""
    return _once(shared / "runtime", _install_runtime)


def _install_runtime(target: Path) -> None:
    requirements = subprocess.run(
        [_UV, "export", "--frozen", "--quiet", "--only-group", "runtime"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    subprocess.run(
        [_UV, "pip", "install", "--quiet", "--target", target, "--requirements", "-"],
        cwd=ROOT,
        input=requirements,
        check=True,
        capture_output=True,
    )
