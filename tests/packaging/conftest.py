"""The layer as `sam build` builds it, for the deployed architecture and for this machine."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_UV = ROOT / ".uv" / "bin" / "uv"


def _build(folder: str, resource: str, target: Path, architecture: str) -> Path:
    subprocess.run(
        [
            *("make", "-C", ROOT / folder, f"build-{resource}"),
            *(f"ARTIFACTS_DIR={target}", f"PLATFORM={architecture}-manylinux_2_34"),
        ],
        env=os.environ | {"PATH": f"{_UV.parent}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    return target


def _build_here(folder: str, resource: str, target: Path) -> Path:
    """Build for this machine's architecture, read-only as in Lambda."""
    _build(folder, resource, target, platform.machine().replace("arm64", "aarch64"))
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    return target


@pytest.fixture(scope="session")
def deployed_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the layer for the architecture that the template declares."""
    return _build("layers/shared", "SharedLayer", tmp_path_factory.mktemp("deployed"), "aarch64")


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the read-only folder of the layer, like /opt."""
    return _build_here("layers/shared", "SharedLayer", tmp_path_factory.mktemp("layer"))


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the read-only folder of edit_templates, the only function that is built."""
    folder = tmp_path_factory.mktemp("editor")
    return _build_here("functions/edit_templates", "EditTemplates", folder)


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the runtime's own client: only it and the code can be imported."""
    target = tmp_path_factory.mktemp("runtime")
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
    return target
