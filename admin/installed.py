"""Start the command `pillarbox` from its wheel, in whose folder everything is as in a clone."""

import os
import sys
from pathlib import Path
from typing import Final

_HOME: Final = Path(__file__).parents[1]


def main() -> None:
    """Run the command line. Programs that it starts find the same modules."""
    folders = [str(_HOME), str(_HOME / "layers" / "shared")]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    # They are found from here on.
    from admin.entry import main as run  # noqa: PLC0415
    from pillarbox.settings import Settings  # noqa: PLC0415

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    os.environ.setdefault(Settings.state_dir.variable, str(state / "pillarbox"))
    run()
