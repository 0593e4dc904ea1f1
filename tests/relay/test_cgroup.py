"""The container's memory in a real cgroup: the short form of verification/memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import need_cgroup
from tests.relay.relay_program import COMMAND, program
from tests.relay.running_relay import PATIENCE
from verification.memory.__main__ import image_variables
from verification.memory.cgroup import MIB, memory_group

OF_PROCESS = 128

LIMIT = 512


def test_the_relay_finds_the_limit_of_its_cgroup(tmp_path: Path) -> None:
    """With more memory for messages than the group has, it ends with one line and status 2."""
    need_cgroup()
    with (
        memory_group(LIMIT) as group,
        program(tmp_path, command=tuple(group.command(*COMMAND)), MEMORY_MIB=str(LIMIT)) as (
            process,
            _,
        ),
    ):
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert f"the container has {LIMIT} MiB" in errors
        assert f"at most {LIMIT - OF_PROCESS} is left" in errors
        assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(("size", "kills"), [(16, 0), (96, 1)])
def test_the_group_notices_a_kill(size: int, kills: int) -> None:
    """A program that takes more than the limit is killed and counted; one that fits is measured."""
    need_cgroup()
    take = f"taken = b'x' * {size * MIB}"
    with memory_group(64) as group:
        done = subprocess.run(group.command(sys.executable, "-c", take), check=False)
        assert (group.kills, done.returncode != 0) == (kills, bool(kills))
        assert size <= group.peak or kills
        assert group.peak <= 64


def test_the_rounds_run_with_the_variables_of_the_image() -> None:
    """Without the threshold of malloc the rounds would not be those of the container."""
    assert image_variables()["MALLOC_MMAP_THRESHOLD_"] == "1048576"
