"""Jobs that the worker cannot read, passed to its handler on emulated AWS."""

import json
from datetime import timedelta

import pytest

from pillarbox import wiring
from pillarbox.application.delivery.poison_jobs import VERSION_WAIT
from tests.contract.bodies import otp
from tests.contract.client import Api, Invocation, handler
from tests.contract.service import Service, queue_record


def consume(body: str, waited: timedelta = timedelta(0), receipt: str = "none") -> bool:
    """Pass a job to the worker that was queued some time ago; return whether it is retried."""
    record = queue_record(body, receipt=receipt)
    queued = wiring.utc_now() - waited
    record["attributes"]["SentTimestamp"] = str(round(queued.timestamp() * 1000))
    response = handler("deliver_message")({"Records": [record]}, Invocation())
    return bool(response["batchItemFailures"])


def accept(service: Service, live: Api) -> tuple[str, dict[str, object], str]:
    """Send an email; return the message id, the job, and the job's receipt."""
    message_id = live.send(otp()).json["messageId"]
    (job,) = service.jobs_of(live)
    return message_id, json.loads(job["body"]), job["receiptHandle"]


@pytest.mark.parametrize("missing", ["hash", "deadline", "queued_at"])
def test_a_poison_job_goes_to_the_dead_letters(service: Service, live: Api, missing: str) -> None:
    """A job without a required field is kept unchanged; its message failed and is not sent."""
    sent = len(service.ses.mails)
    message_id, job, _ = accept(service, live)
    del job[missing]
    assert not consume(json.dumps(job))
    assert service.dead_letters() == [json.dumps(job)]
    shown = live.get(message_id).json
    assert (shown["status"], shown["events"][-1]["code"]) == ("failed", "unreadable_job")
    assert len(service.ses.mails) == sent


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"version": 1}', '{"version": "1"}'])
def test_a_job_without_a_message_id_goes_to_the_dead_letters(service: Service, text: str) -> None:
    """A queue message that is not a job is kept in the dead letters at once, without a retry."""
    assert not consume(text)
    assert service.dead_letters() == [text]


def test_an_unknown_version_waits_for_the_deploy(service: Service, live: Api) -> None:
    """A newer job is left to newer workers; after an hour it is a dead letter and has failed."""
    message_id, job, receipt = accept(service, live)
    newer = json.dumps(job | {"version": 3})
    assert consume(newer, receipt=receipt)
    assert service.jobs() == []  # hidden for a while
    assert service.dead_letters() == []
    assert live.get(message_id).json["status"] == "pending"
    assert not consume(newer, VERSION_WAIT)
    assert service.dead_letters() == [newer]
    assert live.get(message_id).json["status"] == "failed"


def test_a_sent_message_keeps_its_status(service: Service, live: Api) -> None:
    """A broken copy of a finished job is a dead letter; the message keeps its status."""
    message_id = live.send(otp()).json["messageId"]
    (record,) = service.jobs_of(live)
    assert not handler("deliver_message")({"Records": [record]}, Invocation())["batchItemFailures"]
    broken = json.loads(record["body"])
    del broken["deadline"]
    assert not consume(json.dumps(broken))
    assert len(service.dead_letters()) == 1
    assert live.get(message_id).json["status"] == "sent"
