"""The dashboard's sources agree with the API, and the service starts without them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard import build
from dashboard.api_types import api_types
from local.template import ROOT
from tests.needs import need_dashboard


def test_a_change_of_the_api_fails_the_build(tmp_path: Path) -> None:
    """A page that uses a renamed member of a response has a type error."""
    need_dashboard()
    for name in ("src", "tsconfig.json"):
        source, copy = build.FOLDER / name, tmp_path / name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    (tmp_path / "node_modules").symlink_to(build.FOLDER / "node_modules")
    build.check_types(tmp_path)
    document = (
        (ROOT / "docs/openapi.json").read_text().replace("recipientEmail", "recipientAddress")
    )
    (tmp_path / "src" / "schema.ts").write_text(api_types(json.loads(document)))
    with pytest.raises(subprocess.CalledProcessError):
        build.check_types(tmp_path)


def test_a_build_is_current_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No build and a source that is newer than the last build both need a new build."""
    index, source = tmp_path / "index.html", tmp_path / "main.tsx"
    monkeypatch.setattr(build, "INDEX", index)
    monkeypatch.setattr(build, "_sources", lambda: iter([source]))
    source.touch()
    assert not build.is_current()
    index.touch()
    os.utime(source, (0, 0))
    assert build.is_current()
    os.utime(index, (0, 0))
    source.touch()
    assert not build.is_current()


def _make_up(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `make up` with a dashboard that cannot be built and a stack that only says its name."""
    (folder / "Makefile").write_text((ROOT / "Makefile").read_text())
    for name, script in {
        "tools/foreground": '#!/bin/sh\necho "the stack runs"\n',
        ".venv/bin/python": "#!/bin/sh\nexit 3\n",
        ".uv/bin/uv": "#!/bin/sh\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
    for made in (".venv-engine", ".venv-node"):
        (folder / made).mkdir(exist_ok=True)
    (folder / "uv.lock").touch()
    return subprocess.run(
        ["make", "--silent", "up"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_stack_starts_without_a_dashboard(tmp_path: Path) -> None:
    """`make up` says in one line that the dashboard was not built, and starts."""
    done = _make_up(tmp_path)
    assert (done.returncode, done.stdout) == (0, "the stack runs\n")
    assert done.stderr == "The dashboard was not built. See why: make dashboard\n"


def test_a_missing_dashboard_fails_under_ci(tmp_path: Path) -> None:
    """With CI=true `make up` fails instead, because every test must run there."""
    done = _make_up(tmp_path, CI="true")
    assert done.returncode != 0
    assert "the stack runs" not in done.stdout
