"""What docs/operations.md says that a command prints."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "docs" / "operations.md"


def documented(command: str) -> str:
    """Return the output of a command on the page, which follows `$ pb …` in a block of its own."""
    blocks = re.findall(r"^```console\n\$ (.+)\n((?s:.*?))^```$", _PAGE.read_text(), re.MULTILINE)
    (output,) = (output for words, output in blocks if words == f"pb {command}")
    # Only programs with their arguments and addresses in ECR may be longer.
    longer = [line for line in output.splitlines() if len(line) > 80]
    assert all(line.startswith("$ ") or ".dkr.ecr." in line for line in longer)
    return str(output)


def readable(output: str) -> str:
    """Return a command's output with short digests, and without blanks at the ends of lines."""
    short = re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", output)
    return "".join(f"{line.rstrip()}\n" for line in short.splitlines())
