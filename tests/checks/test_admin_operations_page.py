"""docs/operations.md and docs/alarms.md agree with the template and with the command."""

import re
import shlex
from pathlib import Path
from typing import Any

from typer.main import get_command

from admin.main import app
from local import template
from tests.loops import for_each

_COMMAND = get_command(app)
DOCS = Path(__file__).parents[2] / "docs"


ALARMS = {
    name.removesuffix("Alarm"): resource["Properties"]
    for name, resource in template.inlined(template.load())["Resources"].items()
    if resource["Type"].startswith("AWS::CloudWatch::") and name.endswith("Alarm")
}
#: The text of each paragraph of docs/alarms.md by its heading.
PARAGRAPHS = dict(
    re.findall(
        r"^## (.+)\n\n((?s:.+?))(?=\n## |\Z)", (DOCS / "alarms.md").read_text(), re.MULTILINE
    )
)


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_page_lists_every_alarm() -> None:
    listed = [name for heading in PARAGRAPHS for name in heading.split(", ")]
    assert sorted(listed) == sorted(ALARMS)


@for_each("alarm", ALARMS)
def test_an_alarm_leads_to_its_paragraph(alarm: str) -> None:
    """The description ends with the address of its paragraph; AWS takes 1,024 characters."""
    description = ALARMS[alarm]["AlarmDescription"]
    (heading,) = (heading for heading in PARAGRAPHS if alarm in heading.split(", "))
    assert description.endswith(f" See docs/alarms.md#{anchor(heading)}")
    assert len(description) <= 1024


def test_names_on_the_page_are_in_the_template() -> None:
    page = "".join((DOCS / name).read_text() for name in ("alarms.md", "operations.md"))
    loaded = template.inlined(template.load())
    known = {*loaded["Parameters"], *loaded["Outputs"], *loaded["Resources"]}
    # Names in CamelCase, such as parameters, outputs and resources have.
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", page))
    assert named
    assert named <= known


COMMANDS = sorted(
    {
        command.strip()
        for page in ("alarms.md", "operations.md")
        for command in re.findall(
            r"(?:`|^    |^\$ )pb ([^`#\n]+)", (DOCS / page).read_text(), re.MULTILINE
        )
    }
)


@for_each("alarm", PARAGRAPHS)
def test_the_first_step_of_each_alarm_is_a_command(alarm: str) -> None:
    """Each paragraph starts with a command of ours, or leads to the one whose steps to take."""
    steps = PARAGRAPHS[alarm].partition("\n\n")[2]
    (same_as,) = re.findall(r"^As for \[(\w+)\]", steps) or [alarm]
    first = re.findall(r"`([^`]+)`", PARAGRAPHS[same_as].partition("\n\n")[2])[0]
    assert first.startswith("pb ")


@for_each("command", COMMANDS)
def test_every_command_on_the_page_exists(command: str) -> None:
    words = shlex.split(command.removeprefix("--local "))
    found: Any = _COMMAND
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    assert not hasattr(found, "commands")
    known = {name for parameter in found.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
