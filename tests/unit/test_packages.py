"""Packages that run their `__init__` on demand."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pillarbox.packages import defer_package

FILES: Final = {
    "__init__.py": "from deferred.heavy import load\nname = 'shown'",
    "light.py": "from deferred import part\nlight = part.value",
    "part.py": "value = 'light'",
    "heavy.py": "load = 'heavy'",
    "within/__init__.py": "name = 'within'",
}


def loaded() -> set[str]:
    """Return the modules of the package that have run."""
    return {name for name in sys.modules if name.startswith("deferred.")}


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "deferred" / "within").mkdir(parents=True)
    for name, source in FILES.items():
        (tmp_path / "deferred" / name).write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    defer_package("deferred")
    yield
    for name in {"deferred", *loaded()}:
        del sys.modules[name]


def test_a_module_is_imported_alone() -> None:
    """A module, and the modules that it takes from its package, do not run the `__init__`."""
    assert importlib.import_module("deferred.light").light == "light"
    assert loaded() == {"deferred.light", "deferred.part"}


def test_a_name_of_the_package_runs_its_init() -> None:
    """The `__init__` runs when one of its names is used, and then all are there."""
    package = importlib.import_module("deferred")
    assert loaded() == set()
    assert package.name == "shown"
    assert loaded() == {"deferred.heavy"}
    assert package.load == "heavy"


def test_a_name_with_a_module_loads_this_module_alone() -> None:
    """A name whose module was given does not run the `__init__`; any other name does."""
    del sys.modules["deferred"]
    defer_package("deferred", {"light": "light"})
    package = importlib.import_module("deferred")
    assert package.light == "light"
    assert loaded() == {"deferred.light", "deferred.part"}
    assert package.name == "shown"
    assert "deferred.heavy" in loaded()


def test_an_unknown_name_is_an_error() -> None:
    package = importlib.import_module("deferred")
    for _ in range(2):
        with pytest.raises(AttributeError):
            _ = package.other
