"""The cost of a cold start in instructions, which do not depend on the load of the machine.

    .venv/bin/python -m benchmarks.cold_start    (valgrind must be installed)

Each function is imported and creates its first client, as its first request does. The
environment has only what the layer and the runtime have, compiled beforehand. The floor is an
interpreter with the runtime's boto3 and the same clients.
"""

import os
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.accepting import SETTINGS

ROOT: Final = Path(__file__).parent.parent
ENVIRONMENT: Final = ROOT / ".local" / "cold-start"
PYTHON: Final = ENVIRONMENT / "bin" / "python"
LAYER: Final = ENVIRONMENT / "layer"

_FLOOR_TWO: Final = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
_FLOOR_ONE: Final = "import boto3; boto3.client('dynamodb')"

#: The first request of each function, its floor and its goal.
PROGRAMS: Final = {
    "send_email": (
        "services().single_send; services().table.client; services().jobs._sqs",
        _FLOOR_TWO,
        1.25,
    ),
    "get_message": (
        "services().message_lookup; services().authentication; services().table.client",
        _FLOOR_ONE,
        1.15,
    ),
    "list_starter_templates": (
        "services().authentication; services().table.client",
        _FLOOR_ONE,
        1.15,
    ),
    "preview_starter_template": (
        "services().authentication; services().table.client",
        _FLOOR_ONE,
        1.15,
    ),
}


def prepare() -> None:
    """Create the runtime's environment and the layer's folder, with every file compiled."""
    uv = str(ROOT / ".uv" / "bin" / "uv")
    source = ROOT / "layers" / "shared"
    _run(uv, "venv", "--clear", ENVIRONMENT)
    install = (uv, "pip", "install", "--python", PYTHON)
    _run(*install, "--compile-bytecode", f"boto3=={version('boto3')}")
    shutil.rmtree(LAYER, ignore_errors=True)
    _run(*install, "--target", LAYER, "-r", source / "requirements.txt")
    _run(PYTHON, source / "trim_sdk.py", LAYER)
    _run(PYTHON, "-m", "compileall", "-q", LAYER, source, ROOT / "functions")


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def instructions(program: str, *path: Path) -> int:
    """Count the instructions that a program executes, in millions."""
    process = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
            *(PYTHON, "-c", program),
        ],
        env=os.environ
        | SETTINGS
        | {
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PILLARBOX_JOBS_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/1/jobs",
            "PILLARBOX_URGENT_JOBS_QUEUE_URL": "https://sqs.eu-west-1.amazonaws.com/1/urgent",
        },
        check=True,
        capture_output=True,
        text=True,
    )
    collected = re.search(r"Collected : (\d+)", process.stderr)
    if collected is None:
        raise RuntimeError(process.stderr)
    return int(collected[1]) // 1_000_000


def main() -> None:
    """Print the figures as a table."""
    prepare()
    empty = instructions("pass")
    floors = {floor: instructions(floor) for floor in (_FLOOR_ONE, _FLOOR_TWO)}
    print(f"an empty interpreter: {empty} M; the floors: {sorted(floors.values())} M\n")
    print("| function | M instructions | floor | ratio | goal |")
    print("|---|---|---|---|---|")
    for name, (first_request, floor, goal) in PROGRAMS.items():
        program = f"import app; from pillarbox.wiring import services; {first_request}"
        count = instructions(program, ROOT / "functions" / name, ROOT / "layers" / "shared", LAYER)
        ratio = (count - empty) / (floors[floor] - empty)
        print(f"| {name} | {count} | {floors[floor]} | {ratio:.2f} | {goal} |")


if __name__ == "__main__":
    main()
