"""When the worker receives a job again that it could not deliver."""

from datetime import timedelta
from typing import NoReturn

import pytest

from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.domain.errors import Unavailable
from tests.contract.bodies import otp
from tests.contract.client import Api, Invocation, handler
from tests.contract.service import Service, queue_record


@pytest.mark.parametrize(
    ("receives", "between"),
    [(1, (1, 2)), (2, (2, 4)), (5, (16, 32)), (8, (90, 90)), (900, (90, 90))],
)
def test_a_job_that_fails_is_received_again_soon(
    service: Service,
    live: Api,
    monkeypatch: pytest.MonkeyPatch,
    receives: int,
    between: tuple[float, float],
) -> None:
    """A failure before the hand-over costs seconds. The wait doubles up to 90 seconds."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise Unavailable("data store")

    live.send(otp())
    (job,) = service.jobs_of(live)
    waits: list[tuple[str, str, timedelta]] = []
    monkeypatch.setattr(SqsJobs, "postpone", lambda _, *arguments: waits.append(arguments))
    monkeypatch.setattr(DynamoMessages, "peek", fail)
    monkeypatch.setattr(DynamoMessages, "get", fail)
    record = queue_record(job["body"], receipt="here", receives=receives)
    assert handler("deliver_message")({"Records": [record]}, Invocation())["batchItemFailures"]
    ((_, receipt, wait),) = waits
    assert receipt == "here"
    least, most = between
    assert timedelta(seconds=least) <= wait <= timedelta(seconds=most)
