"""What a test needs of the machine. With CI=true in the environment nothing may be missing."""

import os
import shutil
import sys
from typing import Final, Never

import pytest

#: For a test of what runs on Linux alone.
linux_only: Final = pytest.mark.skipif(sys.platform != "linux", reason="it runs on Linux alone")


def need_program(name: str) -> str:
    """Return the path of a program; without it skip the test, or fail it under CI."""
    return shutil.which(name) or missing(f"{name} is not installed")


def need_root() -> None:
    """Skip the test for any other user, under CI too: CI does what every user can do."""
    if os.geteuid():
        pytest.skip("only root can do this")


def missing(reason: str) -> Never:
    """Skip the test, or fail it under CI, where every test must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and with CI=true that is a failure")
    pytest.skip(reason)
