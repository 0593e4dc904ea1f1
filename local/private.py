"""Keeps the state directory private: it holds mail, keys and the code that the functions run."""

import os
import stat
from pathlib import Path
from typing import Final

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private(state: Path) -> None:
    """Create the state directory, or take it and the files in it away from other users.

    The mode of new files comes from this process's umask, which its child processes inherit.
    """
    os.umask(_OTHERS)
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(stat.S_IRWXU)  # first, so that no other user opens a file meanwhile
    for path in state.iterdir():
        if not path.is_dir():
            _restrict(path)
    # Not all folders: the user may have named a directory that holds more than the stack's.
    restrict_folder(state / "build")


def restrict_folder(folder: Path) -> None:
    """Take a folder, if it exists, and all that it holds away from other users."""
    for parent, _, files in os.walk(folder):
        _restrict(Path(parent))
        for name in files:
            _restrict(Path(parent, name))


def _restrict(path: Path) -> None:
    status = path.lstat()
    # A link is left alone, and so is a file that another folder shares.
    is_shared = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    if status.st_mode & _OTHERS and not stat.S_ISLNK(status.st_mode) and not is_shared:
        path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; only the user may read it."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
    unfinished.write_text(text)
    unfinished.replace(path)
