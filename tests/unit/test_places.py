"""What a function still needs in other places; CONTRIBUTING.md names them in order."""

from typing import Final

from local.template import ROOT, load
from openapi.operations import OPERATIONS

_FUNCTIONS: Final = {path.parent.name for path in ROOT.glob("functions/*/app.py")}


def test_every_operation_has_a_function_in_the_template() -> None:
    """The folder of each operation has an app.py, and the template has a function for each."""
    declared = {
        resource["Properties"]["CodeUri"].removeprefix("functions/")
        for resource in load()["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    }
    assert {one.function for one in OPERATIONS} - _FUNCTIONS == set()
    assert declared == _FUNCTIONS


def test_every_function_has_a_sample() -> None:
    """There is one sample event for each function, named after its folder, and no other."""
    assert {path.stem for path in ROOT.glob("events/*.json")} == _FUNCTIONS
