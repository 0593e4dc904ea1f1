"""The next start ends the processes of a killed run, and no others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local.processes import end_remembered, remember


@pytest.mark.parametrize(("start_offset", "ended"), [(0, True), (60, False)])
def test_only_the_recorded_process_is_ended(
    tmp_path: Path,
    start_offset: int,
    ended: bool,  # noqa: FBT001  a row of the table
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        record = tmp_path / "engine.json"
        remember(record, process.pid)
        written = json.loads(record.read_text())
        record.write_text(json.dumps(written | {"created": written["created"] + start_offset}))
        end_remembered(record)
        assert not record.exists()
        if not ended:
            assert process.stdin is not None
            process.stdin.close()
        assert process.wait() == (-9 if ended else 0)


@pytest.mark.parametrize("record", [None, "", '{"pid": 1'])
def test_a_missing_or_broken_record_is_ignored(tmp_path: Path, record: str | None) -> None:
    if record is not None:
        (tmp_path / "engine.json").write_text(record)
    end_remembered(tmp_path / "engine.json")
    assert not (tmp_path / "engine.json").exists()
