"""What a route or an error still needs in other places; CONTRIBUTING.md names them in order."""

import json
from collections import Counter
from typing import Final

from local.template import ROOT, load
from openapi.operations import OPERATIONS

_FUNCTIONS: Final = {path.parent.name for path in ROOT.glob("functions/*/app.py")}


def test_every_operation_has_a_function() -> None:
    wanted = {one.function for one in OPERATIONS}
    lacking = [f"functions/{name}/app.py is missing" for name in sorted(wanted - _FUNCTIONS)]
    for name in sorted(_FUNCTIONS - wanted):
        first = (ROOT / "functions" / name / "app.py").read_text().splitlines()[0]
        if " /v1/" in first:
            lacking.append(f"openapi/ has no operation for functions/{name}: {first}")
    assert lacking == []


def test_every_function_is_deployed_once() -> None:
    declared = Counter(
        resource["Properties"]["CodeUri"].removeprefix("functions/")
        for resource in load()["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    )
    wrong = {name for name in declared.keys() | _FUNCTIONS if declared[name] != 1}
    assert wrong | (declared.keys() - _FUNCTIONS) == set(), "see template.yaml"


def test_every_function_has_a_sample() -> None:
    samples = {path.stem: json.loads(path.read_text()) for path in ROOT.glob("events/*.json")}
    assert samples.keys() ^ _FUNCTIONS == set(), "see events/"
    kinds = {"Records", "RequestType", "source", "httpMethod", "flow"}
    assert [name for name, sample in samples.items() if not kinds & sample.keys()] == []
