"""A cgroup with a limit of memory and without swap, in which a program starts as in a container."""

import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

MIB: Final = 2**20
_ROOT: Final = Path("/sys/fs/cgroup")


class MissingCgroup(Exception):
    """This machine cannot give a program a limit of memory; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class _Files:
    """The names of a group's files in a version of cgroup."""

    limit: str
    #: The limit of swap, or of memory and swap together.
    swap: str
    swap_has_memory: bool
    peak: str
    current: str
    events: str


_V2: Final = _Files(
    limit="memory.max",
    swap="memory.swap.max",
    swap_has_memory=False,
    peak="memory.peak",
    current="memory.current",
    events="memory.events",
)
_V1: Final = _Files(
    limit="memory.limit_in_bytes",
    swap="memory.memsw.limit_in_bytes",
    swap_has_memory=True,
    peak="memory.max_usage_in_bytes",
    current="memory.usage_in_bytes",
    events="memory.oom_control",
)


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A group of its own, with a limit."""

    folder: Path
    files: _Files

    def command(self, *arguments: str) -> list[str]:
        """Return the command that starts a program in the group.

        The program sees the group's files where a container has its own, so it finds its limit.
        """
        script = (
            f"echo $$ > {self.folder}/cgroup.procs; mount --make-rprivate /;"
            f" mount --bind {self.folder} {self.folder.parent}; exec {shlex.join(arguments)}"
        )
        return ["unshare", "--mount", "sh", "-euc", script]

    @property
    def peak(self) -> int:
        """The most that the group used, in MiB, with the kernel's cache of its files."""
        return self._number(self.files.peak)

    @property
    def current(self) -> int:
        """What the group uses, in MiB."""
        return self._number(self.files.current)

    @property
    def kills(self) -> int:
        """How many processes of the group the kernel killed because its memory was used up."""
        lines = (self.folder / self.files.events).read_text().splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def _number(self, name: str) -> int:
        return int((self.folder / name).read_text()) // MIB


@contextmanager
def memory_group(limit: int, root: Path = _ROOT) -> Iterator[MemoryGroup]:
    """Make a group with a limit in MiB, and remove it at the end, when its programs have ended.

    Raises:
        MissingCgroup: this machine or user cannot make one.
    """
    parent, files = _find_parent(root)
    folder = parent / f"pillarbox-{uuid4().hex[:8]}"
    try:
        folder.mkdir()
    except OSError as error:
        raise MissingCgroup(f"{parent} cannot be written: {error}") from None
    try:
        for name in (files.limit, files.peak, files.events):
            if not (folder / name).exists():
                raise MissingCgroup(f"a group in {parent} has no {name}, the kernel lacks it")
        (folder / files.limit).write_text(str(limit * MIB))
        swap = folder / files.swap
        if swap.exists():  # the kernel may have no swap at all
            swap.write_text(str(limit * MIB) if files.swap_has_memory else "0")
        yield MemoryGroup(folder, files)
    finally:
        folder.rmdir()


def _find_parent(root: Path) -> tuple[Path, _Files]:
    """Return where groups can limit memory, and the names of their files.

    Raises:
        MissingCgroup: there is no such place, or the user may not use it.
    """
    if os.geteuid():
        raise MissingCgroup("only root can make one")
    for program in ("unshare", "mount"):
        if shutil.which(program) is None:
            raise MissingCgroup(f"{program} is not installed")
    if "memory" in _words(root / "cgroup.controllers"):
        children = root / "cgroup.subtree_control"
        if "memory" not in _words(children):
            with suppress(OSError):  # the check below says what that means
                children.write_text("+memory")
        if "memory" not in _words(children):
            raise MissingCgroup(
                f"{children} lacks memory, and the kernel does not add it while the group has"
                " processes. In a container, use the host's groups: docker run --cgroupns=host"
                " --privileged"
            )
        return root, _V2
    if (root / "memory" / _V1.limit).exists():
        return root / "memory", _V1
    raise MissingCgroup(f"{root} has no memory controller, neither of version 2 nor of version 1")


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []
