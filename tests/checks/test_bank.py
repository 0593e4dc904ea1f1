"""The bugs of `make bank` fit the code as it is now."""

from pathlib import Path

from tests.loops import for_each
from verification.bank.__main__ import Bug, plant, read_bugs

ROOT = Path(__file__).parents[2]


@for_each("bug", read_bugs())
def test_a_bug_can_be_planted(bug: Bug) -> None:
    """Its lines are in their files once, and each of its checks exists. If not, change the bug."""
    assert bug.edits
    assert bug.checks
    for edit in bug.edits:
        plant(edit, ROOT)
    for word in " ".join(bug.checks).split():
        path, _, test = word.partition("::")
        assert not path.startswith("tests/") or f"def {test}" in (ROOT / path).read_text(), word
