"""Reads the project's template.yaml for the local stack.

It applies the same SAM transform as AWS. It also adapts the result to the limits of the engine, so
that requests reach the functions as in AWS.
"""

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from samtranslator.yaml_helper import intrinsics_multi_constructor

ROOT: Final = Path(__file__).resolve().parent.parent
PATH: Final = ROOT / "template.yaml"
REGION: Final = "us-east-1"

type Template = dict[str, Any]

_NESTED: Final = "AWS::CloudFormation::Stack"
#: Conditions of resources that the engine does not get: edge, containers, CloudFront's firewall.
_EXCLUDED_CONDITIONS: Final = {
    "WithEdge",
    "WithRelay",
    "WithFront",
    "WithFrontFirewall",
    "WithEdgeFirewall",
}
#: The one of them that the engine gets: functions read it.
_EDGE_SECRET: Final = "EdgeSecret"  # noqa: S105  a name
#: Resource types that `local/edge.py` stands in for.
_EDGE_TYPES: Final = (
    "AWS::CloudFront::",
    "AWS::WAFv2::",
)


#: How api.yaml names the alias of a function.
_ALIAS: Final = re.compile(r"\$\{(\w+)Aliaslive\}")
#: How the template names one, in an ARN and in a reference.
_ALIASED_ARN: Final = ".Arn}:live"
_ALIAS_OF: Final = re.compile(r'"(\w+)\.Alias"')
#: A name in the text of Fn::Sub.
_VARIABLE: Final = re.compile(r"\$\{([\w.]+)\}")
_ANY_METHOD: Final = "x-amazon-apigateway-any-method"


class _ShortForms(yaml.CSafeLoader):
    """Reads short forms as SAM does, in a sixth of the time."""


_ShortForms.add_multi_constructor("!", intrinsics_multi_constructor)


def load(path: Path = PATH) -> Template:
    """Return a template file with the files that it includes: a copy of its own for each caller."""
    template: Template = _with_included(_parse(path.read_text()), path.parent)
    return template


def _with_included(value: Any, folder: Path) -> Any:  # noqa: ANN401  JSON
    """Return a copy with the content of a file in the place of each AWS::Include."""
    match value:
        case {"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": str(location)}}}:
            return _with_included(_parse_included((folder / location).read_text()), folder)
        case dict():
            return {name: _with_included(part, folder) for name, part in value.items()}
        case list():
            return [_with_included(part, folder) for part in value]
    return value


@cache
def _parse(text: str) -> Template:
    """Parse a template, which takes some hundredths of a second for the project's own."""
    template: Template = yaml.load(text, _ShortForms)  # noqa: S506  a SafeLoader
    return template


@cache
def _parse_included(text: str) -> Template:
    try:
        included: Template = yaml.load(text, yaml.CSafeLoader)
    except yaml.constructor.ConstructorError as error:
        raise ValueError(f"an included file has a short form: {error.problem}") from error
    return included


def routes(template: Template) -> dict[tuple[str, str], str]:
    """Return the logical id of the function of each path and method of the API.

    The method is in capitals; `ANY` is each one that is not named.
    """
    paths = template["Resources"]["Api"]["Properties"]["DefinitionBody"]["paths"]
    return {
        (path, "ANY" if method == _ANY_METHOD else method.upper()): _owner(operation)
        for path, methods in paths.items()
        # The literal reading of a path exists without an edge.
        for method, operation in (methods["Fn::If"][2] if "Fn::If" in methods else methods).items()
    }


