"""The layer as `sam build` makes it: for the deployed architecture, and for this machine."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_UV = ROOT / ".uv" / "bin" / "uv"


def _built(target: Path, architecture: str) -> Path:
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
    """The layer's folder for the architecture that the template declares."""
    return _built(tmp_path_factory.mktemp("deployed"), "aarch64")


@pytest.fixture(scope="session")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layer's folder, as /opt would be, for this machine's architecture; nobody may write."""
    built = _built(tmp_path_factory.mktemp("layer"), platform.machine().replace("arm64", "aarch64"))
    for path in (built, *built.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    return built


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runtime's own client, which is all that is importable beside the code."""
    target = tmp_path_factory.mktemp("runtime")
    locked = subprocess.run(
        [_UV, "export", "--frozen", "--quiet", "--only-group", "runtime"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    subprocess.run(
        [_UV, "pip", "install", "--quiet", "--target", target, "--requirements", "-"],
        cwd=ROOT,
        input=locked,
        check=True,
        capture_output=True,
    )
    return target
