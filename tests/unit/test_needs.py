"""A missing program skips a test on a developer's machine and fails it under CI."""

import shutil

import pytest

from tests.needs import need_program


def test_a_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of an installed program is returned, under CI too."""
    monkeypatch.setenv("CI", "true")
    assert need_program("sh") == shutil.which("sh")


@pytest.mark.parametrize("ci", [None, "", "false"])
def test_a_missing_program_skips_the_test(monkeypatch: pytest.MonkeyPatch, ci: str | None) -> None:
    """Without CI=true the test is skipped, and the reason names the program."""
    monkeypatch.delenv("CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CI", ci)
    with pytest.raises(pytest.skip.Exception, match="no-such-program"):
        need_program("no-such-program")


def test_a_missing_program_fails_the_test_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no-such-program"):
        need_program("no-such-program")
