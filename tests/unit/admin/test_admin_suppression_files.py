"""Files of suppressions: what spreadsheets and other services make of them, and the import."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from threading import Lock
from typing import Any, Final

import pytest
from botocore.exceptions import ConnectionClosedError

from admin.use_cases.suppression_files import SuppressionFiles
from admin.use_cases.suppression_rows import text_of
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.account_changes import added_events
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.errors import ValidationFailed
from tests.fakes.builders import ACCOUNT, NOW, account
from tests.fakes.memory_tables import MemoryTable
from tests.loops import for_each

_STARTS = ("=", "+", "-", "@", "#", "'=", "''-", "'", "", "＝", "＋", "－", "＠")  # noqa: RUF001


def files(*addresses: str) -> SuppressionFiles:
    table = MemoryTable("table")
    table.put(account_item(account()))
    records = DynamoSuppressions(table)
    for address in addresses:
        records.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
    return SuppressionFiles(
        records=records,
        accounts=DynamoAccounts(table),
        clock=lambda: NOW,
        pause=lambda _: None,
    )


def exported(source: SuppressionFiles) -> StringIO:
    file = StringIO()
    source.write(ACCOUNT, file, lambda _: None)
    file.seek(0)
    return file


def test_no_exported_cell_is_a_formula() -> None:
    lines = exported(files(*(f"{start}a@x.example" for start in _STARTS))).readlines()[1:]
    cells = {line.partition(",")[0].partition("a@")[0] for line in lines}
    assert cells == {
        *("'=", "'+", "'-", "'@", "'#", "''=", "'''-", "'", ""),
        *("'＝", "'＋", "'－", "'＠"),  # noqa: RUF001
    }


def test_an_import_restores_the_addresses() -> None:
    addresses = {f"{start}a@x.example" for start in _STARTS if start.isascii() and start != "@"}
    source = files(*addresses)
    assert {entry.address for entry in source.read(exported(source)).entries} == addresses


#: A list as each service exports it, and its addresses with our reasons.
_EXPORTS: Final = {
    "Postmark, JSON": (
        """{"Suppressions": [
        {"EmailAddress": "a@x.example", "SuppressionReason": "HardBounce", "Origin": "Recipient",
         "CreatedAt": "2019-12-10T08:58:33-05:00"},
        {"EmailAddress": "b@x.example", "SuppressionReason": "SpamComplaint"},
        {"EmailAddress": "c@x.example", "SuppressionReason": "ManualSuppression",
         "Origin": "Customer"}]}""",
        ["bounced", "complained", "manual"],
    ),
    "Postmark, CSV": (
        "Email Address,Reason,Origin,Date\na@x.example,HardBounce,Recipient,2019-12-10\n",
        ["bounced"],
    ),
    "Resend": (
        (
            "id,email,origin,created_at\n"
            "1,a@x.example,bounce,2025-10-06 23:47:56.678+00\n2,b@x.example,complaint,\n"
            "3,c@x.example,manual,\n"
        ),
        ["bounced", "complained", "manual"],
    ),
    "SendGrid, bounces": (
        (
            "status,reason,email,created\n"
            '5.1.1,"550 5.1.1, no such user",a@x.example,1443651125\n'
            ",552 over quota,b@x.example,1443651125\n"
            "5.1.2,unable to get mx info,c@x.example,09/30/2015\n"
        ),
        ["bounced", "bounced", "bounced"],
    ),
    "SendGrid, unsubscribes": ("email,created\na@x.example,1443651125\n", ["manual"]),
    "SES": (
        """{"SuppressedDestinationSummaries": [
        {"EmailAddress": "a@x.example", "Reason": "BOUNCE",
         "LastUpdateTime": "2020-04-10T21:03:05+00:00"},
        {"EmailAddress": "b@x.example", "Reason": "COMPLAINT"}], "NextToken": null}""",
        ["bounced", "complained"],
    ),
    "a list": ('\n["a@x.example", "b@x.example"]', ["manual", "manual"]),
    "recipient": ("recipient\r\na@x.example\r\n", ["manual"]),
    "emailAddress": ("note,emailAddress\nx,a@x.example\n", ["manual"]),
    "comments": ('# from "us\n\naddress\n  # none\na@x.example\n# the end', ["manual"]),
}


@for_each("text, reasons", _EXPORTS.values())
def test_lists_of_other_services_are_read_as_they_are(text: str, reasons: list[str]) -> None:
    read = files().read(StringIO(text))
    assert not read.refused
    assert [entry.reason for entry in read.entries] == reasons
    assert [entry.address for entry in read.entries] == [
        f"{letter}@x.example" for letter in "abc"[: len(reasons)]
    ]


def test_the_times_of_other_services_are_kept() -> None:
    text, _ = _EXPORTS["SendGrid, bounces"]
    (first, _, third) = files().read(StringIO(text)).entries
    assert (first.at.isoformat(), third.at) == ("2015-09-30T22:12:05+00:00", NOW)
    text, _ = _EXPORTS["Postmark, JSON"]
    assert files().read(StringIO(text)).entries[0].at.isoformat() == "2019-12-10T08:58:33-05:00"


@for_each(
    "text",
    [
        "email;name\na@x.example;A, B\nb@x.example;;\n",
        "Name, all\tE-Mail\r\nA; B\ta@x.example\r\n\tb@x.example\r\n",
        "sep=;\nname;email\n1, 2;a@x.example\n;b@x.example\n",
        '"1, 2";Email\ra;a@x.example\r;b@x.example\r',
        "reason,email\n550 5.1.1; none,a@x.example\n,b@x.example\n",
        '"Doe, Ann" <a@x.example>\nBob :) <B@X.example> \n',
        'email\n<a@x.example>\n"Zo\u00eb \u201cZ\u201d <b@x.example>"\n',
        "a@x.example;;\nb@x.example\n",
    ],
)
@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_lists_are_read_as_excel_and_other_programs_write_them(text: str, encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    decoded = text_of(mark + text.encode(encoding))
    read = files().read(StringIO(decoded, newline=""))
    assert not read.refused
    assert [entry.address for entry in read.entries] == ["a@x.example", "b@x.example"]


@for_each("data", [b"PK\x03\x04\x14\0\0", "email".encode("utf-16-le")])
def test_what_is_no_text_is_refused_whole(data: bytes) -> None:
    with pytest.raises(ValidationFailed, match="save a spreadsheet as CSV"):
        text_of(data)


@for_each(
    "text, field",
    [
        ("Name,Reason\nAnn,bounced\n", "line 1"),
        ("Name;Mail\nAnn;a@x.example\n", "line 1"),
        ('{"items": [], "others": []}', "FILE"),
        ("[1", "FILE"),
    ],
)
def test_a_file_without_addresses_is_refused_whole(text: str, field: str) -> None:
    with pytest.raises(ValidationFailed) as failed:
        files().read(StringIO(text))
    assert [error.field for error in failed.value.errors] == [field]


def test_refused_rows_can_be_corrected_and_imported() -> None:
    text = 'email,note\na@x.example,x\nnobody,"1, 2"\nb@x.example,x,y\n'
    read = files().read(StringIO(text))
    assert [entry.address for entry in read.entries] == ["a@x.example"]
    lines = read.refused_text().splitlines()
    assert (lines[0], lines[2], lines[4]) == ("email,note", 'nobody,"1, 2"', "b@x.example,x,y")
    assert lines[1].startswith("# line 3: address: ")
    assert lines[3] == "# line 4: columns: the line has 3 columns; the header names email, note"
    corrected = "\n".join(lines).replace("nobody", "c@x.example").replace(",x,y", ",x")
    again = files().read(StringIO(corrected))
    assert [entry.address for entry in again.entries] == ["c@x.example", "b@x.example"]
    assert not again.refused


def test_the_comment_of_a_refused_row_is_one_line() -> None:
    read = files().read(StringIO('email,"a\nnote"\na@x.example,x,y\n'))
    text = read.refused_text()
    assert "header names email, a note\n" in text
    assert [one.error.message for one in files().read(StringIO(text)).refused] == [
        read.refused[0].error.message
    ]


class _Client:
    """Makes the calls of a table one at a time."""

    def __init__(self, table: "_Calls", engine: object) -> None:
        self._table, self._engine, self._one_at_a_time = table, engine, Lock()

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            with self._one_at_a_time:
                self._table.calls[name] += 1
                answer = getattr(self._engine, name)(**request)
                if name == "batch_execute_statement" and self._table.lost:
                    self._table.lost -= 1
                    raise ConnectionClosedError(endpoint_url="https://dynamodb")
                return answer

        return call


class _Calls(MemoryTable):
    """A table that counts its calls, and loses the response of some writes."""

    def __init__(self) -> None:
        super().__init__("table")
        self.calls = Counter[str]()
        #: How many of the next writes take effect without a response.
        self.lost = 0
        self.put(account_item(account()))
        vars(self)["client"] = _Client(self, self.client)


def _store(table: _Calls, entries: Sequence[Suppression], *, announce: bool = False) -> Any:
    table.calls.clear()
    using = replace(files(), records=DynamoSuppressions(table), accounts=DynamoAccounts(table))
    result = using.store(ACCOUNT, entries, lambda _: None, announce=announce)
    return (result.added, result.known)


def _entries(count: int) -> list[Suppression]:
    return [
        Suppression(address=f"user{number:03}@x.example", reason="manual", at=NOW)
        for number in range(count)
    ]


def test_a_hundred_addresses_take_five_calls() -> None:
    table = _Calls()
    assert _store(table, _entries(250)) == (250, 0)
    assert table.calls == {"get_item": 1, "batch_get_item": 3, "batch_execute_statement": 10}
    assert _store(table, _entries(260)) == (10, 250)
    assert table.calls == {"get_item": 1, "batch_get_item": 3, "batch_execute_statement": 1}
    assert len([*DynamoSuppressions(table).of_account(ACCOUNT)]) == 260


def test_a_repeated_batch_counts_its_own_addresses_as_added() -> None:
    """A write whose response was lost is repeated, and nothing of it was known before."""
    table = _Calls()
    table.lost = 2
    assert _store(table, _entries(130)) == (130, 0)
    assert table.lost == 0


def test_a_bounce_that_comes_meanwhile_keeps_its_reason() -> None:
    table = _Calls()
    records = DynamoSuppressions(table)
    records.put(ACCOUNT, "user001@x.example", "bounced", NOW, None)
    records.add_missing(ACCOUNT, _entries(3), announce=False)
    reasons = [entry.reason for entry in records.of_account(ACCOUNT)]
    assert reasons == ["manual", "bounced", "manual"]


def test_an_import_is_announced_only_if_asked() -> None:
    def announced(*, announce: bool) -> int:
        table = _Calls()
        _store(table, _entries(2), announce=announce)
        found = keys.suppression(ACCOUNT)
        images = table.client.query(
            TableName="table",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": found["pk"]},
        )["Items"]
        records = [
            {"dynamodb": {"Keys": {"pk": image["pk"], "sk": image["sk"]}, "NewImage": image}}
            for image in images
        ]
        return sum(len(added_events(record)) for record in records)

    assert (announced(announce=False), announced(announce=True)) == (0, 2)
