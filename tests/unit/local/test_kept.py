"""What a run of the local stack leaves to the next one."""

import asyncio
import datetime as dt
import io
import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from admin.kept_records import kept_records
from local.kept import (
    KeptState,
    keeping,
    read_kept,
    restore_mailbox,
    restore_tables,
    write_kept,
)
from local.ses.mail import CapturedMail, Destination
from local.ses.store import MailStore
from local.ses.suppression import SuppressedDestination

if TYPE_CHECKING:
    from local.engine import Engine

NOW = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
OUTPUTS = {
    "TableName": "t",
    "CredentialsTableName": "i",
    "JobsQueueUrl": "j",
    "UrgentJobsQueueUrl": "u",
    "EventsQueueUrl": "e",
}


class FakeAws:
    """Two tables and queues; `backlog` has the numbers of messages that the queues report."""

    def __init__(self, *items: dict[str, Any], backlog: tuple[int, ...] = ()) -> None:
        self.items = list(items)
        self.credentials: list[dict[str, Any]] = []
        self.backlog = list(backlog)
        self.refusals = 1

    def client(self, _service: str) -> "FakeAws":
        return self

    def get_paginator(self, _operation: str) -> "FakeAws":
        return self

    def paginate(self, TableName: str, **_arguments: Any) -> list[dict[str, Any]]:  # noqa: N803  boto3's
        return [{"Items": [item]} for item in self._of(TableName)]

    def _of(self, table: str) -> list[dict[str, Any]]:
        return {"t": self.items, "i": self.credentials}[table]

    def batch_write_item(self, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803  boto3's
        """Leave the last item of the first call unprocessed."""
        assert 0 < sum(map(len, RequestItems.values())) <= 25
        left = {}
        for table, requests in RequestItems.items():
            done = requests[:-1] if self.refusals else requests
            self.refusals = 0
            self._of(table).extend(request["PutRequest"]["Item"] for request in done)
            if len(done) < len(requests):
                left[table] = requests[len(done) :]
        return {"UnprocessedItems": left}

    def get_queue_attributes(
        self,
        QueueUrl: str,  # noqa: N803  boto3's
        AttributeNames: list[str],  # noqa: N803
    ) -> dict[str, Any]:
        waiting = self.backlog.pop(0) if QueueUrl == "j" and self.backlog else 0
        return {"Attributes": {name: str(waiting) for name in AttributeNames}}


def item(pk: str, sk: str = "-", **attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}


def mail(id_: str = "m1") -> CapturedMail:
    return CapturedMail(
        id=id_,
        source="Ann <ann@shop.example>",
        destination=Destination(to=("a@x.example",), bcc=("b@x.example",)),
        configuration_set="set",
        tags={"B": "tag"},
        headers=(("Subject", "\udcff"), ("To", "a@x.example")),
        from_header="Ann",
        subject="Grüße",
        raw=b"Subject: \xff\r\n\r\nx",
        outcomes={"a@x.example": "delivered"},
        received_at=NOW,
    )


def path_in(folder: Path) -> Path:
    return folder / "kept.jsonl"


def said() -> Console:
    return Console(file=io.StringIO(), width=1000)


def output(console: Console) -> str:
    return cast("io.StringIO", console.file).getvalue()


STATE = KeptState(
    [item("MSG#a", "1", hash={"B": b"\x00\xff"}, l={"L": [{"M": {"B": {"B": b"x"}}}]})],
    [mail()],
    {"shop.example": "bounce.shop.example", "ann@other.example": None},
    [SuppressedDestination("c@x.example", "BOUNCE", NOW, "m0", "f0")],
    {"shop.example"},
)


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Bytes, times and undecodable headers survive; only the user may read the file."""
    write_kept(path_in(tmp_path), STATE)
    kept = read_kept(path_in(tmp_path), said())
    assert (kept.items, kept.identities) == (STATE.items, STATE.identities)
    assert kept.suppressions == STATE.suppressions
    assert kept.without_feedback == STATE.without_feedback
    assert [vars(each) for each in kept.emails] == [vars(each) for each in STATE.emails]
    assert stat.S_IMODE(path_in(tmp_path).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["kept.jsonl"]


def test_without_a_file_the_state_is_empty(tmp_path: Path) -> None:
    """The first start has nothing to put back and says nothing about it."""
    console = said()
    assert read_kept(path_in(tmp_path), console) == KeptState()
    assert not output(console)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"format": 2}\n{"item": {}}\n', "is of another version"),
        ('{"item": {}}\n', "is of another version"),
        ("", "is of another version"),
        ("\x00", "is damaged"),
        ("[]", "is of another version"),
        ('{"format": 1}\n{"email": {}}\n', "is damaged"),
        ('{"format": 1}\n{"email": 1}\n', "is damaged"),
        ('{"format": 1}\n{"thing": 1}\n', "is damaged"),
        ('{"format": 1}\n{"item"', "is damaged"),
    ],
)
def test_an_unusable_state_is_ignored_with_one_line(tmp_path: Path, text: str, reason: str) -> None:
    """A file of another version or a damaged one gives an empty state, and one line says so."""
    path_in(tmp_path).write_text(text)
    console = said()
    assert read_kept(path_in(tmp_path), console) == KeptState()
    assert output(console) == f"{path_in(tmp_path)} {reason}: nothing is put back.\n"


def test_a_failed_write_leaves_the_last_state(tmp_path: Path) -> None:
    """An error in the middle of the write leaves the last state whole."""
    write_kept(path_in(tmp_path), STATE)
    before = path_in(tmp_path).read_text()
    with pytest.raises(TypeError):
        write_kept(path_in(tmp_path), KeptState([item("MSG#a"), item("MSG#b", x={"S": object()})]))
    assert path_in(tmp_path).read_text() == before


def test_only_records_that_the_next_run_can_use_are_kept() -> None:
    """Statistics and counts of one run stay behind; the oldest message is first."""
    kept = [item("ACCT#a"), item("KEY#d", account={"S": "a"}), item("IDEM#a#1")]
    messages = [item("MSG#a#1", "3"), item("MSG#a", "2"), item("MSG#b", "1")]
    left = [item("PULSE"), item("RATE"), item("RATE", "a")]
    left += [item("ADDRESS"), item("STAT#a", "C#1"), item("REBUILD", "a#1")]
    assert kept_records([*messages, *left, *kept]) == [*kept, *messages[::-1]]


def test_every_record_is_put_back() -> None:
    """Records go in batches to their tables, and those that DynamoDB did not process go again."""
    aws = FakeAws()
    items = [item("MSG#a", f"{number:03d}") for number in range(60)]
    found = [item("KEY#d", account={"S": "a"}), item("KEYS#a", "k")]
    restore_tables(aws, "t", "i", KeptState([*found, *items]))
    assert sorted(each["pk"]["S"] for each in aws.credentials) == ["KEY#d", "KEYS#a"]
    assert sorted(each["sk"]["S"] for each in aws.items) == [each["sk"]["S"] for each in items]


def test_the_mailbox_is_put_back() -> None:
    """Emails, identities, MAIL FROM domains and suppressed addresses are there again."""
    mailbox = MailStore()
    restore_mailbox(mailbox, STATE)
    assert [each.id for each in mailbox.newest_first()] == ["m1"]
    assert mailbox.identities() == {"ann@other.example": True, "shop.example": True}
    assert mailbox.mail_from == {"shop.example": "bounce.shop.example"}
    assert mailbox.suppressions["c@x.example"].reason == "BOUNCE"
    assert mailbox.forwards_feedback("ann@other.example")
    assert not mailbox.forwards_feedback("ann@shop.example")


def keep(path: Path, mailbox: MailStore, aws: FakeAws, end: BaseException) -> str:
    """Run with a kept state until this end; return what was said."""
    console = said()

    async def run() -> None:
        async with keeping(path, mailbox, cast("Engine", aws), OUTPUTS, console):
            mailbox.add(mail("m2"))
            raise end

    with pytest.raises(type(end)):
        asyncio.run(run())
    return output(console)


def test_a_regular_stop_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits until the queues are empty, and adds to what the last run kept."""
    monkeypatch.setattr("local.kept._INTERVAL", 0)
    write_kept(path_in(tmp_path), STATE)
    aws = FakeAws(backlog=(2, 0, 1))
    assert keep(path_in(tmp_path), MailStore(), aws, asyncio.CancelledError()) == ""
    assert not aws.backlog
    lines = [json.loads(line) for line in path_in(tmp_path).read_text().splitlines()]
    assert [line["email"]["id"] for line in lines if "email" in line] == ["m1", "m2"]
    assert [line["item"]["sk"] for line in lines if "item" in line] == [{"S": "1"}]


def test_a_stop_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Emails that SES keeps refusing stay pending, and one line says so."""
    monkeypatch.setattr("local.kept._DELIVERED_WITHIN", 0)
    text = keep(path_in(tmp_path), MailStore(), FakeAws(), asyncio.CancelledError())
    assert text == "Some emails are still on their way. They stay pending.\n"
    assert path_in(tmp_path).exists()


def test_a_failure_keeps_the_last_state(tmp_path: Path) -> None:
    """A run that fails writes nothing."""
    assert keep(path_in(tmp_path), MailStore(), FakeAws(), RuntimeError()) == ""
    assert not path_in(tmp_path).exists()


def test_a_stop_that_cannot_write_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk gives one line, and the stop goes on."""
    monkeypatch.setattr("local.kept._INTERVAL", 0)
    missing = tmp_path / "missing" / "kept.jsonl"
    text = keep(missing, MailStore(), FakeAws(), asyncio.CancelledError())
    assert text.startswith("This run is not kept: ")
