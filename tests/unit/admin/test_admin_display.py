"""What people see: tables at 80 columns, progress, times and the version."""

import io
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from rich.console import Console

from admin.progress import progress
from admin.tables import print_lines, print_list
from admin.times import parse_time
from pillarbox.domain.errors import Json, ValidationFailed
from tests.loops import for_each
from tests.stack import wait_for

ID = "01a20242-4abb-71af-a6dc-49a3efcfd4de"
KEY_ID = "key_qh4ybvcvbqzkkbkzysxg"
ROWS: dict[str, dict[str, Json]] = {
    "messages": {
        "messageId": ID,
        "createdAt": "2026-03-14T15:09:26.535+00:00",
        "status": "delivered",
        "to": ["ann.of.a.long.name@customer.example", "bob@customer.example"],
        "subject": "Your receipt for the order of last week, with all its items",
    },
    "keys": {
        "keyId": KEY_ID,
        "name": "web",
        "type": "live",
        "selfService": False,
        "preset": "send",
        "scopes": ["emails:read", "emails:send"],
        "createdAt": "2026-03-14T15:09:26.535+00:00",
        "revokedAt": None,
    },
    "suppressions": {
        "address": "ann.of.a.long.name@customer.example",
        "reason": "bounced",
        "createdAt": "2026-03-14T15:09:26.535+00:00",
        "messageId": ID,
    },
    "two ids": {"id": ID, "messageId": ID.replace("0", "1")},
}


type Rows = list[dict[str, Json]]


def drawn(rows: Rows, width: int, show: Callable[..., None] = print_list) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show(console, rows, [*rows[0]])
    return written(console).splitlines()


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_ids_stay_whole(row: dict[str, Json], width: int) -> None:
    lines = drawn([row, row], width)
    for name, value in row.items():
        if name.lower().endswith("id"):
            assert sum(str(value) in line for line in lines) == 2, lines
    assert max(map(len, lines)) <= width


def test_a_list_without_room_for_its_ids_becomes_records() -> None:
    keys = [ROWS["keys"], ROWS["keys"]]
    lines = drawn(keys, 80)
    assert len(lines) == 2 * len(ROWS["keys"]) + 1
    assert lines[0].split() == ["Key", "id", KEY_ID]
    assert "┃" in drawn(keys, 200)[1]
    names = ("emails", "bounced", "bounceRate", "complained", "complaintRate")
    counts: dict[str, Json] = {"accountId": KEY_ID[4:16], "name": "Shop", **dict.fromkeys(names, 1)}
    assert "┃" in drawn([counts], 80)[1]


def test_a_list_of_lines_has_one_line_a_row() -> None:
    this_year, row = datetime.now(UTC).year, ROWS["messages"]
    rows = [row | {"createdAt": f"{year}-03-14T15:09:26.535+00:00"} for year in (this_year, 2019)]
    rows[1]["subject"] = "新しい注文" * 9
    heading, *lines = drawn(rows, 80, print_lines)
    assert heading.split() == ["Message", "id", "Created", "at", "Status", "To", "Subject"]
    assert [line.split()[:3] for line in lines] == [
        [ID, "03-14", "15:09"],
        [ID, "2019-03-14", "delivered"],
    ]
    assert all(cell_len(line) <= 80 and line.count("…") == 2 for line in lines)
    assert "for the order of last week, with all its items" in drawn(rows, 200, print_lines)[1]
    assert drawn(rows, 60, print_lines)[0].split() == ["Message", "id", ID]


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def written(console: Console) -> str:
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_progress_appears_after_a_while() -> None:
    console = terminal()
    with progress("Reading", "messages", total=5_000, console=console, delay=0.05) as report:
        report(1_234)
        wait_for(lambda: "1,234 of 5,000 messages" in written(console))
    assert "Reading" in written(console)


def test_a_quick_command_shows_no_progress() -> None:
    quick, file = terminal(), Console(file=io.StringIO())
    with progress("Reading", "messages", console=quick) as report:
        report(1)
    with progress("Reading", "messages", console=file, delay=0) as report:
        report(1)
        time.sleep(0.1)
    assert (written(quick), written(file)) == ("", "")


def test_progress_ends_with_an_error() -> None:
    console = terminal()

    def fail() -> None:
        with progress("Reading", console=console, delay=0):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    ended = written(console)
    time.sleep(0.2)
    assert written(console) == ended


@for_each(
    ("text", "moment"),
    [
        ("30m", datetime(2026, 3, 14, 11, 30, tzinfo=UTC)),
        ("6h", datetime(2026, 3, 14, 6, tzinfo=UTC)),
        ("2d", datetime(2026, 3, 12, 12, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T09:00", datetime(2026, 3, 1, 9, tzinfo=UTC)),
        ("2026-03-01T09:00+01:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    assert parse_time("since", text, datetime(2026, 3, 14, 12, tzinfo=UTC)) == moment


@for_each("text", ["", "yesterday", "5", "5w", "-1h", "\u0665h", "99999999d"])
def test_texts_that_are_no_times(text: str) -> None:
    with pytest.raises(ValidationFailed) as failed:
        parse_time("since", text, datetime(2026, 3, 14, 12, tzinfo=UTC))
    assert failed.value.errors[0].field == "since"
