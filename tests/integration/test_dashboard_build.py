"""The dashboard's sources agree with the API, and the service starts without them."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard import build
from dashboard.api_types import api_types
from local.template import ROOT
from tests.needs import need_dashboard


def test_a_change_of_the_api_fails_the_build(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Pages that use a renamed member of a response have type errors, and no others."""
    need_dashboard()
    for name in ("src", "tsconfig.json"):
        source, copy = build.FOLDER / name, tmp_path / name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    (tmp_path / "node_modules").symlink_to(build.FOLDER / "node_modules")
    document = (
        (ROOT / "docs/openapi.json").read_text().replace("recipientEmail", "recipientAddress")
    )
    (tmp_path / "src" / "schema.ts").write_text(api_types(json.loads(document)))
    with pytest.raises(subprocess.CalledProcessError):
        build.check_types(tmp_path)
    errors = [line for line in capfd.readouterr().out.splitlines() if "error" in line]
    assert errors
    assert not [error for error in errors if "recipientEmail" not in error]


def test_the_shell_is_small() -> None:
    """Page, script, style and icon come in at most 6 requests and 40,000 octets of gzip.

    The rare pages, the editor and passkeys are in files that nothing imports before it needs them.
    """
    need_dashboard()
    names = re.findall(r'(?:href|src)="/(assets/[^"]+)"', build.INDEX.read_text())
    (chunk,) = (name for name in names if "/chunk-" in name)
    assert {found for name in names for found in _imports(name)} == {chunk}
    assert not [name for name in names if re.search("later|codemirror|passkeys", name)]
    for later in (build.DIST / "assets").glob("later-*.js"):
        assert _imports(f"assets/{later.name}") == [chunk]
        assert "/codemirror-" in later.read_text()
    files = ["app/index.html", *names]
    assert len(files) <= 6
    assert sum(len(gzip.compress((build.DIST / name).read_bytes())) for name in files) <= 40_000


def _imports(name: str) -> list[str]:
    """Return the scripts that a script loads before it runs."""
    if not name.endswith(".js"):
        return []
    return re.findall(r'(?:from|import)"/(assets/[^"]+)"', (build.DIST / name).read_text())


def test_a_build_is_current_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, source = tmp_path / "index.html", tmp_path / "main.tsx"
    monkeypatch.setattr(build, "INDEX", index)
    monkeypatch.setattr(build, "_sources", lambda: iter([source]))
    monkeypatch.setattr(build, "_CHECKER", tmp_path / "tsc")
    (tmp_path / "tsc").touch()
    source.touch()
    assert not build.is_current()
    monkeypatch.setattr(sys, "argv", ["build", "--check"])
    assert build.main() == 1
    index.touch()
    os.utime(source, (0, 0))
    assert build.is_current()
    assert build.main() == 0
    (tmp_path / "tsc").unlink()
    assert build.is_current(lean=True)
    assert not build.is_current()
    os.utime(index, (0, 0))
    source.touch()
    assert not build.is_current(lean=True)


@pytest.mark.parametrize("ci", [{}, {"CI": "true"}])
def test_the_stack_does_not_wait_for_the_dashboard(tmp_path: Path, ci: dict[str, str]) -> None:
    """`make up` starts the stack, which builds the dashboard beside itself, also under CI."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    for name, script in {
        "tools/foreground": '#!/bin/sh\necho "$@"\n',
        ".venv/bin/python": "#!/bin/sh\nexit 3\n",
        ".uv/bin/uv": "#!/bin/sh\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
    done = subprocess.run(
        ["make", "--silent", "up"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", **ci},
        capture_output=True,
        text=True,
        check=False,
    )
    size, program = done.stdout.splitlines()
    assert re.fullmatch("Downloading about [0-9]+ MB, once; .*", size)
    assert program == ".venv/bin/python -m local --build-dashboard"
    assert (done.returncode, done.stderr) == (0, "")


def test_a_registry_that_cannot_be_reached_fails_the_build_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_MODULES", tmp_path / "node_modules")
    ran = list[tuple[str, ...]]()

    def run(*command: str) -> None:
        ran.append(command)
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(build, "_run", run)
    monkeypatch.setattr(build, "is_current", lambda **_: False)
    assert build.main() == 1
    ((npm, ci, *options),) = ran
    assert (npm, ci) == ("npm", "ci")
    assert {"--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--prefer-offline"} < {*options}
