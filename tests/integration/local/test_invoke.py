"""The status of `make invoke`, with a program in place of SAM."""

import stat
from pathlib import Path

import pytest

from local import invoke


@pytest.mark.parametrize(
    ("does", "status", "said"),
    [
        ("cat", 0, ""),  # the answer is the event
        ("echo null", 0, ""),
        ("echo; echo 'Function timed out after 10 seconds' >&2", 1, "SendEmail gave no answer"),
        ("exit 3", 3, ""),
    ],
)
def test_a_function_without_an_answer_has_failed(  # noqa: PLR0917  fixtures and parameters
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    does: str,
    status: int,
    said: str,
) -> None:
    sam = tmp_path / "sam"
    sam.write_text(f"#!/bin/sh\n{does}\n")
    sam.chmod(sam.stat().st_mode | stat.S_IXUSR)
    stack = {"keys": {"live": "bx_live_k"}, "containers": {"template": "template.json"}}
    monkeypatch.setattr(invoke, "_SAM", sam)
    monkeypatch.setattr(invoke, "_stack", lambda: stack)
    monkeypatch.setattr(invoke, "build_layer", lambda _: None)
    monkeypatch.setattr("sys.argv", ["invoke", "SendEmail"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert invoke.main() == status
    out, err = capfd.readouterr()
    assert ("bx_live_k" in out) == (does == "cat")
    assert said in err
