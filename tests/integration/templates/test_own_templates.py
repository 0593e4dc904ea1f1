"""The project's own templates, as `python -m tools.templates` checks them."""

import gc

import pytest

from tools.templates import __main__ as program


def test_the_templates_have_no_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every set of parameters and the upgrade pass all checks, and cfn-lint finds nothing.

    It is a test so that one process imports cfn-lint, which takes seconds.
    """
    monkeypatch.setattr("sys.argv", ["templates"])
    gc.disable()  # cfn-lint makes millions of objects that live shortly: it saves a tenth
    try:
        status = program.main()
    finally:
        gc.enable()
    assert status == 0, capsys.readouterr().err
