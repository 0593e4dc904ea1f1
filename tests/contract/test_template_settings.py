"""Each function gets exactly the settings that its code reads."""

import os
import runpy
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from local import template
from pillarbox import wiring
from tests.aws import aws, forget_wiring

__all__ = ["aws"]

_SOURCE: Final = template.load()
_FUNCTIONS: Final[dict[str, dict[str, Any]]] = {
    resource["Properties"]["CodeUri"]: resource["Properties"]
    for resource in _SOURCE["Resources"].values()
    if resource["Type"] == "AWS::Serverless::Function"
}
_PREFIX: Final = "PILLARBOX_"
#: Not set in AWS, which has its own name servers.
_LOCAL: Final = {"PILLARBOX_DNS_SERVERS"}


def _template_settings(function: str) -> set[str]:
    """Return the settings that the template gives a function."""
    return {
        name
        for place in (_SOURCE["Globals"]["Function"], _FUNCTIONS[function])
        for name in place.get("Environment", {}).get("Variables", {})
        if name.startswith(_PREFIX)
    }


def _use_cases(function: str) -> list[Callable[[], object]]:
    """Return what the function imports from the wiring to create its use cases."""
    module = runpy.run_path(str(template.ROOT / function / "app.py"))
    return [
        value
        for value in module.values()
        if getattr(value, "__module__", "") == wiring.__name__ and hasattr(value, "cache_clear")
    ]


@pytest.fixture
def read(aws: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Return the names of the environment variables that a test reads."""
    assert aws
    names: set[str] = set()
    environment: Any = type(os.environ)
    getitem = environment.__getitem__

    def record_and_get(variables: object, name: str) -> object:
        names.add(name)
        return getitem(variables, name)

    monkeypatch.setattr(environment, "__getitem__", record_and_get)
    yield names
    forget_wiring()


@pytest.mark.parametrize("function", sorted(_FUNCTIONS))
def test_a_function_reads_exactly_its_settings(
    function: str, read: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function's settings are enough to create its use cases, and each of them is read."""
    settings = _template_settings(function)
    for name in [name for name in os.environ if name.startswith(_PREFIX)]:
        monkeypatch.delenv(name)
    for name in settings:
        monkeypatch.setenv(name, "10")  # one of them is a number
    use_cases = _use_cases(function)
    assert use_cases
    read.clear()
    for make in use_cases:
        make()
    assert {name for name in read if name.startswith(_PREFIX)} - _LOCAL == settings
