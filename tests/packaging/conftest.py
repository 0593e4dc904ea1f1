"""The layer as `sam build` builds it, for the deployed architecture and for this machine."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_UV = ROOT / ".uv" / "bin" / "uv"


def _build(target: Path, architecture: str) -> Path:
    subprocess.run(
        [
            *("make", "-C", ROOT / "layers" / "shared", "build-SharedLayer"),
            *(f"ARTIFACTS_DIR={target}", f"PLATFORM={architecture}-manylinux_2_34"),
        ],
        env=os.environ | {"PATH": f"{_UV.parent}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    return target


@pytest.fixture(scope="session")
def deployed_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the layer for the architecture that the template declares."""
    return _build(tmp_path_factory.mktemp("deployed"), "aarch64")


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the read-only folder of the layer, like /opt, for this machine's architecture."""
    layer_folder = _build(
        tmp_path_factory.mktemp("layer"), platform.machine().replace("arm64", "aarch64")
    )
    for path in (layer_folder, *layer_folder.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    return layer_folder


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
