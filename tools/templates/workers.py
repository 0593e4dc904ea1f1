"""Checks the functions that read queues and streams: their time, their number and their rights."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.references import references
from tools.templates.sets import NEW_ACCOUNT, ParameterSet
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: A message stays hidden while its function runs, and while Lambda tries again after a throttle.
_VISIBILITY: Final = 1.5
#: The parts of the account's functions that one worker, and all workers, may take from requests.
_MOST_OF_A_WORKER: Final = 0.5
_MOST_OF_ALL: Final = 0.8
#: What must stay unreserved in an account
#: (docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html, 2026-11).
_UNRESERVED: Final = 100
#: The readers that a shard of a stream may have without being throttled
#: (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html, 2026-11).
_READERS: Final = 2
#: What Lambda asks of a role before it creates a mapping: with-sqs.html and with-ddb.html of its
#: developer guide, 2026-11.
_OF_A_QUEUE: Final = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
_OF_A_STREAM: Final = {
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
}


def _function(stack: Stack, mapping: Json) -> str | None:
    """Return the logical id of the function that a mapping calls, directly or by an alias."""
    for name, _ in references(mapping["FunctionName"]):
        if stack.resources.get(name, {}).get("Type") == "AWS::Lambda::Alias":
            return _function(stack, stack.resources[name]["Properties"])
        return name
    return None


def check_visibility(stack: Stack) -> Iterator[Defect]:
    """A queue hides a message for longer than its function may run, so it is not run twice."""
    queues = stack.of_type("AWS::SQS::Queue")
    functions = stack.of_type("AWS::Lambda::Function")
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        function = _function(stack, mapping)
        for name, _ in references(mapping.get("EventSourceArn")):
            if name not in queues or function not in functions:
                continue
            hidden = queues[name].get("VisibilityTimeout", 30)
            needed = math.ceil(_VISIBILITY * functions[function].get("Timeout", 3))
            if hidden < needed:
                message = f"It hides a message for {hidden} s; {function} needs {needed} s."
                yield Defect(stack.file, name, message, "Raise VisibilityTimeout.")


def check_concurrency(stack: Stack, chosen: ParameterSet) -> Iterator[Defect]:
    """Neither one worker nor all together take the functions that requests need.

    A new account runs fewer functions than the least that Lambda accepts for all queues, two for
    each, so there only each worker is checked.
    """
    mappings = stack.of_type("AWS::Lambda::EventSourceMapping")
    used: dict[str, int] = defaultdict(int)
    for key, mapping in mappings.items():
        if mapping.get("Enabled", True) in {True, "true"}:
            most = _concurrency(mapping)
            if most is not None:
                used[_function(stack, mapping) or key] += most
            elif chosen.parameters.get("EmailsPerSecond", "200") != "200":
                message = "Its queue may take every function of the account."
                yield Defect(stack.file, key, message, "Set ScalingConfig.MaximumConcurrency.")
    for name, count in used.items():
        if count > chosen.concurrency * _MOST_OF_A_WORKER:
            message = f"It may run {count} times of the account's {chosen.concurrency}."
            remedy = "Lower MaximumConcurrency, by a parameter that follows from the limit."
            yield Defect(stack.file, name, message, remedy)
    total, allowed = sum(used.values()), int(chosen.concurrency * _MOST_OF_ALL)
    if total > allowed and chosen.concurrency > NEW_ACCOUNT:
        parts = ", ".join(f"{name} {count}" for name, count in sorted(used.items()))
        message = f"Workers may use {total} functions ({parts}), more than {allowed}."
        yield Defect(stack.file, "Resources", message, "Lower the maximums.")


def _concurrency(mapping: Json) -> int | None:
    """Return how many functions a mapping runs at the same time; None without a maximum."""
    if "StartingPosition" in mapping:  # a stream has one for each shard by default
        return int(mapping.get("ParallelizationFactor", 1))
    most: int | None = mapping.get("ScalingConfig", {}).get("MaximumConcurrency")
    return None if most is None else int(most)


def check_reserved(stack: Stack, chosen: ParameterSet) -> Iterator[Defect]:
    """Lambda refuses a reservation that leaves fewer than 100 functions to the others."""
    reserved = {
        key: int(properties["ReservedConcurrentExecutions"])
        for key, properties in stack.of_type("AWS::Lambda::Function").items()
        if "ReservedConcurrentExecutions" in properties
    }
    if reserved and sum(reserved.values()) > chosen.concurrency - _UNRESERVED:
        message = (
            f"{' and '.join(sorted(reserved))} reserve {sum(reserved.values())} of the account's "
            f"{chosen.concurrency} functions, and {_UNRESERVED} must stay unreserved."
        )
        yield Defect(stack.file, "Resources", message, "Reserve less.")


def check_streams(stack: Stack) -> Iterator[Defect]:
    """A stream has at most two readers."""
    readers: dict[str, list[str]] = defaultdict(list)
    for key, mapping in stack.of_type("AWS::Lambda::EventSourceMapping").items():
        if "StartingPosition" in mapping:
            readers[json.dumps(mapping.get("EventSourceArn"))].append(key)
    for keys in readers.values():
        if len(keys) > _READERS:
            message = f"It is one of {len(keys)} readers of a stream, which allows {_READERS}."
            yield Defect(stack.file, keys[-1], message, "Let one function do both.")


def check_rights(stack: Stack) -> Iterator[Defect]:
    """Lambda refuses a mapping whose function may not read the queue or the stream."""
    roles = stack.of_type("AWS::IAM::Role")
    functions = stack.of_type("AWS::Lambda::Function")
    for key, mapping in stack.of_type("AWS::Lambda::EventSourceMapping").items():
        function = functions.get(_function(stack, mapping) or "", {})
        names = [name for name, _ in references(function.get("Role")) if name in roles]
        allowed = {
            action
            for name in names
            for policy in roles[name].get("Policies", [])
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Allow"
            and mapping.get("EventSourceArn") in _listed(statement.get("Resource", []))
            for action in _listed(statement.get("Action", []))
        }
        needed = _OF_A_STREAM if "StartingPosition" in mapping else _OF_A_QUEUE
        if missing := needed - allowed:
            message = f"The function's role may not {', '.join(sorted(missing))}."
            yield Defect(stack.file, key, message, "Add the actions to the role, on this source.")


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
