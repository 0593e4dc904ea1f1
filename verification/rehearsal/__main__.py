# ruff: noqa: T201  a program that is run by hand prints its results
"""Deploy the packed release to a second CloudFormation: `make deploy-rehearsal`.

For each set of parameters: create the stack, deploy the same again, fail an update, repair it,
delete the stack. `python -m tools.templates` says what an upgrade would replace.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tools.pack_release import RELEASE
from tools.templates.sets import SETS, ParameterSet
from verification.dynamodb_local.server import EngineMissing
from verification.rehearsal.engine import LOG, EngineFailed, running
from verification.rehearsal.stacks import Cloud, Outcome

#: Together they create every resource of every template at least once.
_CHOSEN: Final = ("dev", "prod", "no-edge", "domain", "relay", "everything", "europe")
#: How a step may end, and what LocalStack lacks if it ends so.
_ENDS: Final = {
    "create": {"CREATE_COMPLETE": ""},
    "deploy again": {"no changes": "", "UPDATE_COMPLETE": "updates to no change"},
    "fail": {"UPDATE_ROLLBACK_COMPLETE": "", "ROLLBACK_COMPLETE": "undoes no update"},
    "repair": {"UPDATE_COMPLETE": ""},
    "delete": {"DELETE_COMPLETE": ""},
}
_ROW: Final = "{:34} {:13} {:5} {:>5}  {}"


def main() -> int:
    """Return 1 if a step did not end as it must, and 2 if the engine cannot run."""
    parser = argparse.ArgumentParser(prog="make deploy-rehearsal", description=__doc__)
    parser.add_argument("sets", nargs="*", choices=[each.name for each in SETS])
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also ends the engine
    try:
        with running() as url, tempfile.TemporaryDirectory() as name:
            refused = _refused(Path(name) / "release")
            return _Rehearsal(url, refused).run(arguments.sets or _CHOSEN)
    except (EngineMissing, EngineFailed) as error:
        print(error, file=sys.stderr)
        return 2


class _Rehearsal:
    """All steps of a run on one engine."""

    def __init__(self, url: str, refused: Path) -> None:
        self._url, self._refused = url, refused
        self._found = 0
        self._stand_ins: dict[str, int] = {}

    def run(self, names: Sequence[str]) -> int:
        """Rehearse the sets; return 1 if anything was found."""
        print(_ROW.format("parameters", "step", "count", "time", "result"), flush=True)
        chosen = [each for each in SETS if each.name in names]
        for region in sorted({each.region for each in chosen}):
            cloud = Cloud(self._url, region)
            for each in (each for each in chosen if each.region == region):
                self._rehearse(cloud, each)
        print("\nLocalStack lacks these types, and a stand-in accepts them:")
        for kind, count in sorted(self._stand_ins.items()):
            print(f"{count:4} {kind}")
        print(f"{self._found} found. The engine's log is {LOG}.")
        return min(self._found, 1)

    def _rehearse(self, cloud: Cloud, chosen: ParameterSet) -> None:
        stack = f"pillarbox-{chosen.name}"

        def deploy(folder: Path) -> Callable[[], Outcome]:
            return lambda: cloud.deploy(stack, folder, chosen.parameters)

        if not self._step(chosen.name, "create", deploy(RELEASE)):
            return
        for kind, count in cloud.stand_ins(stack).items():
            self._stand_ins[kind] = max(count, self._stand_ins.get(kind, 0))
        self._step(chosen.name, "deploy again", deploy(RELEASE))
        self._step(chosen.name, "fail", deploy(self._refused))
        self._step(chosen.name, "repair", deploy(RELEASE))
        self._step(chosen.name, "delete", lambda: cloud.delete(stack))

    def _step(self, name: str, step: str, act: Callable[[], Outcome]) -> bool:
        """Take a step and print its row; return whether it ended as it must."""
        started = time.monotonic()
        outcome = act()
        seconds = f"{time.monotonic() - started:.0f} s"
        lacks = _ENDS[step].get(outcome.status)
        if step == "fail" and not outcome.reason:
            lacks = None  # the operator would not know why
        if lacks is None:
            self._found += 1
            result = f"FOUND {outcome.status}: {outcome.reason}"
        elif lacks:
            result = f"lacks: {lacks}"
        else:
            result = "accepted"
        print(_ROW.format(name, step, outcome.changes, seconds, result), flush=True)
        return lacks is not None


def _refused(folder: Path) -> Path:
    """Copy the release, with a permission that Lambda refuses: its function does not exist."""
    permission = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "Action": "lambda:InvokeFunction",
            "FunctionName": "absent",
            "Principal": "events.amazonaws.com",
        },
    }
    shutil.copytree(RELEASE, folder)
    template = json.loads((folder / "template.json").read_text())
    template["Resources"]["Refused"] = permission
    (folder / "template.json").write_text(json.dumps(template))
    return folder


if __name__ == "__main__":
    sys.exit(main())
