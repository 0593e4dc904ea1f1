"""The table of settings agrees with the template, the programs and the documents."""

import json
import re
from typing import Any, Final

import pytest

from local import template
from pillarbox.settings import PREFIX, Place, Setting, SettingError, Settings, all_settings
from tests.conditions import containers
from tests.loops import for_each
from tests.pasted import pages

_ROWS: Final = list(all_settings())
_TEMPLATES: Final = [template.PATH, *template.ROOT.glob("stacks/*.yaml")]
_PROGRAMS: Final = ("admin", "front", "functions", "layers", "local", "relay")
_DOCUMENTS: Final = ("local/README.md", "docs/operations.md", "docs/relay.md", "docs/security.md")


def _variables(place: Place) -> set[str]:
    """The variables of ours that the table says a place sets."""
    return {
        row.variable for row in _ROWS if place in row.set_by and row.variable.startswith(PREFIX)
    }


def _containers() -> dict[str, dict[str, Any]]:
    """The container definitions of the templates by name."""
    return {
        name: container
        for path in _TEMPLATES
        for name, container in containers(template.load(path)["Resources"]).items()
    }


def _rows_named(*files: str) -> set[str]:
    """The variables of the rows whose `Settings.name.variable` occurs in files."""
    return {
        getattr(Settings, name).variable
        for file in files
        for name in re.findall(r"Settings\.(\w+)\.variable", (template.ROOT / file).read_text())
    }


def test_the_template_names_no_variable_that_the_table_lacks() -> None:
    text = "".join(path.read_text() for path in _TEMPLATES)
    names = set(re.findall(rf"{PREFIX}\w+", text))
    wanted = _variables("functions") | _variables("relay") | _variables("front")
    assert names ^ wanted == set(), "see template.yaml and settings.py"


@for_each("place", ["relay", "front"])
def test_a_container_is_given_what_the_table_says(place: Place) -> None:
    container = _containers()[place]
    entries = [*container["Environment"], *container.get("Secrets", [])]
    names = {entry["Name"] for entry in entries if entry["Name"].startswith(PREFIX)}
    assert names == _variables(place)


def test_the_local_stack_sets_what_the_table_says() -> None:
    outputs = {row.variable for row in _ROWS if row.output and "local" in row.set_by}
    named = _rows_named("local/front.py", "local/stack.py")
    assert _variables("local") == outputs | (named - _variables("user"))


def test_no_deployed_stack_posts_webhooks_to_its_own_machine() -> None:
    """Only the local stack sets the variable: no template, parameter or image names it."""
    row = Settings.local_webhooks
    assert (row.set_by, row.output, row.parameter) == (("local",), "", "")
    others = (template.ROOT / name for name in ("samconfig.toml", "relay/Dockerfile"))
    deployed = [*_TEMPLATES, *others]
    assert [path for path in deployed if row.variable in path.read_text()] == []
    assert Settings({}).local_webhooks is False


def test_outputs_and_parameters_of_rows_exist() -> None:
    source = template.load()
    assert {row.output for row in _ROWS if row.output} - source["Outputs"].keys() == set()
    assert {row.parameter for row in _ROWS if row.parameter} - source["Parameters"].keys() == set()


def test_a_parameter_and_its_setting_have_the_same_default() -> None:
    source = template.inlined(template.load())
    # A function has a member of this name, and a container a `Name` with a `Value`.
    given = rf'"({PREFIX}\w+)"(?:, "Value")?: {{"Ref": "(\w+)"}}'
    pairs = {*re.findall(given, json.dumps(source))} | {(r.variable, r.parameter) for r in _ROWS}
    defaults = {row.variable: row.default for row in _ROWS if row.default is not None}
    stated = {
        (variable, str(source["Parameters"][name]["Default"]))
        for variable, name in pairs
        if variable in defaults and name in source["Parameters"]
    }
    assert stated - defaults.items() == set(), "see template.yaml and settings.py"


def test_the_command_sets_what_the_table_says() -> None:
    given = {row.variable for row in _ROWS if row.output or row.parameter}
    assert _variables("command") <= given | _rows_named("admin/connection.py")


def test_defaults_and_what_users_set_are_documented() -> None:
    documents = "".join((template.ROOT / name).read_text() for name in _DOCUMENTS)
    rows = [row for row in _ROWS if "command" not in row.set_by]
    missing = [
        row.variable
        for row in rows
        if ("user" in row.set_by or ("local" in row.set_by and row.default is not None))
        and not re.search(
            rf"`{row.variable}`" + (rf"[ |(]*`{re.escape(row.default)}`" if row.default else ""),
            documents,
        )
    ]
    assert missing == [], f"name each as `VARIABLE` (`default`) in one of {_DOCUMENTS}"


