"""Who may import whom (docs/architecture.md): dependencies point inward."""

import ast
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

from tests.loops import for_each

ROOT: Final = Path(__file__).parents[2]
LAYER: Final = ROOT / "layers" / "shared"
PACKAGE: Final = LAYER / "pillarbox"

_PORTS: Final = {
    "pillarbox.application.ports",
    "pillarbox.application.management",
    "pillarbox.application.message_log",
    "pillarbox.application.receiving_ports",
    "pillarbox.application.waiting_ports",
    "pillarbox.application.history.ports",
    "pillarbox.application.accounts.alert_ports",
    "pillarbox.application.accounts.ports",
    "pillarbox.application.delivery.ports",
    "pillarbox.application.operator.ports",
    "pillarbox.application.templates.ports",
    "pillarbox.application.sign_in.ports",
    "pillarbox.application.webhooks.ports",
}
#: What each package of the application may import of the others. All may import the modules
#: beside them, which import none of them.
_PACKAGES: Final[dict[str, set[str]]] = {
    "accounts": {"webhooks.ports"},
    "delivery": {"history"},
    "history": set(),
    "operator": {"accounts.ports"},
    "sending": set(),
    "sign_in": set(),
    "templates": {"sending"},
    "webhooks": set(),
}
_MODULES: Final = {path.stem for path in PACKAGE.glob("application/*.py")} - {"__init__"}
_APPLICATION: Final = {
    name: {"pillarbox.domain", "pillarbox.mime", "pillarbox.rendering"}
    | {f"pillarbox.application.{other}" for other in _MODULES | _PACKAGES.get(name, set())}
    for name in _MODULES | _PACKAGES.keys()
}
#: What each part may import of this project beside itself.
LAYER_PARTS: Final[dict[str, set[str]]] = {
    "pillarbox.domain": set(),
    "pillarbox.mime": {"pillarbox.domain"},
    "pillarbox.rendering": {"pillarbox.domain"},
    **{f"pillarbox.application.{name}": allowed for name, allowed in _APPLICATION.items()},
    "pillarbox.adapters": {"pillarbox.domain", *_PORTS},
    "pillarbox.http": {
        "pillarbox.application",
        "pillarbox.settings",
        "pillarbox.domain",
        "pillarbox.observability",
        "pillarbox.packages",
    },
    "pillarbox.packages": set(),
    "pillarbox.settings": set(),
    "pillarbox.observability": {"pillarbox.domain"},
    "pillarbox.consumer": {
        "pillarbox.application",
        "pillarbox.settings",
        "pillarbox.observability",
        "pillarbox.packages",
    },
    "pillarbox.wiring": {
        "pillarbox.adapters",
        "pillarbox.application",
        "pillarbox.settings",
        "pillarbox.domain",
    },
}
#: No function imports another: each is a part of its own.
FUNCTIONS: Final = {
    f"functions.{path.parent.name}": {
        "pillarbox.application",
        "pillarbox.consumer",
        "pillarbox.domain",
        "pillarbox.http",
        "pillarbox.wiring",
    }
    for path in ROOT.glob("functions/*/app.py")
}
OUTER_PARTS: Final[dict[str, set[str]]] = {
    "admin": {
        "pillarbox.adapters",
        "pillarbox.application",
        "pillarbox.settings",
        "pillarbox.domain",
        "pillarbox.http",
        "pillarbox.wiring",
    },
    "dashboard": set(),
    "front": {
        "pillarbox.settings",
        "pillarbox.domain",
        "pillarbox.http",
        "pillarbox.observability",
    },
    "local": {
        "pillarbox.application.accounts.domains",
        "pillarbox.application.accounts.ports",
        "pillarbox.application.receiving_ports",
        "admin",
        "front.protocol",
        "openapi.of_keys",
        "pillarbox.domain",
        "pillarbox.rendering.checks",
        "pillarbox.rendering.markup",
        "pillarbox.rendering.text",
        "pillarbox.settings",
        "pillarbox.wiring",
        "relay",
    },
    "openapi": {
        "admin.use_cases.provision_file",
        "pillarbox.application",
        "pillarbox.domain",
        "pillarbox.http",
        "pillarbox.rendering",
    },
    "relay": {
        "pillarbox.application",
        "pillarbox.settings",
        "pillarbox.domain",
        "pillarbox.observability",
        "pillarbox.wiring",
    },
}
MAY_IMPORT: Final = LAYER_PARTS | FUNCTIONS | OUTER_PARTS
#: These look at everything.
_CHECKS: Final = {"benchmarks", "tests", "verification"}
#: Everything that is this project's own; `tools` holds programs that nothing imports.
_OURS: Final = {"pillarbox", "functions", "tools", *OUTER_PARTS, *_CHECKS}
ONLY_ADAPTERS: Final = {"boto3", "botocore"}


