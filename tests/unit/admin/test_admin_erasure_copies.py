"""`pillarbox recipient erase` and copies of the person's emails that went to other addresses."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.application.delivery.sweep import RecordRetention
from pillarbox.domain.messages.kept import ERASED_SUBJECT, KeptContent
from pillarbox.domain.messages.message import EventKind, Lease, Message, Status
from tests.unit.admin.test_admin_erasure import (
    ANN,
    erasure,
    killed_at_each_call,
    recipient_event,
    records,
)
from tests.unit.history.search_world import SearchWorld

DESK = "desk@shop.example"


def world(shards: int = 1) -> SearchWorld:
    made = SearchWorld(shards=shards)
    made.table.put(account_item(made.account))
    return made


def send(in_world: SearchWorld, to: str, copy_of: Message | None = None) -> Message:
    """Accept an email whose content is kept, or a copy of one, and let an hour pass."""
    sent = in_world.send_to(to, tags={"order": "of ann"})
    in_world.table.delete(keys.message(sent.account_id, sent.message_id))
    in_world.stream.pop()
    origin = replace(sent.origin, resend_of=copy_of.message_id if copy_of else None)
    sent = replace(sent, subject="Invoice of Ann", keep=7, origin=origin)
    in_world._put(sent)
    in_world.pass_time(4000)
    return sent


def erase(in_world: SearchWorld) -> list[str]:
    """Erase Ann and return the ids of the messages whose kept content was deleted."""
    removed: list[KeptContent] = []
    erasure(in_world, removed).erase([in_world.account], ANN, lambda _: None)
    return [content.message_id for content in removed]


def names_ann(in_world: SearchWorld) -> set[UUID]:
    """Return the ids of the messages that may still name Ann."""
    return {
        one.message_id
        for one in records(in_world)
        if one.subject != ERASED_SUBJECT or one.origin.labels.tags
    }


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("indexed", [0, 1, 2, 3])
def test_copies_lose_what_may_name_the_person(indexed: int, shards: int) -> None:
    here = world(shards)
    chain: list[Message] = []
    for number, to in enumerate((ANN, DESK, "bob@example.com")):
        if number == indexed:
            here.aggregate()
        chain.append(send(here, to, chain[-1] if chain else None))
    others = send(here, "bob@example.com")
    others = send(here, DESK, others)
    if indexed == 3:
        here.aggregate()
    deleted = erase(here)
    erased = {one.message_id for one in chain}
    assert names_ann(here) == {one.message_id for one in records(here)} - erased
    assert others.message_id in names_ann(here)
    assert sorted(deleted) == sorted([*map(str, erased)] * 2)
    by_id = {one.message_id: one for one in records(here)}
    assert [by_id[one.message_id].to for one in chain[1:]] == [(DESK,), ("bob@example.com",)]
    assert {by_id[one].keep for one in erased if by_id[one].to == (DESK,)} == {0}
    here.aggregate()
    assert erase(here) == []


def test_a_copy_that_no_worker_has_is_not_sent() -> None:
    """Its job has the content. One that a worker has may go out, and one that was sent stays."""
    here = world()
    original = send(here, ANN)
    free, taken, sent = (send(here, DESK, original) for _ in range(3))
    now = here.now
    lease = Lease(owner="w", taken_at=now, expires_at=now + timedelta(seconds=60))
    here._put(replace(taken, lease=lease, revision=1))
    recipient_event(here, sent, EventKind.SENT, None)
    erase(here)
    by_id = {one.message_id: one for one in records(here)}
    assert [by_id[one.message_id].status for one in (free, taken, sent)] == [
        Status.FAILED,
        Status.PENDING,
        Status.SENT,
    ]
    (event,) = by_id[free.message_id].events
    assert event.code == "recipient_erased"


def test_a_copy_that_is_made_meanwhile_loses_it_too() -> None:
    here = world()
    original = send(here, ANN)
    copies: list[Message] = []

    def pause(seconds: float) -> None:
        copies.append(send(here, DESK, original))
        here.pass_time(seconds)

    replace(erasure(here), pause=pause).erase([here.account], ANN, lambda _: None)
    assert len(copies) == 1
    assert names_ann(here) == set()


def sweep(here: SearchWorld, days: int) -> None:
    """Delete the records that are older than so many days, and let the stream report it."""
    firsts = [keys.messages_from(here.account_id, shard, 0) for shard in range(here.shards)]
    partitions = [here.engine.partition(first["pk"]["S"]) for first in firsts]
    before = [{sk: part.get(sk) for sk in [*part.order]} for part in partitions]
    retention = RecordRetention(
        records=here.log,
        copies=here.index.copies,
        set_records_from=DynamoAccounts(here.table).set_records_from,
        remove_kept=lambda _: None,
    )
    cursor, is_first = None, True
    while cursor or is_first:
        is_first = False
        cursor = retention.delete_page(replace(here.account, record_days=days), here.now, cursor)
    for part, olds in zip(partitions, before, strict=True):
        for sk, item in olds.items():
            if (new := part.get(sk)) != item:
                images: Any = {"OldImage": item} | ({"NewImage": new} if new else {})
                here.stream.append({"dynamodb": images})  # type: ignore[arg-type]


@pytest.mark.parametrize("shards", [1, 4])
def test_no_copy_names_a_person_whose_email_was_too_old(shards: int) -> None:
    """If the account's days delete the original, the erasure that comes later has lost nothing."""
    here = world(shards)
    first = send(here, ANN)
    recipient_event(here, first, EventKind.SENT, None)
    here.pass_time(80 * 86_400)
    desk = send(here, DESK, first)
    send(here, "bob@example.com", desk)
    again = send(here, ANN, first)
    here.aggregate()
    here.pass_time(15 * 86_400)
    sweep(here, 90)
    here.aggregate()
    assert names_ann(here) == {again.message_id}
    assert len(records(here)) == 3
    assert len([entry for entry in here.entries() if entry.startswith("order=")]) == 1
    erase(here)
    assert names_ann(here) == set()


def world_with_copy() -> SearchWorld:
    here = world()
    send(here, DESK, send(here, ANN))
    here.aggregate()
    return here


@pytest.mark.slow
def test_an_erasure_that_was_killed_leaves_no_copy() -> None:
    call = 0
    for call, here in killed_at_each_call(world_with_copy, erase):
        erase(here)
        assert names_ann(here) == set(), call
    assert call > 10


def test_an_interrupted_erasure_still_deletes_kept_content_twice() -> None:
    """No later run finds these messages, so what a worker wrote during the first pass goes now."""
    here = world()
    sent = send(here, ANN)
    removed: list[KeptContent] = []

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    interrupted = replace(erasure(here, removed), pause=interrupt)
    with pytest.raises(KeyboardInterrupt):
        interrupted.erase([here.account], ANN, lambda _: None)
    assert removed == [KeptContent.of(sent)] * 2