def test_documents_name_no_variable_that_nothing_reads() -> None:
    folders = (*_PROGRAMS, "benchmarks", "packages", "tests", "tools", "verification")
    files = (path for part in folders for path in (template.ROOT / part).rglob("*.[pj][ys]"))
    code = "".join(path.read_text() for path in files).replace("{PREFIX}", PREFIX)
    named = {row.variable for row in _ROWS} | {*re.findall(rf"{PREFIX}\w+", code)}
    documents = "".join(page.read_text() for page in pages() - {template.ROOT / "CHANGELOG.md"})
    assert {*re.findall(rf"(?<!secrets\.){PREFIX}\w+", documents)} - named == set()


def test_every_parameter_is_described() -> None:
    """docs/operations.md leads to these descriptions."""
    parameters = template.load()["Parameters"]
    bare = [name for name, it in parameters.items() if not it.get("Description", "").endswith(".")]
    assert bare == []


def test_every_setting_is_set_somewhere() -> None:
    assert all(row.set_by and row.meaning for row in _ROWS)
    assert [row.variable for row in _ROWS if row.set_by == ("user",) and row.default is None] == []


def test_defaults_are_valid() -> None:
    settings = Settings({})
    read = {
        row.variable: row.__get__(settings, Settings) for row in _ROWS if row.default is not None
    }
    assert read["PILLARBOX_SMTP_PROXIES"] == ()
    assert read["PILLARBOX_SMTP_PAID_PLANS_ONLY"] is False


def test_no_other_module_spells_a_variable() -> None:
    spelled = [
        str(path.relative_to(template.ROOT))
        for program in _PROGRAMS
        for path in (template.ROOT / program).rglob("*.py")
        if re.search(rf"""["']{PREFIX}""", path.read_text())
    ]
    assert spelled == ["layers/shared/pillarbox/settings.py"]


@for_each(
    ("row", "text", "form"),
    [
        (Settings.processes, "0", "a number from 1 on"),
        (Settings.processes, "٦٤", "a number from 1 on"),
        (Settings.port, "http", "a port from 0 to 65535"),
        (Settings.smtp_paid_plans_only, "yes", "true or false"),
        (Settings.relay, "relay.example", "host:port"),
        (Settings.dns_servers, "127.0.0.1:53, 127.0.0.2", "host:port"),
        (Settings.smtp_proxies, "10.0.0.300", "networks"),
    ],
)
def test_an_invalid_setting_is_named(row: Setting[object], text: str, form: str) -> None:
    with pytest.raises(SettingError) as error:
        row.__get__(Settings({row.variable: text}), Settings)
    assert str(error.value).startswith(f"{row.variable} must be {form}")
    assert str(error.value).endswith(f"not {text!r}")


def test_values_have_their_types() -> None:
    settings = Settings(
        {
            "PILLARBOX_TABLE": " mail ",
            "PILLARBOX_PORT": "0",
            "PILLARBOX_SMTP_PAID_PLANS_ONLY": "true",
            "PILLARBOX_RELAY": "[::1]:587",
            "PILLARBOX_DNS_SERVERS": "127.0.0.1:53, 127.0.0.2:54",
            "PILLARBOX_SMTP_PROXIES": "10.0.0.0/16,10.1.0.0/16",
        }
    )
    assert (settings.table, settings.port, settings.smtp_paid_plans_only) == ("mail", 0, True)
    assert settings.relay == ("[::1]", 587)
    assert settings.dns_servers == ("127.0.0.1:53", "127.0.0.2:54")
    assert [str(network) for network in settings.smtp_proxies] == ["10.0.0.0/16", "10.1.0.0/16"]


def test_a_missing_setting_is_named_when_it_is_read() -> None:
    settings = Settings({"PILLARBOX_TABLE": " "})
    with pytest.raises(SettingError, match=r"^PILLARBOX_TABLE is not set$"):
        _ = settings.table


def test_a_program_checks_its_settings_at_its_start() -> None:
    words = {"PILLARBOX_AWS_CLIENT": "direct"}
    variables = dict.fromkeys(_variables("front"), "64") | words
    Settings(variables).check("front")
    without = dict.fromkeys(("PILLARBOX_UPGRADE_URL", "PILLARBOX_TABLE"), "")
    with pytest.raises(SettingError) as missing:
        Settings(variables | without).check("front")
    assert {*str(missing.value).split("\n")} == {f"{name} is not set" for name in without}
    with pytest.raises(SettingError, match="PILLARBOX_AWS_CLIENT must be"):
        Settings(variables | {"PILLARBOX_AWS_CLIENT": "long"}).check("front")
