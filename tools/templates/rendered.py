"""Renders parts of a resolved template as text of a realistic length, for limits of size."""

import json
from typing import Final

from tools.templates.resolve import variables_of
from tools.templates.sets import ACCOUNT
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: The length of what CloudFormation adds to names that it chooses: a hyphen and 12 characters.
_SUFFIX: Final = "-" + "X" * 12
_MAX_NAME: Final = 64


def physical_name(stack: Stack, key: str) -> str:
    """Return a name as CloudFormation would choose it for a resource."""
    return f"{stack.name}-{key}"[: _MAX_NAME - len(_SUFFIX)] + _SUFFIX


def render(stack: Stack, part: Json) -> Json:
    """Return a part of a template with a text of realistic length for each reference."""
    match part:
        case {"Ref": str(name)}:
            return _reference(stack, name, None)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return _reference(stack, name, attribute)
        case {"Fn::Sub": str(text)}:
            return _substituted(stack, text, {})
        case {"Fn::Sub": [str(text), dict(variables)]}:
            return _substituted(stack, text, variables)
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(str(render(stack, item)) for item in parts)
        case {"Fn::Select": _} | {"Fn::Split": _} | {"Fn::ImportValue": _}:
            return "X" * _MAX_NAME
        case dict():
            return {name: render(stack, content) for name, content in part.items()}
        case list():
            return [render(stack, content) for content in part]
    return part


def compact(stack: Stack, part: Json) -> str:
    """Return JSON without blanks, as a service stores a policy."""
    return json.dumps(render(stack, part), separators=(",", ":"))


def _substituted(stack: Stack, text: str, variables: Json) -> str:
    for name in variables_of(text):
        resource, _, attribute = name.partition(".")
        value = (
            render(stack, variables[name])
            if name in variables
            else _reference(stack, resource, attribute or None)
        )
        text = text.replace(f"${{{name}}}", str(value))
    return text


def _reference(stack: Stack, key: str, attribute: str | None) -> str:
    name = physical_name(stack, key)
    kind = stack.resources.get(key, {}).get("Type", "")
    service = kind.split("::")[1].lower() if kind.count("::") > 1 else "service"
    arn = f"arn:aws:{service}:{stack.region}:{ACCOUNT}:{kind.rsplit(':', 1)[-1].lower()}/{name}"
    if attribute is not None:
        return name if attribute.endswith(("Name", "Id")) else arn
    match kind:
        case "AWS::ApiGateway::RestApi" | "AWS::CloudFront::Distribution":
            return "X" * 14
        case "AWS::SQS::Queue":
            return f"https://sqs.{stack.region}.amazonaws.com/{ACCOUNT}/{name}"
        case "AWS::Lambda::Alias" | "AWS::SNS::Topic" | "AWS::SecretsManager::Secret":
            return arn
    return name
