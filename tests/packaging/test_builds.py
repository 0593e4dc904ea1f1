"""The same sources give the same archives, templates and wheel, to the octet."""

import shutil
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from admin import deploy
from admin.aws import release
from tests.needs import linux_only
from tests.packaging.conftest import RELEASE, YEAR, build, clone
from tools.pack_release import ROOT

pytestmark = linux_only


@pytest.fixture(scope="module")
def wheels(built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two wheels, of clones that differ in all that must not matter."""
    folder = tmp_path_factory.mktemp("builds") / "another place" / "of it"
    other = clone(folder, mode=0o600, age=20 * YEAR)
    build(other, 0o077, TZ="Pacific/Kiritimati", LC_ALL="C")
    (first,), (second,) = (made.glob("dist/*.whl") for made in (built, other))
    return first, second


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_builds_are_equal(wheels: tuple[Path, ...]) -> None:
    one, other = (_contents(made.parents[1] / RELEASE) for made in wheels)
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
