# ruff: noqa: T201  a program that is run by hand prints its results
"""Use our two client packages and three generated clients on a running stack: `make clients`.

Our packages are built and installed into empty folders first. Each client sends an email, repeats
the request, asks for two bodies at once, and lists. The type checkers must accept what is right.
TypeScript's must also refuse what is wrong, which the sources mark with `@ts-expect-error`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from verification.clients.node import ROOT, WORK, install, run, tool
from verification.clients.packages import (
    install_packages,
    run_guides,
    run_recipe,
    use_node,
    use_python,
)
from verification.stack import running

_HERE: Final = Path(__file__).parent
_DOCUMENT: Final = str(ROOT / "docs" / "openapi.json")
_PYTHON: Final = WORK / "python"


def main() -> int:
    """Return 1 if a client did not do what it should."""
    install()
    _generate_typescript()
    _generate_python()
    install_packages()
    state = ROOT / ".local" / "clients-stack"
    with running(state) as stack:
        address = (stack["base_url"], stack["keys"]["live"])
        results = json.loads(run("node", "built/main.js", *address))
        results["openapi-python-client"] = _use_python_client(*address)
        run_guides(*address)
        run_recipe(state)
        results["packages/pillarbox"] = json.loads(use_python(*address))
        results["packages/pillarbox-js"] = json.loads(use_node(*address))
    failed = [name for name, result in results.items() if not _is_right(result)]
    for name, result in results.items():
        print(f"{name}: {'FAILED' if name in failed else 'passed'} {result}")
    return int(bool(failed))


def _generate_typescript() -> None:
    sources = {*_HERE.glob("*.ts")} - {_HERE / "with_package.ts"}
    for source in (*sources, _HERE / "tsconfig.json"):
        shutil.copy(source, WORK)
    tool("openapi-typescript", _DOCUMENT, "--output", "pillarbox.d.ts")
    tool("openapi-ts", "--input", _DOCUMENT, "--output", "hey-api")
    _refuse_numbered_names((WORK / "hey-api" / "types.gen.ts").read_text(encoding="utf-8"))
    tool("tsc", "--project", ".")
    print("TypeScript: compiled with --strict")


def _generate_python() -> None:
    shutil.rmtree(_PYTHON, ignore_errors=True)
    folder = str(_PYTHON / "generated_client")
    run(
        *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"),
        *("--path", _DOCUMENT, "--output-path", folder),
    )
    for module in (_PYTHON / "generated_client" / "models").glob("*.py"):
        _refuse_numbered_names(module.read_text(encoding="utf-8"))
    shutil.copy(_HERE / "python_client.py", _PYTHON)
    run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull),
        str(_PYTHON / "python_client.py"),
    )
    print("Python: mypy --strict finds nothing")


def _refuse_numbered_names(source: str) -> None:
    """End the program if a type has a name that the generator made up."""
    if made_up := re.findall(r"(?:export type|class) (\w+(?:Type)?\d+)\b", source):
        sys.exit(f"types without a name of their own: {made_up}")


def _use_python_client(url: str, key: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "python_client.py", url, key],
        cwd=_PYTHON,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    result: list[str] = json.loads(done.stdout)
    return result


def _is_right(result: list[str]) -> bool:
    """Return whether the repetition and the list have the same id, and two bodies failed."""
    sent, again, fault, newest = result
    return len(sent) == 36 and sent == again == newest and fault == "multiple_modes"


if __name__ == "__main__":
    sys.exit(main())
