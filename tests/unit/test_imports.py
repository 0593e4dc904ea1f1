"""Who may import whom (docs/architecture.md): dependencies point inward."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/shared/pillarbox"

#: What each part may import of the package, itself apart.
MAY_IMPORT = {
    "domain": set(),
    "mime": {"domain"},
    "rendering": {"domain"},
    "application": {"domain", "mime", "rendering"},
    "adapters": {
        "application.ports",
        "application.history.ports",
        "application.accounts.ports",
        "application.templates.ports",
        "domain",
    },
    "http": {"application", "domain", "settings", "observability"},
    "functions": {"http", "application", "domain", "wiring", "consumer"},
    "front": {"http", "domain", "settings", "observability"},
}
ONLY_ADAPTERS = {"boto3", "botocore"}


def imports(source: Path) -> Iterator[str]:
    """The modules that a file imports, those within functions too."""
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(part: str) -> list[Path]:
    folder = ROOT / part if part in {"functions", "front"} else PACKAGE / part
    found = sorted(folder.rglob("*.py"))
    assert found
    return found


@pytest.mark.parametrize(("part", "allowed"), MAY_IMPORT.items())
def test_parts_import_what_lies_inward(part: str, allowed: set[str]) -> None:
    """No part imports one that lies further out, nor does a function import another."""
    for source in sources(part):
        for name in imports(source):
            inner = name.removeprefix("pillarbox.")
            if inner != name and not inner.startswith(f"{part}."):
                assert any(f"{inner}.".startswith(f"{a}.") for a in allowed), (source, name)


def test_domain_is_plain_python() -> None:
    """The domain imports the standard library and itself."""
    for source in sources("domain"):
        tops = {name.partition(".")[0] for name in imports(source)}
        assert tops - {"pillarbox"} <= sys.stdlib_module_names, source


def test_only_adapters_know_the_sdk() -> None:
    """No part of the package but the adapters imports boto3 or botocore."""
    for source in PACKAGE.rglob("*.py"):
        if not source.is_relative_to(PACKAGE / "adapters"):
            tops = {name.partition(".")[0] for name in imports(source)}
            assert not tops & ONLY_ADAPTERS, source


GUARD = """
import os, socket, sys
from pathlib import Path

root, ours = Path(sys.argv[1]), ("layers/shared/pillarbox/", "functions/")

class Environ(type(os.environ)):
    def __getitem__(self, name):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.endswith(("os.py", "<frozen os>", "_collections_abc.py",
                                                 "<frozen _collections_abc>")):
            frame = frame.f_back
        reader = frame.f_code.co_filename.removeprefix(f"{root}/")
        assert not reader.startswith(ours), f"{reader} reads {name}"
        assert not str(name).startswith("PILLARBOX_"), f"{reader} reads {name}"
        return super().__getitem__(name)

def refuse(*_):
    raise AssertionError("a connection is opened")

environ = os.environ
os.environ = Environ(environ._data, environ.encodekey, environ.decodekey,
                     environ.encodevalue, environ.decodevalue)
os.getenv = lambda name, default=None: os.environ.get(name, default)
socket.socket.connect = socket.getaddrinfo = refuse

import importlib, runpy
package = root / "layers/shared"
for source in sorted((package / "pillarbox").rglob("*.py")):
    importlib.import_module(".".join(source.relative_to(package).with_suffix("").parts)
                            .removesuffix(".__init__"))
for source in sorted((root / "functions").rglob("app.py")):
    runpy.run_path(str(source))
print("imported", len(sys.modules))
"""


def test_importing_reads_no_setting_and_connects_nowhere() -> None:
    """Every module and function can be imported without a setting or a network."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", GUARD, str(ROOT)],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith("imported"), done.stderr
