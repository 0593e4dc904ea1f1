"""The operators' pages hold to the template."""

import re
from pathlib import Path

from local import template

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_of_alarms_has_every_alarm() -> None:
    """Each alarm of the template has its line, and no line an alarm that is not there."""
    page = (DOCS / "operations.md").read_text()
    table = page.partition("| alarm | means | do |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    told = {name.strip() for row in rows for name in row.split(",")}
    declared = {
        name.removesuffix("Alarm")
        for name, resource in template.load()["Resources"].items()
        if resource["Type"].startswith("AWS::CloudWatch::") and name.endswith("Alarm")
    }
    assert told == declared


def test_parameters_and_outputs_that_the_page_names_are_there() -> None:
    """What an operator is told to set or to look up is in the template."""
    page = (DOCS / "operations.md").read_text()
    loaded = template.load()
    known = {*loaded["Parameters"], *loaded["Outputs"], *loaded["Resources"]}
    # Words in capitals, as parameters, outputs and resources are named.
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", page))
    assert named
    assert named <= known
