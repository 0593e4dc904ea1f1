"""Checks the paths of the API, and that functions may be called where they are."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.limits import check_limit
from tools.templates.references import references
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: docs.aws.amazon.com/apigateway/latest/developerguide/limits.html, 2026-11.
_MAX_RESOURCES: Final = 300
_INTEGRATION: Final = "x-amazon-apigateway-integration"


def _paths(properties: Json) -> Json:
    return properties.get("Body", {}).get("paths", {})


def _places(properties: Json) -> set[tuple[str, ...]]:
    """Return the segments of each path and of the paths above it, as API Gateway keeps them."""
    ways = [tuple(path.strip("/").split("/")) for path in _paths(properties)]
    return {way[:count] for way in ways for count in range(1, len(way) + 1)}


def check_resources(stack: Stack) -> Iterator[Defect]:
    """API Gateway refuses more than 300 resources: each segment of a path is one."""
    for key, properties in stack.of_type("AWS::ApiGateway::RestApi").items():
        count = 1 + len(_places(properties))
        yield from check_limit(stack, key, count, _MAX_RESOURCES, "resources of the API")


def check_variables(stack: Stack) -> Iterator[Defect]:
    """API Gateway refuses two path variables in one place, such as /a/{id} and /a/{name}."""
    for key, properties in stack.of_type("AWS::ApiGateway::RestApi").items():
        variables: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for place in _places(properties):
            if place[-1].startswith("{"):
                variables[place[:-1]].add(place[-1])
        for above, found in variables.items():
            if len(found) > 1:
                path = "/".join(["", *above])
                message = f"{path} has the variables {' and '.join(sorted(found))} below it."
                yield Defect(stack.file, key, message, "Give them one name.")


def check_permissions(stack: Stack) -> Iterator[Defect]:
    """Without a permission neither API Gateway nor EventBridge may call a function."""
    allowed = {
        (permission["Principal"], name)
        for permission in stack.of_type("AWS::Lambda::Permission").values()
        for name, _ in references(permission["FunctionName"])
    }
    called = {
        (service, name): key
        for service, key, caller in _callers(stack)
        for name, _ in references(caller)
        if stack.resources.get(name, {}).get("Type", "").startswith("AWS::Lambda::")
    }
    for service, name in sorted(called.keys() - allowed):
        message = f"It calls {name}, but {service} has no permission."
        remedy = f"Add an AWS::Lambda::Permission for {name}."
        yield Defect(stack.file, called[service, name], message, remedy)


def _callers(stack: Stack) -> Iterator[tuple[str, str, Json]]:
    """Yield each service with a resource that calls functions, and the part that names them."""
    for key, properties in stack.of_type("AWS::ApiGateway::RestApi").items():
        for methods in _paths(properties).values():
            for method in methods.values():
                yield "apigateway.amazonaws.com", key, method.get(_INTEGRATION, {}).get("uri")
    for key, properties in stack.of_type("AWS::Events::Rule").items():
        for target in properties.get("Targets", []):
            yield "events.amazonaws.com", key, target.get("Arn")
