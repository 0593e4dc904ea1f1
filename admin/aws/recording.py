"""Record the calls of AWS that would change something, in place of making them.

The recording sits in the SDK, below the code of the commands, so a dry run and a real run go the
same way. Calls that only read are made, or answered by an example without AWS.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, NamedTuple

import boto3
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from pillarbox.adapters.sdk import sdk_session

_READS: Final = ("BatchGet", "Describe", "Get", "Head", "List", "Query", "Scan")
#: The SDK asks these services for the operator's credentials. The commands call none of them.
_SIGN_IN: Final = frozenset({"signin", "sso", "sso-oidc", "sts"})
_PARAMETERS: Final = "pillarbox_parameters"
_OK: Final = 200
_REFUSED: Final = 400

type Parameters = Mapping[str, Any]
#: Answers a call that reads.
type Example = Callable[[str, Parameters], Parameters]


class Call(NamedTuple):
    """A call of AWS that changes something: no content, and no address of a person."""

    service: str
    operation: str
    resource: str


class ExampleError(Exception):
    """AWS's error in an example; the text is its code."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A call that is recorded: which parameters name its resource, and what it answers."""

    resource: tuple[str, ...]
    answer: Parameters = field(default_factory=dict)


#: Every call that the commands with a dry run may make to change something.
_CHANGES: Final[Mapping[str, _Change]] = {
    "cloudformation:CreateChangeSet": _Change(
        ("StackName",), {"Id": "change-set", "StackId": "new-stack"}
    ),
    "cloudformation:ExecuteChangeSet": _Change(("ChangeSetName",)),
    "dynamodb:DeleteItem": _Change(("TableName",)),
    "dynamodb:DeleteTable": _Change(("TableName",)),
    "dynamodb:PutItem": _Change(("TableName",)),
    "dynamodb:RestoreTableToPointInTime": _Change(("TargetTableName",)),
    "dynamodb:UpdateItem": _Change(("TableName",)),
    "secretsmanager:CreateSecret": _Change(("Name",)),
    "secretsmanager:PutSecretValue": _Change(("SecretId",)),
    "secretsmanager:RestoreSecret": _Change(("SecretId",)),
    "sns:Subscribe": _Change(("TopicArn",), {"SubscriptionArn": "pending confirmation"}),
}
#: What the copy of a table answers that is not made: it is there, and its rows are unknown.
_COPY: Final[Mapping[str, Parameters]] = {
    "DescribeTable": {"Table": {"TableStatus": "ACTIVE"}},
    "GetItem": {},
    "Query": {"Items": [], "Count": 0},
    "Scan": {"Items": []},
}


class Recording:
    """The calls that were recorded. With an example, no call leaves this machine."""

    def __init__(self, example: Example | None) -> None:
        """Store who answers the calls that read; None: AWS."""
        self._example = example
        self._calls: Counter[Call] = Counter()
        self._lock = Lock()

    @property
    def calls(self) -> Mapping[Call, int]:
        """The calls in the order of their first time, with their numbers."""
        return self._calls

    def keep_parameters(self, params: Parameters, context: Any, **_: Any) -> None:  # noqa: ANN401  of botocore
        """Keep the parameters of a call, which botocore encodes next."""
        context[_PARAMETERS] = params

    def answer(self, model: Any, context: Any, **_: Any) -> Any:  # noqa: ANN401  of botocore
        """Record and answer a call that changes something; botocore makes one without answer."""
        operation, parameters = model.name, context[_PARAMETERS]
        service = model.service_model.service_name
        if service in _SIGN_IN and self._example is None:
            return None
        if operation.startswith(_READS):
            return self._read(operation, parameters)
        change = _CHANGES.get(f"{service}:{operation}")
        if change is None:
            raise TypeError(f"a dry run cannot make {service}:{operation}")
        resource = ":".join(parameters[name] for name in change.resource)
        with self._lock:  # rows are put by several threads
            self._calls[Call(service, operation, resource)] += 1
        return _response(change.answer)

    def _read(self, operation: str, parameters: Parameters) -> Any:  # noqa: ANN401  of botocore
        made = self._effects(parameters).get(operation)
        if made is not None and (self._example is None or operation.startswith("Describe")):
            return _response(made)
        if self._example is None:
            return None
        try:
            return _response(self._example(operation, parameters))
        except ExampleError as error:
            code = str(error)
            return _response({"Error": {"Code": code, "Message": "does not exist"}}, _REFUSED)

    def _effects(self, parameters: Parameters) -> Mapping[str, Parameters]:
        """Return what calls that read would answer, had the recorded ones been made."""
        if self._recorded("RestoreTableToPointInTime", parameters.get("TableName")):
            return _COPY
        effects: dict[str, Parameters] = {}
        if self._recorded("CreateChangeSet"):
            effects["DescribeChangeSet"] = {"Status": "CREATE_COMPLETE"}
        if self._recorded("ExecuteChangeSet"):
            stack = {"StackId": "new-stack", "StackName": "", "StackStatus": "IMPORT_COMPLETE"}
            effects["DescribeStacks"] = {"Stacks": [stack]}
        return effects

    def _recorded(self, operation: str, resource: str | None = None) -> bool:
        with self._lock:
            calls = [*self._calls]
        return any(
            call.operation == operation and resource in {None, call.resource} for call in calls
        )


@contextmanager
def recorded(example: Example | None = None) -> Iterator[Recording]:
    """Record the calls that change something in the block; AWS or `example` answers others."""
    boto3.setup_default_session()
    recording = Recording(example)
    handlers: dict[str, Callable[..., Any]] = {
        "before-parameter-build": recording.keep_parameters,
        "before-call": recording.answer,
    }
    emitters: list[Any] = [sdk_session().get_component("event_emitter")]
    if boto3.DEFAULT_SESSION is not None:
        emitters.append(boto3.DEFAULT_SESSION.events)
    for emitter in emitters:
        for event, handler in handlers.items():
            emitter.register(event, handler)
    try:
        yield recording
    finally:
        for emitter in emitters:
            for event, handler in handlers.items():
                emitter.unregister(event, handler)


def _response(parsed: Parameters, status: int = _OK) -> tuple[AWSResponse, Parameters]:
    # The code changes some answers.
    metadata = {"HTTPStatusCode": status}
    return AWSResponse("", status, HTTPHeaders(), None), {**parsed, "ResponseMetadata": metadata}
