"""The one-time codes to send: asynchronous invocations of `mail_code`, and the form of its event.

Lambda queues such an invocation, and repeats it if it fails. No queue of ours is polled for them.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.adapters.rows import MILLISECONDS, Column, Row
from pillarbox.domain.sign_in.codes import CodeRequest

_VERSION: Final = 1
_REQUEST: Final = Row(
    CodeRequest,
    *("address", "code"),
    flow_id="flow",
    at=("at", MILLISECONDS),
    for_preview=Column("preview", absent=False),
    party=Column("party", absent=""),
)


class LambdaCodeRequests:
    """Implements `sign_in.ports.CodeRequests`."""

    _lambda: Any = client_of("lambda")

    def __init__(self, function: str) -> None:
        self._function = function

    def put(self, request: CodeRequest) -> None:
        self.invoke(write_request(request))

    def invoke(self, event: Mapping[str, Any]) -> None:
        with service_errors("codes"):
            self._lambda.invoke(
                FunctionName=self._function,
                InvocationType="Event",
                Payload=json.dumps(event).encode(),
            )


def write_request(request: CodeRequest) -> dict[str, Any]:
    """Write a request as an event. It has no secret of the flow, so it cannot sign a user in."""
    return {"version": _VERSION, **_REQUEST.write(request)}


def read_request(event: Mapping[str, Any]) -> CodeRequest:
    if event["version"] != _VERSION:
        raise ValueError("the request has another version")
    return _REQUEST.read(event)
