"""The project's template.yaml, read for the local stack.

The SAM transform is the one that AWS applies. What the engine leaves out of its result is
spelled out for it here, so that the functions are reached as they are in AWS.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT: Final = Path(__file__).resolve().parent.parent
PATH: Final = ROOT / "template.yaml"
REGION: Final = "us-east-1"

type Template = dict[str, Any]

_NESTED: Final = "AWS::CloudFormation::Stack"
#: The conditions of what stays out: the containers, and the firewall of CloudFront.
_ELSEWHERE: Final = {"WithRelay", "InUsEast1"}
#: What the edge stands in for.
_EDGE: Final = (
    "AWS::CloudFront::",
    "AWS::SecretsManager::",
    "AWS::WAFv2::",
)


def load(path: Path = PATH) -> Template:
    """A template as it is written."""
    template: Template = yaml_parse(path.read_text())
    return template


def inlined(template: Template, root: Path = ROOT) -> Template:
    """The template with what its nested stacks have in their place: one template, as AWS has it.

    A parameter of a nested stack becomes what it is given, an output what it says.
    """
    resources: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    for name, resource in template["Resources"].items():
        if resource["Type"] != _NESTED:
            resources[name] = resource
            continue
        properties = resource["Properties"]
        nested = load(root / properties["TemplateURL"])
        given = {f"Ref {of}": value for of, value in properties["Parameters"].items()}
        condition = {"Condition": resource["Condition"]} if "Condition" in resource else {}
        for inner, content in nested["Resources"].items():
            if inner in template["Resources"] or inner in resources:
                raise ValueError(f"{inner} is in two stacks")
            resources[inner] = condition | _filled(content, given)
        for output, content in nested.get("Outputs", {}).items():
            outputs[f"{name}.Outputs.{output}"] = _filled(content["Value"], given)
    filled: Template = _filled(template | {"Resources": resources}, outputs)
    return filled


def _filled(value: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """A part of a template with references replaced: `Ref Name` and `Stack.Outputs.Name`."""
    match value:
        case {"Ref": str(name)} if f"Ref {name}" in given:
            return given[f"Ref {name}"]
        case {"Fn::GetAtt": [str(name), str(attribute)]} if f"{name}.{attribute}" in given:
            return given[f"{name}.{attribute}"]
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": re.sub(r"\$\{(\w+)\}", lambda found: _named(found, given), text)}
        case dict():
            return {name: _filled(part, given) for name, part in value.items()}
        case list():
            return [_filled(part, given) for part in value]
    return value


def _named(found: re.Match[str], given: Mapping[str, Any]) -> str:
    """What stands in a text for a parameter that is given a reference."""
    match given.get(f"Ref {found[1]}"):
        case {"Ref": name}:
            return f"${{{name}}}"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"${{{name}.{attribute}}}"
    return found[0]


def translate(template: Template) -> Template:
    """The template after the SAM transform: plain CloudFormation.

    Without versions of functions, and so without a rollout: what is there is what runs.
    """
    for name in ("AutoPublishAlias", "DeploymentPreference", "SnapStart"):
        template["Globals"]["Function"].pop(name, None)
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name=REGION))
    translated: Template = translator.translate(sam_template=template, parameter_values={})
    return translated


def for_sam(environment: Mapping[str, str]) -> Template:
    """The template for `sam local invoke`, whose functions speak to the running local stack.

    SAM lets a file override only variables that the template declares, so they are put there.
    Paths are absolute; the layer is the one that `make build` made.
    """
    template = inlined(load())
    template["Globals"]["Function"]["Environment"]["Variables"] |= environment
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            properties = resource["Properties"]
            properties["CodeUri"] = str(ROOT / properties["CodeUri"])
            own = properties.get("Environment", {}).get("Variables", {})
            own |= {setting: environment[setting] for setting in own if setting in environment}
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            resource["Properties"]["ContentUri"] = str(ROOT / ".aws-sam" / "build" / name)
    return template


def for_engine(translated: Template) -> Template:
    """The translated template with what the engine would leave out.

    It imports no binary media types from an API's body, stumbles over the concurrency of an
    event source, and knows no alarm on several metrics. Distribution, firewall
    and containers stay out: the stack has an edge and a relay of its own.
    It speaks no TLS, so the policies that demand it would shut everybody out. It asks for
    sqs:SendMessageBatch, where AWS takes sqs:SendMessage for a batch too and knows no other.
    """
    resources = {
        name: resource
        for name, resource in translated["Resources"].items()
        if not resource["Type"].startswith(_EDGE)
        and resource.get("Condition") not in _ELSEWHERE
        and "aws:SecureTransport" not in json.dumps(resource)
        and not (
            resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]
        )
    }
    for resource in resources.values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::ApiGateway::RestApi":
            body = properties["Body"]
            properties["BinaryMediaTypes"] = body["x-amazon-apigateway-binary-media-types"]
        elif resource["Type"] == "AWS::Lambda::EventSourceMapping":
            properties.pop("ScalingConfig", None)
        elif resource["Type"] == "AWS::IAM::Role":
            for policy in properties["Policies"]:
                for statement in policy["PolicyDocument"]["Statement"]:
                    if statement["Action"] == "sqs:SendMessage":
                        statement["Action"] = ["sqs:SendMessage", "sqs:SendMessageBatch"]
    outputs = {
        name: output
        for name, output in translated["Outputs"].items()
        if output.get("Condition") not in _ELSEWHERE and '"Edge' not in json.dumps(output)
    }
    return translated | {"Resources": resources, "Outputs": outputs}
