"""A machine that cannot limit a program's memory says what it lacks."""

from pathlib import Path

import pytest

from verification.memory.cgroup import MissingCgroup, memory_group


@pytest.fixture(autouse=True)
def _root_with_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")


def refusal(root: Path) -> str:
    """Return why no group can be made there."""
    with pytest.raises(MissingCgroup) as error, memory_group(64, root):
        pass
    return str(error.value)


def test_only_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user learns that root is needed."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert refusal(tmp_path) == "only root can make one"


def test_a_missing_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `unshare` no program can be shown the group as its own."""
    monkeypatch.setattr("shutil.which", lambda name: None if name == "unshare" else name)
    assert refusal(tmp_path) == "unshare is not installed"


def test_no_controller(tmp_path: Path) -> None:
    """A system without cgroups, such as macOS, has neither version."""
    assert "neither of version 2 nor of version 1" in refusal(tmp_path)


def test_a_controller_that_is_not_passed_on(tmp_path: Path) -> None:
    """In a container with version 2 the kernel refuses, and the text says what helps."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    (tmp_path / "cgroup.subtree_control").write_text("cpu")
    assert "--cgroupns=host" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("existing", "limit"),
    [
        ({"cgroup.controllers": "memory", "cgroup.subtree_control": "memory"}, "memory.max"),
        ({"memory/memory.limit_in_bytes": "0"}, "memory.limit_in_bytes"),
    ],
)
def test_a_file_that_the_kernel_lacks(tmp_path: Path, existing: dict[str, str], limit: str) -> None:
    """Each version has files of its own; a group without them is removed again."""
    (tmp_path / "memory").mkdir()
    for name, text in existing.items():
        (tmp_path / name).write_text(text)
    assert f"has no {limit}," in refusal(tmp_path)
    assert not list(tmp_path.glob("**/pillarbox-*"))