def _owner(operation: Mapping[str, Any]) -> str:
    match = _ALIAS.search(operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"])
    if match is None:
        raise ValueError(operation)
    return match[1]


def inlined(template: Template, root: Path = ROOT) -> Template:
    """Return one template that contains the resources of its nested stacks.

    Each parameter of a nested stack is replaced with its argument, each output with its value. A
    condition of the template has precedence over one of the same name in a nested stack.
    """
    resources: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    conditions: dict[str, Any] = {}
    for name, resource in template["Resources"].items():
        if resource["Type"] != _NESTED:
            resources[name] = resource
            continue
        properties = resource["Properties"]
        nested = load(root / properties["TemplateURL"])
        values = properties["Parameters"]
        condition = {"Condition": resource["Condition"]} if "Condition" in resource else {}
        for inner, content in nested["Resources"].items():
            if inner in template["Resources"] or inner in resources:
                raise ValueError(f"{inner} is in two stacks")
            resources[inner] = condition | substitute(content, values)
        conditions |= substitute(nested.get("Conditions", {}), values)
        for output, content in nested.get("Outputs", {}).items():
            outputs[f"{name}.Outputs.{output}"] = substitute(content["Value"], values)
    conditions |= template["Conditions"]
    merged = template | {"Resources": resources, "Conditions": conditions}
    substituted: Template = substitute(merged, outputs)
    return substituted


def substitute(part: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """Return a part of a template with references to `Name` or `Stack.Outputs.Name` replaced."""
    match part:
        case {"Ref": str(name)} if name in values:
            return values[name]
        case {"Fn::GetAtt": [str(name), str(attribute)]} if f"{name}.{attribute}" in values:
            return values[f"{name}.{attribute}"]
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": _substitute_in_text(text, values)}
        case dict():
            return {name: substitute(content, values) for name, content in part.items()}
        case list():
            return [substitute(content, values) for content in part]
    return part


def _substitute_in_text(text: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """Return the argument of Fn::Sub in which some names have a value of their own."""
    left: dict[str, Any] = {}
    for name in dict.fromkeys(_VARIABLE.findall(text)):
        match values.get(name):
            case {"Ref": str(reference)}:
                text = text.replace(f"${{{name}}}", f"${{{reference}}}")
            case {"Fn::GetAtt": [str(resource), str(attribute)]}:
                text = text.replace(f"${{{name}}}", f"${{{resource}.{attribute}}}")
            case value if value is not None:
                variable = name.replace(".", "")
                text = text.replace(f"${{{name}}}", f"${{{variable}}}")
                left[variable] = value
    return [text, left] if left else text


def translate(template: Template) -> Template:
    """Apply the SAM transform; return plain CloudFormation.

    The result has no function versions and so no rollout: the deployed code runs at once.
    """
    # Imported here, because they take 40 MB and a start with a kept template needs none of it.
    import boto3  # noqa: PLC0415
    from samtranslator.parser.parser import Parser  # noqa: PLC0415
    from samtranslator.translator.translator import Translator  # noqa: PLC0415

    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name=REGION))
    translated: Template = translator.translate(
        sam_template=_simplified(template), parameter_values={}
    )
    return translated


def _simplified(template: Template) -> Template:
    """Return a template whose routes, permissions and settings name the functions themselves.

    It has no routes for wrong methods, for which SAM would take every method of a path, and none
    for the second reading of a path. The local edge refuses the former and rewrites the latter.
    """
    text = json.dumps(template).replace(_ALIASED_ARN, ".Arn}")
    text = _ALIAS_OF.sub(r'"\1"', _ALIAS.sub(r"${\1.Arn}", text))
    unaliased: Template = json.loads(text)
    functions = [
        resource["Properties"]
        for resource in unaliased["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    for name in ("AutoPublishAlias", "DeploymentPreference"):
        for properties in (unaliased["Globals"]["Function"], *functions):
            properties.pop(name, None)
    # The engine speaks no TLS, and the layer has no file of authorities here.
    del unaliased["Globals"]["Function"]["Environment"]["Variables"]["AWS_CA_BUNDLE"]
    url = unaliased["Resources"]["SendEmailUrl"]
    del url["DependsOn"], url["Properties"]["Qualifier"]
    body = unaliased["Resources"]["Api"]["Properties"]["DefinitionBody"]
    body["paths"] = {
        path: {name: method for name, method in methods.items() if name != _ANY_METHOD}
        for path, methods in body["paths"].items()
        if not path.startswith("/v1/v1/")
    }
    return unaliased


def for_sam(environment: Mapping[str, str], architecture: str, layer: Path) -> Template:
    """Return a template for `sam local`, whose functions use the running local stack.

    SAM overrides only variables that the template declares, so this function declares them.

    Args:
        environment: the settings of the functions.
        architecture: this machine's, because Docker would emulate another one too slowly.
        layer: the folder of the layer that was built for it.
    """
    template = _simplified(inlined(load()))
    defaults = template["Globals"]["Function"]
    defaults["Architectures"] = [architecture]
    defaults["Environment"]["Variables"] |= environment
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Serverless::Function":
            properties["CodeUri"] = str(ROOT / properties["CodeUri"])
            own = properties.get("Environment", {})
            own["Variables"] = {
                name: environment.get(name, value)
                for name, value in own.get("Variables", {}).items()
                if name in environment or not _names(value, {*_EXCLUDED_CONDITIONS, "WithSendUrl"})
            }
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            properties["ContentUri"] = str(layer)
            properties["CompatibleArchitectures"] = [architecture]
            resource["Metadata"]["BuildArchitecture"] = architecture
    return template


def for_engine(translated: Template) -> Template:
    """Return the translated template, adapted to the engine.

    The engine does not import binary media types from an API's body, fails on the concurrency of
    an event source, and does not support alarms on several metrics.
    The local edge, front and relay replace the distribution, the firewalls and the containers.
    The engine has no TLS, so policies that require TLS would deny every request. That of the queue
    of received mail keeps its other part, without which the engine makes no bucket. It says that a
    mapping is enabled which the template has disabled, so that of received mail is enabled.
    It checks sqs:SendMessageBatch, where AWS checks sqs:SendMessage, and likewise
    dynamodb:BatchExecuteStatement, where AWS checks dynamodb:PartiQLInsert, and
    lambda:ListEventSourceMappings, where AWS checks lambda:GetEventSourceMapping.
    A secret is referred to by its name, which in AWS is its ARN.
    """
    arn = {_EDGE_SECRET: {"Fn::GetAtt": [_EDGE_SECRET, "Id"]}}
    translated = substitute(translated, arn)
    queue = translated["Resources"]["ReceivedQueuePolicy"]["Properties"]["PolicyDocument"]
    queue["Statement"] = [one for one in queue["Statement"] if one["Effect"] == "Allow"]
    del translated["Resources"]["ReceiveEmailReceived"]["Properties"]["Enabled"]
    resources = {
        name: resource
        for name, resource in translated["Resources"].items()
        if not resource["Type"].startswith(_EDGE_TYPES)
        and (resource.get("Condition") not in _EXCLUDED_CONDITIONS or name == _EDGE_SECRET)
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
        elif resource["Type"] == "AWS::Lambda::Function":
            # The engine's environment has the address of the local relay.
            environment = properties.get("Environment", {})
            environment["Variables"] = {
                name: value
                for name, value in environment.get("Variables", {}).items()
                if _is_kept(value)
            }
        elif resource["Type"] == "AWS::IAM::Role":
            for policy in properties["Policies"]:
                document = policy["PolicyDocument"]
                document["Statement"] = [
                    one for one in document["Statement"] if "Fn::If" not in one or _is_kept(one)
                ]
                document["Statement"] = [*_with_calls_of_many(document["Statement"])]
    outputs = {
        name: output
        for name, output in translated["Outputs"].items()
        if output.get("Condition") not in _EXCLUDED_CONDITIONS and '"Edge' not in json.dumps(output)
    }
    return translated | {"Resources": resources, "Outputs": outputs}


def _with_calls_of_many(statements: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the statements of a policy, also for the other calls that the engine checks."""
    for statement in statements:
        actions = statement.get("Action", [])  # of a condition there is none about these calls
        actions = actions if isinstance(actions, list) else [actions]
        if "sqs:SendMessage" in actions:
            statement["Action"] = [*actions, "sqs:SendMessageBatch"]
        if "lambda:GetEventSourceMapping" in actions:
            statement["Action"] = [*actions, "lambda:ListEventSourceMappings"]
        if "dynamodb:PartiQLInsert" in actions:
            many = {"Action": "dynamodb:BatchExecuteStatement", "Resource": "*"}
            yield {"Effect": "Allow"} | many
        yield statement


def _is_kept(value: Any) -> bool:  # noqa: ANN401  JSON
    """Return whether the engine gets a setting or a statement of a function."""
    return _names(value, {_EDGE_SECRET}) or not _names(value, _EXCLUDED_CONDITIONS)


def _names(value: Any, conditions: AbstractSet[str]) -> bool:  # noqa: ANN401  JSON
    """Return whether a value depends on a condition."""
    text = json.dumps(value)
    return any(f'"{condition}"' in text for condition in conditions)
