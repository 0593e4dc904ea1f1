"""docs/operations.md agrees with the template."""

import re
from pathlib import Path

from local import template

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_lists_every_alarm() -> None:
    """The table lists exactly the alarms of the template."""
    page = (DOCS / "operations.md").read_text()
    table = page.partition("| alarm | means | do |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    listed = {name.strip() for row in rows for name in row.split(",")}
    declared = {
        name.removesuffix("Alarm")
        for name, resource in template.inlined(template.load())["Resources"].items()
        if resource["Type"].startswith("AWS::CloudWatch::") and name.endswith("Alarm")
    }
    assert listed == declared


def test_names_on_the_page_are_in_the_template() -> None:
    """Each parameter, output and resource that the page names is in the template."""
    page = (DOCS / "operations.md").read_text()
    loaded = template.inlined(template.load())
    known = {*loaded["Parameters"], *loaded["Outputs"], *loaded["Resources"]}
    # Names in CamelCase, such as parameters, outputs and resources have.
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", page))
    assert named
    assert named <= known
