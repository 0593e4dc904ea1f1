"""The parameters of a deployment."""

import pytest

from admin import deploy
from admin.use_cases import parameters
from local import template
from pillarbox.domain.errors import ValidationFailed
from tests.loops import for_each


def test_what_is_written_wins_then_the_profile_then_what_is_deployed() -> None:
    """A value stays until somebody changes it; a parameter that the template lost is left out."""
    defaults = {"A": "template", "B": "template", "C": "template", "Firewall": "none"}
    defaults |= {"AlarmSet": "essential", "Rollout": "AllAtOnce"}
    deployed = {"B": "deployed", "C": "deployed", "Firewall": "block", "Lost": "x"}
    chosen = parameters.choose(defaults, deployed, None, {"C": "written"})
    assert chosen == defaults | {"B": "deployed", "C": "written", "Firewall": "block"}
    small = parameters.choose(defaults, deployed, parameters.Profile.SMALL, {})
    assert (small["B"], small["Firewall"], small["AlarmSet"]) == ("deployed", "none", "essential")
    large = parameters.choose(defaults, deployed, parameters.Profile.PRODUCTION, {"AlarmSet": "x"})
    assert (large["Firewall"], large["AlarmSet"]) == ("basic", "x")


def test_every_parameter_has_a_default() -> None:
    declared = template.load()["Parameters"]
    assert deploy._read_defaults() == {
        name: str(parameter["Default"]) for name, parameter in declared.items()
    }


@for_each(
    ("texts", "values"),
    [
        (["A=b", "C=d"], {"A": "b", "C": "d"}),
        (['A=b C="d e"'], {"A": "b", "C": "d e"}),
        (["A="], {"A": ""}),
        (["A=b=c"], {"A": "b=c"}),
        (["A=b", "A=c"], {"A": "c"}),
    ],
)
def test_the_parameters_of_the_command_line(texts: list[str], values: dict[str, str]) -> None:
    assert parameters.parse_overrides(texts) == values


@pytest.mark.parametrize("pair", ["A", "=b", "ParameterKey=A,ParameterValue=b", "file://x"])
def test_another_form_of_a_parameter_is_refused(pair: str) -> None:
    with pytest.raises(ValidationFailed, match="Name=Value"):
        parameters.parse_overrides([pair])


def test_an_open_quotation_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="not closed: A='x"):
        parameters.parse_overrides(["A='x"])


def test_only_parameters_that_change_are_shown() -> None:
    before = {"A": "1", "B": "2", "C": "", "Old": "x"}
    after = {"A": "1", "B": "3", "D": "", "New": "y"}
    assert parameters.differences(before, after) == [
        "B: 2 -> 3",
        "New: empty -> y",
        "Old: x -> empty",
    ]


@pytest.mark.parametrize(
    ("profile", "chosen"),
    [
        ("small", ("essential", "none", "AllAtOnce")),
        ("production", ("all", "basic", "Canary10Percent10Minutes")),
    ],
)
def test_a_profile_decides_what_a_stack_costs(profile: str, chosen: tuple[str, ...]) -> None:
    declared = template.load()["Parameters"]
    defaults = {name: str(each["Default"]) for name, each in declared.items()}
    values = {**defaults, **parameters.Profile(profile).parameters}
    assert values.keys() == declared.keys()
    assert (values["AlarmSet"], values["Firewall"], values["Rollout"]) == chosen
