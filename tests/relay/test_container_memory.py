"""The relay does not start with more memory for messages than its container has."""

from pathlib import Path

import pytest

from pillarbox.settings import SettingError
from relay import container_memory

OF_PROCESS = 128


@pytest.mark.parametrize(
    ("text", "limit"), [("536870912\n", 512), ("max\n", None), ("9223372036854771712\n", 2**43 - 1)]
)
def test_the_limit_of_the_container(tmp_path: Path, text: str, limit: int | None) -> None:
    (tmp_path / "limit").write_text(text)
    assert container_memory.limit_in_mib((tmp_path / "absent", tmp_path / "limit")) == limit
    assert container_memory.limit_in_mib((tmp_path / "absent",)) is None


def test_what_fits_is_accepted() -> None:
    """Messages and processes may take all of the container's memory, or any without a limit."""
    container_memory.check(512 - OF_PROCESS, 1, 512)
    container_memory.check(512 - 2 * OF_PROCESS, 2, 512)
    container_memory.check(100_000, 1, None)


@pytest.mark.parametrize(("processes", "left"), [(1, 512 - OF_PROCESS), (5, 0)])
def test_what_cannot_hold_is_refused(processes: int, left: int) -> None:
    with pytest.raises(SettingError, match=f"at most {left} is left"):
        container_memory.check(left + 1, processes, 512)
