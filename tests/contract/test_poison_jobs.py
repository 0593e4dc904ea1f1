"""Jobs that the worker cannot read, passed to its handler on emulated AWS.

Jobs of a newer version, and broken copies of finished jobs, are tested with the use case.
"""

import json

import pytest

from tests.contract.bodies import otp
from tests.contract.client import Api, Invocation, handler
from tests.contract.service import Service, queue_record


def consume(body: str) -> bool:
    """Pass a job to the worker; return whether it is retried."""
    response = handler("deliver_message")({"Records": [queue_record(body)]}, Invocation())
    return bool(response["batchItemFailures"])


@pytest.mark.parametrize("missing", ["hash", "deadline", "queued_at"])
def test_a_poison_job_goes_to_the_dead_letters(service: Service, live: Api, missing: str) -> None:
    """A job without a required field is kept unchanged; its message failed and is not sent."""
    sent = len(service.ses.mails)
    message_id = live.send(otp()).json["messageId"]
    (queued,) = service.jobs_of(live)
    job = json.loads(queued["body"])
    del job[missing]
    assert not consume(json.dumps(job))
    assert service.dead_letters() == [json.dumps(job)]
    shown = live.get(message_id).json
    assert (shown["status"], shown["events"][-1]["code"]) == ("failed", "unreadable_job")
    assert len(service.ses.mails) == sent


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"version": 1}', '{"version": "1"}'])
def test_a_job_without_a_message_id_goes_to_the_dead_letters(service: Service, text: str) -> None:
    assert not consume(text)
    assert service.dead_letters() == [text]
