"""The programs and rights that a test needs; with CI=true no program may be missing."""

import fcntl
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final, Never

import pytest

#: Marks a test of code that runs only on Linux.
linux_only: Final = pytest.mark.skipif(sys.platform != "linux", reason="runs only on Linux")


def need_program(name: str) -> str:
    """Return the path of a program; if it is missing, skip the test or, under CI, fail it."""
    return shutil.which(name) or missing(f"{name} is not installed")


def need_chromium() -> str:
    """Return the path of Chromium without a window, which costs a third, or else of Chromium."""
    return shutil.which("chromium-headless-shell") or need_program("chromium")


def need_perl(module: str) -> None:
    """Skip the test or, under CI, fail it if Perl lacks a module."""
    command = [need_program("perl"), f"-M{module}", "-e1"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        missing(f"Perl's {module} is not installed")


def need_nodemailer() -> str:
    """Install nodemailer unless it is installed, and return the NODE_PATH of programs that use it.

    If npm cannot install it, skip the test or, under CI, fail it.
    """
    return need_node_package("nodemailer", "7")


def need_node_package(name: str, version: str) -> str:
    """Install a package of npm unless it is installed, and return the folder of all packages.

    If npm cannot install it, skip the test or, under CI, fail it.
    """
    npm = need_program("npm")
    folder = Path(__file__).parents[1] / ".local" / "clients"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "installing").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        if not (folder / "node_modules" / name).exists():
            command = [npm, "install", "--silent", "--prefix", str(folder), f"{name}@{version}"]
            if subprocess.run(command, check=False, timeout=60).returncode:
                missing(f"{name} cannot be installed here")
    return str(folder / "node_modules")


def need_dashboard() -> None:
    """Build the dashboard; if that fails, skip the test or, under CI, fail it."""
    root = Path(__file__).parents[1]
    if subprocess.run(["make", "--silent", "dashboard"], cwd=root, check=False).returncode:
        missing("the dashboard cannot be built here")


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