@cache
def imports(source: Path) -> tuple[str, ...]:
    """Return the modules that a file imports, those within functions too."""
    names: list[str] = []
    for node in _statements(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{source} imports by a relative name"
            names.extend(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def _statements(node: ast.AST) -> Iterable[ast.AST]:
    """Return all statements below a node; no expression, which are most of a file."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for part in getattr(node, field, None) or ():
            yield part
            yield from _statements(part)


def sources(part: str) -> list[Path]:
    """Return the files of a part: a package's, or the one of a module."""
    place = (LAYER if part.startswith("pillarbox.") else ROOT).joinpath(*part.split("."))
    found = sorted(place.rglob("*.py")) or [place.with_suffix(".py")]
    assert all(path.exists() for path in found)
    return found


def within(name: str, parts: set[str]) -> bool:
    """Whether a module is one of these or lies in one of them."""
    return any(f"{name}.".startswith(f"{part}.") for part in parts)


def disallowed(part: str, names: Iterable[str]) -> set[str]:
    """Return the modules among these that a part may not import."""
    return {
        name
        for name in names
        if name.partition(".")[0] in _OURS and not within(name, {part} | MAY_IMPORT[part])
    }


@for_each("part", MAY_IMPORT)
def test_parts_import_what_lies_inward(part: str) -> None:
    found = {source: disallowed(part, imports(source)) for source in sources(part)}
    assert {source: names for source, names in found.items() if names} == {}


@for_each(
    ("part", "name"),
    [
        ("pillarbox.domain", "pillarbox.application.ports"),
        ("pillarbox.application.ports", "pillarbox.application.sending.prepare.PreparedMessage"),
        ("pillarbox.application.delivery", "pillarbox.adapters.ses.mailer.SesMailer"),
        ("pillarbox.application.sign_in", "pillarbox.application.sending.prepare.PreparedMessage"),
        ("pillarbox.wiring", "admin.main.app"),
        ("pillarbox.adapters", "local.stack"),
        ("pillarbox.http", "openapi.operations"),
        ("pillarbox.settings", "tools.release"),
        ("functions.send_email", "functions.send_batch.app"),
        ("admin", "local.template"),
    ],
)
def test_an_import_of_an_outer_part_is_found(part: str, name: str) -> None:
    assert disallowed(part, [name]) == {name}


def test_every_part_has_a_row() -> None:
    layer = {
        f"pillarbox.{path.stem}"
        for path in PACKAGE.iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or any(path.glob("**/*.py"))
    }
    outer = {path.parent.name for path in ROOT.glob("[!.]*/*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("application/*/*.py")}
    assert packages == set(_PACKAGES)
    assert layer - {"pillarbox.application"} == set(LAYER_PARTS) - {
        f"pillarbox.application.{name}" for name in _APPLICATION
    }
    assert outer - _CHECKS - {"tools"} == set(OUTER_PARTS)


def test_no_modules_import_each_other_in_a_circle() -> None:
    paths = {source.relative_to(LAYER).with_suffix(""): source for source in PACKAGE.rglob("*.py")}
    modules = {".".join(path.parts).removesuffix(".__init__"): paths[path] for path in paths}
    graph = {
        module: {name if name in modules else name.rpartition(".")[0] for name in imports(source)}
        for module, source in modules.items()
    }
    assert [*TopologicalSorter(graph).static_order()]  # or it raises CycleError


def test_domain_is_plain_python() -> None:
    for source in sources("pillarbox.domain"):
        tops = {name.partition(".")[0] for name in imports(source)}
        assert tops - {"pillarbox"} <= sys.stdlib_module_names, source


def test_unit_tests_open_no_other_room() -> None:
    """No unit test imports what other tests start: they would make each run of them slow."""
    others = {
        f"tests.{folder.name}"
        for folder in (ROOT / "tests").iterdir()
        if folder.is_dir() and folder.name not in {"fakes", "unit"}
    }
    found = {
        name
        for source in (ROOT / "tests/unit").rglob("*.py")
        for name in imports(source)
        if within(name, others)
    }
    assert found == set()


def test_only_adapters_know_the_sdk() -> None:
    for source in PACKAGE.rglob("*.py"):
        if not source.is_relative_to(PACKAGE / "adapters"):
            tops = {name.partition(".")[0] for name in imports(source)}
            assert not tops & ONLY_ADAPTERS, source
