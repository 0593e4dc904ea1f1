"""Builds the dashboard in dashboard/dist, unless the last build is newer than its sources.

`dist/app/index.html` and `dist/widget.html` name the files of `dist/assets`, whose names contain a
hash of their content. Other sites name `dist/widget.js`, so its name never changes.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from dashboard.api_types import api_types
from dashboard.guides import guides, sources

FOLDER: Final = Path(__file__).resolve().parent
DIST: Final = FOLDER / "dist"
INDEX: Final = DIST / "app" / "index.html"
_ROOT: Final = FOLDER.parent
_DOCUMENT: Final = _ROOT / "docs" / "openapi.json"
_PROGRAMS: Final = _ROOT / ".venv-node" / "bin"
_MODULES: Final = FOLDER / "node_modules"
_CHECKER: Final = _MODULES / ".bin" / "tsc"
_TYPES: Final = FOLDER / "src" / "schema.ts"
_GUIDES: Final = FOLDER / "src" / "guides.ts"
#: One quick retry: npm's own two take over a minute if the registry cannot be reached.
_INSTALL: Final = (
    *("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000"),
)
_MAIN: Final = "src/main.tsx"
_FRAME: Final = "src/widget/frame.ts"
_LOADER: Final = "src/widget/loader.ts"
_SCRIPT: Final = ("--bundle", "--minify", "--target=es2022", "--log-level=warning")
_BUNDLE: Final = (
    *_SCRIPT,
    "--splitting",
    "--format=esm",
    "--entry-names=[name]-[hash]",
    "--chunk-names=[name]-[hash]",
    "--asset-names=[name]-[hash]",
    "--loader:.svg=file",
    "--public-path=/assets",
)


def main() -> int:
    """Build if necessary; return the exit code of the program that failed, or 0.

    With `--check` only say whether it is necessary: 1 or 0. With `--lean` do without the programs
    that check the sources, unless they are installed.
    """
    lean = "--lean" in sys.argv
    if "--check" in sys.argv:
        return 0 if is_current(lean=lean) else 1
    with (FOLDER / "building").open("w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not is_current(lean=lean):
                build(lean=lean)
        except subprocess.CalledProcessError as error:
            return error.returncode or 1
    return 0


def is_current(*, lean: bool = False) -> bool:
    """Return whether no source is newer than the last build, which has checked them unless lean."""
    if not INDEX.exists() or not (lean or _CHECKER.exists()):
        return False
    built = INDEX.stat().st_mtime
    return all(source.stat().st_mtime <= built for source in _sources())


def build(*, lean: bool = False) -> None:
    """Install the packages if their list changed, check types and the rules of hooks, write `dist`.

    Args:
        lean: whether to install only what writes `dist`, a quarter of it. What is there is used.

    Raises:
        subprocess.CalledProcessError: a program failed; it has printed why.
    """
    installed = _MODULES / ".package-lock.json"
    lock = FOLDER / "package-lock.json"
    is_installed = installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime
    if not is_installed or not (lean or _CHECKER.exists()):
        _run("npm", "ci", *_INSTALL, *(("--omit=dev",) if lean else ()))
    _TYPES.write_text(api_types(json.loads(_DOCUMENT.read_text())))
    _GUIDES.write_text(guides(), encoding="utf-8")
    if _CHECKER.exists():
        check_types()
        _run("oxlint", "--format=unix", "src")
    new = FOLDER / "dist.new"
    shutil.rmtree(new, ignore_errors=True)
    outputs = _bundle(_MAIN, new)
    (icon,) = (name for name in outputs if name.endswith(".svg"))
    index = _page("index.html", _MAIN, outputs, icon)
    (new / "app").mkdir()
    (new / "app" / "index.html").write_text(index)
    # Bundled alone, so that the widget and the dashboard do not share files.
    widget = _page("widget/widget.html", _FRAME, _bundle(_FRAME, new), icon)
    (new / "widget.html").write_text(widget)
    _run("esbuild", _LOADER, *_SCRIPT, "--format=iife", f"--outfile={new / 'widget.js'}")
    shutil.copy(FOLDER / "src" / "preview.html", new / "app")
    shutil.rmtree(DIST, ignore_errors=True)
    new.rename(DIST)


def check_types(project: Path = FOLDER) -> None:
    """Check the types of the sources.

    Raises:
        subprocess.CalledProcessError: a type is wrong.
    """
    _run("tsc", "--project", str(project))


def _bundle(entry: str, new: Path) -> dict[str, Any]:
    """Write the assets of a page; return what was written."""
    metafile = new / "meta.json"
    _run("esbuild", entry, *_BUNDLE, f"--outdir={new / 'assets'}", f"--metafile={metafile}")
    outputs: dict[str, Any] = json.loads(metafile.read_text())["outputs"]
    metafile.unlink()
    return outputs


def _page(source: str, main: str, outputs: dict[str, Any], icon: str) -> str:
    """Return a page, with the names of the files that it loads."""
    name, entry = next(item for item in outputs.items() if item[1].get("entryPoint") == main)
    chunks = [part["path"] for part in entry["imports"] if part["kind"] == "import-statement"]
    preloads = [f'<link rel="modulepreload" href="{_url(chunk)}">' for chunk in chunks]
    page = (FOLDER / "src" / source).read_text()
    for placeholder, text in {
        "{{main}}": _url(name),
        "{{styles}}": _url(entry["cssBundle"]),
        "{{icon}}": _url(icon),
        "{{preloads}}": "\n  ".join(preloads),
    }.items():
        page = page.replace(placeholder, text)
    return page


def _url(path: str) -> str:
    return f"/assets/{Path(path).name}"


def _sources() -> Iterator[Path]:
    """Yield what a build depends on; of the folders too, because a file may have been removed."""
    yield from (_DOCUMENT, FOLDER / "package-lock.json", FOLDER / "tsconfig.json")
    yield FOLDER / ".oxlintrc.json"
    yield from FOLDER.glob("*.py")
    yield from sources()
    written = {_TYPES, _GUIDES}
    yield from (path for path in (FOLDER / "src").rglob("*") if path not in written)
    yield from (FOLDER / "test").iterdir()  # their types are checked too


def _run(program: str, *arguments: str) -> None:
    path = os.pathsep.join(
        [str(_PROGRAMS), str(_MODULES / ".bin"), os.environ.get("PATH", os.defpath)]
    )
    environment = os.environ | {"PATH": path}
    subprocess.run(["/usr/bin/env", program, *arguments], cwd=FOLDER, env=environment, check=True)  # noqa: S603  our own arguments


if __name__ == "__main__":
    sys.exit(main())
