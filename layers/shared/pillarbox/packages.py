"""Import a module of a package without everything else that the package imports.

The `__init__` of some packages imports all of their modules. That of Powertools' event handlers
brings asyncio and the handlers of other services, that of its events one class for each service of
AWS, and that of pydantic-core hundreds of types for type checkers. A function needs a few modules
of each, and a cold start would pay for all.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

_NONE: Final[Mapping[str, str]] = {}


def defer_package(name: str, modules: Mapping[str, str] = _NONE) -> None:
    """Let a package run its `__init__` only when one of the names in it is used.

    Afterwards `from package.module import …` loads this module alone, and `from package import …`
    works as always. A package that is already imported stays as it is.

    Args:
        name: the package.
        modules: names that the `__init__` takes from modules of the package, each with its module.
            Such a name loads this module alone.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=name)
    loader, package = spec.loader, module_from_spec(spec)

    def find(attribute: str) -> Any:  # noqa: ANN401  an attribute of any type
        if attribute in modules:
            return getattr(import_module(f"{name}.{modules[attribute]}"), attribute)
        if find_spec(f"{name}.{attribute}"):
            return import_module(f"{name}.{attribute}")
        if vars(package).pop("__getattr__", None):
            loader.exec_module(package)
        return getattr(package, attribute)

    vars(package)["__getattr__"] = find  # PEP 562
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)  # as an import does


# Handlers import what they use of these packages from its own module, after this one.
defer_package("aws_lambda_powertools", {"Logger": "logging", "Metrics": "metrics"})
defer_package("aws_lambda_powertools.event_handler")
defer_package("aws_lambda_powertools.event_handler.openapi")
defer_package(
    "aws_lambda_powertools.utilities.data_classes",
    {
        "ALBEvent": "alb_event",
        "APIGatewayProxyEvent": "api_gateway_proxy_event",
        "APIGatewayProxyEventV2": "api_gateway_proxy_event",
        "BedrockAgentEvent": "bedrock_agent_event",
        "LambdaFunctionUrlEvent": "lambda_function_url_event",
        # The module of SQS events takes it from the package, so a program that has both needs it.
        "S3Event": "s3_event",
        "VPCLatticeEvent": "vpc_lattice",
        "VPCLatticeEventV2": "vpc_lattice",
    },
)
defer_package("pydantic_core")
