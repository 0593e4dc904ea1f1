# ruff: noqa: T201  a program that is run by hand prints its results
"""How large each package is, and how many others it imports: `make budgets`.

`budgets.toml` has what each package may have, and `tests/checks/test_package_budgets.py` compares
it. The program writes what they have now, and prints the rows that change. Lines are those of files
that somebody writes: what `make openapi` writes, documents, and what no program reads is left out.
"""

import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).parents[1]
TABLE: Final = Path(__file__).with_name("budgets.toml")
_WRITTEN: Final = re.compile(r"\.(py|tsx?|[mc]?js|css|html|ya?ml|sh|toml)")
_GENERATED: Final = re.compile(
    r"api\.yaml|uv\.lock|tools/budgets\.toml|docs/.*|layers/.*/rendering/starter/.*"
    r"|packages/.*/(types\.py|types\.d\.ts|operations\.(py|js))"
)
#: How many folders make the name of a package, by the first one; elsewhere one does.
_DEPTHS: Final = {
    **dict.fromkeys(("admin", "dashboard", "local", "packages", "verification"), 2),
    "tests": 3,
    "layers": 5,
}
_IMPORT: Final = re.compile(r"^ *(?:from|import) ([\w.]+)", re.MULTILINE)
#: Where modules are that the root does not have.
_ROOTS: Final = ("", "layers/shared/")

type Budget = tuple[int, int]


def measure() -> Mapping[str, Budget]:
    """Return the lines of each package, and of how many others it imports something."""
    command = ("git", "ls-files")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    lines, arrows = Counter[str](), defaultdict[str, set[str]](set)
    for name in listed.stdout.decode().splitlines():
        path = ROOT / name
        if not _WRITTEN.fullmatch(path.suffix) or _GENERATED.fullmatch(name) or not path.exists():
            continue
        text, package = path.read_text(), _package(PurePosixPath(name).parent)
        lines[package] += text.count("\n")
        if path.suffix == ".py":
            imported = map(_package_of, _IMPORT.findall(text))
            arrows[package] |= {*filter(None, imported)} - {package}
    return {package: (lines[package], len(arrows[package])) for package in sorted(lines)}


def _package(folder: PurePosixPath) -> str:
    return "/".join(folder.parts[: _DEPTHS.get(folder.parts[0], 1)]) if folder.parts else "."


@cache
def _package_of(module: str) -> str | None:
    """Return the package of a module of this project, else None."""
    place = module.replace(".", "/")
    for root in _ROOTS:
        if (ROOT / root / f"{place}.py").exists():
            return _package(PurePosixPath(root + place).parent)
        if (ROOT / root / place).is_dir():
            return _package(PurePosixPath(root + place))
    return None


def read_table() -> Mapping[str, Budget]:
    """Return what each package may have."""
    return {package: (row[0], row[1]) for package, row in tomllib.loads(TABLE.read_text()).items()}


def main() -> int:
    """Write the table, and print the rows that change."""
    before, now = read_table() if TABLE.exists() else {}, measure()
    for package in sorted(before.keys() | now.keys()):
        if before.get(package) != now.get(package):
            print(f"{package}: {before.get(package)} -> {now.get(package)}")
    rows = (f'"{package}" = [{lines}, {arrows}]\n' for package, (lines, arrows) in now.items())
    TABLE.write_text(
        "# The most lines of each package, and the most other packages that it imports: see\n"
        "# budgets.py. A commit that raises a row says why.\n\n" + "".join(rows)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
