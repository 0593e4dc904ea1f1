# ruff: noqa: T201  a program that is run by hand prints its results
"""Use our two client packages on a running stack: `make clients`.

They are built and installed into empty folders first. Each client sends an email, repeats
the request, asks for two bodies at once, and lists. The type checkers must accept what is right.
TypeScript's must also refuse what is wrong, which the sources mark with `@ts-expect-error`.
"""

import json
import sys

from verification.clients.node import ROOT, install
from verification.clients.packages import (
    install_packages,
    run_guides,
    run_recipe,
    use_node,
    use_python,
)
from verification.stack import running


def main() -> int:
    """Return 1 if a client did not do what it should."""
    install()
    install_packages()
    state = ROOT / ".local" / "clients-stack"
    with running(state) as stack:
        address = (stack["base_url"], stack["keys"]["live"])
        run_guides(*address)
        run_recipe(state)
        results = {
            "packages/pillarbox": json.loads(use_python(*address)),
            "packages/pillarbox-js": json.loads(use_node(*address)),
        }
    failed = [name for name, result in results.items() if not _is_right(result)]
    for name, result in results.items():
        print(f"{name}: {'FAILED' if name in failed else 'passed'} {result}")
    return int(bool(failed))


def _is_right(result: list[str]) -> bool:
    """Return whether the repetition and the list have the same id, and two bodies failed."""
    sent, again, fault, newest = result
    return len(sent) == 36 and sent == again == newest and fault == "multiple_modes"


if __name__ == "__main__":
    sys.exit(main())
