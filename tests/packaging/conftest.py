"""The layer as `sam build` builds it, for the deployed architecture and for this machine.

All workers of a run share what is built.
"""

import fcntl
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_UV = ROOT / ".uv" / "bin" / "uv"


def _make(folder: str, goal: str, target: Path, architecture: str) -> None:
    subprocess.run(
        [
            *("make", "-C", ROOT / folder, goal),
            *(f"ARTIFACTS_DIR={target}", f"PLATFORM={architecture}-manylinux_2_34"),
        ],
        env=os.environ | {"PATH": f"{_UV.parent}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )


def _make_here(folder: str, goal: str, target: Path) -> None:
    """Make something for this machine's architecture, read-only as in Lambda."""
    _make(folder, goal, target, platform.machine().replace("arm64", "aarch64"))
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
def deployed_layer(shared: Path) -> Path:
    """Return the folder of the layer for the architecture that the template declares."""
    return _once(
        shared / "deployed",
        lambda target: _make("layers/shared", "build-SharedLayer", target, "aarch64"),
    )


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
