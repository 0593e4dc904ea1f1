"""Who may import whom (docs/architecture.md): dependencies point inward."""

import ast
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
        "application.history_ports",
        "application.administration.ports",
        "domain",
    },
    "http": {"application", "domain", "config", "observability"},
    "functions": {"http", "application", "domain", "wiring", "consumer"},
    "front": {"http", "domain", "config", "observability"},
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
