"""The relay does not start with more memory for messages than its container has."""

from pathlib import Path

import pytest

from pillarbox.settings import SettingError
from relay import container_memory


@pytest.mark.parametrize(
    ("text", "limit"), [("536870912\n", 512), ("max\n", None), ("9223372036854771712\n", 2**43 - 1)]
)
def test_the_limit_of_the_container(tmp_path: Path, text: str, limit: int | None) -> None:
    (tmp_path / "limit").write_text(text)
    assert container_memory.limit_in_mib((tmp_path / "absent", tmp_path / "limit")) == limit
    assert container_memory.limit_in_mib((tmp_path / "absent",)) is None


def test_what_does_not_fit_is_refused() -> None:
    """Messages have 256 MiB, and each process 128."""
    container_memory.check(1, 384)
    container_memory.check(2, 512)
    container_memory.check(100, None)
    for processes, limit in ((1, 383), (2, 511)):
        with pytest.raises(SettingError, match=f"PILLARBOX_PROCESSES is {processes}, "):
            container_memory.check(processes, limit)
