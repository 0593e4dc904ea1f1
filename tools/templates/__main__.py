"""The program: `python -m tools.templates [--from REVISION]`."""

import argparse
import logging
import subprocess
import sys

from tools.templates import checks, upgrade
from tools.templates.defects import lines
from tools.templates.sets import SETS
from tools.templates.translate import Sources, Unreadable


def main() -> int:
    """Check the templates, and the upgrade from a revision; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.templates")
    parser.add_argument(
        "--from",
        dest="revision",
        help="show what an upgrade from this revision changes, and check only that; otherwise the "
        "upgrade from the newest release is checked after everything else",
    )
    revision: str | None = parser.parse_args().revision
    logging.getLogger("samtranslator").setLevel(logging.ERROR)  # it warns of its own features
    sources = Sources()
    try:
        found = [] if revision else list(checks.check_all(sources, SETS, print))
        if former := revision or upgrade.newest_release():
            found += upgrade.check_from(former, sources, SETS, print)
        else:
            print("There is no release yet, so there is no upgrade to check.")  # noqa: T201  a program
    except (Unreadable, subprocess.CalledProcessError) as error:
        print(getattr(error, "stderr", None) or error, file=sys.stderr)  # noqa: T201  a program
        return 1
    for line in lines(found, len(SETS)):
        print(line, file=sys.stderr)  # noqa: T201  a program
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
