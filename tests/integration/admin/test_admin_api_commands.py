"""The commands that are operations of the API, and the key with which they call it."""

import json
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from admin import api
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.domain.errors import Unavailable
from tests.contract.client import Api
from tests.fakes import builders
from tests.integration.admin.operator_command import Operator

SERVICE = "0" * 12
KEY = "PILLARBOX_MANAGEMENT_KEY"


def stored_keys(credentials: Table) -> list[dict[str, Any]]:
    items = credentials.client.scan(TableName=credentials.name)["Items"]
    return [item for item in items if item["pk"]["S"].startswith("KEY#")]


def test_a_key_lives_as_long_as_the_command_and_has_one_permission(
    run: Operator, account: str, credentials: Table
) -> None:
    with api.operator_key(credentials, ["webhooks:read", "accounts:read"]) as text:
        (stored,) = stored_keys(credentials)
        assert text not in json.dumps(stored)
        own, named = Api(text), {"X-Account": account}
        assert own.raw("GET", "/webhooks", headers=named).json == {"items": []}
        assert own.raw("GET", "/suppressions", headers=named).code == "scope_required"
        body = json.dumps({"url": "https://shop.example/", "types": ["*"]})
        assert own.raw("POST", "/webhooks", body, named).code == "scope_required"
        assert own.raw("GET", "/emails").code == "scope_required"
        assert own.send({"to": ["ann@example.com"]}).code == "invalid_api_key"
    assert Api(text).raw("GET", "/webhooks", headers=named).code == "invalid_api_key"
    for unknown in ("1" * 12, "a\nb", "\u00e4"):
        assert run.refused("webhook", "list", "--account", unknown) == (1, "account_not_found")
    assert stored_keys(credentials) == []


def test_the_service_has_suppressions_which_no_other_account_may_see(
    run: Operator, account: str
) -> None:
    of_service = ("--account", SERVICE)
    run("suppression", "add", *of_service, "ann@example.com")
    (listed,) = run("suppression", "list", *of_service)["items"]
    assert listed["address"] == "ann@example.com"
    run("account", "update", account, "--operates")
    scopes = ("suppressions:read", "accounts:read")
    options = [word for scope in scopes for word in ("--scope", scope)]
    key = ("key", "create", "--account", account, "--name", "ops", "--preset", "custom")
    operator = Api(run(*key, *options)["key"])
    refused = operator.raw("GET", "/suppressions", headers={"X-Account": SERVICE})
    assert refused.code == "account_not_found"
    remove = ("suppression", "remove", *of_service, "Ann@Example.com")
    assert run(*remove) == {"address": "Ann@Example.com", "removed": True}
    assert run.refused(*remove) == (1, "suppression_not_found")


def test_a_secret_is_shown_also_if_the_key_stays(run: Operator, account: str) -> None:
    """Nothing shows it again; the key ends by itself."""
    create = ("--local", "webhook", "create", "http://127.0.0.1:9/", "--account", account)
    unavailable = Unavailable("data store")
    with mock.patch.object(Table, "delete", side_effect=unavailable):
        made = run.plain(*create)
    assert (made.exit_code, "whsec_" in made.stdout) == (1, True)


def test_all_pages_are_read(run: Operator, table: Table) -> None:
    """A page has at most 100 accounts."""
    accounts = [replace(builders.account(), account_id=f"{number:012}") for number in range(1, 202)]
    for one in accounts:
        DynamoAccounts(table).add(one)
    listed = run("account", "list")
    assert [item["id"] for item in listed.pop("items")] == [one.account_id for one in accounts]
    assert listed == {}


@pytest.mark.parametrize(
    "answer", [(200, None), (502, None), (502, "x"), (400, {"error": {"code": "new_code"}})]
)
def test_an_answer_that_no_api_gives_is_a_failure(
    run: Operator, answer: tuple[int, object], credentials: Table
) -> None:
    with mock.patch.object(HttpApiProbe, "request", return_value=answer):
        assert run.refused("account", "list") == (1, "service_unavailable")
    assert stored_keys(credentials) == []


def test_a_key_of_the_environment_is_for_stacks_in_aws(
    run: Operator, deployed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key of another stack must not reach the local one."""
    monkeypatch.setenv(KEY, "bx_live_of_ours")
    with mock.patch.object(HttpApiProbe, "request") as request:
        request.side_effect = lambda *_, **_more: (200, {"items": []})
        assert run("account", "list") == {"items": []}
        assert request.call_args.kwargs["key"] != "bx_live_of_ours"
        assert run.plain("--stack-name", deployed, "account", "list").exit_code == 0
        assert request.call_args.kwargs["key"] == "bx_live_of_ours"
