"""The parameters of a deployment."""

import pytest

from admin import deploy
from admin.use_cases import parameters
from local import template
from pillarbox.domain.errors import ValidationFailed


def test_the_command_line_wins_then_samconfig_then_the_template() -> None:
    """Every parameter gets a value, so that sam never keeps an old one."""
    chosen = parameters.choose(
        {"A": "template", "B": "template", "C": "template"},
        {"B": "samconfig", "C": "samconfig"},
        {"C": "command line"},
    )
    assert chosen == {"A": "template", "B": "samconfig", "C": "command line"}


def test_every_parameter_has_a_default() -> None:
    """The command reads the same defaults as the SAM transform does."""
    declared = template.load()["Parameters"]
    assert deploy._read_defaults() == {
        name: str(parameter["Default"]) for name, parameter in declared.items()
    }


@pytest.mark.parametrize(
    ("words", "overrides", "others"),
    [
        (["--parameter-overrides", "A=b", "C=d", "--guided"], {"A": "b", "C": "d"}, ["--guided"]),
        (["--parameter-overrides=A=b", "x"], {"A": "b"}, ["x"]),
        (["--parameter-overrides", 'A=b C="d e"'], {"A": "b", "C": "d e"}, []),
        (["--parameter-overrides", "A="], {"A": ""}, []),
        (["--parameter-overrides", "A=b=c"], {"A": "b=c"}, []),
        (
            ["--tags", "A=b", "--parameter-overrides", "A=c"],
            {"A": "c"},
            ["--tags", "A=b"],
        ),
        (
            ["--parameter-overrides", "A=b", "--parameter-overrides", "A=c"],
            {"A": "c"},
            [],
        ),
    ],
)
def test_the_parameters_of_the_command_line(
    words: list[str], overrides: dict[str, str], others: list[str]
) -> None:
    parsed = parameters.parse_arguments(words)
    assert (parsed.overrides, parsed.words) == (overrides, others)


@pytest.mark.parametrize("pair", ["A", "=b", "ParameterKey=A,ParameterValue=b", "file://x"])
def test_another_form_of_a_parameter_is_refused(pair: str) -> None:
    with pytest.raises(ValidationFailed, match="Name=Value"):
        parameters.parse_arguments(["--parameter-overrides", pair])


def test_an_open_quotation_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="not closed: A='x"):
        parameters.parse_arguments(["--parameter-overrides", "A='x"])


def test_only_parameters_that_change_are_shown() -> None:
    before = {"A": "1", "B": "2", "C": "", "Old": "x"}
    after = {"A": "1", "B": "3", "D": "", "New": "y"}
    assert parameters.differences(before, after) == [
        "B: 2 -> 3",
        "New: empty -> y",
        "Old: x -> empty",
    ]


def test_values_are_quoted_as_sam_reads_them() -> None:
    words = parameters.to_words({"B": "two words", "A": "", "C": "https://x.example/?a=b"})
    assert words == ["--parameter-overrides", 'A=""', 'B="two words"', "C=https://x.example/?a=b"]
    assert parameters.parse_arguments(words).overrides["B"] == "two words"


@pytest.mark.parametrize(
    ("profile", "chosen"),
    [("small", ("essential", "none")), ("production", ("all", "basic"))],
)
def test_a_profile_decides_what_a_stack_costs(profile: str, chosen: tuple[str, str]) -> None:
    declared = template.load()["Parameters"]
    defaults = {name: str(each["Default"]) for name, each in declared.items()}
    values = {**defaults, **parameters.Profile(profile).parameters}
    assert values.keys() == declared.keys()
    assert (values["AlarmSet"], values["Firewall"]) == chosen
