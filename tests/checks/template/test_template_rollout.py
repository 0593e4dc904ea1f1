"""A new version of the functions gets traffic in steps, and rolls back when it fails."""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from admin.aws import release
from admin.use_cases import parameters
from local import template
from tests.loops import for_each
from tools import pack_release


def _deployed(path: Path, **parameters: str) -> dict[str, Any]:
    """Return the resources that the SAM transform creates from a template."""
    return _translated(path, path.read_text(), *parameters.items())


@cache
def _translated(path: Path, _text: str, *parameters: tuple[str, str]) -> dict[str, Any]:
    """Translate a text once, which takes seconds; no test changes the result."""
    source = template.load(path)
    for resource in source["Resources"].values():
        for place in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][place] = "s3://bucket/key"
    session = boto3.Session(region_name=template.REGION)
    translated = Translator({}, Parser(), boto_session=session).translate(
        sam_template=source, parameter_values=dict(parameters)
    )
    resources: dict[str, Any] = translated["Resources"]
    return resources


def _of_type(resources: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: r for name, r in resources.items() if r["Type"] == kind}


@pytest.mark.slow
def test_another_release_is_a_new_version_of_every_function_and_the_api(tmp_path: Path) -> None:
    """SAM does not see that a parameter has another value; the release shows it."""
    written = json.dumps(template.load(), default=str)
    versions: list[set[str]] = []
    deployments: list[set[str]] = []
    for share in ("1", "0.5"):
        values = {"SesRateShare": share}
        built = tmp_path / f"{share}.json"
        built.write_text(release.stamp(written, parameters.digest(values)))
        deployed = _deployed(built, **values)
        versions.append(set(_of_type(deployed, "AWS::Lambda::Version")))
        deployments.append(set(_of_type(deployed, "AWS::ApiGateway::Deployment")))
    assert len(versions[0]) == len(versions[1]) == len(list(template.ROOT.glob("functions/*/")))
    assert not versions[0] & versions[1]
    assert not deployments[0] & deployments[1]


def test_a_release_is_that_of_template_and_parameters() -> None:
    written = '{"RELEASE": "unbuilt", "version": "unbuilt"}'
    chosen = dict.fromkeys(template.load()["Parameters"], "a")
    changed = [chosen, *(chosen | {name: "b"} for name in chosen)]
    stamped = {release.stamp(written, parameters.digest(values)) for values in changed}
    assert len(stamped) == len(changed) > 20
    again = release.stamp(written, parameters.digest(dict(reversed(chosen.items()))))
    assert again in stamped
    assert release.stamp(f"{written} ", parameters.digest(chosen)) != f"{again} "
    with pytest.raises(ValueError, match="unbuilt"):
        release.stamp(again, "")


def test_the_same_sources_make_the_same_release(tmp_path: Path) -> None:
    """Place and age of the files do not matter; another octet makes another template."""
    packed: list[dict[str, bytes]] = []
    for number, code in enumerate(("a = 1\n", "a = 1\n", "a = 2\n")):
        built, made = tmp_path / f"{number}" / "built", tmp_path / f"{number}" / "release"
        for folder in ("Send", "Relay"):
            (built / folder).mkdir(parents=True)
        (built / "Send" / "app.py").write_text(code)
        for name in ("bin/tool", "a.dist-info/RECORD", "__pycache__/gone.cpython-313.pyc"):
            (built / "Send" / name).parent.mkdir(exist_ok=True)
            (built / "Send" / name).write_text(str(number))  # of the machine, or of a former build
        os.utime(built / "Send" / "app.py", (number, 10**9 + number))
        (built / "Relay" / "template.yaml").write_text("Resources: {}\n")
        (built / "api.yaml").write_text("/v1/me: {}\n")
        (built / "template.yaml").write_text(
            "A: {CodeUri: Send}\nB: [{TemplateURL: Relay/template.yaml}]\n"
            "C: {Fn::Transform: {Name: AWS::Include, Parameters: {Location: api.yaml}}}\n"
        )
        pack_release.pack(built, made)
        packed.append({path.name: path.read_bytes() for path in made.iterdir()})
    first, again, other = packed
    assert first == again
    kinds = {name.partition("-")[0] for name in first}
    assert kinds == {"Send", "Relay", "api", "template.json"}
    assert all(name.encode() in first["template.json"] for name in first.keys() - {"template.json"})
    assert first["template.json"] != other["template.json"]


@pytest.mark.slow
def test_every_trigger_uses_the_alias() -> None:
    resources = _deployed(template.PATH)
    aliases = _of_type(resources, "AWS::Lambda::Alias")
    functions = _of_type(resources, "AWS::Lambda::Function")
    assert len(aliases) == len(functions)
    for source in _of_type(resources, "AWS::Lambda::EventSourceMapping").values():
        assert source["Properties"]["FunctionName"]["Ref"] in aliases
    for rule in _of_type(resources, "AWS::Events::Rule").values():
        for target in rule["Properties"]["Targets"]:
            assert target["Arn"].get("Ref", "") in aliases or "Fn::GetAtt" in target["Arn"]
    (api,) = _of_type(resources, "AWS::ApiGateway::RestApi").values()
    called = re.findall(r"functions/(\S+)/invocations", json.dumps(api["Properties"]["Body"]))
    assert all(name.endswith("Aliaslive}") for name in called)
    assert len(called) > len(functions)
    variables = resources["SignIn"]["Properties"]["Environment"]["Variables"]
    named = {alias["Properties"]["Name"] for alias in aliases.values()}
    assert named == {"live"}
    assert variables["PILLARBOX_MAIL_CODE_FUNCTION"] == {"Fn::Sub": "${MailCode.Arn}:live"}


@pytest.mark.slow
@for_each("rollout", ["AllAtOnce", "Canary10Percent10Minutes"])
def test_a_rollout_in_steps_rolls_back_on_its_alarm(rollout: str) -> None:
    """AllAtOnce has no alarm, so that it can mend what makes the alarm fire."""
    groups = _of_type(_deployed(template.PATH, Rollout=rollout), "AWS::CodeDeploy::DeploymentGroup")
    watched = {"Enabled": True, "Alarms": [{"Name": {"Ref": "RolloutAlarm"}}]}
    at_once = {"Fn::Equals": [{"Ref": "Rollout"}, "AllAtOnce"]}
    assert template.load()["Conditions"]["WithSteps"] == {"Fn::Not": [at_once]}
    for group in groups.values():
        properties = group["Properties"]
        assert properties["AlarmConfiguration"] == {"Fn::If": ["WithSteps", watched, {}]}
        assert "DEPLOYMENT_STOP_ON_ALARM" in properties["AutoRollbackConfiguration"]["Events"]
        assert properties["DeploymentConfigName"]["Fn::Sub"][1] == {"ConfigName": rollout}


@for_each("part", ["ApplicationLogLevel", "SystemLogLevel", "LogFormat", "LogGroup"])
def test_every_function_has_its_whole_logging(part: str) -> None:
    functions = _of_type(_deployed(template.PATH), "AWS::Lambda::Function").values()
    assert functions
    for function in functions:
        assert part in function["Properties"]["LoggingConfig"]
