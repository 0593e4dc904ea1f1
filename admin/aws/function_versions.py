"""The aliases of a stack's functions: where they lead, and what CloudFormation knows of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from admin.aws.stacks import StackDescription
from admin.use_cases.rollback import FunctionVersion, LiveFunction, Move, StackEvent
from pillarbox.domain.errors import ServiceError

_ALIAS: Final = "AWS::Lambda::Alias"
_VERSION: Final = "AWS::Lambda::Version"
#: The alias to which all triggers of a function lead.
LIVE: Final = "live"
#: Which versions of a function were rolled back, as `7:5`: 5 took the place of 7.
_TAG: Final = "pillarbox:rolled-back"


class StackFunctions:
    """The functions of a stack, as its template in CloudFormation names them."""

    def __init__(self, stack: StackDescription) -> None:
        """Read the template and the resources."""
        self._stack = stack
        # No type stubs are installed for Lambda.
        self._lambda: Any = boto3.client("lambda")
        self._template = _processed_template(stack.stack_id)
        self._resources = stacks.resources(stack.stack_id)
        self._arns: dict[str, str] = {}

    def read(self) -> list[LiveFunction]:
        """Return every function that has an alias."""
        return [self._read(alias) for alias in self._aliases().values()]

    def events(self) -> Iterator[StackEvent]:
        """Yield the events of the stack and of its versions, the newest first."""
        pages: Any = boto3.client("cloudformation").get_paginator("describe_stack_events")
        for page in pages.paginate(StackName=self._stack.stack_id):
            for event in page["StackEvents"]:
                status, physical_id = event["ResourceStatus"], event.get("PhysicalResourceId", "")
                if physical_id == self._stack.stack_id:
                    yield StackEvent(status, None)
                elif event["ResourceType"] == _VERSION and physical_id:
                    yield StackEvent(status, _version(physical_id))

    def check(self, moves: Sequence[Move]) -> None:
        """Make sure that every version to which a function goes still exists.

        Raises:
            ServiceError: `service_unavailable`: one was deleted. `deploy` keeps the last three.
        """
        for move in moves:
            name, version = move.function.name, str(move.after)
            try:
                self._lambda.get_function_configuration(FunctionName=name, Qualifier=version)
            except ClientError as error:
                if error.response["Error"]["Code"] != "ResourceNotFoundException":
                    raise
                message = (
                    f"Version {version} of {move.function.logical_id} was deleted. Nothing was"
                    " moved. Check out the old commit and deploy it."
                )
                raise ServiceError("service_unavailable", message) from None

    def move(self, moves: Sequence[Move]) -> None:
        """Send all traffic of each function to its other version at once."""
        for move in moves:
            if not move.done:
                self._lambda.update_alias(
                    FunctionName=move.function.name,
                    Name=LIVE,
                    FunctionVersion=str(move.after),
                    RoutingConfig={"AdditionalVersionWeights": {}},
                )

    def remember(self, move: Move) -> None:
        """Tag the function with the version that was rolled back."""
        function = move.function
        self._tag(function, {**function.rolled_back, function.deployed: move.after})

    def forget(self, function: LiveFunction) -> None:
        """Tag the function without its live version: the next rollback may go back to it."""
        others = {old: new for old, new in function.rolled_back.items() if old != function.live}
        self._tag(function, others)

    def _tag(self, function: LiveFunction, pairs: Mapping[int, int]) -> None:
        # A tag has room for 256 characters.
        text = " ".join(f"{before}:{after}" for before, after in sorted(pairs.items())[-10:])
        self._lambda.tag_resource(Resource=self._arns[function.name], Tags={_TAG: text})

    def fix(self, moves: Sequence[Move]) -> bool:
        """Start an update of the stack after which CloudFormation knows where the aliases lead.

        CodeDeploy refuses the next deployment if an alias does not lead to the version that
        CloudFormation moved it to. The update has no CodeDeploy, which would check that too.
        Return False if there is nothing to change.
        """
        targets = {move.function.name: str(move.after) for move in moves}
        for alias in self._aliases().values():
            properties = alias["Properties"]
            target = targets.get(self._name(properties))
            if target:
                properties["FunctionVersion"] = target
                alias.pop("UpdatePolicy", None)
        return stacks.update_parameters(self._stack, {}, self._store_template())

    def _aliases(self) -> Mapping[str, Any]:
        return {
            name: resource
            for name, resource in sorted(self._template["Resources"].items())
            if resource["Type"] == _ALIAS
        }

    def _name(self, properties: Mapping[str, Any]) -> str:
        return self._resources[properties["FunctionName"]["Ref"]]

    def _read(self, alias: Mapping[str, Any]) -> LiveFunction:
        properties = alias["Properties"]
        version, name = properties["FunctionVersion"], self._name(properties)
        fixed = isinstance(version, str)
        answer = self._lambda.get_alias(FunctionName=name, Name=LIVE)
        shared = answer.get("RoutingConfig", {}).get("AdditionalVersionWeights")
        arn = self._arns[name] = answer["AliasArn"].removesuffix(f":{LIVE}")
        tags = self._lambda.list_tags(Resource=arn).get("Tags", {})
        pairs = (pair.split(":") for pair in tags.get(_TAG, "").split())
        arn_of_version = version if fixed else self._resources[version["Fn::GetAtt"][0]]
        return LiveFunction(
            logical_id=properties["FunctionName"]["Ref"],
            name=name,
            deployed=int(arn_of_version.rpartition(":")[2]),
            live=None if shared else int(answer["FunctionVersion"]),
            fixed=fixed,
            rolled_back={int(before): int(after) for before, after in pairs},
        )

    def _store_template(self) -> str:
        """Store the template beside those of the nested stacks, and return its URL."""
        nested = next(
            resource["Properties"]["TemplateURL"]
            for resource in self._template["Resources"].values()
            if resource["Type"] == "AWS::CloudFormation::Stack"
        )
        host = urlsplit(nested)
        bucket, _, key = host.path.lstrip("/").partition("/")
        folder = key.rpartition("/")[0]
        name = "/".join(filter(None, [folder, f"rollback-{datetime.now(UTC):%Y%m%dT%H%M%S}.json"]))
        boto3.client("s3").put_object(
            Bucket=bucket, Key=name, Body=json.dumps(self._template).encode()
        )
        return f"{host.scheme}://{host.netloc}/{bucket}/{name}"


def _processed_template(stack_id: str) -> Any:  # noqa: ANN401  JSON
    """Return the template without transforms, as CloudFormation has it.

    Raises:
        ServiceError: `service_unavailable`: the stack has no function with an alias.
    """
    body: Any = boto3.client("cloudformation").get_template(
        StackName=stack_id, TemplateStage="Processed"
    )["TemplateBody"]
    template = json.loads(body) if isinstance(body, str) else body
    if not any(resource["Type"] == _ALIAS for resource in template["Resources"].values()):
        message = "The stack has no functions. Deploy it first: pillarbox deploy."
        raise ServiceError("service_unavailable", message)
    return template


def _version(arn: str) -> FunctionVersion:
    """Read `arn:aws:lambda:REGION:ACCOUNT:function:NAME:NUMBER`."""
    name, number = arn.split(":")[-2:]
    return FunctionVersion(name, int(number))
