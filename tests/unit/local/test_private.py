"""The state directory belongs to the user alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.private import make_private


@pytest.fixture(params=[0o022, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set the umask of a shell, and restore the test's own afterwards."""
    own = os.umask(request.param)
    yield request.param
    os.umask(own)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.usefixtures("umask")
def test_a_new_directory_is_private(tmp_path: Path) -> None:
    state = tmp_path / "parent" / "state"
    make_private(state)
    (state / "stack.json").write_text("{}")
    (state / "engine" / "s3").mkdir(parents=True)
    assert mode(state) == mode(state / "engine") == mode(state / "engine" / "s3") == 0o700
    assert mode(state / "stack.json") == 0o600


@pytest.mark.usefixtures("umask")
def test_an_old_directory_becomes_private(tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "build" / "dependencies").mkdir(parents=True)
    files = [state / "engine.log", state / "build" / "a.zip", state / "build/dependencies/x.py"]
    for path in files:
        path.touch(0o666)
    for folder in (state, state / "build", state / "build" / "dependencies"):
        folder.chmod(0o777)
    make_private(state)
    assert [mode(path) for path in files] == [0o600] * 3
    folders = [state, state / "build", state / "build" / "dependencies"]
    assert [mode(folder) for folder in folders] == [0o700] * 3


def test_what_is_elsewhere_keeps_its_mode(tmp_path: Path, umask: int) -> None:
    state, other = tmp_path / "state", tmp_path / "other"
    state.mkdir()
    other.mkdir()
    for name in ("linked", "shared"):
        (other / name).touch(0o666)
    (state / "linked").symlink_to(other / "linked")
    (state / "shared").hardlink_to(other / "shared")
    make_private(state)
    assert mode(other / "linked") == mode(other / "shared") == 0o666 & ~umask
