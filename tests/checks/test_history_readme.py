"""The README of the history names tests and modules that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "shared" / "pillarbox" / "application" / "history"
README = (PACKAGE / "README.md").read_text(encoding="utf-8")


def test_every_invariant_names_a_test_that_exists() -> None:
    _, _, section = README.partition("## Invariants\n")
    invariants = re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]
    assert len(invariants) == 13
    defined = {
        name
        for path in ROOT.glob("tests/*/history/test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for invariant in invariants:
        named = set(re.findall(r"`(test_\w+)`", invariant))
        assert named
        assert named <= defined


def test_the_readme_lists_every_module() -> None:
    listed = re.findall(r"^\| `(\w+\.py)` \|", README, re.MULTILINE)
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert sorted(listed) == sorted(modules)
