"""The programs and rights that a test needs; with CI=true no program may be missing."""

import os
import shutil
import socket
import sys
from typing import Final, Never

import pytest

#: Marks a test of code that runs only on Linux.
linux_only: Final = pytest.mark.skipif(sys.platform != "linux", reason="runs only on Linux")


def need_program(name: str) -> str:
    """Return the path of a program; if it is missing, skip the test or, under CI, fail it."""
    return shutil.which(name) or missing(f"{name} is not installed")


def need_root() -> None:
    """Skip the test unless the user is root, also under CI, which may run as another user."""
    if os.geteuid():
        pytest.skip("needs root")


def need_docker() -> None:
    """Skip the test unless a container engine answers, also under CI, which may have none."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("/var/run/docker.sock")
    except OSError:
        pytest.skip("needs a Docker socket")


def missing(reason: str) -> Never:
    """Skip the test, or fail it under CI, where every test must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and CI=true allows no skipped test")
    pytest.skip(reason)
