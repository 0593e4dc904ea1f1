"""The processes that share the tests of a run."""

import subprocess
import sys
from pathlib import Path

_FIRST = """
import os, pytest

@pytest.fixture(scope="session", autouse=True)
def session():
    yield
    raise OSError("torn down")

def test_right(): pass
def test_wrong(): assert 1 == 2
def test_in_parts(subtests):
    with subtests.test():
        assert 3 == 4
"""
_SECOND = """
import os, time

def test_right(): pass
def test_dead(): os._exit(7)
def test_never(): pass
"""


def test_nothing_that_fails_is_lost(tmp_path: Path) -> None:
    """A failed test, part, tear-down or process fails the run, and each test runs once."""
    for name, text in ("first", _FIRST), ("second", _SECOND), ("third", "def test_it(): pass"):
        (tmp_path / f"test_{name}.py").write_text(text)
    options = ("-q", "-p", "tests.forks", "-p", "no:schemathesis", "--rootdir", str(tmp_path))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-n2", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "3 failed, 4 passed, 1 error" in run.stdout
    assert "assert 1 == 2" in run.stdout
    assert "assert 3 == 4" in run.stdout
    assert "OSError: torn down" in run.stdout
    assert "The process of this test ended with status 7" in run.stdout
