"""`pillarbox suppression import|export`."""

from pathlib import Path

import pytest

from tests.integration.admin.operator_command import CommandFailure, Operator, failure
from tests.loops import for_each


def test_an_export_is_read_by_an_import(run: Operator, account: str, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"user{number:03}@example.com\n" for number in range(130)))
    run("suppression", "import", "--account", account, listed)
    exported = tmp_path / "suppressions.csv"
    written = run("suppression", "export", "--account", account, exported)
    assert written == {"accountId": account, "file": str(exported), "exported": 130}
    assert exported.read_text().splitlines()[0] == "address,reason,createdAt,messageId"
    other = run("account", "create", "--name", "Other", "--plan", "free")["id"]
    read = ("suppression", "import", "--account", other, exported)
    assert run(*read) == {"accountId": other, "added": 130, "known": 0}
    assert run(*read) == {"accountId": other, "added": 0, "known": 130}
    lists = [run("suppression", "list", "--account", each) for each in (account, other)]
    assert lists[0] == lists[1]


def test_a_file_is_not_overwritten(run: Operator, account: str, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    export = ("suppression", "export", "--account")
    assert run.refused(*export, "0" * 12, file) == (1, "account_not_found")
    assert not file.exists()
    file.write_text("mine")
    assert run.refused(*export, account, file) == (2, "validation_failed")
    assert file.read_text() == "mine"


def test_a_list_of_addresses_is_imported(run: Operator, account: str, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_bytes(b"\xef\xbb\xbfAnn@Example.com\r\n\r\n bob@example.com \nann@example.com\n")
    run("suppression", "add", "--account", account, "bob@example.com")
    imported = run("suppression", "import", "--account", account, file)
    assert (imported["added"], imported["known"]) == (1, 1)
    listed = run("suppression", "list", "--account", account)["items"]
    assert [(entry["address"], entry["reason"]) for entry in listed] == [
        ("ann@example.com", "manual"),
        ("bob@example.com", "manual"),
    ]


@for_each(
    ("text", "field", "options"),
    [
        ("a@example.com\nnobody\n", "line 2", ["--strict"]),
        ("a@example.com,bounced\n", "line 1", []),
        ("address,reason\na@example.com,dislike\n", "line 2", []),
        ("address,createdAt\na@example.com,yesterday\n", "line 2", []),
        ("address,messageId\na@example.com,12\n", "line 2", []),
        ("address,reason\n,bounced\n", "line 2", []),
    ],
)
def test_a_wrong_line_imports_nothing(
    run: Operator, account: str, tmp_path: Path, text: str, field: str, *, options: list[str]
) -> None:
    file = tmp_path / "list.csv"
    file.write_text(text)
    with pytest.raises(CommandFailure) as failed:
        run("suppression", "import", "--account", account, *options, file)
    (error,) = failed.value.error["details"]["errors"]
    assert error["field"] == field
    assert run("suppression", "list", "--account", account) == {"items": []}


def test_wrong_lines_are_left_beside_the_file(run: Operator, account: str, tmp_path: Path) -> None:
    file, beside = tmp_path / "list.csv", tmp_path / "list.csv.refused.csv"
    file.write_text("Email Address,Reason\na@example.com,HardBounce\nnobody,SpamComplaint\n")
    read = ("suppression", "import", "--account", account)
    shown = {"accountId": account, "refused": 1, "refusedFile": str(beside)}
    assert run(*read, file) == shown | {"added": 1, "known": 0}
    assert run(*read, file) == shown | {"added": 0, "known": 1}
    beside.write_text(beside.read_text().replace("\nnobody", "\nb@example.com"))
    assert run.refused(*read, file) == (1, "validation_failed")
    assert run(*read, beside) == {"accountId": account, "added": 1, "known": 0}
    listed = run("suppression", "list", "--account", account)["items"]
    assert [entry["reason"] for entry in listed] == ["bounced", "complained"]


def test_people_see_ten_wrong_lines(run: Operator, account: str, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("nobody\n" * 30)
    shown = failure(run.plain("--local", "suppression", "import", "--account", account, file))
    lines = shown.splitlines()
    assert (len(lines), "(and 29 more)" in lines[0]) == (10, True)
    assert [line.split(":")[0] for line in lines] == [f"line {n}" for n in range(1, 11)]


def test_a_file_that_is_not_text(run: Operator, account: str, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    read = ("suppression", "import", "--account", account, file)
    assert run.refused(*read) == (2, "validation_failed")
    file.write_bytes(b"PK\x03\x04\0")
    assert run.refused(*read) == (1, "validation_failed")
