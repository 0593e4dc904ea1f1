"""Each function gets the settings that its code reads, and no others."""

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
#: May be missing: AWS has its own name servers.
_LOCAL: Final = {"PILLARBOX_DNS_SERVERS"}


def _given(function: str) -> set[str]:
    """The settings that the template gives a function."""
    return {
        name
        for place in (_SOURCE["Globals"]["Function"], _FUNCTIONS[function])
        for name in place.get("Environment", {}).get("Variables", {})
        if name.startswith(_PREFIX)
    }


def _use_cases(function: str) -> list[Callable[[], object]]:
    """What the function imports from the wiring to make its use cases."""
    module = runpy.run_path(str(template.ROOT / function / "app.py"))
    return [
        value
        for value in module.values()
        if getattr(value, "__module__", "") == wiring.__name__ and hasattr(value, "cache_clear")
    ]


@pytest.fixture
def read(aws: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The names of the environment variables that are read in a test."""
    assert aws
    names: set[str] = set()
    environment: Any = type(os.environ)
    look_up = environment.__getitem__

    def recording(variables: object, name: str) -> object:
        names.add(name)
        return look_up(variables, name)

    monkeypatch.setattr(environment, "__getitem__", recording)
    yield names
    forget_wiring()


@pytest.mark.parametrize("function", sorted(_FUNCTIONS))
def test_a_function_reads_what_it_is_given(
    function: str, read: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own settings are enough to make its use cases, and each of them is read."""
    given = _given(function)
    for name in [name for name in os.environ if name.startswith(_PREFIX)]:
        monkeypatch.delenv(name)
    for name in given:
        monkeypatch.setenv(name, "10")  # one of them is a number
    use_cases = _use_cases(function)
    assert use_cases
    read.clear()
    for make in use_cases:
        make()
    assert {name for name in read if name.startswith(_PREFIX)} - _LOCAL == given
