"""What a killed run left behind is ended at the next start, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local.processes import end_remembered, remember


@pytest.mark.parametrize(("born_later_by", "ended"), [(0, True), (60, False)])
def test_only_the_recorded_process_is_ended(
    tmp_path: Path,
    born_later_by: int,
    ended: bool,  # noqa: FBT001  a row of the table
) -> None:
    """The id and the time of birth must both fit: another process may have the id by now."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        record = tmp_path / "engine.json"
        remember(record, process.pid)
        written = json.loads(record.read_text())
        record.write_text(json.dumps(written | {"created": written["created"] + born_later_by}))
        end_remembered(record)
        assert not record.exists()
        if not ended:
            assert process.stdin is not None
            process.stdin.close()
        assert process.wait() == (-9 if ended else 0)


@pytest.mark.parametrize("record", [None, "", '{"pid": 1'])
def test_a_record_that_says_nothing_is_no_obstacle(tmp_path: Path, record: str | None) -> None:
    """A first start has no record, and a run may have been killed while writing one."""
    if record is not None:
        (tmp_path / "engine.json").write_text(record)
    end_remembered(tmp_path / "engine.json")
    assert not (tmp_path / "engine.json").exists()
