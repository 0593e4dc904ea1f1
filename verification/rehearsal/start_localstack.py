"""Start LocalStack in its own environment, with what its community edition lacks for these stacks.

No function runs here, so Docker is not needed. Each class and function says what it adds; all else
is LocalStack's own.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any, Final

from cfnlint.schema import Schema
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from localstack.runtime.main import main
from localstack.services.cloudformation.engine.v2 import change_set_model_preproc as preproc
from localstack.services.cloudformation.engine.v2.change_set_model import ChangeSetModel
from localstack.services.cloudformation.engine.v2.change_set_model_executor import (
    ChangeSetModelExecutor,
)
from localstack.services.cloudformation.engine.v2.change_set_model_transform import (
    ChangeSetModelTransform,
)
from localstack.services.cloudformation.resource_provider import (
    OperationStatus,
    ProgressEvent,
    ResourceProvider,
    ResourceProviderExecutor,
)
from localstack.services.cloudformation.resource_providers.aws_cloudformation_stack import (
    CloudFormationStackProvider,
)
from localstack.services.lambda_.invocation.docker_runtime_executor import DockerRuntimeExecutor
from localstack.services.lambda_.resource_providers.lambda_alias import LambdaAliasProvider

_EXECUTOR: Final = ResourceProviderExecutor.try_load_resource_provider
_FIND_IN_MAP: Final = ChangeSetModel._resolve_intrinsic_function_fn_find_in_map
_GET_ATTRIBUTE: Final = preproc.ChangeSetModelPreproc._resolve_attribute
_EXECUTE: Final = ChangeSetModelExecutor.execute
#: LocalStack creates one and fails to delete it.
_NEVER_DELETED: Final = "AWS::EC2::VPCEndpoint"
_LOOK_UP: Final = preproc.perform_dynamic_reference_lookup


class StandIn(ResourceProvider):  # type: ignore[misc]  # LocalStack ships no types
    """Accepts a resource whose type LocalStack lacks.

    It has the attributes that CloudFormation's registry lists for the type, and no others.
    """

    def __init__(self, schema: Schema) -> None:
        """Stand in for the type of a schema."""
        self.SCHEMA = schema.schema
        self._attributes = [name for name in schema.get_atts if "*" not in name]

    def create(self, request: Any) -> ProgressEvent:
        """Accept the properties; make up the attributes."""
        name = request.logical_resource_id
        model = dict(request.desired_state)
        for pointer in self.SCHEMA["primaryIdentifier"]:
            _put(model, pointer.split("/")[2:], os.environ["STAND_IN"] + name)
        for attribute in self._attributes:
            arn = f"arn:aws:rehearsal:{request.region_name}:{request.account_id}:{name}"
            text = arn if attribute.endswith("Arn") else f"{attribute}.{name}.example".lower()
            _put(model, attribute.split("."), text)
        return ProgressEvent(OperationStatus.SUCCESS, resource_model=model)

    def update(self, request: Any) -> ProgressEvent:
        """Accept the new properties; keep the attributes."""
        model = request.previous_state | request.desired_state
        return ProgressEvent(OperationStatus.SUCCESS, resource_model=model)

    def delete(self, request: Any) -> ProgressEvent:
        """Forget the resource."""
        del request
        return ProgressEvent(OperationStatus.SUCCESS, resource_model={})


def _put(model: dict[str, Any], path: list[str], value: str) -> None:
    """Put a value into a model unless the template gives one."""
    for name in path[:-1]:
        model = model.setdefault(name, {})
    model.setdefault(path[-1], value)


class NestedStack(CloudFormationStackProvider):  # type: ignore[misc]  # the same
    """Also updates a nested stack, and waits for the end of its removal."""

    def update(self, request: Any) -> ProgressEvent:
        """Update the stack; report the progress at each further call."""
        model = request.previous_state | request.desired_state
        formation = request.aws_client_factory.cloudformation
        if not request.custom_context.get("updates"):
            parameters = {
                name: str(value).lower() if isinstance(value, bool) else str(value)
                for name, value in model.get("Parameters", {}).items()
            }
            try:
                formation.update_stack(
                    StackName=model["Id"],
                    TemplateURL=model["TemplateURL"],
                    Parameters=[
                        {"ParameterKey": name, "ParameterValue": value}
                        for name, value in parameters.items()
                    ],
                    Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
                )
            except formation.exceptions.ClientError as error:
                if "No updates are to be performed" not in str(error):
                    raise
                return ProgressEvent(OperationStatus.SUCCESS, resource_model=model)
            request.custom_context["updates"] = True
        stack = formation.describe_stacks(StackName=model["Id"])["Stacks"][0]
        status = OperationStatus.FAILED
        if stack["StackStatus"] == "UPDATE_COMPLETE":
            status = OperationStatus.SUCCESS
            outputs = stack.get("Outputs", [])
            model["Outputs"] = {each["OutputKey"]: each["OutputValue"] for each in outputs}
        elif stack["StackStatus"].endswith("_IN_PROGRESS"):
            status = OperationStatus.IN_PROGRESS
        return ProgressEvent(
            status,
            resource_model=model,
            custom_context=request.custom_context,
            message=stack.get("StackStatusReason", ""),
        )

    def delete(self, request: Any) -> ProgressEvent:
        """Delete the stack; go on waiting in each state that is no end."""
        try:
            return super().delete(request)
        except Exception as error:
            if "_IN_PROGRESS" not in str(error):
                raise
            return ProgressEvent(
                OperationStatus.IN_PROGRESS,
                resource_model=request.desired_state,
                custom_context=request.custom_context,
            )


class CidrBlock(StandIn):
    """Gives a VPC one more range of addresses."""

    def create(self, request: Any) -> ProgressEvent:
        """Add the range."""
        wanted = request.desired_state
        request.aws_client_factory.ec2.associate_vpc_cidr_block(
            VpcId=wanted["VpcId"], CidrBlock=wanted["CidrBlock"]
        )
        return super().create(request)


class Alias(LambdaAliasProvider):  # type: ignore[misc]  # the same
    """Also moves an alias to another version."""

    def update(self, request: Any) -> ProgressEvent:
        """Move the alias."""
        model = request.previous_state | request.desired_state
        request.aws_client_factory.lambda_.update_alias(
            FunctionName=model["FunctionName"],
            Name=model["Name"],
            FunctionVersion=model["FunctionVersion"],
        )
        return ProgressEvent(OperationStatus.SUCCESS, resource_model=model)


def _provider(kind: Any) -> ResourceProvider | None:
    if kind == "AWS::CloudFormation::Stack":
        return NestedStack()
    if kind == "AWS::Lambda::Alias":
        return Alias()
    if (provider := _EXECUTOR(kind)) or not isinstance(kind, str):
        if kind == _NEVER_DELETED:
            provider.delete = lambda _: ProgressEvent(OperationStatus.SUCCESS, resource_model={})
        return provider
    stand_in = CidrBlock if kind == "AWS::EC2::VPCCidrBlock" else StandIn
    return stand_in(PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind))


def _unless_absent(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Skip what a condition leaves out: LocalStack evaluates its references all the same."""

    def visit_unless_absent(self: Any, *nodes: Any, **named: Any) -> Any:
        (node,) = (*nodes, *named.values())
        if not preproc.is_nothing(node.condition_reference):
            condition = self._resolve_resource_condition_reference(node.condition_reference)
            if True not in (condition.before, condition.after):
                return preproc.PreprocEntityDelta(before=preproc.Nothing, after=preproc.Nothing)
        return visit(self, node)

    return visit_unless_absent


