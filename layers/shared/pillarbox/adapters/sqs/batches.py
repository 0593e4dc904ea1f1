"""A queue, and requests that put several messages into it."""

from collections.abc import Iterable, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import client_of, in_parallel, service_errors
from pillarbox.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

_NAME: Final = "queue"
#: SQS accepts ten messages in one request.
MAX_ENTRIES: Final = 10


class SqsQueue:
    """A queue and the client for it, which the first use makes."""

    _sqs: "SQSClient" = client_of("sqs")

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url


def send_batch(
    sqs: "SQSClient", queue_url: str, entries: Sequence["SendMessageBatchRequestEntryTypeDef"]
) -> dict[str, str]:
    """Send messages in one request; return the ids of those that may be lost, with a code.

    A message counts as accepted only if SQS names it among the successful ones. An answer that
    breaks off has status 200 and nothing to read in it, and SQS has no checksum for it.
    """
    with service_errors(_NAME):
        response = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries)
    accepted = {one["Id"] for one in response.get("Successful", ())}
    codes = {one["Id"]: one["Code"] for one in response.get("Failed", ())}
    sent = (entry["Id"] for entry in entries)
    return {name: codes.get(name, "NoAnswer") for name in sent if name not in accepted}


def send_all(
    sqs: "SQSClient", queue_url: str, entries: Iterable["SendMessageBatchRequestEntryTypeDef"]
) -> None:
    """Send small messages, ten in one request and several requests at the same time."""

    def send(batch: Sequence["SendMessageBatchRequestEntryTypeDef"]) -> None:
        if failures := send_batch(sqs, queue_url, batch):
            raise Unavailable(_NAME, aws_error=next(iter(failures.values())))

    in_parallel(send, [*batched(entries, MAX_ENTRIES, strict=False)])
