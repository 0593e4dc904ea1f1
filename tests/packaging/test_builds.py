"""The same sources give the same archives, templates and wheel, to the octet."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import boto3
import pytest
from moto import mock_aws

from admin import deploy
from admin.aws import release
from tests.needs import linux_only
from tools.pack_release import ROOT

pytestmark = linux_only

_PROGRAMS: Final = (ROOT / ".uv" / "bin", ROOT / ".venv-sam" / "bin")
_BUILT: Final = ".aws-sam/release"
_BUILD: Final = """
import subprocess, sys
from pathlib import Path
from tools import pack_release, wheel
clone, built = Path(sys.argv[1]), sys.argv[2]
subprocess.run(["sam", "build"], cwd=clone, check=True)
pack_release.pack(clone / ".aws-sam" / "build", clone / built)
wheel.stage(clone / "project", [built], clone)
wheel.pack(clone / "project", clone / "dist")
"""
_YEAR: Final = 365 * 24 * 3600


def _clone(folder: Path, *, mode: int, age: int) -> Path:
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


def _build(clone: Path, umask: int, **environment: str) -> Path:
    """Do what `make build` and `make wheel` do, but for the dashboard; return the wheel."""
    path = os.pathsep.join((*map(str, _PROGRAMS), os.environ["PATH"]))
    settings = {"PATH": path, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}
    subprocess.run(
        (sys.executable, "-c", _BUILD, clone, _BUILT),
        cwd=ROOT,
        env=os.environ | settings | environment,
        umask=umask,
        check=True,
        capture_output=True,
    )
    (made,) = (clone / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Two wheels, of clones that differ in all that must not matter."""
    folder = tmp_path_factory.mktemp("builds")
    one = _clone(folder / "one", mode=0o664, age=50 * _YEAR)
    other = _clone(folder / "another place" / "of it", mode=0o600, age=20 * _YEAR)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(_build, one, 0o022, TZ="UTC", LC_ALL="C.UTF-8")
        second = pool.submit(_build, other, 0o077, TZ="Pacific/Kiritimati", LC_ALL="C")
        return first.result(), second.result()


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_builds_are_equal(wheels: tuple[Path, ...]) -> None:
    one, other = (_contents(made.parents[1] / _BUILT) for made in wheels)
    assert [name for name in {*one, *other} if one.get(name) != other.get(name)] == []
    archives = {name for name in one if name.endswith(".zip")}
    functions = {path.parent.name for path in ROOT.glob("functions/*/app.py")}
    assert len(archives) == len(functions) + 1  # the layer
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_a_clone_and_the_wheel_deploy_the_same(wheels: tuple[Path, ...], tmp_path: Path) -> None:
    """Both give CloudFormation the template at one address, which has a hash of its content."""
    shutil.unpack_archive(wheels[1], tmp_path, "zip")
    built = deploy._RELEASE.relative_to(ROOT)
    folders = (wheels[0].parents[1] / built, tmp_path / "pillarbox_stack" / built)
    with mock_aws():
        boto3.setup_default_session(region_name="us-east-1")
        first, second = (release.upload(folder, "key") for folder in folders)
    assert first == second
    assert first.partition("template-")[2]
