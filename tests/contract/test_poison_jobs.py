"""Jobs that the worker cannot read, driven through its handler on emulated AWS."""

import json
from datetime import timedelta

import pytest

from pillarbox import wiring
from pillarbox.application.delivery.poison_jobs import VERSION_WAIT
from tests.contract.bodies import otp
from tests.contract.client import Api, Invocation, handler
from tests.contract.service import Service, queue_record


def consume(body: str, waited: timedelta = timedelta(0), receipt: str = "none") -> bool:
    """Give a job to the worker as it was put a while ago; whether it is to come again."""
    record = queue_record(body, receipt=receipt)
    put = wiring.utc_now() - waited
    record["attributes"]["SentTimestamp"] = str(round(put.timestamp() * 1000))
    answer = handler("deliver_message")({"Records": [record]}, Invocation())
    return bool(answer["batchItemFailures"])


def accepted(service: Service, live: Api) -> tuple[str, dict[str, object], str]:
    """Send a mail; gives its id, its job, and the receipt of that."""
    message_id = live.send(otp()).json["messageId"]
    (job,) = service.jobs()
    return message_id, json.loads(job["body"]), job["receiptHandle"]


@pytest.mark.parametrize("lacking", ["hash", "deadline", "queued_at"])
def test_a_poison_job_is_set_aside(service: Service, live: Api, lacking: str) -> None:
    """A job that lacks something is in quarantine as it came, its mail failed and not sent."""
    sent = len(service.ses.mails)
    message_id, job, _ = accepted(service, live)
    del job[lacking]
    assert not consume(json.dumps(job))
    assert service.dead_letters() == [json.dumps(job)]
    shown = live.get(message_id).json
    assert (shown["status"], shown["events"][-1]["code"]) == ("failed", "unreadable_job")
    assert len(service.ses.mails) == sent


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"version": 1}', '{"version": "1"}'])
def test_what_names_no_mail_is_set_aside(service: Service, text: str) -> None:
    """What is no job at all is in quarantine at once, and does not come again."""
    assert not consume(text)
    assert service.dead_letters() == [text]


def test_an_unknown_version_waits_for_the_deploy(service: Service, live: Api) -> None:
    """A newer job is left to newer workers; an hour later it is set aside, its mail failed."""
    message_id, job, receipt = accepted(service, live)
    newer = json.dumps(job | {"version": 2})
    assert consume(newer, receipt=receipt)
    assert service.jobs() == []  # hidden for a while
    assert service.dead_letters() == []
    assert live.get(message_id).json["status"] == "pending"
    assert not consume(newer, VERSION_WAIT)
    assert service.dead_letters() == [newer]
    assert live.get(message_id).json["status"] == "failed"


def test_a_mail_that_is_out_stays_as_it_is(service: Service, live: Api) -> None:
    """A broken copy of a job that was done is set aside; the mail keeps its status."""
    message_id = live.send(otp()).json["messageId"]
    (record,) = service.jobs()
    assert not handler("deliver_message")({"Records": [record]}, Invocation())["batchItemFailures"]
    broken = json.loads(record["body"])
    del broken["deadline"]
    assert not consume(json.dumps(broken))
    assert len(service.dead_letters()) == 1
    assert live.get(message_id).json["status"] == "sent"
