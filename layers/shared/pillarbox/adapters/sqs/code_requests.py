"""The queue of one-time codes to send, and the form of its messages."""

import json
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import make_client, service_errors
from pillarbox.domain.sign_in import CodeRequest
from pillarbox.domain.statistics import milliseconds, to_datetime

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_VERSION: Final = 1


class SqsCodeRequests:
    """Implements `sign_in.ports.CodeRequests`."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url

    @cached_property
    def _sqs(self) -> "SQSClient":
        client: SQSClient = make_client("sqs")
        return client

    def put(self, request: CodeRequest) -> None:
        """Send one message."""
        with service_errors("queue"):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=write_request(request))

    def read(self, text: str) -> CodeRequest:
        """Read the request in a message of the queue.

        Raises:
            KeyError, TypeError, ValueError: it is not a request of a version that this worker
                knows.
        """
        return read_request(text)


def write_request(request: CodeRequest) -> str:
    """Write a request as JSON. It has no secret of the flow, so it signs nobody in."""
    return json.dumps(
        {
            "version": _VERSION,
            "flow": request.flow_id,
            "address": request.address,
            "code": request.code,
            "at": milliseconds(request.at),
        }
    )


def read_request(text: str) -> CodeRequest:
    """Read what `write_request` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is not a request of a version that this worker knows.
    """
    fields = json.loads(text)
    if fields["version"] != _VERSION:
        raise ValueError("the request has another version")
    return CodeRequest(
        flow_id=fields["flow"],
        address=fields["address"],
        code=fields["code"],
        at=to_datetime(fields["at"]),
    )
