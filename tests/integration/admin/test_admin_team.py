"""The commands `pillarbox dashboard …`, `pillarbox member …` and `pillarbox operator …`."""

import re

from tests.integration.admin.operator_command import Operator

_ADDRESS = "ada@shop.example"


def test_members_are_added_listed_and_removed(run: Operator, account: str) -> None:
    of_account = ("--account", account)
    added = run("member", "add", _ADDRESS, *of_account)
    assert (added["email"], added["accountId"], added["role"]) == (_ADDRESS, account, "viewer")
    changed = run("member", "add", _ADDRESS.upper(), *of_account, "--role", "owner")
    assert (changed["id"], changed["email"], changed["role"]) == (
        added["id"],
        _ADDRESS,
        "owner",
    )
    assert run("member", "list", *of_account) == {"items": [changed]}
    remove = ("member", "remove", _ADDRESS, *of_account)
    assert run.refused(*remove) == (2, "validation_failed")
    assert run(*remove, "--yes") == {"email": _ADDRESS, "accountId": account, "removed": True}
    assert run.refused(*remove, "--yes") == (1, "member_not_found")
    assert run("member", "list", *of_account) == {"items": []}


def test_an_unknown_account_has_no_members(run: Operator) -> None:
    for command in (
        ("member", "list"),
        ("member", "add", _ADDRESS),
        ("dashboard", "link", "a@b.c"),
    ):
        refused = run.refused(*command, "--account", "0" * 12)
        assert refused == (1, "account_not_found")


def test_a_link_creates_user_and_membership(run: Operator, account: str) -> None:
    links = [
        run("dashboard", "link", _ADDRESS, *options)["url"]
        for options in ((), ("--account", account, "--role", "developer"))
    ]
    assert all(
        re.fullmatch("https://mail.example/app/sign-in#[0-9a-z]{32}", link) for link in links
    )
    assert len(set(links)) == 2
    (member,) = run("member", "list", "--account", account)["items"]
    assert (member["email"], member["role"]) == (_ADDRESS, "developer")


def test_an_operator_is_added_and_removed(run: Operator) -> None:
    added = {"email": _ADDRESS, "operator": True}
    assert run("operator", "add", _ADDRESS) == added
    assert run("operator", "add", _ADDRESS) == added
    assert run("operator", "remove", _ADDRESS, "--yes") == added | {"operator": False}
    unknown = run.refused("operator", "remove", "bob@shop.example", "--yes")
    assert unknown == (1, "member_not_found")


def test_what_is_no_address_is_refused(run: Operator, account: str) -> None:
    for command in (("operator", "add"), ("dashboard", "link")):
        refused = run.refused(*command, "Ada <a@shop.example>")
        assert refused == (1, "validation_failed")
    add = ("member", "add", "ada", "--account", account)
    assert run.refused(*add) == (1, "validation_failed")
