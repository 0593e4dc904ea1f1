"""Emails that wait: `waiting_ports`, on the fakes and on the adapters."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from botocore.client import BaseClient

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents, DynamoWakeTimes
from pillarbox.adapters.dynamodb.table import Table, to_item
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.ports import LeaseRefusal
from pillarbox.application.waiting import wake_job
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Message, MessageOrigin
from pillarbox.domain.messages.schedule import Schedule
from pillarbox.domain.timing import milliseconds
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW
from tests.loops import all_pages
from tests.ports.implementations import Ports

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TEMPLATE = str(UUID(int=7))


def waiting(ahead: timedelta = HOUR, template: str | None = None, **changes: Any) -> Message:
    schedule = Schedule(due_at=NOW + ahead, life=timedelta(hours=24), **changes)
    origin = MessageOrigin(template_id=template, scheduled_at=NOW + ahead, held=schedule.held)
    return builders.message(schedule=schedule, origin=origin)


def job_of(message: Message) -> Job:
    assert message.schedule is not None
    return wake_job(message, message.schedule)


def due(ports: Ports, now: timedelta) -> list[Job]:
    return [job for _, jobs in ports.wake_times.due(NOW + now) for job in jobs]


def test_a_job_is_due_two_minutes_before_its_time(ports: Ports) -> None:
    message = waiting()
    assert message.schedule is not None
    later = replace(message, schedule=replace(message.schedule, due_at=NOW + HOUR + MINUTE / 2))
    ports.wake_times.put_all([job_of(message), job_of(message), job_of(later)])
    assert not due(ports, timedelta(0))
    assert not due(ports, HOUR - 4 * MINUTE)
    found = [*ports.wake_times.due(NOW + HOUR - MINUTE)]
    assert sorted((job for _, jobs in found for job in jobs), key=lambda job: job.queued_at) == [
        job_of(message),
        job_of(later),
    ]
    for minute, jobs in found:
        ports.wake_times.remove(minute, jobs)
        ports.wake_times.remove(minute, jobs)
    assert not due(ports, HOUR + 5 * MINUTE)


def test_a_job_without_content_is_hidden_until_it_is_due(ports: Ports) -> None:
    now = waiting(timedelta(0))
    urgent = replace(now, message_id=new_id(NOW))
    assert now.schedule is not None
    urgent = replace(urgent, schedule=replace(now.schedule, life=MINUTE))
    ports.jobs.wake_all([job_of(now), job_of(urgent), job_of(waiting(5 * MINUTE))], NOW)
    received = ports.receive()
    assert sorted(map(repr, received)) == sorted(map(repr, [job_of(now), job_of(urgent)]))


def test_a_schedule_is_stored_and_decides(ports: Ports) -> None:
    """A lease needs the schedule that was read; a change of it is saved like any other."""
    message = waiting(held=True)
    ports.messages.commit(message)
    assert ports.messages.get(ACCOUNT, message.message_id) == message
    assert message.schedule is not None
    released = replace(message, schedule=replace(message.schedule, due_at=NOW, held=False))
    assert ports.messages.save(released)
    assert not ports.messages.save(released)

    def lease(schedule: Schedule | None) -> Message | LeaseRefusal:
        name = (ACCOUNT, message.message_id, message.body_hash)
        return ports.messages.lease(*name, "worker", NOW, schedule=schedule)

    assert isinstance(lease(message.schedule), LeaseRefusal)
    leased = lease(released.schedule)
    assert isinstance(leased, Message)
    assert leased.schedule == released.schedule


def test_pages_of_contents_follow_each_other(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillarbox.adapters.dynamodb.messages.waiting._PAGE", 2)
    contents = DynamoWaitingContents(Table(aws.table), aws.bucket)
    messages = [waiting(), waiting(template=TEMPLATE), waiting(), waiting(template=TEMPLATE)]
    contents.put_all([(message, builders.mail()) for message in messages])
    found = all_pages(lambda cursor: contents.of_account(ACCOUNT, cursor))
    assert {one.message_id for one in found} == {message.message_id for message in messages}


def test_an_unknown_item_of_the_timer_is_tried_again(aws: Aws) -> None:
    """A job of a newer version does not stop the others, and is not lost."""
    table = Table(aws.table)
    times = DynamoWakeTimes(table)
    _ = [*times.due(NOW)]
    message = waiting()
    times.put_all([job_of(message)])
    number = -(-milliseconds(NOW + HOUR) // 60_000)
    table.put(keys.timer_item("WAKE", number, "new") | to_item({"hash": "h"}))
    found: list[Job] = []

    def read(now: timedelta) -> None:
        with pytest.raises(ValueError, match="unpack"):
            found.extend(job for _, jobs in times.due(NOW + now) for job in jobs)

    read(HOUR)
    read(HOUR + 15 * MINUTE)
    assert found == [job_of(message)]


@pytest.mark.usefixtures("refusing_queue")
def test_a_refused_job_is_an_error(aws: Aws) -> None:
    queue = SqsJobs(aws.queue_url, aws.urgent_queue_url, aws.bucket)
    with pytest.raises(Unavailable):
        queue.wake_all([job_of(waiting(timedelta(0)))], NOW)


def test_an_ordinary_lease_is_as_before(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its condition names no schedule, and its record has no attribute more."""
    requests: list[dict[str, Any]] = []
    call: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def record(client: BaseClient, operation: str, parameters: dict[str, Any]) -> object:
        requests.append(parameters)
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", record)
    messages, message = DynamoMessages(Table(aws.table)), builders.message()
    messages.commit(message)
    messages.lease(ACCOUNT, message.message_id, message.body_hash, "worker", NOW)
    assert "schedule" not in str(requests)
