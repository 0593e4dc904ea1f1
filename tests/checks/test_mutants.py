"""The tables of `make mutants` fit the code that they change."""

import shlex
from pathlib import Path

from tests.loops import for_each
from verification.mutants.__main__ import CONDITIONS, MODULES, PACKAGE
from verification.mutants.seeded_bugs import BUGS, SeededBug

ROOT = Path(__file__).parents[2]


@for_each("bug", BUGS)
def test_the_text_of_a_seeded_bug_is_in_its_file_once(bug: SeededBug) -> None:
    """A seeded bug changes one place of the code as it is now."""
    assert (ROOT / bug.path).read_text().count(bug.text) == 1
    assert bug.bug != bug.text


@for_each("module", MODULES | CONDITIONS)
def test_a_module_and_its_tests_exist(module: str) -> None:
    """Each module to change and each of its tests is there."""
    assert (ROOT / module).exists() or (ROOT / PACKAGE / module).exists()
    tests = [word for word in shlex.split((MODULES | CONDITIONS)[module]) if "tests/" in word]
    assert tests
    for test in tests:
        assert (ROOT / test.partition("::")[0]).exists() or [*ROOT.glob(f"{test}*")], test
