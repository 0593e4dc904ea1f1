"""Our client packages as `make packages` builds them, installed into empty folders and used."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from verification.clients.node import ROOT, WORK, run, tool

_HERE: Final = Path(__file__).parent
_UV: Final = str(ROOT / ".uv" / "bin" / "uv")
_BUILT: Final = ROOT / "dist"
_GUIDES: Final = ROOT / "docs" / "guides" / "code"
_PYTHON: Final = WORK / "packages-python"
_NODE: Final = WORK / "packages-node"
_RECIPE: Final = WORK / "recipe"


def install_packages() -> None:
    """Install the wheel and the tarball, and check the types of what uses them."""
    for folder in (_PYTHON, _NODE, _RECIPE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    _install_wheel()
    _install_tarball()
    print("packages: installed, and their types fit")  # noqa: T201  a program's output


def use_python(url: str, key: str) -> str:
    """Return what the program with the wheel prints."""
    python = str(_PYTHON / "environment" / "bin" / "python")
    return run(python, str(_PYTHON / "with_package.py"), url, key)


def use_node(url: str, key: str) -> str:
    """Return what the program with the tarball prints."""
    return run("node", str(_NODE / "built" / "with_package.js"), url, key)


def run_guides(url: str, key: str) -> None:
    """Run the programs of docs/guides that use the packages; end ours if one fails."""
    shutil.copy(_GUIDES / "node" / "with_client.mjs", _NODE)
    python = str(_PYTHON / "environment" / "bin" / "python")
    for program in (
        (python, str(_GUIDES / "python" / "with_client.py")),
        ("node", str(_NODE / "with_client.mjs")),
    ):
        run(*program, "ada@customer.example", "INV-1001", PILLARBOX_URL=url, PILLARBOX_KEY=key)


def run_recipe(state: Path) -> None:
    """Run the recipe of Playwright with the tarball of pillarbox-testing; end ours if it fails."""
    shutil.copytree(ROOT / "docs" / "recipes" / "playwright-js", _RECIPE, dirs_exist_ok=True)
    (tarball,) = _BUILT.glob("pillarbox-testing-*.tgz")
    run("npm", "install", "--prefix", str(_RECIPE), "--no-audit", "--no-fund", str(tarball))
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
    test = ("npm", "test", "--prefix", str(_RECIPE))
    run(*test, PILLARBOX_STATE_DIR=str(state), CHROMIUM=chromium)


def _install_wheel() -> None:
    environment = str(_PYTHON / "environment")
    (wheel,) = _BUILT.glob("pillarbox_client-*.whl")
    run(_UV, "venv", "--quiet", "--python", sys.executable, environment)
    run(_UV, "pip", "install", "--quiet", "--python", environment, str(wheel))
    shutil.copy(_HERE / "with_package.py", _PYTHON)
    run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull),
        *("--python-executable", f"{environment}/bin/python", str(_PYTHON / "with_package.py")),
    )


def _install_tarball() -> None:
    (tarball,) = _BUILT.glob("pillarbox-[0-9]*.tgz")
    (_NODE / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--prefix", str(_NODE), "--no-audit", "--no-fund", str(tarball))
    for source in ("with_package.ts", "tsconfig.json"):
        shutil.copy(_HERE / source, _NODE)
    tool("tsc", "--project", str(_NODE))
