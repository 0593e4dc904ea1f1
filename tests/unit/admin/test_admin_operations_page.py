"""docs/operations.md agrees with the template."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from admin.main import app
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


ROWS = {
    row.split("|")[1].strip(): row.split("|")[3]
    for row in (DOCS / "operations.md")
    .read_text()
    .partition("| alarm | means | do |")[2]
    .partition("\n\n")[0]
    .splitlines()[2:]
}
COMMANDS = sorted(
    {
        command.strip()
        for command in re.findall(
            r"(?:`|^    |^\$ )pb ([^`#\n]+)", (DOCS / "operations.md").read_text(), re.MULTILINE
        )
    }
)


@pytest.mark.parametrize("alarm", ROWS)
def test_the_first_step_of_each_alarm_is_a_command(alarm: str) -> None:
    """Each row starts with a command of ours, or with the row whose steps to take."""
    (same_as,) = re.findall(r"^ As for (\w+)", ROWS[alarm]) or [alarm]
    first = re.findall(r"`([^`]+)`", ROWS[same_as])[0]
    assert first.startswith("pb ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_the_page_exists(command: str) -> None:
    """Each command on the page exists, and has the options that the page uses."""
    words = shlex.split(command)
    found: Any = get_command(app)
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    assert not hasattr(found, "commands")
    known = {name for parameter in found.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