def _empty_too(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Let a parameter be empty: LocalStack takes an empty text without a default for nothing."""

    def visit_empty_too(self: Any, node_parameter: Any) -> Any:
        delta = visit(self, node_parameter)
        given = self.visit(node_parameter.dynamic_value)
        if preproc.is_nothing(delta.before) and given.before == "":
            delta.before = ""
        if preproc.is_nothing(delta.after) and given.after == "":
            delta.after = ""
        return delta

    return visit_empty_too


def _include_files(transform: Any) -> None:
    """Put included files in before SAM reads the template, as CloudFormation does.

    LocalStack looks up each reference at that time, and does not find what SAM will create.
    """
    for template in (transform._before_template, transform._after_template):
        if not preproc.is_nothing(template):
            for part in _dictionaries(template):
                match part.pop("Fn::Transform", None):
                    case {"Name": "AWS::Include", "Parameters": parameters}:
                        part.update(transform._compute_include_transform(parameters, {}))


def _dictionaries(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _dictionaries(inner)


def _change_of_map(model: Any, arguments: Any) -> Any:
    """Return how a look-up in a map changes: LocalStack lacks keys that are references."""
    try:
        return _FIND_IN_MAP(model, arguments)
    except NotImplementedError:
        return model._retrieve_mapping(mapping_name=arguments.array[0].value).change_type


def _attribute(model: Any, arguments: Any, *, select_before: bool) -> Any:
    """Look up an attribute; it is nothing on the side of an update where a condition is false.

    LocalStack looks at both sides of each branch of Fn::If, and fails on the one not taken.
    """
    try:
        return _GET_ATTRIBUTE(model, arguments, select_before)
    except preproc.ValidationError:
        name = arguments.split(".")[0] if isinstance(arguments, str) else arguments[0]
        template = model._change_set.update_model.node_template
        node = model._get_node_resource_for(name, template)
        condition = model._resolve_resource_condition_reference(node.condition_reference)
        if condition.before == condition.after:
            raise
        return preproc.Nothing


def _keep_after_failure(executor: Any) -> Any:
    """Execute a change set; remember what exists after a failure, so that it can be mended.

    LocalStack undoes nothing then, and forgets each resource that it had not reached.
    """
    before = executor._change_set.stack.resolved_resources
    result = _EXECUTE(executor)
    if result.failure_message:
        failed = [name for name, each in result.resources.items() if _failed(each)]
        for name in failed:
            del result.resources[name]
        for name, resource in before.items():
            result.resources.setdefault(name, resource)
    return result


def _failed(resource: dict[str, Any]) -> bool:
    return str(resource.get("ResourceStatus", "")).endswith("_FAILED")


def _whole_secret(reference: Any, **account: str) -> str | None:
    """Look up `{{resolve:secretsmanager:ID:SecretString}}`: LocalStack wants one more colon.

    It also looks in branches of Fn::If that are not taken, where the id may be empty.
    """
    if reference.reference_key.removeprefix(":") == "SecretString":
        return ""
    if reference.reference_key.endswith(":SecretString"):
        reference.reference_key += ":"
    return _LOOK_UP(reference, **account)  # type: ignore[no-any-return]


if __name__ == "__main__":
    ResourceProviderExecutor.try_load_resource_provider = staticmethod(_provider)
    DockerRuntimeExecutor.prepare_version = classmethod(lambda *_: None)
    DockerRuntimeExecutor.validate_environment = classmethod(lambda _: True)
    model = preproc.ChangeSetModelPreproc
    model.visit_node_resource = _unless_absent(model.visit_node_resource)
    model.visit_node_parameter = _empty_too(model.visit_node_parameter)
    model.visit_node_output = _unless_absent(model.visit_node_output)
    ChangeSetModelTransform._execute_local_transforms = _include_files
    ChangeSetModel._resolve_intrinsic_function_fn_find_in_map = _change_of_map
    model._resolve_attribute = lambda self, arguments, select_before: _attribute(
        self, arguments, select_before=select_before
    )
    ChangeSetModelExecutor.execute = _keep_after_failure
    preproc.perform_dynamic_reference_lookup = _whole_secret
    main()
