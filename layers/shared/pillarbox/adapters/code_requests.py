"""The one-time codes to send: asynchronous invocations of `mail_code`, and the form of its event.

Lambda queues such an invocation, and repeats it if it fails. No queue of ours is polled for them.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from pillarbox.adapters.aws import make_client, service_errors
from pillarbox.domain.sign_in.codes import CodeRequest
from pillarbox.domain.timing import milliseconds, to_datetime

_VERSION: Final = 1


class LambdaCodeRequests:
    """Implements `sign_in.ports.CodeRequests`."""

    def __init__(self, function: str) -> None:
        """Store the function's name or ARN, with its alias."""
        self._function = function

    @cached_property
    def _lambda(self) -> Any:  # noqa: ANN401  a botocore client
        return make_client("lambda")

    def put(self, request: CodeRequest) -> None:
        """Invoke the function once, without waiting for its result."""
        with service_errors("codes"):
            self._lambda.invoke(
                FunctionName=self._function,
                InvocationType="Event",
                Payload=json.dumps(write_request(request)).encode(),
            )


def write_request(request: CodeRequest) -> dict[str, Any]:
    """Write a request as an event. It has no secret of the flow, so it cannot sign a user in."""
    return {
        "version": _VERSION,
        "flow": request.flow_id,
        "address": request.address,
        "code": request.code,
        "at": milliseconds(request.at),
        "preview": request.for_preview,
    }


def read_request(event: Mapping[str, Any]) -> CodeRequest:
    """Read what `write_request` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is not a request of a version that this worker knows.
    """
    if event["version"] != _VERSION:
        raise ValueError("the request has another version")
    return CodeRequest(
        flow_id=event["flow"],
        address=event["address"],
        code=event["code"],
        at=to_datetime(event["at"]),
        for_preview=event.get("preview", False),
    )
