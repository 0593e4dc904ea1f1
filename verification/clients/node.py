"""The linters and generators of package.json, installed outside the sources."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
#: Everything that is installed, generated and built.
WORK: Final = ROOT / ".local" / "clients-verification"
_HERE: Final = Path(__file__).parent


def install() -> None:
    """Install the exact versions of package.json; end the program if npm cannot.

    What they need in turn is not pinned: nothing of it is deployed, and no user builds with it.
    """
    WORK.mkdir(parents=True, exist_ok=True)
    listed = (_HERE / "package.json").read_bytes()
    installed = WORK / "package.json"
    if installed.exists() and installed.read_bytes() == listed:
        return
    installed.write_bytes(listed)
    try:
        run(
            *("npm", "install", "--no-package-lock", "--ignore-scripts"),
            *("--no-audit", "--no-fund", "--loglevel=error"),
        )
    except SystemExit:
        installed.unlink()
        raise


def run(*command: str, **variables: str) -> str:
    """Return the output of a program that runs in the work folder; end ours if it fails."""
    environment = os.environ | variables
    try:
        done = subprocess.run(
            command, cwd=WORK, env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is not installed.")
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def tool(name: str, *arguments: str) -> str:
    """Run a program that package.json brings."""
    return run(str(WORK / "node_modules" / ".bin" / name), *arguments)
