"""What must survive between two tries: bodies, poison jobs, quotas and positions."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest

from pillarbox.application.delivery.poison_jobs import PoisonJobs
from pillarbox.application.ports import LeaseRefusal, UnreadableJob
from pillarbox.domain.accounts.quota import WINDOWS, Window, window_name
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from tests.fakes import builders, stores
from tests.fakes.builders import ACCOUNT, DIGEST, NOW
from tests.fakes.world import Fault, World

UNAVAILABLE = ServiceError("service_unavailable", "planted")
#: The last moments of a minute, an hour, a day and a month.
LAST_MOMENTS = [
    datetime.fromisoformat(text)
    for text in (
        "2026-03-14T09:26:59.999+00:00",
        "2026-03-14T09:59:59.999+00:00",
        "2026-03-14T23:59:59.999+00:00",
        "2026-03-31T23:59:59.999+00:00",
        "2026-12-31T23:59:59.999+00:00",
    )
]


class NoLease(stores.Messages):
    """Records whose lease was taken and released between a refusal and its read."""

    def lease(self, *arguments: Any, **keywords: Any) -> LeaseRefusal:
        del keywords
        account_id, message_id = arguments[:2]
        return LeaseRefusal(self.get(account_id, message_id))


def test_a_body_survives_a_retry_at_once(world: World) -> None:
    """A job that is tried again without a wait still finds its email in the spool."""
    job = world.accept(builders.message(), mail=None, spool_key="body")
    world.store.spool["body"] = builders.mail()
    racing = replace(world.delivery, messages=NoLease(world.store))
    assert racing.deliver(job).retry_after == timedelta(0)
    assert world.run(job) is None
    assert len(world.mailer.taken) == 1
    assert world.store.spool == {}


def test_a_poison_job_is_kept_before_its_mail_fails() -> None:
    """If the dead letters are out of reach, the mail is still pending and the job is tried again.

    A worker that died between the two steps would otherwise leave a failed mail without its job.
    """
    store, message = stores.Store(), builders.message()
    store.messages[ACCOUNT, message.message_id] = message

    class Unreachable:
        def put(self, _text: str) -> None:
            raise UNAVAILABLE

    poison_jobs = PoisonJobs(
        messages=stores.Messages(store), dead_letters=Unreachable(), clock=lambda: NOW
    )
    unreadable = UnreadableJob(
        "no job", newer=False, account_id=ACCOUNT, message_id=message.message_id
    )
    with pytest.raises(ServiceError):
        poison_jobs.set_aside("text", unreadable, NOW)
    assert store.messages[ACCOUNT, message.message_id] == message


def counts(world: World, moment: datetime) -> dict[Window, int]:
    return {
        window: world.store.counts.get((ACCOUNT, window_name(window, moment)), 0)
        for window in WINDOWS
    }


@pytest.mark.parametrize("moment", LAST_MOMENTS, ids=str)
@pytest.mark.parametrize("digest", [None, DIGEST], ids=["unkeyed", "keyed"])
@pytest.mark.parametrize("kind", ["single", "batch"])
def test_a_refund_goes_to_the_windows_of_the_reservation(
    world: World, kind: Literal["single", "batch"], digest: str | None, moment: datetime
) -> None:
    world.now = moment
    queue_calls = {"jobs.put", "jobs.put_all"}

    def end_window(call: str) -> None:
        if call in queue_calls:
            world.now = moment + timedelta(milliseconds=1)
            world.gate.fault = Fault(len(world.gate.calls) - 1, "before", UNAVAILABLE)

    world.gate.watch = end_window
    with pytest.raises(ServiceError):
        submit(world, kind, digest)
    assert counts(world, moment) == dict.fromkeys(WINDOWS, 0)
    assert counts(world, world.now) == dict.fromkeys(WINDOWS, 0)


def submit(world: World, kind: Literal["single", "batch"], digest: str | None) -> None:
    if kind == "single":
        world.send(digest=digest)
    else:
        world.send_batch(*[builders.request()] * 3, digest=digest)


@pytest.mark.parametrize("digest", [None, DIGEST], ids=["unkeyed", "keyed"])
def test_each_position_of_a_batch_has_the_id_of_its_own_mail(
    world: World, digest: str | None
) -> None:
    """The result of each position names the message with that position's subject, or its error."""
    items: list[Any] = [builders.request(subject=f"Number {number}") for number in range(25)]
    faulty = {3, 11, 20}
    for position in faulty:
        items[position] = ValidationFailed(FieldError("to", "is required", "required"))
    answer = world.send_batch(*items, digest=digest)
    subjects = {str(id_): message.subject for (_, id_), message in world.store.messages.items()}
    results = json.loads(answer.body)["results"]
    assert [subjects.get(result["messageId"]) for result in results] == [
        None if number in faulty else f"Number {number}" for number in range(25)
    ]
    assert {number for number, result in enumerate(results) if result["error"]} == faulty
    # The body of each job is that of the record with its id.
    jobs = {str(job.message_id): job.mail.subject for job in world.store.queue if job.mail}
    assert jobs == subjects
