"""`pillarbox queue show` and `queue drop`, with moto in place of AWS."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import boto3
import pytest

from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sqs import jobs, sweep_tasks, webhook_jobs
from pillarbox.application.delivery.ports import (
    SeenEvent,
    SweepStep,
    SweepTask,
    TaggedMessage,
)
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.errors import Withdrawn
from pillarbox.domain.messages.mail import HandOverResult, StarterBody
from pillarbox.domain.messages.message import Event, EventKind, Lease, Message, MessageOrigin
from pillarbox.domain.webhooks.endpoint import EndpointDrain, WebhookEvent, WebhookType
from tests.aws import create_queues
from tests.fakes.builders import ACCOUNT, NOW, QUEUES, job, mail, message
from tests.integration.admin.operator_command import Operator

SECRET: Final = "canary-4711"
BODY: Final = StarterBody(
    slug="otp",
    values={"code": SECRET},
    brand_name=SECRET,
    logo_url=None,
    attribution=False,
)


@pytest.fixture
def dead(run: Operator, tmp_path: Path) -> dict[str, str]:
    """The URLs of the dead-letter queues of the local stack, by the name of their queue."""
    assert run
    state = tmp_path / "stack.json"
    stack = json.loads(state.read_text())
    urls = create_queues(boto3.client("sqs"))
    stack["environment"] |= {variable: urls[queue] for variable, queue in QUEUES.items()}
    state.write_text(json.dumps(stack))
    names = ("jobs", "events", "sweep", "webhooks", "received")
    return {name: urls[f"{name.title()}DeadLetters"] for name in names}


def put(url: str, text: str) -> None:
    boto3.client("sqs").send_message(QueueUrl=url, MessageBody=text)


def show(run: Operator, queue: str, *options: str) -> Any:
    return run("queue", "show", queue, *options)["items"]


def test_a_dead_job_is_shown_without_what_it_says(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    failed = Event(kind=EventKind.FAILED, at=NOW, code="building_failed", reason="died")
    stored = replace(message(), origin=MessageOrigin(starter_template="otp"), events=(failed,))
    table.put(message_item(stored))
    queued = job(
        stored,
        mail=mail(subject=SECRET, to=(f"{SECRET}@example.com",), body=BODY, reply_to=(SECRET,)),
    )
    assert queued.mail is not None
    text = jobs.write_job(queued, payload=jobs.write_payload(queued.mail))
    assert SECRET in text
    put(dead["jobs"], text)
    (shown,) = show(run, "jobs")
    assert {name: shown[name] for name in ("accountId", "messageId", "task", "template")} == {
        "accountId": ACCOUNT,
        "messageId": str(stored.message_id),
        "task": "email in the queue",
        "template": "otp",
    }
    assert (shown["status"], shown["reason"]) == ("failed", "building_failed")
    assert (shown["bytes"], shown["receives"]) == (len(text), 1)
    assert shown["ageMinutes"] == 0
    printed = run.plain("--local", "queue", "show", "jobs").output
    assert str(stored.message_id) in printed
    assert not [canary for canary in (SECRET, "example.com") if canary in printed + str(shown)]


def test_what_is_shown_stays_in_the_queue(run: Operator, dead: dict[str, str]) -> None:
    for number in range(12):
        put(dead["sweep"], sweep_task(f"{number:012}"))
    assert len(show(run, "sweep")) == 12
    assert len(show(run, "sweep", "--limit", "3")) == 3
    assert run("queue", "redrive", "sweep")["moved"] == 12
    assert show(run, "sweep") == []


def sweep_task(account_id: str) -> str:
    return sweep_tasks.write_task(
        SweepTask(account_id=account_id, pass_at=NOW, step=SweepStep.STATISTICS)
    )


def test_other_dead_letters_are_shown_too(run: Operator, dead: dict[str, str]) -> None:
    stored = message()
    endpoint = str(uuid4())
    put(dead["jobs"], jobs.write_job(job(stored, mail=None), spool_key="spool/1"))
    put(dead["sweep"], sweep_task(ACCOUNT))
    event = {
        "eventType": "Rendering Failure",
        "mail": {
            "messageId": "ses-1",
            "timestamp": "2026-03-14T15:09:26.000Z",
            "tags": {"account": [ACCOUNT], "message": [str(stored.message_id)]},
        },
        "failure": {"errorMessage": SECRET},
    }
    put(dead["events"], json.dumps(event))
    for task in (
        WebhookEvent(
            event_id=uuid4(),
            type=WebhookType.SUPPRESSION_ADDED,
            account_id=ACCOUNT,
            endpoint_id=endpoint,
            at=NOW,
            address=f"{SECRET}@example.com",
        ),
        EndpointDrain(ACCOUNT, endpoint),
        AlertPost(ACCOUNT, SECRET),
    ):
        put(dead["webhooks"], webhook_jobs.write_task(task))
    shown = {queue: show(run, queue) for queue in ("jobs", "events", "webhooks", "sweep")}
    assert {queue: sorted(one["task"] for one in items) for queue, items in shown.items()} == {
        "jobs": ["email in the bucket"],
        "events": ["rendering_failure"],
        "webhooks": ["alert for a chat", "events that wait", "suppression.added"],
        "sweep": ["statistics"],
    }
    everything = [one for items in shown.values() for one in items]
    assert {one["accountId"] for one in everything} == {ACCOUNT}
    assert {one["endpointId"] for one in shown["webhooks"]} == {endpoint, None}
    assert shown["events"][0]["messageId"] == str(stored.message_id)
    assert SECRET not in str(everything)


@pytest.mark.parametrize("queue", ["jobs", "events", "webhooks", "sweep"])
def test_what_cannot_be_read_is_not_quoted(run: Operator, dead: dict[str, str], queue: str) -> None:
    of_nobody = "0198f3c2-0000-7000-8000-000000000001"
    texts = [
        SECRET,
        "[]",
        json.dumps({"version": 9, "account": SECRET, "id": of_nobody}),
        json.dumps({"version": 1, "account": SECRET, "endpoint": SECRET, "drain": 0}),
        json.dumps({"eventType": SECRET, "mail": {"tags": {"account": [SECRET]}}}),
    ]
    for text in texts:
        put(dead[queue], text)
    shown = show(run, queue)
    assert sorted(one["bytes"] for one in shown) == sorted(map(len, texts))
    printed = run.plain("--local", "queue", "show", queue).output
    assert SECRET not in printed + str(shown)
    for one in shown:
        assert one["id"] in printed


@pytest.mark.usefixtures("dead")
def test_a_queue_without_dead_letters_is_named(run: Operator) -> None:
    """Urgent jobs are among those of `jobs`; other names are no queues."""
    for queue in ("urgent", "mail"):
        assert run.refused("queue", "show", queue) == (1, "validation_failed")


def put_job(table: Table, dead: dict[str, str], stored: Message, text: str | None = None) -> None:
    table.put(message_item(stored))
    put(dead["jobs"], text or jobs.write_job(job(stored, mail=None), spool_key="spool/1"))


def status_of(table: Table, stored: Message) -> tuple[str, str | None]:
    now = DynamoMessages(table).get(ACCOUNT, stored.message_id)
    assert now
    return now.status, now.error.code if now.error else None


def drop(run: Operator, queue: str) -> Any:
    (shown,) = show(run, queue)
    dropped = run("queue", "drop", queue, shown["id"], "--yes")
    assert show(run, queue) == []
    assert dropped["dropped"] == shown["id"]
    (entry,) = run("queue", "status")["redrives"]
    noted = {"by": "operator", "queue": queue, "dropped": shown["id"], "moved": 0}
    assert entry | noted == entry
    return dropped


def test_a_dropped_job_ends_its_email(run: Operator, table: Table, dead: dict[str, str]) -> None:
    """An accepted email never vanishes: what still waited has failed, and the log has the drop."""
    stored = message()
    put_job(table, dead, stored)
    assert drop(run, "jobs")["messageId"] == str(stored.message_id)
    assert status_of(table, stored) == ("failed", "dropped")


def test_a_job_of_a_final_email_changes_nothing(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    stored = message().with_events([Event(kind=EventKind.DELIVERED, at=NOW)])
    put_job(table, dead, stored)
    assert "delivered" in drop(run, "jobs")["consequence"]
    assert status_of(table, stored) == ("delivered", None)


def test_a_job_without_a_record_leaves_a_tombstone(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    """A stalled acceptor commits nothing whose job is gone."""
    stored = message()
    put(dead["jobs"], jobs.write_job(job(stored, mail=None), spool_key="spool/1"))
    drop(run, "jobs")
    with pytest.raises(Withdrawn):
        DynamoMessages(table).commit(stored)


@pytest.mark.parametrize("handed_over", ["leased", "known to SES", "result"])
def test_a_job_whose_email_ses_may_have_is_kept(
    run: Operator, table: Table, dead: dict[str, str], handed_over: str
) -> None:
    """Only a worker can tell how a hand-over ended, so the letter stays for a redrive."""
    stored = message(attempt=1)
    text = None
    if handed_over == "leased":
        stored = replace(stored, lease=Lease(owner="w", taken_at=NOW, expires_at=NOW))
    elif handed_over == "known to SES":
        stored = replace(stored, provider_message_id="ses-1")
    else:
        result = HandOverResult(attempt=1, events=(Event(kind=EventKind.SENT, at=NOW),))
        text = jobs.write_result(job(stored, mail=None), result)
    put_job(table, dead, stored, text)
    (shown,) = show(run, "jobs")
    assert run.refused("queue", "drop", "jobs", shown["id"], "--yes") == (1, "validation_failed")
    assert len(show(run, "jobs")) == 1
    assert status_of(table, stored) == ("pending", None)
    assert run("queue", "status")["redrives"] == []


def test_a_dropped_event_still_shows_that_ses_took_its_email(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    """Promise 2: without the event, the worker would hand the email over again."""
    stored = message()
    tags = {"account": [ACCOUNT], "message": [str(stored.message_id)]}
    put(dead["events"], json.dumps({"detail": {"eventType": "Bounce", "mail": {"tags": tags}}}))
    assert drop(run, "events")["messageId"] == str(stored.message_id)
    assert DynamoSeenEvents(table).find(ACCOUNT, stored.message_id)


def test_a_mark_with_an_id_of_ses_is_kept(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    stored = message()
    tags = {"account": [ACCOUNT], "message": [str(stored.message_id)]}
    put(dead["events"], json.dumps({"eventType": "Bounce", "mail": {"tags": tags}}))
    seen = DynamoSeenEvents(table)
    seen.put_all([TaggedMessage(ACCOUNT, stored.message_id, "ses-1")], NOW)
    drop(run, "events")
    assert seen.find(ACCOUNT, stored.message_id) == SeenEvent("ses-1", NOW)


@pytest.mark.parametrize("queue", ["jobs", "events", "webhooks", "sweep"])
def test_a_letter_that_cannot_be_read_can_be_dropped(
    run: Operator, dead: dict[str, str], queue: str
) -> None:
    for number in range(12):
        put(dead[queue], f"{SECRET} {number}")
    chosen = show(run, queue)[5]["id"]
    result = run.plain("--local", "queue", "drop", queue, chosen, typed="y\n")
    assert result.exit_code == 0
    assert chosen in result.stdout
    assert "Drop it?" in result.stderr
    assert SECRET not in result.output
    assert "It still proves" not in result.output
    assert ("an accepted email may need it" in result.stderr) == (queue == "jobs")
    assert chosen not in {one["id"] for one in show(run, queue)}
    assert len(show(run, queue)) == 11


def test_a_drop_asks_and_finds_only_what_is_there(
    run: Operator, table: Table, dead: dict[str, str]
) -> None:
    stored = message()
    put_job(table, dead, stored)
    (shown,) = show(run, "jobs")
    result = run.plain("--local", "queue", "drop", "jobs", shown["id"], typed="n\n")
    assert result.exit_code == 1
    assert "ends as failed" in result.stderr
    assert run.refused("queue", "drop", "jobs", shown["id"])[0] == 2
    assert run.refused("queue", "drop", "jobs", "other", "--yes") == (1, "validation_failed")
    assert run.refused("queue", "drop", "urgent", "x", "--yes") == (1, "validation_failed")
    assert len(show(run, "jobs")) == 1
    assert status_of(table, stored) == ("pending", None)
